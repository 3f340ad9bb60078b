package dev.tidemark.http;

import dev.tidemark.event.Problem;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The body of one request: taken whole, within its own bound and that of all bodies on this event loop, or read away. Used on the
 * connection's event loop.
 */
final class Body {
    /** A body that isn't wanted is read away up to this size; a larger one costs the connection. */
    private static final long READ_AWAY_MAX = 256 << 10;
    /** Each such piece of a body that came gives the rest another second. */
    private static final long BYTES_A_SECOND = 64 << 10;

    private final Exchange exchange;
    private final HttpServerRequest request;
    private final Budget budget;
    private final long beginNs;
    private final long declaredLength;
    private final boolean announced;

    private List<Buffer> pieces = List.of();
    private int length;
    private boolean over;
    private boolean continueSent;

    Body(Exchange exchange, Budget budget, long beginNs) {
        this.exchange = exchange;
        this.budget = budget;
        this.beginNs = beginNs;
        request = exchange.request();
        declaredLength = declaredLength(request.getHeader(HttpHeaders.CONTENT_LENGTH));
        announced = declaredLength > 0 || request.headers().contains(HttpHeaders.TRANSFER_ENCODING);
    }

    /** The {@code Content-Length}, which the decoder has checked; -1 if there is none. */
    private static long declaredLength(@Nullable String written) {
        if (written == null || !Parameters.isDigits(written)) {
            return -1;
        }
        return written.length() > 18 ? Long.MAX_VALUE : Long.parseLong(written);
    }

    /** Whether something of it may still come. */
    boolean isUnderWay() {
        return announced && !request.isEnded();
    }

    /** Whether the client waits to be told to send it. */
    boolean expectsContinue() {
        return request.version() == HttpVersion.HTTP_1_1 && request.headers().contains(HttpHeaders.EXPECT);
    }

    /** Whether what is left of it would make the connection useless. */
    boolean costsTheConnection() {
        boolean notSent = expectsContinue() && !continueSent;
        return isUnderWay() && (notSent || declaredLength < 0 || declaredLength > READ_AWAY_MAX);
    }

    /**
     * Takes it whole and hands it on; too much, too slow or a broken one is answered here.
     *
     * @param limit what the limit is called
     */
    void collect(String limit, long bytesMax, Consumer<Buffer> then) {
        if (!announced) {
            then.accept(Buffer.buffer());
            return;
        }
        if (declaredLength > bytesMax) {
            refuse(tooLarge(limit, bytesMax));
            return;
        }
        pieces = new ArrayList<>(2);
        request.handler(piece -> take(piece, limit, bytesMax));
        request.endHandler(v -> whole(then));
        request.exceptionHandler(this::broken);
        if (expectsContinue()) {
            continueSent = true;
            exchange.response().writeContinue();
        }
    }

    private void take(Buffer piece, String limit, long bytesMax) {
        if (over || exchange.answered()) {
            return;
        }
        if (length + (long) piece.length() > bytesMax) {
            refuse(tooLarge(limit, bytesMax));
        } else if (!budget.take(piece.length())) {
            refuse(Problem.overloaded("too many bytes of request bodies are in flight; try again"));
        } else {
            length += piece.length();
            pieces.add(piece);
        }
    }

    private static Problem tooLarge(String limit, long bytesMax) {
        return Problem.tooLarge(limit, bytesMax, "the body is larger than " + bytesMax + " bytes; nothing was stored")
                .with("stored", Problem.Stored.NO.text());
    }

    private void refuse(Problem problem) {
        over = true;
        release();
        exchange.refuseAndClose(ProblemJson.of(problem));
    }

    private void whole(Consumer<Buffer> then) {
        if (over) {
            return;
        }
        over = true;
        if (exchange.answered()) {
            release();
        } else {
            exchange.guard(() -> then.accept(joined()));
        }
    }

    private Buffer joined() {
        if (pieces.size() == 1) {
            return pieces.get(0);
        }
        Buffer joined = Buffer.buffer(length);
        pieces.forEach(joined::appendBuffer);
        pieces = List.of();
        return joined;
    }

    /** The connection is gone, or the body's framing is broken: then Vert.x closes as soon as this returns. */
    private void broken(Throwable cause) {
        over = true;
        release();
        if (!(cause instanceof HttpClosedException) && !exchange.answered()) {
            exchange.refuseAndClose(
                    ProblemJson.of(Refusal.MALFORMED, "the body's chunks are malformed; nothing was stored"));
            exchange.peer().flush();
        }
    }

    /** Gives its bytes back to the budget; called when they aren't needed any more. */
    void release() {
        budget.give(length);
        length = 0;
        pieces = List.of();
    }

    /** Reads away what still comes. */
    void readAway(Runnable ended) {
        request.handler(null);
        request.exceptionHandler(e -> {});
        request.endHandler(v -> ended.run());
    }

    /** Whether it should have arrived by now. */
    boolean isLate(long nowNs, long bodyMs) {
        long more = request.bytesRead() / BYTES_A_SECOND * 1_000_000_000L;
        return isUnderWay() && nowNs - beginNs >= bodyMs * 1_000_000 + more;
    }

    /** How many bytes of bodies one event loop holds. */
    static final class Budget {
        private final long max;
        private long held;

        Budget(long max) {
            this.max = max;
        }

        boolean take(long bytes) {
            if (held + bytes > max) {
                return false;
            }
            held += bytes;
            return true;
        }

        void give(long bytes) {
            held -= bytes;
        }

        long held() {
            return held;
        }
    }
}
