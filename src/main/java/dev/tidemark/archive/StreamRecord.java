package dev.tidemark.archive;

import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamSettings;
import java.util.EnumMap;
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

    /** The settings that hold for as long as it is there. */
    StreamSettings fixed() {
        Map<Setting, Long> fixed = new EnumMap<>(Setting.class);
        settings.forEach((setting, value) -> {
            if (setting.fixedAtCreation()) {
                fixed.put(setting, value);
            }
        });
        return StreamSettings.DEFAULT.with(fixed);
    }

    /** How the roll files of its archive are called. */
    RollFiles rollFiles() {
        return RollFiles.of(fixed().roll());
    }

    /** Whether its own settings may have removed its oldest files. */
    boolean isPruned() {
        return settings.containsKey(Setting.ARCHIVE_MAX_AGE) || settings.containsKey(Setting.ARCHIVE_MAX_BYTES);
    }
}
