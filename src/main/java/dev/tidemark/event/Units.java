package dev.tidemark.event;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations ({@code 500ms}, {@code 1s}, {@code 15m}, {@code 1h}, {@code 7d}) and sizes ({@code 512B}, {@code 64KiB}, {@code 1MiB}, {@code 4GiB}) as people write them. */
public final class Units {
    /** Stands for {@code none}: no bound. */
    public static final long NONE = Long.MAX_VALUE;

    private static final Pattern DURATION = Pattern.compile("(\\d{1,15})(ms|s|m|h|d)");
    private static final Pattern SIZE = Pattern.compile("(\\d{1,15})(B|KiB|MiB|GiB|TiB)");
    private static final String[] DURATION_UNITS = {"d", "h", "m", "s"};
    private static final String[] SIZE_UNITS = {"TiB", "GiB", "MiB", "KiB"};

    private Units() {}

    /**
     * A duration in milliseconds.
     *
     * @throws IllegalArgumentException saying what is allowed
     */
    public static long parseDurationMs(String text) {
        Matcher matcher = DURATION.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("'" + Problem.quote(text)
                    + "' isn't a duration; allowed is a whole number with ms, s, m, h or d, such as 500ms or 15m");
        }
        return multiply(text, matcher.group(1), durationUnitMs(matcher.group(2)));
    }

    /**
     * A size in bytes.
     *
     * @throws IllegalArgumentException saying what is allowed
     */
    public static long parseSizeBytes(String text) {
        Matcher matcher = SIZE.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("'" + Problem.quote(text)
                    + "' isn't a size; allowed is a whole number with B, KiB, MiB, GiB or TiB, such as 64KiB or 1MiB");
        }
        return multiply(text, matcher.group(1), sizeUnitBytes(matcher.group(2)));
    }

    private static long multiply(String text, String digits, long unit) {
        try {
            return Math.multiplyExact(Long.parseLong(digits), unit);
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException("'" + Problem.quote(text) + "' is too large", e);
        }
    }

    /** The shortest whole form: {@code 90000} is {@code 90s}. */
    public static String formatDuration(long ms) {
        for (String unit : DURATION_UNITS) {
            long unitMs = durationUnitMs(unit);
            if (ms != 0 && ms % unitMs == 0) {
                return ms / unitMs + unit;
            }
        }
        return ms == 0 ? "0s" : ms + "ms";
    }

    /** The shortest whole form: {@code 262144} is {@code 256KiB}. */
    public static String formatSize(long bytes) {
        for (String unit : SIZE_UNITS) {
            long unitBytes = sizeUnitBytes(unit);
            if (bytes != 0 && bytes % unitBytes == 0) {
                return bytes / unitBytes + unit;
            }
        }
        return bytes + "B";
    }

    private static long durationUnitMs(String unit) {
        return switch (unit) {
            case "ms" -> 1;
            case "s" -> 1_000;
            case "m" -> 60_000;
            case "h" -> 3_600_000;
            default -> 86_400_000;
        };
    }

    private static long sizeUnitBytes(String unit) {
        return switch (unit) {
            case "B" -> 1;
            case "KiB" -> 1L << 10;
            case "MiB" -> 1L << 20;
            case "GiB" -> 1L << 30;
            default -> 1L << 40;
        };
    }
}
