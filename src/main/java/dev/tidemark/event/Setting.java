package dev.tidemark.event;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** One setting of a stream: its name, the form of its value, what is allowed and the built-in default. */
public enum Setting {
    LIVE_MAX_EVENTS("live_max_events", Form.COUNT, 100_000, 1, 1_000_000_000L, true),
    LIVE_MAX_AGE("live_max_age", Form.DURATION, 3_600_000, 1, Setting.CENTURY_MS, true),
    LIVE_MAX_BYTES("live_max_bytes", Form.SIZE, Units.NONE, 1, 1L << 50, true),
    ARCHIVE_MAX_AGE("archive_max_age", Form.DURATION, Units.NONE, 1, Setting.CENTURY_MS, true),
    ARCHIVE_MAX_BYTES("archive_max_bytes", Form.SIZE, Units.NONE, 1, 1L << 60, true),
    CHUNK_DURATION("chunk_duration", Form.DURATION, 1_000, 10, 3_600_000, false),
    CHUNK_MAX_EVENTS("chunk_max_events", Form.COUNT, 8_192, 1, 65_536, false),
    CHUNK_MAX_BYTES("chunk_max_bytes", Form.SIZE, 256 << 10, 1 << 10, 256 << 10, false),
    ACCEPTANCE_WINDOW("acceptance_window", Form.DURATION, 0, 0, 86_400_000, false),
    LATE("late", Form.CHOICE, 0, 0, 1, false, "rescue", "refuse"),
    FUTURE_TOLERANCE("future_tolerance", Form.DURATION, 600_000, 0, Setting.CENTURY_MS, false),
    TAIL_CAPACITY("tail_capacity", Form.COUNT, 65_536, 1, 10_000_000, false),
    STRIPES("stripes", Form.COUNT, 1, 1, Setting.STRIPES_MAX, false),
    ROLL("roll", Form.CHOICE, 0, 0, 1, false, "daily", "hourly");

    /** How a value is written. */
    public enum Form {
        COUNT,
        DURATION,
        SIZE,
        CHOICE
    }

    /** A cursor in a stream with provisional events names a place in each stripe, and must fit a request line. */
    private static final long STRIPES_MAX = 64;

    private static final long CENTURY_MS = 36_525L * 86_400_000L;

    private final String key;
    private final Form form;
    private final long defaultValue;
    private final long min;
    private final long max;
    private final boolean noneAllowed;

    private final List<String> choices;

    Setting(String key, Form form, long defaultValue, long min, long max, boolean noneAllowed, String... choices) {
        this.key = key;
        this.form = form;
        this.defaultValue = defaultValue;
        this.min = min;
        this.max = max;
        this.noneAllowed = noneAllowed;
        this.choices = List.of(choices);
    }

    /** The setting of that name, or null. */
    public static @Nullable Setting byKey(String key) {
        for (Setting setting : values()) {
            if (setting.key.equals(key)) {
                return setting;
            }
        }
        return null;
    }

    public String key() {
        return key;
    }

    public long defaultValue() {
        return defaultValue;
    }

    /** Whether it can only be chosen when the stream is created. */
    public boolean fixedAtCreation() {
        return this == STRIPES || this == ROLL;
    }

    /**
     * The value as a number: count, milliseconds, bytes, index of the choice, or {@link Units#NONE}.
     *
     * @param written a {@link String} or a {@link Number}
     * @throws IllegalArgumentException naming the setting, what is wrong and what is allowed
     */
    public long parse(Object written) {
        long value;
        try {
            value = parseForm(written);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(key + ": " + e.getMessage(), e);
        }
        if (value == Units.NONE && noneAllowed) {
            return value;
        }
        if (value < min || value > max) {
            throw new IllegalArgumentException(
                    key + ": " + Problem.quote(String.valueOf(written)) + " is out of range; allowed is " + allowed());
        }
        return value;
    }

    private long parseForm(Object written) {
        if (noneAllowed && "none".equals(written)) {
            return Units.NONE;
        }
        if (form == Form.COUNT) {
            return parseCount(written);
        }
        if (!(written instanceof String text)) {
            throw new IllegalArgumentException(
                    "'" + Problem.quote(String.valueOf(written)) + "' has no unit; allowed is " + allowed());
        }
        return switch (form) {
            case DURATION -> Units.parseDurationMs(text);
            case SIZE -> Units.parseSizeBytes(text);
            default -> parseChoice(text);
        };
    }

    private long parseCount(Object written) {
        if (written instanceof Integer || written instanceof Long) {
            return ((Number) written).longValue();
        }
        if (written instanceof String text && text.matches("\\d{1,18}")) {
            return Long.parseLong(text);
        }
        throw new IllegalArgumentException(
                "'" + Problem.quote(String.valueOf(written)) + "' isn't a whole number; allowed is " + allowed());
    }

    private long parseChoice(String text) {
        int index = choices.indexOf(text);
        if (index < 0) {
            throw new IllegalArgumentException(
                    "'" + Problem.quote(text) + "' isn't one of " + String.join(", ", choices));
        }
        return index;
    }

    private String allowed() {
        String range = min == max ? String.valueOf(format(min)) : format(min) + " to " + format(max);
        return range + (noneAllowed ? ", or none" : "");
    }

    /** The value as users write it: a {@link Long} for counts, else a {@link String}. */
    public Object format(long value) {
        if (value == Units.NONE) {
            return "none";
        }
        return switch (form) {
            case COUNT -> (Object) value;
            case DURATION -> Units.formatDuration(value);
            case SIZE -> Units.formatSize(value);
            case CHOICE -> choices.get((int) value);
        };
    }
}
