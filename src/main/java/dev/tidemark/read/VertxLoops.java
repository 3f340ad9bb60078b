package dev.tidemark.read;

import io.vertx.core.Context;
import io.vertx.core.Vertx;

/** The event loops of a Vert.x instance. One object a thread: contexts, also those of single requests, share their thread's. */
public final class VertxLoops implements EventLoop.Current {
    private final Vertx vertx;
    private final ThreadLocal<EventLoop> loops;

    public VertxLoops(Vertx vertx) {
        this.vertx = vertx;
        loops = ThreadLocal.withInitial(this::here);
    }

    /** @throws IllegalStateException if the caller isn't on an event loop */
    @Override
    public EventLoop loop() {
        if (!Context.isOnEventLoopThread()) {
            throw new IllegalStateException(
                    "subscriptions are made on an event loop, not on " + Thread.currentThread());
        }
        return loops.get();
    }

    private EventLoop here() {
        Context context = vertx.getOrCreateContext();
        return new EventLoop() {
            @Override
            public void post(Runnable task) {
                context.runOnContext(v -> task.run());
            }

            @Override
            public void schedule(long delayMs, Runnable task) {
                vertx.setTimer(delayMs, timer -> context.runOnContext(v -> task.run()));
            }
        };
    }
}
