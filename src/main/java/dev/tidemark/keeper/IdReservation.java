package dev.tidemark.keeper;

import dev.tidemark.event.Clock;
import io.vertx.core.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * "Ids with a time below H may have been handed out", forced to disk and moved ahead some seconds at a time. A start mints at or above the
 * H of its predecessor, so that no id is given twice whatever was lost. One for all keepers of a process; any thread.
 */
public final class IdReservation {
    /** How far H is put ahead of what is needed. */
    static final long AHEAD_MS = 5_000;
    /** When less than this is left, H is moved in the background. */
    static final long LOW_MS = 2_000;

    private final Store store;
    private final Clock clock;
    private final long startMs;
    private final boolean cleanStart;
    private final long stoppedMs;
    private final AtomicBoolean raising = new AtomicBoolean();
    private final AtomicLong usedMs = new AtomicLong();
    private volatile long highMs;

    /**
     * @param startMs the predecessor's H: ids of this process start there
     * @param cleanStart whether the predecessor stopped cleanly: nothing of it can still be on its way to Redis
     * @param stoppedMs if it did, its streams' clocks stood at this or below
     */
    public IdReservation(Store store, Clock clock, long startMs, boolean cleanStart, long stoppedMs) {
        this.store = store;
        this.clock = clock;
        this.startMs = startMs;
        this.cleanStart = cleanStart;
        this.stoppedMs = stoppedMs;
        this.highMs = startMs;
    }

    /** The first millisecond that this process may mint in. */
    public long startMs() {
        return startMs;
    }

    /** After a clean stop, the latest time that the predecessor's clocks may have shown. */
    long stoppedMs() {
        return stoppedMs;
    }

    /** Whether a stripe is to be fenced at its first use. */
    boolean needsFence(boolean streamIsNew) {
        return !cleanStart && !streamIsNew;
    }

    /** H: ids must be in a millisecond below it. */
    public long highMs() {
        return highMs;
    }

    /** The latest millisecond that ids were handed out in, for a clean stop; 0 if there were none. */
    public long usedMs() {
        return usedMs.get();
    }

    /** Moves H above {@code ms} if it isn't: so that the first append needn't wait for it. */
    public void ensure(long ms) {
        if (highMs - ms < LOW_MS) {
            raise(ms);
        }
    }

    /** Notes that ids up to {@code ms} are handed out. */
    void used(long ms) {
        if (ms > usedMs.get()) {
            usedMs.accumulateAndGet(ms, Math::max);
        }
        ensure(ms);
    }

    /** Starts to move H above {@code ms}, unless that is under way: ask {@link #highMs} again later. */
    void raise(long ms) {
        if (!raising.compareAndSet(false, true)) {
            return;
        }
        long target = Math.max(Math.max(ms, clock.wallMs()), startMs) + AHEAD_MS;
        store.store(target).onComplete(stored -> {
            if (stored.succeeded()) {
                highMs = Math.max(highMs, target);
            }
            raising.set(false);
        });
    }

    /** Where H is kept. */
    @FunctionalInterface
    public interface Store {
        /** Writes and forces H; completes when it is on disk. Any thread; never blocks the caller. */
        Future<Void> store(long highMs);
    }
}
