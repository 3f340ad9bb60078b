package dev.tidemark.http;

import dev.tidemark.event.Problem;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Locale;
import java.util.regex.Pattern;

/** Times as users write them in a query: RFC 3339 or Unix milliseconds. */
final class TimeText {
    private static final Pattern UNIX_MS = Pattern.compile("-?[0-9]{1,15}");
    private static final Pattern RFC_3339 = Pattern.compile(
            "[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2})");
    private static final int OFFSET_LENGTH = "+00:00".length();

    private TimeText() {}

    /**
     * The first whole millisecond at or after the time, Unix milliseconds, not below 0: a bound {@code at >= time} or
     * {@code at < time} on whole milliseconds is the same with it.
     *
     * @throws Problem bad request naming the parameter
     */
    static long parseMs(String parameter, String written) {
        if (UNIX_MS.matcher(written).matches()) {
            return Math.max(0, Long.parseLong(written));
        }
        // A '+' that wasn't percent-encoded arrives as a space: no other space can stand there.
        int sign = written.length() - OFFSET_LENGTH;
        String text = sign > 0 && written.charAt(sign) == ' '
                ? written.substring(0, sign) + "+" + written.substring(sign + 1)
                : written;
        if (RFC_3339.matcher(text).matches()) {
            try {
                String iso = text.substring(0, 10) + "T" + text.substring(11).toUpperCase(Locale.ROOT);
                Instant instant = OffsetDateTime.parse(iso).toInstant();
                long ms = instant.toEpochMilli();
                return Math.max(0, Instant.ofEpochMilli(ms).equals(instant) ? ms : ms + 1);
            } catch (DateTimeException e) {
                throw wrong(parameter, written).causedBy(e);
            }
        }
        throw wrong(parameter, written);
    }

    private static Problem wrong(String parameter, String written) {
        return Problem.badParameter(
                parameter,
                "parameter '" + parameter + "' is '" + Problem.quote(written)
                        + "'; allowed is a time such as 2026-01-31T12:00:00Z (RFC 3339) or Unix milliseconds");
    }
}
