package dev.tidemark.read;

/** The event loop that a subscription lives on. Tasks run one at a time, in order, never within the call. Any thread may call. */
public interface EventLoop {
    void post(Runnable task);

    /** @param delayMs at least 1 */
    void schedule(long delayMs, Runnable task);

    /** Finds the caller's loop. */
    @FunctionalInterface
    interface Current {
        /** The same object for every caller on one loop. */
        EventLoop loop();
    }
}
