package dev.tidemark.keeper;

import dev.tidemark.event.Clock;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Problem.Stored;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The appends of one stripe that have no answer yet: those that wait for the stripe, and those on their way to Redis, both in order and
 * bounded. Owned by the stripe's keeper.
 */
final class PendingAppends {
    /** How much longer an append waits for a Redis that is busy than for one that is silent. */
    private static final int BUSY_FACTOR = 10;

    private final KeeperLimits limits;
    private final Clock clock;
    private final TimelineMemory memory;
    private final Deque<PendingAppend> waiting = new ArrayDeque<>();
    private final Deque<PendingAppend> inFlight = new ArrayDeque<>();
    private long waitingBytes;
    private long inFlightBytes;
    private int inFlightEvents;

    PendingAppends(KeeperLimits limits, Clock clock, TimelineMemory memory) {
        this.limits = limits;
        this.clock = clock;
        this.memory = memory;
    }

    boolean isEmpty() {
        return waiting.isEmpty() && inFlight.isEmpty();
    }

    // ---- waiting ----

    boolean mayWait(PendingAppend append) {
        return waiting.size() < limits.waitingMax() && waitingBytes + append.bytes <= limits.inFlightBytesMax();
    }

    void waitLast(PendingAppend append) {
        waiting.addLast(append);
        waitingBytes += append.bytes;
        memory.changed(append.heapBytes());
    }

    void waitFirst(PendingAppend append) {
        waiting.addFirst(append);
        waitingBytes += append.bytes;
        memory.changed(append.heapBytes());
    }

    boolean hasWaiting() {
        return !waiting.isEmpty();
    }

    @Nullable
    PendingAppend firstWaiting() {
        return waiting.peek();
    }

    PendingAppend takeWaiting() {
        PendingAppend append = waiting.remove();
        waitingBytes -= append.bytes;
        memory.changed(-append.heapBytes());
        return append;
    }

    void failWaiting(RuntimeException problem) {
        while (hasWaiting()) {
            takeWaiting().fail(problem);
        }
    }

    /** What they have waited for has come: the time for the rest begins anew. */
    void beginToWait() {
        waiting.forEach(append -> append.sinceNs = clock.monotonicNs());
    }

    // ---- in flight ----

    boolean mayFly(PendingAppend append) {
        return inFlight.isEmpty()
                || (inFlightEvents + append.events.size() <= limits.inFlightEventsMax()
                        && inFlightBytes + append.bytes <= limits.inFlightBytesMax());
    }

    void fly(PendingAppend append) {
        inFlight.add(append);
        append.inFlight = true;
        inFlightEvents += append.events.size();
        inFlightBytes += append.bytes;
        memory.changed(append.heapBytes());
    }

    /** Its outcome is known; false if it wasn't in flight any more. */
    boolean land(PendingAppend append) {
        if (!inFlight.remove(append)) {
            return false;
        }
        append.inFlight = false;
        inFlightEvents -= append.events.size();
        inFlightBytes -= append.bytes;
        memory.changed(-append.heapBytes());
        return true;
    }

    /** Whether the outcome of one before it isn't known: what comes behind can't be stored before that is. */
    boolean isBehindAnOpenOne(PendingAppend append) {
        for (PendingAppend before : inFlight) {
            if (before == append) {
                return false;
            }
            if (before.outcomeOpen) {
                return true;
            }
        }
        return false;
    }

    /** Those in flight, in order. */
    Collection<PendingAppend> inFlight() {
        return inFlight;
    }

    /** The lowest event id in flight, or null if there is none. */
    @Nullable
    Position lowestIdInFlight() {
        Position lowest = null;
        for (PendingAppend append : inFlight) {
            Position id = append.lowestId();
            lowest = lowest == null ? id : Position.min(lowest, id);
        }
        return lowest;
    }

    boolean noneInFlight() {
        return inFlight.isEmpty();
    }

    /** The connection is gone: no answers will come any more. */
    void outcomesAreOpen() {
        inFlight.forEach(append -> append.outcomeOpen = true);
    }

    /** Whether no answer is outstanding on a connection that still stands. */
    boolean answersAreIn() {
        return inFlight.stream().allMatch(append -> append.outcomeOpen);
    }

    /** Empties what was in flight, in order. */
    List<PendingAppend> landAll() {
        List<PendingAppend> all = List.copyOf(inFlight);
        inFlight.clear();
        all.forEach(append -> append.inFlight = false);
        inFlightEvents = 0;
        inFlightBytes = 0;
        all.forEach(append -> memory.changed(-append.heapBytes()));
        return all;
    }

    // ---- time ----

    /** Whether Redis has owed an answer for so long that nothing more is sent before it comes: it would only pile up. */
    boolean isUnansweredTooLong(long answeredNs) {
        PendingAppend oldest = inFlight.peek();
        return oldest != null && ageMs(oldest) > limits.resumeMs() && sinceMs(answeredNs) > limits.resumeMs();
    }

    /**
     * Answers those that have been here for too long; what is in flight stays, and its outcome is still found out. As long as Redis
     * answers anything on the connection, those behind are on their way: they get much longer.
     *
     * @param waitMs how long an append waits for the stripe
     * @param answeredNs when Redis answered last on this connection
     * @param why what is in the way; empty if that isn't known
     */
    void expire(long waitMs, long answeredNs, String why) {
        while (!waiting.isEmpty() && ageMs(waiting.element()) > waitMs) {
            PendingAppend append = takeWaiting();
            append.fail(notReady(append, why));
        }
        long limitMs = answerMsMax(answeredNs);
        for (PendingAppend append : inFlight) {
            if (ageMs(append) <= (append.refused ? waitMs : limitMs)) {
                return;
            }
            append.fail(
                    append.refused
                            ? notReady(append, why)
                            : Problem.unavailable(Stored.UNKNOWN, "the live log didn't answer in time"));
        }
    }

    private static Problem notReady(PendingAppend append, String why) {
        return Problem.unavailable(
                append.storedIfDropped, "the live log didn't become ready in time" + (why.isEmpty() ? "" : ": " + why));
    }

    /** How long an answer of Redis is waited for now. */
    long answerMsMax(long answeredNs) {
        boolean silent = sinceMs(answeredNs) > limits.resumeMs();
        return silent ? limits.resumeMs() : BUSY_FACTOR * limits.resumeMs();
    }

    private long ageMs(PendingAppend append) {
        return sinceMs(append.sinceNs);
    }

    private long sinceMs(long ns) {
        return (clock.monotonicNs() - ns) / 1_000_000;
    }
}
