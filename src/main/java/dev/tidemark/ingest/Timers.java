package dev.tidemark.ingest;

import io.vertx.core.Vertx;

/** Where delays come from, so that tests own them. Any thread. */
public interface Timers {
    /**
     * Runs an action once, on the caller's context.
     *
     * @param delayMs at least 1
     * @return cancels it; does nothing if it has run
     */
    Runnable start(long delayMs, Runnable action);

    /** Timers of Vert.x. */
    static Timers of(Vertx vertx) {
        return (delayMs, action) -> {
            long timer = vertx.setTimer(delayMs, fired -> action.run());
            return () -> vertx.cancelTimer(timer);
        };
    }
}
