package dev.tidemark.http;

import dev.tidemark.event.Cursor;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Problem.Kind;
import dev.tidemark.event.Slice;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.read.Reads;
import dev.tidemark.read.Seam;
import dev.tidemark.read.Subscriber;
import dev.tidemark.read.Subscription;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One follower: turns what a subscription says into messages, and sends heartbeats in silence. The same for WebSocket and event
 * streams. Used on the connection's event loop.
 */
final class FollowSession implements Subscriber {
    private static final long RETRY_MS_MIN = 500;
    private static final long RETRY_MS_MAX = 5_000;

    private final FollowOutput output;
    private final FollowParameters parameters;
    private final FollowFigures figures;
    private final Consumer<FollowSession> ended;

    private @Nullable Subscription subscription;
    private boolean greeted;
    private boolean over;

    /** @param ended told once, when nothing more will be written */
    FollowSession(
            FollowOutput output, FollowParameters parameters, FollowFigures figures, Consumer<FollowSession> ended) {
        this.output = output;
        this.figures = figures;
        this.parameters = parameters;
        this.ended = ended;
    }

    void start(Reads reads, StreamName name) {
        Subscription started = reads.subscribe(name, parameters.request(), this);
        if (over) {
            started.close();
        } else {
            subscription = started;
        }
    }

    // ---- what the subscription says

    @Override
    public void hello(StreamId stream, Cursor cursor, Seam seam) {
        if (over) {
            return;
        }
        greeted = true;
        String session = Long.toHexString(ThreadLocalRandom.current().nextLong() | Long.MIN_VALUE);
        JsonOut json = new JsonOut(1_024).ascii("{\"type\":\"hello\",\"stream\":");
        json.string(stream.name().value());
        json.ascii(",\"generation\":\"").ascii(stream.generation().toString());
        json.ascii("\",\"session\":\"").ascii(session);
        json.ascii("\",\"cursor\":\"").ascii(cursor.toString());
        SeamJson.write(seam, json.ascii("\",\"seam\":")).ascii("}");
        output.message("hello", json, cursor);
    }

    @Override
    public void events(List<Slice> events) {
        if (!over) {
            figures.given(EventWriter.count(events));
            output.events(events);
        }
    }

    @Override
    public void caughtUp(Cursor cursor) {
        at("caught_up", cursor);
    }

    @Override
    public void sealed(Position through) {
        if (!over) {
            JsonOut json = new JsonOut(64).ascii("{\"type\":\"sealed\",\"through\":");
            output.message("sealed", json.id(through).ascii("}"), null);
        }
    }

    @Override
    public void fellBehind(Cursor cursor) {
        at("fell_behind", cursor);
    }

    private void at(String type, Cursor cursor) {
        if (!over) {
            JsonOut json = new JsonOut(96).ascii("{\"type\":\"").ascii(type);
            json.ascii("\",\"cursor\":\"").ascii(cursor.toString()).ascii("\"}");
            output.message(type, json, cursor);
        }
    }

    @Override
    public void gap(Gap gap, Position earliest) {
        if (!over) {
            JsonOut json = new JsonOut(192).ascii("{\"type\":\"gap\",");
            output.message("gap", SeamJson.gapFields(gap, earliest, json).ascii("}"), null);
        }
    }

    @Override
    public void closed(Problem problem, Cursor cursor) {
        if (!over) {
            subscription = null;
            fail(problem, greeted ? cursor : null);
        }
    }

    @Override
    public boolean writable() {
        return !over && output.writable();
    }

    // ---- what the connection says

    /** The output can take more. */
    void drained() {
        if (!over && subscription != null) {
            subscription.drained();
        }
    }

    void pause() {
        if (!over && subscription != null) {
            subscription.pause();
        }
    }

    void resume() {
        if (!over && subscription != null) {
            subscription.resume();
        }
    }

    /** The client is gone. */
    void gone() {
        finish();
    }

    /** Ends it with a problem and the cursor to resume with. */
    void fail(Throwable failure, @Nullable Cursor cursor) {
        if (!over) {
            finish();
            output.fail(ProblemJson.of(withHint(failure)), cursor);
        }
    }

    /** The server stops: the client is told where to resume. */
    void stop() {
        if (greeted && subscription != null) {
            fail(stopping(), subscription.cursor());
        } else {
            refuse();
        }
    }

    /** The server stops, and the client was given nothing yet. */
    void refuse() {
        if (!over) {
            finish();
            output.failForNow(ProblemJson.of(withHint(stopping())));
        }
    }

    private static Problem stopping() {
        return new Problem(Kind.UNAVAILABLE, "the server is stopping; reconnect and resume with the cursor");
    }

    /** When to come again: another time for each, so that not all come in the same moment. */
    private static Throwable withHint(Throwable failure) {
        return failure instanceof Problem problem && problem.kind() == Kind.UNAVAILABLE
                ? problem.with("retry_after_ms", ThreadLocalRandom.current().nextLong(RETRY_MS_MIN, RETRY_MS_MAX))
                : failure;
    }

    private void finish() {
        if (over) {
            return;
        }
        over = true;
        Subscription running = subscription;
        subscription = null;
        if (running != null) {
            running.close();
        }
        ended.accept(this);
    }

    // ---- time

    void tick(long nowNs) {
        Subscription running = subscription;
        boolean silent = nowNs - output.lastWriteNs() >= parameters.heartbeatMs() * 1_000_000;
        if (!over && greeted && running != null && silent && output.writable()) {
            Cursor cursor = running.cursor();
            JsonOut json = new JsonOut(768).ascii("{\"type\":\"heartbeat\",\"cursor\":\"");
            json.ascii(cursor.toString()).ascii("\",\"seam\":");
            SeamJson.write(running.seam(), json);
            json.ascii(",\"live\":\"")
                    .ascii(running.liveLogReachable() ? "ok" : "away")
                    .ascii("\"}");
            output.message("heartbeat", json, cursor);
        }
    }
}
