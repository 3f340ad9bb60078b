package dev.tidemark.archive;

import dev.tidemark.event.Position;
import java.util.Map;

/**
 * What an archive itself proves about its end.
 *
 * @param watermark the last trusted event id; {@link Position#ZERO} if there is none
 * @param lastOrdinals the highest ordinal accounted for, by stripe; a stripe without any is left out
 */
public record ArchiveEnd(Position watermark, Map<Integer, Long> lastOrdinals) {
    public ArchiveEnd {
        lastOrdinals = Map.copyOf(lastOrdinals);
    }

    public long lastOrdinal(int stripe) {
        return lastOrdinals.getOrDefault(stripe, 0L);
    }
}
