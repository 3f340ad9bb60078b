package dev.tidemark.keeper;

import dev.tidemark.event.Clock;

/** Since when a stripe hasn't been used. Owned by its keeper. */
final class IdleWatch {
    private final Clock clock;
    private final long idleNs;
    private long usedNs;

    IdleWatch(Clock clock, long idleMs) {
        this.clock = clock;
        this.idleNs = idleMs * 1_000_000;
        this.usedNs = clock.monotonicNs();
    }

    void used() {
        usedNs = clock.monotonicNs();
    }

    /**
     * Whether the stripe has been idle for long enough.
     *
     * @param resting whether nothing is under way and nobody follows
     * @param read whether it was read since the last call
     */
    boolean isOver(boolean resting, boolean read) {
        if (!resting || read) {
            used();
        }
        return clock.monotonicNs() - usedNs >= idleNs;
    }
}
