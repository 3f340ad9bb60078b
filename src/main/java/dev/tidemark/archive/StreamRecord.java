package dev.tidemark.archive;

import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamId;
import java.util.Map;

/**
 * What {@code stream.json} says: it decides, the registry in Redis is a copy.
 *
 * @param id name and generation
 * @param settings what was chosen for this stream; the rest follows the configuration's defaults. {@code stripes} and {@code roll} are
 *     always there
 * @param createdMs Unix milliseconds
 * @param deleted tombstone: what is left of it is to be removed
 */
public record StreamRecord(StreamId id, Map<Setting, Long> settings, long createdMs, boolean deleted) {
    public StreamRecord {
        settings = Map.copyOf(settings);
    }
}
