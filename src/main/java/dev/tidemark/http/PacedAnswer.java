package dev.tidemark.http;

import dev.tidemark.event.Slice;
import io.vertx.core.http.HttpHeaders;
import java.util.List;

/**
 * An answer whose events are known but may be large: it is written piece by piece as the client takes it, so that a slow client costs
 * one piece and not the whole. Its length is known and sent.
 */
final class PacedAnswer {
    static final int PIECE_BYTES = 256 << 10;

    private final Exchange exchange;
    private final CharSequence contentType;
    private final JsonOut start;
    private final List<Slice> events;
    private final EventRun run;
    private final boolean lines;
    private final JsonOut end;
    private boolean first = true;

    /**
     * @param lines whether every event ends with a line feed, instead of commas between them
     * @param start written before the events
     * @param end written behind them
     */
    PacedAnswer(
            Exchange exchange,
            CharSequence contentType,
            JsonOut start,
            List<Slice> events,
            boolean lines,
            JsonOut end) {
        this.exchange = exchange;
        this.contentType = contentType;
        this.start = start;
        this.events = events;
        this.lines = lines;
        this.end = end;
        run = new EventRun(events, false);
    }

    void start() {
        if (exchange.answered()) {
            return;
        }
        long eventBytes = EventWriter.arrayBytes(events);
        long length = start.length() + (lines || eventBytes == 0 ? eventBytes : eventBytes - 1) + end.length();
        if (length <= PIECE_BYTES) {
            JsonOut whole = new JsonOut((int) length).raw(start.array(), 0, start.length());
            piece(whole, Integer.MAX_VALUE);
            exchange.answer(
                    200, contentType, whole.raw(end.array(), 0, end.length()).buffer());
            return;
        }
        exchange.head(200, contentType);
        exchange.response().headers().set(HttpHeaders.CONTENT_LENGTH, Long.toString(length));
        if (exchange.isHead()) {
            exchange.endHead();
            return;
        }
        exchange.paced();
        exchange.response().drainHandler(v -> exchange.guard(this::write));
        exchange.response().write(start.buffer());
        write();
    }

    private void write() {
        while (!exchange.answered() && !exchange.response().writeQueueFull()) {
            if (run.atEnd()) {
                exchange.response().end(end.buffer());
                return;
            }
            JsonOut piece = new JsonOut(PIECE_BYTES);
            piece(piece, PIECE_BYTES / 2);
            exchange.response().write(piece.buffer());
        }
    }

    private void piece(JsonOut piece, int bytes) {
        while (!run.atEnd() && piece.length() < bytes) {
            if (lines) {
                EventWriter.line(run.chunk(), run.index(), piece);
            } else {
                if (!first) {
                    piece.ascii(",");
                }
                EventWriter.object(run.chunk(), run.index(), piece);
            }
            first = false;
            run.advance();
        }
    }
}
