package dev.tidemark.client;

import dev.tidemark.client.wire.JsonFields;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What the server refused, or what became of a connection. Its parts are those of the server's problem (RFC 9457); {@code type} is a URN:
 * {@code urn:tidemark:problem:…} from the server, {@code urn:tidemark:client:…} for what only this side saw.
 */
public final class TidemarkException extends RuntimeException {
    /** The connection couldn't be made, so nothing was sent. */
    public static final String NOT_CONNECTED = "urn:tidemark:client:not_connected";
    /** The connection broke, or no answer came in time. */
    public static final String CONNECTION_LOST = "urn:tidemark:client:connection_lost";
    /** A connection gave no sign of life for too long, or failed in a way that it shouldn't. */
    public static final String CONNECTION_DEAD = "urn:tidemark:client:connection_dead";
    /** An answer ended before its end was said. */
    public static final String CUT = "urn:tidemark:client:cut";
    /** An answer that says itself that it lacks something, for example because Redis is away. */
    public static final String INCOMPLETE = "urn:tidemark:client:incomplete";
    /** Events are missing, and the caller takes no gaps. */
    public static final String GAP = "urn:tidemark:client:gap";
    /** What came isn't Tidemark's. */
    public static final String NOT_UNDERSTOOD = "urn:tidemark:client:not_understood";
    /** The calling thread was interrupted while it waited; it is marked so again. */
    public static final String INTERRUPTED = "urn:tidemark:client:interrupted";
    /** A callback of the subscriber threw; see {@link #getCause}. */
    public static final String SUBSCRIBER_FAILED = "urn:tidemark:client:subscriber_failed";

    private static final long serialVersionUID = 1L;
    private static final long RETRY_AFTER_MS_MAX = 86_400_000;

    /** What is known of an append that failed. */
    public enum Stored {
        /** Nothing was stored, and nothing will be. */
        NO,
        /** All of it or nothing was stored: which of both isn't known. */
        UNKNOWN
    }

    private final int status;
    private final String type;
    private final String detail;
    private final boolean retryable;
    private final @Nullable Stored stored;
    private final long retryAfterMs;
    private final transient @Nullable JsonFields fields;

    private TidemarkException(
            int status,
            String type,
            String detail,
            boolean retryable,
            @Nullable Stored stored,
            long retryAfterMs,
            @Nullable JsonFields fields,
            @Nullable Throwable cause) {
        super((status > 0 ? status + " " : "") + detail, cause);
        this.status = status;
        this.type = type;
        this.detail = detail;
        this.retryable = retryable;
        this.stored = stored;
        this.retryAfterMs = retryAfterMs;
        this.fields = fields;
    }

    static TidemarkException of(String type, String detail, boolean retryable, @Nullable Throwable cause) {
        return new TidemarkException(0, type, detail, retryable, null, 0, null, cause);
    }

    /**
     * What an answer that isn't a success says: problem+json, or whatever something in between gave.
     *
     * @param retryAfterMs how long the server wants to be left alone, milliseconds
     */
    static TidemarkException ofAnswer(int status, long retryAfterMs, byte[] body) {
        try {
            JsonFields fields = JsonFields.of(body);
            return ofProblem(status, fields.text("type", "about:blank"), retryAfterMs, fields);
        } catch (JsonFields.Malformed e) {
            String detail = "the server, or something before it, answered with HTTP status " + status;
            return new TidemarkException(
                    status, "about:blank", detail, mayPass(status), null, retryAfterMs, null, null);
        }
    }

    /** What an {@code error} message of a subscription or of lines says. */
    static TidemarkException ofMessage(JsonFields fields) {
        return ofProblem((int) fields.number("status", 0), fields.text("problem", "about:blank"), 0, fields);
    }

    private static TidemarkException ofProblem(int status, String type, long retryAfterMs, JsonFields fields) {
        String title = fields.text("title", "refused");
        String detail = fields.text("detail", title);
        boolean retryable = fields.has("retryable") ? fields.isTrue("retryable") : mayPass(status);
        Stored stored =
                fields.has("stored") ? fields.text("stored", "").equals("no") ? Stored.NO : Stored.UNKNOWN : null;
        long waitMs = Math.max(retryAfterMs, Math.min(RETRY_AFTER_MS_MAX, fields.number("retry_after_ms", 0)));
        return new TidemarkException(status, type, detail, retryable, stored, waitMs, fields, null);
    }

    private static boolean mayPass(int status) {
        return status == 429 || (status >= 502 && status <= 504);
    }

    /** The same as the end of a call: thrown where the caller waits, with this as its cause. */
    TidemarkException with(@Nullable Stored what, String explanation) {
        return new TidemarkException(status, type, detail + explanation, retryable, what, 0, fields, this);
    }

    /** HTTP status of the answer; 0 if there was none. */
    public int status() {
        return status;
    }

    /** Kind of the problem, a URI; {@code about:blank} if the answer wasn't Tidemark's. */
    public String type() {
        return type;
    }

    /** What is wrong and what is allowed, a sentence for people. */
    public String detail() {
        return detail;
    }

    /** Whether the same call can succeed later. */
    public boolean retryable() {
        return retryable;
    }

    /** Of an append: whether it may have been stored all the same. Null for every other call. */
    public @Nullable Stored stored() {
        return stored;
    }

    /** How long the server wants to be left alone; 0 if it doesn't say. */
    long retryAfterMs() {
        return retryAfterMs;
    }

    /**
     * A further member of the server's problem, such as {@code earliest}, {@code line}, {@code limit}, {@code expected_seq}: a string
     * decoded, anything else as the JSON it is. Null if there is none; always null after this was serialized.
     */
    public @Nullable String field(String name) {
        return fields == null ? null : fields.text(Objects.requireNonNull(name));
    }
}
