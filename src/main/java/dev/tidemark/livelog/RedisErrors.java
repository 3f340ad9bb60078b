package dev.tidemark.livelog;

import dev.tidemark.livelog.LiveLogException.Kind;
import io.vertx.redis.client.Response;
import io.vertx.redis.client.ResponseType;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What Redis's error texts mean: the one place that knows. Unknown ones are {@link Kind#REFUSED}: an error text always means that the
 * command was not executed.
 */
final class RedisErrors {
    /** The script's own word for "the first entry was written, a later one was refused", which nothing but a fault of Redis can cause. */
    static final String PARTIAL = "PARTIAL";

    /** What the Redis client answers for commands of a connection that broke. */
    private static final String CONNECTION_CLOSED = "CONNECTION_CLOSED";

    /** Redis 6.2 wraps what a script met: {@code ERR Error running script (call to f_…): @user_script:1: @user_script: 1: -OOM …}. */
    private static final Pattern WRAPPED = Pattern.compile(
            "(?:ERR Error running script \\(call to [^)]*\\): )?(?:@user_script: ?\\d+: )*-?(.*)", Pattern.DOTALL);

    private static final Map<String, Kind> BY_CODE = Map.ofEntries(
            Map.entry("OOM", Kind.OUT_OF_MEMORY),
            Map.entry("LOADING", Kind.NOT_NOW),
            Map.entry("READONLY", Kind.NOT_NOW),
            Map.entry("MISCONF", Kind.NOT_NOW),
            Map.entry("BUSY", Kind.NOT_NOW),
            Map.entry("MASTERDOWN", Kind.NOT_NOW),
            Map.entry("CLUSTERDOWN", Kind.NOT_NOW),
            Map.entry("TRYAGAIN", Kind.NOT_NOW),
            Map.entry("NOREPLICAS", Kind.NOT_NOW),
            Map.entry("NOGOODSLAVE", Kind.NOT_NOW),
            Map.entry("NOSCRIPT", Kind.NOT_NOW),
            Map.entry("UNKILLABLE", Kind.NOT_NOW),
            Map.entry(PARTIAL, Kind.UNKNOWN),
            Map.entry(CONNECTION_CLOSED, Kind.UNKNOWN),
            Map.entry("ILLEGAL_STATE", Kind.UNKNOWN));

    private RedisErrors() {}

    /** Whether {@code cause} is an answer of Redis, and not a failure of the connection. */
    static boolean isAnswer(Throwable cause) {
        return cause instanceof Response answer
                && answer.type() == ResponseType.ERROR
                && !code(text(cause)).equals(CONNECTION_CLOSED)
                && !code(text(cause)).equals("ILLEGAL_STATE");
    }

    /** The exception for a command that failed after it may have been sent. */
    static LiveLogException of(Throwable cause) {
        if (cause instanceof LiveLogException typed) {
            return typed;
        }
        if (!isAnswer(cause)) {
            return new LiveLogException(Kind.UNKNOWN, "the connection to Redis broke: " + text(cause), cause);
        }
        return new LiveLogException(kind(text(cause)), "Redis: " + shown(text(cause)), null);
    }

    /** The exception for a connection that couldn't be made: whatever happened, no command was sent. */
    static LiveLogException ofConnect(Throwable cause, RedisAddress address) {
        if (cause instanceof LiveLogException typed) {
            return typed;
        }
        Kind kind = isAnswer(cause) ? kind(text(cause)) : Kind.NOT_SENT;
        return new LiveLogException(
                kind == Kind.UNKNOWN ? Kind.NOT_SENT : kind,
                "can't connect to Redis at " + address + ": " + shown(text(cause)),
                cause);
    }

    /** What an error text says about its command. */
    static Kind kind(String error) {
        String text = unwrapped(error);
        Kind byCode = BY_CODE.get(code(text));
        if (byCode != null) {
            return byCode;
        }
        if (text.contains("used memory > 'maxmemory'")) {
            return Kind.OUT_OF_MEMORY;
        }
        if (text.contains("equal or smaller")
                || text.contains("XSETID is smaller")
                || text.contains("exhausted the last possible ID")) {
            return Kind.ID_TOO_LOW;
        }
        if (text.contains("no such key")) {
            return Kind.KEY_MISSING;
        }
        return text.contains("max number of clients") ? Kind.NOT_NOW : Kind.REFUSED;
    }

    static boolean isNoScript(Throwable cause) {
        return isAnswer(cause) && code(unwrapped(text(cause))).equals("NOSCRIPT");
    }

    /** Whether another connection may fare better: Redis became a replica, or asks for other credentials. */
    static boolean asksForNewConnection(Throwable cause) {
        String code = isAnswer(cause) ? code(unwrapped(text(cause))) : "";
        return code.equals("READONLY") || code.equals("NOAUTH");
    }

    private static String unwrapped(String error) {
        Matcher wrapped = WRAPPED.matcher(error);
        String inner = wrapped.matches() ? wrapped.group(1) : null;
        return inner == null ? error : inner;
    }

    private static String code(String text) {
        int blank = text.indexOf(' ');
        return blank < 0 ? text : text.substring(0, blank);
    }

    private static String text(Throwable cause) {
        @Nullable String message = cause.getMessage();
        return message == null ? cause.getClass().getSimpleName() : message;
    }

    private static String shown(String text) {
        String cut = text.length() > 300 ? text.substring(0, 300) + "…" : text;
        return cut.replaceAll("\\p{Cntrl}", "?");
    }
}
