package dev.tidemark.livelog;

import dev.tidemark.event.Clock;
import dev.tidemark.livelog.LiveLogException.Kind;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A few connections that all threads share, each on an event loop of its own. There is no pool to wait for: a call goes to the one with
 * the fewest calls, is refused at once when that has too many, and connects anew if it must.
 */
final class SharedLinks {
    /** After a failed attempt to connect, calls fail with its error for so long. */
    private static final long RETRY_AFTER_MS = 100;

    private final RedisSettings settings;
    private final PrefixOwner owner;
    private final Clock clock;
    private final Vertx vertx;
    private final List<Slot> slots = new ArrayList<>();
    private volatile boolean closed;

    /** A link and what reads over it. */
    record Shared(RedisLink link, RedisRanges ranges) {}

    SharedLinks(Vertx vertx, RedisSettings settings, PrefixOwner owner, Clock clock) {
        this.vertx = vertx;
        this.settings = settings;
        this.owner = owner;
        this.clock = clock;
        for (int i = 0; i < settings.readConnections(); i++) {
            slots.add(new Slot(((VertxInternal) vertx).createEventLoopContext()));
        }
    }

    /** One connection, or the attempt to make one. */
    private final class Slot {
        private final ContextInternal context;
        /** Calls that aren't answered; any thread. */
        private final AtomicInteger calls = new AtomicInteger();

        // Written and read on the context only.
        private @Nullable Shared shared;
        private @Nullable Future<Shared> connecting;
        private @Nullable Throwable failure;
        private long failedAtNs;

        Slot(ContextInternal context) {
            this.context = context;
        }

        Future<Shared> link() {
            if (closed) {
                return context.failedFuture(new LiveLogException(Kind.NOT_SENT, "the live log is closed"));
            }
            if (shared != null && shared.link().isOpen()) {
                return context.succeededFuture(shared);
            }
            if (connecting != null) {
                return connecting;
            }
            if (failure != null && TimeUnit.NANOSECONDS.toMillis(clock.monotonicNs() - failedAtNs) < RETRY_AFTER_MS) {
                return context.failedFuture(failure);
            }
            Future<Shared> attempt = connect();
            connecting = attempt;
            return attempt.onComplete(done -> {
                connecting = null;
                failure = done.cause();
                failedAtNs = clock.monotonicNs();
                shared = done.result();
            });
        }

        private Future<Shared> connect() {
            return RedisLink.connect(vertx, settings, settings.readTimeoutMs(), clock, () -> {})
                    .compose(link -> owner.check(link, settings.keys())
                            .map(ours -> new Shared(link, new RedisRanges(link, new LiveLogKeysCache(settings.keys()))))
                            .onFailure(unfit -> link.close()));
        }

        void close() {
            if (shared != null) {
                shared.link().close();
            }
        }
    }

    /** Calls {@code command} with a connection, on its event loop; the answer comes on the caller's context. */
    <T> Future<T> use(Function<Shared, Future<T>> command) {
        Slot slot = leastBusy();
        ContextInternal caller = ((VertxInternal) vertx).getOrCreateContext();
        if (slot.calls.incrementAndGet() > settings.commandsInFlightMax()) {
            slot.calls.decrementAndGet();
            return caller.failedFuture(new LiveLogException(Kind.NOT_SENT, "too many reads of Redis at once"));
        }
        Promise<T> promise = caller.promise();
        slot.context.runOnContext(none -> slot.link().compose(command).onComplete(done -> {
            slot.calls.decrementAndGet();
            complete(promise, done.result(), done.cause());
        }));
        return promise.future();
    }

    private static <T> void complete(Promise<T> promise, @Nullable T result, @Nullable Throwable cause) {
        if (cause == null) {
            promise.complete(result);
        } else {
            promise.fail(cause instanceof RuntimeException ? cause : RedisErrors.of(cause));
        }
    }

    /** As {@link #use}, on a connection of its own that isn't checked for its owner. */
    <T> Future<T> unchecked(Function<RedisLink, Future<T>> command) {
        ContextInternal context = ((VertxInternal) vertx).createEventLoopContext();
        Promise<T> promise = ((VertxInternal) vertx).getOrCreateContext().promise();
        context.runOnContext(none -> RedisLink.connect(vertx, settings, settings.readTimeoutMs(), clock, () -> {})
                .compose(link -> command.apply(link).onComplete(done -> link.close()))
                .onComplete(promise));
        return promise.future();
    }

    private Slot leastBusy() {
        Slot best = slots.get(0);
        for (Slot slot : slots) {
            if (slot.calls.get() < best.calls.get()) {
                best = slot;
            }
        }
        return best;
    }

    Future<Void> close() {
        closed = true;
        List<Future<?>> closing = new ArrayList<>();
        for (Slot slot : slots) {
            Promise<Void> promise = Promise.promise();
            slot.context.runOnContext(none -> {
                slot.close();
                promise.complete();
            });
            closing.add(promise.future());
        }
        return Future.join(closing).mapEmpty();
    }
}
