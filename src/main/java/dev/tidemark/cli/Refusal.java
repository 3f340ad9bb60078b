package dev.tidemark.cli;

import dev.tidemark.client.wire.JsonFields;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongUnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An answer that isn't a success: problem+json as the server gives it, or whatever something in between gave.
 *
 * @param status HTTP status
 * @param fields of the problem; null if the body was something else
 */
record Refusal(int status, @Nullable JsonFields fields) {
    private static final int BODY_BYTES_MAX = 1 << 20;
    private static final Pattern LINE = Pattern.compile("\\bline (\\d{1,9})\\b");

    static Refusal of(HttpResponse<InputStream> response) {
        try (InputStream body = response.body()) {
            return of(response.statusCode(), body.readNBytes(BODY_BYTES_MAX));
        } catch (IOException e) {
            return new Refusal(response.statusCode(), null);
        }
    }

    static Refusal of(int status, byte[] body) {
        try {
            return new Refusal(status, JsonFields.of(body));
        } catch (JsonFields.Malformed e) {
            return new Refusal(status, null);
        }
    }

    /** The same request can succeed later; who sends it again needs a producer's number if its outcome is unknown. */
    boolean canBeRepeated() {
        if (fields != null && fields.has("retryable")) {
            return fields.isTrue("retryable");
        }
        return status >= 502 && status <= 504;
    }

    /** Whether what was sent may have been stored all the same. */
    boolean outcomeUnknown() {
        if (fields != null && fields.has("stored")) {
            return !fields.text("stored", "").equals("no");
        }
        return status >= 500;
    }

    /** The most that a request may hold by this limit, or -1 if something else was wrong. */
    long maxOf(String limit) {
        return status == 413 && fields != null && fields.text("limit", "").equals(limit)
                ? fields.number("max", -1)
                : -1;
    }

    /** What the server said, in one line. */
    String text() {
        return text(line -> line);
    }

    /** What the server said, with the numbers of lines of the request replaced. */
    String text(LongUnaryOperator lineOf) {
        if (fields == null) {
            return "the server answered with HTTP status " + status;
        }
        String title = fields.text("title", "refused");
        String detail = replaceLine(fields.text("detail", ""), lineOf);
        return status + " " + title.toLowerCase(Locale.ROOT) + (detail.isEmpty() ? "" : ": " + detail) + extras(lineOf);
    }

    private static String replaceLine(String detail, LongUnaryOperator lineOf) {
        Matcher matcher = LINE.matcher(detail);
        return matcher.replaceAll(found -> "line " + lineOf.applyAsLong(Long.parseLong(found.group(1))));
    }

    private String extras(LongUnaryOperator lineOf) {
        StringBuilder extras = new StringBuilder();
        byte[] lines = fields == null ? null : fields.raw("lines");
        if (lines != null && lines[0] == '[') {
            List<String> numbers = new ArrayList<>();
            for (byte[] element : JsonFields.elements(lines)) {
                String written = new String(element, java.nio.charset.StandardCharsets.US_ASCII);
                numbers.add(
                        written.matches("\\d{1,9}")
                                ? String.valueOf(lineOf.applyAsLong(Long.parseLong(written)))
                                : written);
            }
            extras.append("; lines ").append(String.join(", ", numbers));
        }
        String earliest = fields == null ? null : fields.text("earliest");
        if (earliest != null) {
            extras.append("; the earliest is ").append(earliest);
        }
        return extras.toString();
    }

    CommandFailure failure() {
        return CommandFailure.refused(text());
    }
}
