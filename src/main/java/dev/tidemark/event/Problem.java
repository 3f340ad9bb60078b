package dev.tidemark.event;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A refusal or failure that a user is told of: a kind, a sentence that names what is wrong and what is allowed, and
 * fields that help a program (RFC 9457 extension members). The HTTP status and the WebSocket close code of a kind are
 * decided in one place in {@code http}.
 *
 * <p>It carries no stack trace: most are the sender's mistakes and are made often. A cause keeps its own.
 */
public final class Problem extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What went wrong; {@link #retryable} tells whether the same request can succeed later. */
    public enum Kind {
        BAD_REQUEST("Bad request", false),
        BAD_BODY("Body can't be read", false),
        FORBIDDEN("Forbidden", false),
        NOT_FOUND("Not found", false),
        METHOD_NOT_ALLOWED("Method not allowed", false),
        CONFLICT("Conflict", false),
        NONMONOTONIC("Id is not above the stream's last one", false),
        PRODUCER_FENCED("A newer epoch of the producer is known", false),
        SEQ_GAP("Sequence number ahead of the producer's next one", false),
        SEQ_EXPIRED("Sequence number older than remembered", false),
        BODY_CHANGED("Known request with another body", false),
        TOO_MANY_KEYS("Too many idempotency keys", true),
        EXPIRED("Position expired", false),
        GENERATION_CHANGED("The stream was deleted and made anew", false),
        TOO_LARGE("Too large", false),
        UNSUPPORTED_TYPE("Unsupported media type", false),
        POSITION_AHEAD("Position is ahead of the stream", false),
        TIME_REFUSED("Event time refused", false),
        NOT_IMPLEMENTED("Not implemented", false),
        INTERNAL("Internal error", false),
        DAMAGED("Archive damaged", false),
        UNAVAILABLE("Unavailable", true),
        OVERLOADED("Too much in flight", true);

        private final String title;
        private final boolean retryable;

        Kind(String title, boolean retryable) {
            this.title = title;
            this.retryable = retryable;
        }

        public String title() {
            return title;
        }

        public boolean retryable() {
            return retryable;
        }
    }

    /** Whether an append that failed may have been stored. */
    public enum Stored {
        NO("no"),
        UNKNOWN("unknown");

        private final String text;

        Stored(String text) {
            this.text = text;
        }

        public String text() {
            return text;
        }
    }

    private final Kind kind;
    private final transient Map<String, Object> fields;

    public Problem(Kind kind, String detail) {
        this(kind, detail, Map.of(), null);
    }

    private Problem(Kind kind, String detail, Map<String, Object> fields, @Nullable Throwable cause) {
        super(detail, cause, false, false);
        this.kind = kind;
        this.fields = fields;
    }

    public static Problem badRequest(String detail) {
        return new Problem(Kind.BAD_REQUEST, detail);
    }

    /** A query parameter that isn't what it should be; the field {@code parameter} names it. */
    public static Problem badParameter(String parameter, String detail) {
        return new Problem(Kind.BAD_REQUEST, detail).with("parameter", parameter);
    }

    public static Problem notFound(String detail) {
        return new Problem(Kind.NOT_FOUND, detail);
    }

    /** A stream that doesn't exist, or not any more. */
    public static Problem noStream(StreamName name) {
        return notFound("there is no stream '" + quote(name.value()) + "'");
    }

    /** Something above a limit; the field {@code limit} is the name of the setting and {@code max} its value. */
    public static Problem tooLarge(String limit, long max, String detail) {
        return new Problem(Kind.TOO_LARGE, detail).with("limit", limit).with("max", max);
    }

    /** An append that can't be taken now. */
    public static Problem unavailable(Stored stored, String detail) {
        return new Problem(Kind.UNAVAILABLE, detail).with("stored", stored.text());
    }

    /** Too much is in flight: nothing was stored. */
    public static Problem overloaded(String detail) {
        return new Problem(Kind.OVERLOADED, detail).with("stored", Stored.NO.text());
    }

    /** The same problem with one more field. Values: String, Number, Boolean, or a List of these. */
    public Problem with(String field, Object value) {
        Map<String, Object> more = new LinkedHashMap<>(fields);
        more.put(field, value);
        return new Problem(kind, detail(), more, getCause());
    }

    /** The same problem with a cause, for the log. */
    public Problem causedBy(Throwable cause) {
        return new Problem(kind, detail(), fields, cause);
    }

    public Kind kind() {
        return kind;
    }

    public String detail() {
        String message = getMessage();
        return message == null ? kind.title() : message;
    }

    public Map<String, Object> fields() {
        return Collections.unmodifiableMap(fields);
    }

    /** User input made fit for an error text: cut to 60 characters, control characters as {@code ?}. */
    public static String quote(CharSequence input) {
        StringBuilder shown = new StringBuilder();
        for (int i = 0; i < Math.min(input.length(), 60); i++) {
            char c = input.charAt(i);
            shown.append(Character.isISOControl(c) || Character.isSurrogate(c) ? '?' : c);
        }
        return input.length() > 60 ? shown + "…" : shown.toString();
    }
}
