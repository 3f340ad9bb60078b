package dev.tidemark.http;

import dev.tidemark.event.Clock;
import dev.tidemark.event.Cursor;
import dev.tidemark.event.Slice;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A follower's event stream (Server-Sent Events). The answer's head goes out with the first message: a problem before it is an answer
 * of its own, with its status, so that a browser doesn't try again for ever.
 */
final class EventStreamOutput implements FollowOutput {
    private static final String FIRST = "retry: 2000\n\n";
    private static final String RETRY_FIELD = "retry_after_ms";

    private final Exchange exchange;
    private final SharedEncoding shared;
    private final Clock clock;
    private long lastWriteNs;
    private boolean begun;

    EventStreamOutput(Exchange exchange, SharedEncoding shared, Clock clock) {
        this.exchange = exchange;
        this.shared = shared;
        this.clock = clock;
        lastWriteNs = clock.monotonicNs();
    }

    /** Runs whenever the client can take more after it couldn't. */
    void onDrained(Runnable then) {
        exchange.response().drainHandler(v -> then.run());
    }

    @Override
    public void events(List<Slice> events) {
        JsonOut encoded = shared.serverSentEvents(events);
        if (begin()) {
            exchange.response().write(encoded.buffer());
        }
    }

    @Override
    public void message(String type, JsonOut message, @Nullable Cursor cursor) {
        block(type, message, cursor, "");
    }

    private void block(String type, JsonOut message, @Nullable Cursor cursor, String lastLine) {
        JsonOut out = new JsonOut(message.length() + 128);
        if (type.equals("heartbeat")) {
            out.ascii(": keep-alive\n");
        }
        out.ascii("event: ").ascii(type).ascii("\n");
        if (cursor != null) {
            out.ascii("id: ").ascii(cursor.toString()).ascii("\n");
        }
        out.ascii("data: ")
                .rawOnOneLine(message.array(), 0, message.length())
                .ascii("\n")
                .ascii(lastLine)
                .ascii("\n");
        if (begin()) {
            exchange.response().write(out.buffer());
        }
    }

    /** Whether there is an answer to write into. */
    private boolean begin() {
        if (exchange.answered()) {
            return false;
        }
        lastWriteNs = clock.monotonicNs();
        if (!begun) {
            begun = true;
            exchange.response().putHeader("x-accel-buffering", "no");
            return exchange.beginStream(Accept.EVENT_STREAM.mediaType())
                    && exchange.response().write(FIRST) != null;
        }
        return true;
    }

    @Override
    public boolean writable() {
        return !exchange.answered() && !exchange.response().writeQueueFull();
    }

    @Override
    public long lastWriteNs() {
        return lastWriteNs;
    }

    @Override
    public void fail(ProblemJson problem, @Nullable Cursor cursor) {
        if (!begun) {
            exchange.refuse(problem);
            return;
        }
        Object retryMs = problem.fields().get(RETRY_FIELD);
        block("error", problem.message(cursor), cursor, retryMs == null ? "" : "retry: " + retryMs + "\n");
        if (!exchange.answered()) {
            exchange.response().end();
        }
    }

    /** Inside an event stream: a browser that gets a status that isn't 200 never comes again. */
    @Override
    public void failForNow(ProblemJson problem) {
        exchange.peer().closeSoon();
        if (begin()) {
            fail(problem, null);
        }
    }
}
