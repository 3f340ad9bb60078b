package dev.tidemark.http;

import dev.tidemark.event.Cursor;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Problem.Kind;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An error as clients get it: RFC 9457 over HTTP, an {@code error} frame over WebSocket and SSE. The one place that decides which
 * HTTP status and which close code a problem has.
 *
 * @param status of HTTP
 * @param closeCode of WebSocket; 4000–4499 say "reconnect with the last cursor", 4500–4999 "don't"
 * @param type URI of the kind of problem
 * @param title the kind in words
 * @param detail what is wrong and what is allowed
 * @param retryable whether the same request can succeed later
 * @param fields what helps a program
 */
record ProblemJson(
        int status,
        short closeCode,
        String type,
        String title,
        String detail,
        boolean retryable,
        Map<String, Object> fields) {
    static final String MEDIA_TYPE = "application/problem+json";

    static final short STOPPING = 4000;
    static final short TOO_SLOW = 4001;
    static final short BAD_REQUEST = 4500;
    static final short NOT_AUTHORISED = 4501;
    static final short NO_SUCH_STREAM = 4504;
    static final short EXPIRED = 4510;
    static final short INTERNAL_ERROR = 1011;

    private static final Logger LOG = LoggerFactory.getLogger(ProblemJson.class);
    private static final String TYPE_PREFIX = "urn:tidemark:problem:";

    /** What to tell of {@code failure}. Anything but a {@link Problem} is a defect: it is logged and nothing of it is told. */
    static ProblemJson of(Throwable failure) {
        if (failure instanceof Problem problem) {
            Kind kind = problem.kind();
            if (problem.getCause() != null && (kind == Kind.INTERNAL || kind == Kind.DAMAGED)) {
                LOG.error("{}: {}", kind, problem.detail(), problem.getCause());
            }
            return new ProblemJson(
                    status(kind),
                    closeCode(kind),
                    TYPE_PREFIX + kind.name().toLowerCase(Locale.ROOT),
                    kind.title(),
                    problem.detail(),
                    kind.retryable(),
                    problem.fields());
        }
        LOG.error("a request failed unexpectedly", failure);
        return of(new Problem(Kind.INTERNAL, "the server failed to handle this; its log says why"));
    }

    static ProblemJson of(Refusal refusal, String detail) {
        return new ProblemJson(
                refusal.status(),
                BAD_REQUEST,
                TYPE_PREFIX + refusal.code(),
                refusal.title(),
                detail,
                refusal == Refusal.REQUEST_TIMEOUT,
                Map.of());
    }

    /** The HTTP status of a kind. */
    static int status(Kind kind) {
        return switch (kind) {
            case BAD_REQUEST, BAD_BODY -> 400;
            case FORBIDDEN, PRODUCER_FENCED -> 403;
            case NOT_FOUND -> 404;
            case METHOD_NOT_ALLOWED -> 405;
            case CONFLICT, NONMONOTONIC, SEQ_GAP, SEQ_EXPIRED, BODY_CHANGED -> 409;
            case EXPIRED, GENERATION_CHANGED -> 410;
            case TOO_LARGE -> 413;
            case UNSUPPORTED_TYPE -> 415;
            case POSITION_AHEAD -> 416;
            case TIME_REFUSED -> 422;
            case TOO_MANY_KEYS -> 429;
            case INTERNAL, DAMAGED -> 500;
            case NOT_IMPLEMENTED -> 501;
            case UNAVAILABLE, OVERLOADED -> 503;
        };
    }

    /** The WebSocket close code of a kind. */
    static short closeCode(Kind kind) {
        return switch (kind) {
            case UNAVAILABLE -> STOPPING;
            case OVERLOADED, TOO_MANY_KEYS -> TOO_SLOW;
            case FORBIDDEN -> NOT_AUTHORISED;
            case NOT_FOUND -> NO_SUCH_STREAM;
            case EXPIRED, GENERATION_CHANGED -> EXPIRED;
            case INTERNAL, DAMAGED -> INTERNAL_ERROR;
            default -> BAD_REQUEST;
        };
    }

    /** The body of an HTTP answer. */
    JsonOut body() {
        JsonOut json = new JsonOut(256).ascii("{\"type\":").string(type);
        return rest(json).ascii("}");
    }

    /**
     * The {@code error} message of WebSocket and SSE; the problem's type stands under {@code problem}, because {@code type} is the
     * message's own.
     *
     * @param cursor where to resume; null if nothing can be resumed
     */
    JsonOut message(@Nullable Cursor cursor) {
        JsonOut json =
                new JsonOut(256).ascii("{\"type\":\"error\",\"problem\":").string(type);
        json = rest(json);
        if (cursor != null) {
            json.ascii(",\"cursor\":\"").ascii(cursor.toString()).ascii("\"");
        }
        return json.ascii("}");
    }

    private JsonOut rest(JsonOut json) {
        json.ascii(",\"title\":").string(title);
        json.ascii(",\"status\":").number(status);
        json.ascii(",\"detail\":").string(detail);
        json.ascii(",\"retryable\":").bool(retryable);
        fields.forEach((name, value) -> json.ascii(",").string(name).ascii(":").value(value));
        return json;
    }
}
