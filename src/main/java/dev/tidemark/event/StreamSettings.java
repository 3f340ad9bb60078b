package dev.tidemark.event;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The settings of a stream: immutable, every value checked on its own and against the others. */
public final class StreamSettings {
    /** How archive files follow each other. */
    public enum Roll {
        DAILY,
        HOURLY
    }

    /** The built-in defaults. */
    public static final StreamSettings DEFAULT = new StreamSettings(defaults());

    private final Map<Setting, Long> values;

    private StreamSettings(Map<Setting, Long> values) {
        this.values = values;
        checkTogether();
    }

    private static Map<Setting, Long> defaults() {
        Map<Setting, Long> values = new EnumMap<>(Setting.class);
        for (Setting setting : Setting.values()) {
            values.put(setting, setting.defaultValue());
        }
        return values;
    }

    /**
     * These settings with some replaced.
     *
     * @throws IllegalArgumentException naming the setting, what is wrong and what is allowed
     */
    public StreamSettings with(Map<Setting, Long> changes) {
        Map<Setting, Long> changed = new EnumMap<>(values);
        changed.putAll(changes);
        return new StreamSettings(changed);
    }

    /**
     * Reads settings as users write them: names to strings or whole numbers.
     *
     * @return the values; for a name whose value is null the setting maps to null (reset)
     * @throws IllegalArgumentException for an unknown name or a bad value
     */
    public static Map<Setting, @Nullable Long> parse(Map<String, ? extends @Nullable Object> written) {
        Map<Setting, @Nullable Long> parsed = new EnumMap<>(Setting.class);
        written.forEach((key, value) -> {
            Setting setting = Setting.byKey(key);
            if (setting == null) {
                throw new IllegalArgumentException(
                        "unknown setting '" + Problem.quote(key) + "'; allowed are " + names());
            }
            parsed.put(setting, value == null ? null : (Long) setting.parse(value));
        });
        return parsed;
    }

    private static String names() {
        return String.join(
                ", ", Arrays.stream(Setting.values()).map(Setting::key).toList());
    }

    private void checkTogether() {
        long reach = value(Setting.CHUNK_DURATION) + value(Setting.ACCEPTANCE_WINDOW);
        if (value(Setting.LIVE_MAX_AGE) < reach) {
            throw new IllegalArgumentException("live_max_age is " + shown(Setting.LIVE_MAX_AGE)
                    + "; it can't be below chunk_duration + acceptance_window = " + Units.formatDuration(reach));
        }
        if (value(Setting.ARCHIVE_MAX_AGE) < value(Setting.LIVE_MAX_AGE)) {
            throw new IllegalArgumentException("archive_max_age is " + shown(Setting.ARCHIVE_MAX_AGE)
                    + "; it can't be below live_max_age = " + shown(Setting.LIVE_MAX_AGE));
        }
    }

    private Object shown(Setting setting) {
        return setting.format(value(setting));
    }

    /** The value as {@link Setting#parse} gives it. */
    public long value(Setting setting) {
        return Objects.requireNonNull(values.get(setting), setting.key());
    }

    public long liveMaxEvents() {
        return value(Setting.LIVE_MAX_EVENTS);
    }

    public long liveMaxAgeMs() {
        return value(Setting.LIVE_MAX_AGE);
    }

    public long liveMaxBytes() {
        return value(Setting.LIVE_MAX_BYTES);
    }

    public long archiveMaxAgeMs() {
        return value(Setting.ARCHIVE_MAX_AGE);
    }

    public long archiveMaxBytes() {
        return value(Setting.ARCHIVE_MAX_BYTES);
    }

    public long chunkDurationMs() {
        return value(Setting.CHUNK_DURATION);
    }

    public int chunkMaxEvents() {
        return (int) value(Setting.CHUNK_MAX_EVENTS);
    }

    public int chunkMaxBytes() {
        return (int) value(Setting.CHUNK_MAX_BYTES);
    }

    public long acceptanceWindowMs() {
        return value(Setting.ACCEPTANCE_WINDOW);
    }

    public boolean refusesLate() {
        return value(Setting.LATE) == 1;
    }

    public long futureToleranceMs() {
        return value(Setting.FUTURE_TOLERANCE);
    }

    public int tailCapacity() {
        return (int) value(Setting.TAIL_CAPACITY);
    }

    public int stripes() {
        return (int) value(Setting.STRIPES);
    }

    public Roll roll() {
        return Roll.values()[(int) value(Setting.ROLL)];
    }

    /** All settings as users write them, in the order of {@link Setting}. */
    public Map<String, Object> written() {
        Map<String, Object> written = new LinkedHashMap<>();
        for (Setting setting : Setting.values()) {
            written.put(setting.key(), shown(setting));
        }
        return written;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof StreamSettings settings && values.equals(settings.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return written().toString();
    }
}
