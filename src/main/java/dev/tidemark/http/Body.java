package dev.tidemark.http;

import dev.tidemark.event.Problem;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClosedException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Collects one request body, within its own bound and that of all bodies on this event loop. */
final class Body {
    private final Exchange exchange;
    private final Budget budget;
    private final String limit;
    private final long bytesMax;
    private final Consumer<Buffer> then;
    private final List<Buffer> pieces = new ArrayList<>(2);

    private int length;
    private boolean over;

    Body(Exchange exchange, Budget budget, String limit, long bytesMax, Consumer<Buffer> then) {
        this.exchange = exchange;
        this.budget = budget;
        this.limit = limit;
        this.bytesMax = bytesMax;
        this.then = then;
    }

    void collect() {
        if (exchange.declaredLength() > bytesMax) {
            refuse(tooLarge());
            return;
        }
        var request = exchange.request();
        request.handler(this::piece);
        request.endHandler(v -> whole());
        request.exceptionHandler(this::broken);
        exchange.sendContinue();
    }

    private void piece(Buffer piece) {
        if (over || exchange.answered()) {
            return;
        }
        if (length + (long) piece.length() > bytesMax) {
            refuse(tooLarge());
        } else if (!budget.take(piece.length())) {
            refuse(Problem.overloaded("too many bytes of request bodies are in flight; try again"));
        } else {
            length += piece.length();
            pieces.add(piece);
        }
    }

    private Problem tooLarge() {
        return Problem.tooLarge(limit, bytesMax, "the body is larger than " + bytesMax + " bytes; nothing was stored")
                .with("stored", Problem.Stored.NO.text());
    }

    private void refuse(Problem problem) {
        over = true;
        release();
        exchange.refuseAndClose(ProblemJson.of(problem));
    }

    private void whole() {
        if (over) {
            return;
        }
        over = true;
        if (exchange.answered()) {
            release();
            return;
        }
        exchange.guard(() -> then.accept(joined()));
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

    private Buffer joined() {
        if (pieces.size() == 1) {
            return pieces.get(0);
        }
        Buffer joined = Buffer.buffer(length);
        pieces.forEach(joined::appendBuffer);
        pieces.clear();
        return joined;
    }

    /** Gives the bytes back to the budget; called when the answer is there. */
    void release() {
        budget.give(length);
        length = 0;
        pieces.clear();
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
