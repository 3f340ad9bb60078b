package dev.tidemark.livelog;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A connection of {@link FakeLiveLog}: a queue of commands, executed and answered in order. Guarded by the live log's monitor. */
final class FakeConnection {
    private final FakeLiveLog log;
    private final Runnable onClosed;
    private final Deque<Pending<?>> pending = new ArrayDeque<>();
    private boolean open = true;
    private boolean pumping;

    FakeConnection(FakeLiveLog log, Runnable onClosed) {
        this.log = log;
        this.onClosed = onClosed;
    }

    /** Runs on the context that is current now, or where it is called if there is none. */
    static Runnable onCallersContext(Runnable action) {
        Context context = Vertx.currentContext();
        return context == null ? action : () -> context.runOnContext(none -> action.run());
    }

    private static <T> Promise<T> promise() {
        Context context = Vertx.currentContext();
        return context == null ? Promise.promise() : ((ContextInternal) context).promise();
    }

    <T> Future<T> failed(LiveLogException.Kind kind, String why) {
        Promise<T> promise = promise();
        promise.fail(new LiveLogException(kind, why));
        return promise.future();
    }

    <T> Future<T> send(FakeLiveLog.Command command, String text, Supplier<@Nullable T> action) {
        synchronized (log) {
            if (!open) {
                return failed(LiveLogException.Kind.NOT_SENT, "the connection is closed");
            }
            if (pending.size() >= log.inFlightMax()) {
                return failed(LiveLogException.Kind.NOT_SENT, "too much in flight");
            }
            Pending<T> sent = new Pending<>(command, text, action, promise());
            sent.bytesHeld = log.holdsBytes(command);
            sent.replyHeld = log.holdsReply(command);
            pending.add(sent);
            pump();
            return sent.promise.future();
        }
    }

    /** Executes and answers as far as nothing is held. */
    void pump() {
        if (pumping) {
            return;
        }
        pumping = true;
        try {
            boolean moved = true;
            while (moved) {
                executeArrived();
                moved = answerFirst();
            }
        } finally {
            pumping = false;
        }
    }

    private void executeArrived() {
        for (Pending<?> sent : List.copyOf(pending)) {
            if (sent.executed) {
                continue;
            }
            if (sent.bytesHeld) {
                return;
            }
            sent.execute(log);
        }
    }

    private boolean answerFirst() {
        Pending<?> first = pending.peek();
        if (first == null || !first.executed || first.replyHeld) {
            return false;
        }
        pending.remove();
        first.answer();
        return true;
    }

    void releaseReplies() {
        pending.forEach(sent -> sent.replyHeld = false);
    }

    void releaseBytes() {
        pending.forEach(sent -> sent.bytesHeld = false);
    }

    /** What is on the wire and may be executed after the connection is gone. */
    List<Runnable> unexecuted() {
        List<Runnable> rest = new ArrayList<>();
        for (Pending<?> sent : pending) {
            if (!sent.executed) {
                rest.add(() -> sent.execute(log));
            }
        }
        return rest;
    }

    void broken() {
        if (open) {
            failPending();
            onClosed.run();
        }
    }

    void close() {
        synchronized (log) {
            failPending();
        }
    }

    private void failPending() {
        open = false;
        List<Pending<?>> unanswered = List.copyOf(pending);
        pending.clear();
        for (Pending<?> sent : unanswered) {
            sent.promise.tryFail(
                    new LiveLogException(LiveLogException.Kind.UNKNOWN, "the connection broke: " + sent.text));
        }
    }

    int inFlight() {
        return pending.size();
    }

    private static final class Pending<T> {
        private final FakeLiveLog.Command command;
        private final String text;
        private final Supplier<@Nullable T> action;
        private final Promise<T> promise;
        private boolean bytesHeld;
        private boolean replyHeld;
        private boolean executed;
        private @Nullable T result;
        private @Nullable LiveLogException error;

        Pending(FakeLiveLog.Command command, String text, Supplier<@Nullable T> action, Promise<T> promise) {
            this.command = command;
            this.text = text;
            this.action = action;
            this.promise = promise;
        }

        void execute(FakeLiveLog log) {
            executed = true;
            try {
                result = log.execute(command, text, action);
            } catch (LiveLogException e) {
                error = e;
            }
        }

        void answer() {
            if (error != null) {
                promise.tryFail(error);
            } else {
                promise.tryComplete(result);
            }
        }
    }
}
