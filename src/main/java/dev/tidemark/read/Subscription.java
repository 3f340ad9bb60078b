package dev.tidemark.read;

import dev.tidemark.event.Cursor;

/** A running subscription, held by its session. Used on the context that subscribed. */
public interface Subscription {
    /** The session can take more. */
    void drained();

    void pause();

    void resume();

    /** Where the subscriber is: everything at or below it has been given. */
    Cursor cursor();

    /** For heartbeats. */
    Seam seam();

    /** Whether the live log can be reached: {@code ok} or {@code away} in heartbeats. */
    boolean liveLogReachable();

    /** Ends it; the subscriber isn't called any more. */
    void close();
}
