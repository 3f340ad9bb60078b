package dev.tidemark.keeper;

import dev.tidemark.event.Clock;

/**
 * Time as a stripe sees it: the wall clock, but never below the last id's time, so it never runs back. Owned by the keeper.
 */
final class StreamClock {
    private final Clock clock;
    private long reachedMs;

    StreamClock(Clock clock) {
        this.clock = clock;
    }

    long nowMs() {
        reachedMs = Math.max(reachedMs, clock.wallMs());
        return reachedMs;
    }

    /** For what must also happen after a while of monotonic time, wherever the wall clock is. */
    long monotonicNs() {
        return clock.monotonicNs();
    }

    void reached(long ms) {
        reachedMs = Math.max(reachedMs, ms);
    }

    /** How far ids are ahead of the wall clock, in milliseconds; 0 if they aren't. */
    long aheadMs() {
        return Math.max(0, reachedMs - clock.wallMs());
    }
}
