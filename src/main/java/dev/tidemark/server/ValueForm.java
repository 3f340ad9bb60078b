package dev.tidemark.server;

import dev.tidemark.event.Problem;
import dev.tidemark.event.Units;
import java.math.BigDecimal;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * How the values of a key are written and which are allowed.
 *
 * @param allowed in words, for errors and documentation
 * @param reader makes the value; throws {@link IllegalArgumentException} with what is wrong and what is allowed
 * @param <T> type of the value
 */
record ValueForm<T>(String allowed, Function<String, T> reader) {
    /** A whole number. */
    static ValueForm<Integer> count(int min, int max) {
        String allowed = "a whole number from " + min + " to " + max;
        return new ValueForm<>(allowed, text -> (int) inRange(text, readCount(text, allowed), min, max, allowed));
    }

    /** A whole number, or {@code auto} for one that fits the machine. */
    static ValueForm<Integer> countOrAuto(int min, int max, int auto) {
        String allowed = "auto, or a whole number from " + min + " to " + max;
        return new ValueForm<>(
                allowed,
                text -> text.equals("auto")
                        ? (Integer) auto
                        : (Integer) (int) inRange(text, readCount(text, allowed), min, max, allowed));
    }

    /** A duration; the value is in milliseconds. */
    static ValueForm<Long> duration(String min, String max) {
        long minMs = Units.parseDurationMs(min);
        long maxMs = Units.parseDurationMs(max);
        String allowed = min + " to " + max;
        return new ValueForm<>(allowed, text -> inRange(text, Units.parseDurationMs(text), minMs, maxMs, allowed));
    }

    private static final String OFFSET_ALLOWED = "a duration up to 36500d, with - before it or not, such as -3h";
    private static final long OFFSET_MS_MAX = Units.parseDurationMs("36500d");

    /** A duration to either side; the value is in milliseconds. */
    static final ValueForm<Long> OFFSET = new ValueForm<>(OFFSET_ALLOWED, text -> {
        boolean back = text.startsWith("-");
        long ms = Units.parseDurationMs(back ? text.substring(1) : text);
        long size = inRange(text, ms, 0, OFFSET_MS_MAX, OFFSET_ALLOWED);
        return back ? -size : size;
    });

    private static final String RATE_ALLOWED = "a number from 0 to 100000, such as 1 or 0.5";

    /** How many times as fast. */
    static final ValueForm<BigDecimal> RATE = new ValueForm<>(RATE_ALLOWED, text -> {
        if (!text.matches("\\d{1,6}(\\.\\d{1,6})?") || new BigDecimal(text).compareTo(new BigDecimal(100_000)) > 0) {
            throw wrong(text, "isn't allowed; allowed is " + RATE_ALLOWED);
        }
        return new BigDecimal(text);
    });

    /** A size; the value is in bytes. */
    static ValueForm<Long> size(String min, String max) {
        long minBytes = Units.parseSizeBytes(min);
        long maxBytes = Units.parseSizeBytes(max);
        String allowed = min + " to " + max;
        return new ValueForm<>(allowed, text -> inRange(text, Units.parseSizeBytes(text), minBytes, maxBytes, allowed));
    }

    /** A percentage from 1 to 99; the value is the number. */
    static ValueForm<Integer> percentage(int min, int max) {
        String allowed = min + "% to " + max + "%";
        return new ValueForm<>(allowed, text -> (int) inRange(text, readPercentage(text, allowed), min, max, allowed));
    }

    /** The rest of a whole that has other uses too must stay. */
    private static final int SHARE_PERCENT_MAX = 75;

    /** A share of {@code whole} bytes, written as a percentage or as a size; the value is in bytes. */
    static ValueForm<Long> shareOf(String name, long whole, String min) {
        long minBytes = Units.parseSizeBytes(min);
        long maxBytes = whole / 100 * SHARE_PERCENT_MAX;
        String allowed = "1% to " + SHARE_PERCENT_MAX + "% of " + name + " (" + (whole >> 20) + "MiB), or a size from "
                + min + " up to that";
        return new ValueForm<>(allowed, text -> {
            if (text.endsWith("%")) {
                return whole / 100 * inRange(text, readPercentage(text, allowed), 1, SHARE_PERCENT_MAX, allowed);
            }
            return inRange(text, Units.parseSizeBytes(text), minBytes, maxBytes, allowed);
        });
    }

    /** {@code true} or {@code false}. */
    static ValueForm<Boolean> flag() {
        return new ValueForm<>("true or false", text -> switch (text) {
            case "true" -> true;
            case "false" -> false;
            default -> throw wrong(text, "isn't one of true, false");
        });
    }

    /** One of some words. */
    static ValueForm<String> choice(String... words) {
        String allowed = String.join(", ", words);
        return new ValueForm<>(allowed, text -> {
            if (!List.of(words).contains(text)) {
                throw wrong(text, "isn't one of " + allowed);
            }
            return text;
        });
    }

    /** Text that a regular expression describes. */
    static ValueForm<String> text(String pattern, String allowed) {
        return new ValueForm<>(allowed, text -> {
            if (!text.matches(pattern)) {
                throw wrong(text, "isn't allowed; allowed is " + allowed);
            }
            return text;
        });
    }

    /** Words of one form, as a list or separated by commas. */
    static ValueForm<List<String>> list(String pattern, String allowed) {
        ValueForm<String> word = text(pattern, allowed);
        return new ValueForm<>("a list of: " + allowed, text -> {
            List<String> words = new ArrayList<>();
            for (String part : text.split(",", -1)) {
                if (!text.isBlank()) {
                    words.add(word.reader.apply(part.strip()));
                }
            }
            return List.copyOf(words);
        });
    }

    /** A path of the file system. */
    static ValueForm<Path> path() {
        return new ValueForm<>("a path", text -> {
            if (text.isBlank()) {
                throw wrong(text, "isn't a path");
            }
            try {
                return Path.of(text);
            } catch (InvalidPathException e) {
                throw wrong(text, "isn't a path: " + e.getReason());
            }
        });
    }

    private static long readCount(String text, String allowed) {
        if (!text.matches("\\d{1,18}")) {
            throw wrong(text, "isn't a whole number; allowed is " + allowed);
        }
        return Long.parseLong(text);
    }

    private static long readPercentage(String text, String allowed) {
        if (!text.matches("\\d{1,3}%")) {
            throw wrong(text, "isn't a percentage; allowed is " + allowed);
        }
        return Long.parseLong(text.substring(0, text.length() - 1));
    }

    private static long inRange(String text, long value, long min, long max, String allowed) {
        if (value < min || value > max) {
            throw wrong(text, "is out of range; allowed is " + allowed);
        }
        return value;
    }

    private static IllegalArgumentException wrong(String text, String what) {
        return new IllegalArgumentException("'" + Problem.quote(text) + "' " + what);
    }
}
