package dev.tidemark.keeper;

import dev.tidemark.event.Clock;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamId;
import io.vertx.core.Future;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
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
    private final Stop stop;
    private final long lostBelowMs;
    private final AtomicBoolean raising = new AtomicBoolean();
    private final AtomicLong usedMs = new AtomicLong();
    private volatile long highMs;
    private volatile boolean written;

    /**
     * @param startMs the predecessor's H: ids of this process start there
     * @param cleanStart whether the predecessor stopped cleanly: nothing of it can still be on its way to Redis
     * @param stop if it did, where its streams were
     */
    public IdReservation(Store store, Clock clock, long startMs, boolean cleanStart, Stop stop) {
        this(store, clock, startMs, cleanStart, stop, 0);
    }

    /**
     * @param lostBelowMs Redis may have lost the newest of what was acknowledged at times below it, although nothing there tells; 0 if it
     *     never did
     */
    public IdReservation(Store store, Clock clock, long startMs, boolean cleanStart, Stop stop, long lostBelowMs) {
        this.lostBelowMs = lostBelowMs;
        this.store = store;
        this.clock = clock;
        this.startMs = startMs;
        this.cleanStart = cleanStart;
        this.stop = stop;
        this.highMs = startMs;
    }

    /** The first millisecond that this process may mint in. */
    public long startMs() {
        return startMs;
    }

    /** What the predecessor may have called final of a stream with an acceptance window. */
    public Position frontierAtStart(StreamId stream, long windowMs) {
        return cleanStart ? stop.frontier(stream, windowMs) : Acceptance.endBefore(startMs);
    }

    /** Where this process's streams are, all of their appends answered. */
    public Stop stop(Collection<? extends LiveStream> streams) {
        long stoppedMs = Math.max(clock.wallMs(), usedMs());
        Stop plain = new Stop(stoppedMs, Map.of());
        Map<StreamId, Position> frontiers = new HashMap<>();
        for (LiveStream stream : streams) {
            if (!stream.finalOnArrival()) {
                long windowMs = stream.settings().acceptanceWindowMs();
                StreamSnapshot snapshot = stream.snapshot();
                Position frontier = snapshot.isOpen() ? snapshot.frontier() : frontierAtStart(stream.id(), windowMs);
                if (frontier.isAfter(plain.frontier(stream.id(), windowMs))) {
                    frontiers.put(stream.id(), frontier);
                }
            }
        }
        return new Stop(stoppedMs, frontiers);
    }

    /**
     * Where streams were at a clean stop.
     *
     * @param ms the clocks of streams stood there or below
     * @param frontiers of those that were further than {@code ms} and their window tell
     */
    public record Stop(long ms, Map<StreamId, Position> frontiers) {
        public static final Stop NONE = new Stop(0, Map.of());

        public Stop {
            frontiers = Map.copyOf(frontiers);
        }

        /** None of them lies above this time. */
        long highestMs() {
            return frontiers.values().stream().mapToLong(Position::ms).reduce(ms, Math::max);
        }

        Position frontier(StreamId stream, long windowMs) {
            return frontiers.getOrDefault(stream, Acceptance.endBefore(ms - windowMs));
        }
    }

    /** Whether the predecessor stopped with everything folded and nothing on its way. */
    boolean isCleanStart() {
        return cleanStart;
    }

    /** Streams whose last event known is below this time may have lost later ones. */
    long lostBelowMs() {
        return lostBelowMs;
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

    /** Moves H above {@code ms} if it isn't: so that the first append needn't wait for it. The first time it says on disk that a process runs. */
    public void ensure(long ms) {
        if (highMs - ms < LOW_MS || !written) {
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
        // Frontiers of before lie below it too: after a kill they are taken from it.
        long target = Math.max(Math.max(ms, clock.wallMs()), Math.max(startMs, stop.highestMs())) + AHEAD_MS;
        store.store(target).onComplete(stored -> {
            if (stored.succeeded()) {
                highMs = Math.max(highMs, target);
                written = true;
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
