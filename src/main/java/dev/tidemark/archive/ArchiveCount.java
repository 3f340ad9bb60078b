package dev.tidemark.archive;

import dev.tidemark.event.Position;
import java.util.Map;

/**
 * What an archive has counted up to W.
 *
 * @param watermark W
 * @param stripes what is counted of each stripe; one without any is left out
 * @param ordinals the highest ordinal accounted for, by stripe
 * @param missing events that were archived and are gone, though nobody asked for their removal; as found when the archive was opened
 */
public record ArchiveCount(
        Position watermark, Map<Integer, StripeCount> stripes, Map<Integer, Long> ordinals, long missing) {
    public ArchiveCount {
        stripes = Map.copyOf(stripes);
        ordinals = Map.copyOf(ordinals);
    }

    public StripeCount of(int stripe) {
        return stripes.getOrDefault(stripe, StripeCount.NONE);
    }

    public long lastOrdinal(int stripe) {
        return ordinals.getOrDefault(stripe, 0L);
    }
}
