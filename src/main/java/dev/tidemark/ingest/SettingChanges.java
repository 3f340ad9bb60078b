package dev.tidemark.ingest;

import dev.tidemark.event.Problem;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamSettings;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the settings that a user wants changed, and refuses what can be seen to be wrong before the keepers are asked. */
final class SettingChanges {
    private SettingChanges() {}

    /**
     * The changes as numbers; null resets a setting.
     *
     * @param written names to strings, whole numbers or null
     * @throws Problem {@link Problem.Kind#BAD_REQUEST} naming the setting, what is wrong and what is allowed
     */
    static Map<Setting, @Nullable Long> parse(Map<String, @Nullable Object> written) {
        Map<Setting, @Nullable Long> changes = new EnumMap<>(Setting.class);
        written.forEach((key, value) -> {
            try {
                changes.putAll(StreamSettings.parse(Collections.<String, @Nullable Object>singletonMap(key, value)));
            } catch (IllegalArgumentException e) {
                throw refused(e).with("parameter", Problem.quote(key));
            }
        });
        return changes;
    }

    /**
     * Checks changes against the settings of an existing stream. Resets depend on the configured defaults and are left to the keepers.
     *
     * @throws Problem {@link Problem.Kind#CONFLICT} for what is fixed when a stream is created, {@link Problem.Kind#BAD_REQUEST} for
     *     values that contradict each other
     */
    static void check(StreamSettings present, Map<Setting, @Nullable Long> changes) {
        Map<Setting, Long> values = new EnumMap<>(Setting.class);
        changes.forEach((setting, value) -> {
            if (value == null) {
                return;
            }
            if (setting.fixedAtCreation() && value != present.value(setting)) {
                throw new Problem(
                                Problem.Kind.CONFLICT,
                                setting.key() + " is " + setting.format(present.value(setting))
                                        + " and can't be changed after the stream was created")
                        .with("parameter", setting.key());
            }
            values.put(setting, value);
        });
        if (values.size() < changes.size()) {
            return;
        }
        try {
            StreamSettings unused = present.with(values);
        } catch (IllegalArgumentException e) {
            throw refused(e);
        }
    }

    static Problem refused(Throwable e) {
        String message = e.getMessage();
        return Problem.badRequest(message == null ? "the settings are refused" : message);
    }
}
