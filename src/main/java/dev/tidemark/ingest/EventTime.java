package dev.tidemark.ingest;

import dev.tidemark.event.Problem;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads times as users write them: RFC 3339 ({@code 2018-01-31T02:18:21.235Z}; any offset, digits below the millisecond are cut
 * off, a leap second is the start of the next minute) or whole Unix milliseconds. Years 0001 to 9999.
 */
public final class EventTime {
    /** {@code 0001-01-01T00:00:00Z} in Unix milliseconds. */
    public static final long FIRST_MS = -62_135_596_800_000L;
    /** {@code 9999-12-31T23:59:59.999Z} in Unix milliseconds. */
    public static final long LAST_MS = 253_402_300_799_999L;

    private static final Pattern RFC_3339 = Pattern.compile("(\\d{4})-(\\d\\d)-(\\d\\d)[Tt ](\\d\\d):(\\d\\d):(\\d\\d)"
            + "(?:\\.(\\d{1,30}))?(?:[Zz]|([+-])(\\d\\d):(\\d\\d))");
    private static final Pattern WHOLE = Pattern.compile("-?\\d{1,400}");
    private static final int WHOLE_DIGITS_MAX = 18;

    private EventTime() {}

    /**
     * A time in either form, as Unix milliseconds.
     *
     * @throws Problem {@link Problem.Kind#BAD_REQUEST} if it is no time, {@link Problem.Kind#TIME_REFUSED} outside the years 0001 to 9999
     */
    public static long parse(String text) {
        String trimmed = text.trim();
        return isWhole(trimmed) ? parseUnixMs(trimmed) : parseRfc3339(trimmed);
    }

    static boolean isWhole(String text) {
        return WHOLE.matcher(text).matches();
    }

    /** Whole Unix milliseconds; {@link #isWhole} must hold. */
    static long parseUnixMs(String text) {
        boolean tooLong = text.replaceFirst("^-?0*", "").length() > WHOLE_DIGITS_MAX;
        long ms = tooLong ? Long.MAX_VALUE : Long.parseLong(text);
        return checked(ms, text);
    }

    /** A time in the form of RFC 3339, as Unix milliseconds; throws as {@link #parse} does. */
    static long parseRfc3339(String text) {
        Matcher matcher = RFC_3339.matcher(text);
        if (!matcher.matches()) {
            throw notATime(text);
        }
        int second = number(matcher, 6);
        try {
            long local = LocalDateTime.of(
                            number(matcher, 1),
                            number(matcher, 2),
                            number(matcher, 3),
                            number(matcher, 4),
                            number(matcher, 5),
                            second == 60 ? 59 : second)
                    .toEpochSecond(ZoneOffset.UTC);
            long seconds = local + (second == 60 ? 1 : 0) - offsetSeconds(matcher, text);
            return checked(seconds * 1000 + fractionMs(matcher.group(7)), text);
        } catch (DateTimeException e) {
            throw notATime(text).causedBy(e);
        }
    }

    private static int number(Matcher matcher, int group) {
        return Integer.parseInt(matcher.group(group));
    }

    private static int offsetSeconds(Matcher matcher, String text) {
        String sign = matcher.group(8);
        if (sign == null) {
            return 0;
        }
        int hours = number(matcher, 9);
        int minutes = number(matcher, 10);
        if (hours > 23 || minutes > 59) {
            throw notATime(text);
        }
        int seconds = (hours * 60 + minutes) * 60;
        return sign.equals("-") ? -seconds : seconds;
    }

    private static int fractionMs(@Nullable String digits) {
        return digits == null ? 0 : Integer.parseInt((digits + "00").substring(0, 3));
    }

    private static long checked(long ms, String text) {
        if (ms < FIRST_MS || ms > LAST_MS) {
            String first = "0001-01-01T00:00:00Z";
            String last = "9999-12-31T23:59:59.999Z";
            throw new Problem(
                            Problem.Kind.TIME_REFUSED,
                            "time " + Problem.quote(text) + " is out of range; accepted is " + first + " to " + last
                                    + " (Unix milliseconds " + FIRST_MS + " to " + LAST_MS + ")")
                    .with("accepted", List.of(first, last));
        }
        return ms;
    }

    private static Problem notATime(String text) {
        return Problem.badRequest("'" + Problem.quote(text)
                + "' isn't a time; allowed is RFC 3339, such as 2018-01-31T02:18:21.235Z, or whole Unix milliseconds");
    }
}
