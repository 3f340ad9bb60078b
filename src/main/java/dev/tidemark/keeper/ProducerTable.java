package dev.tidemark.keeper;

import dev.tidemark.event.Problem;
import dev.tidemark.event.Problem.Stored;
import dev.tidemark.event.Producer;
import dev.tidemark.event.ProducerRequest;
import dev.tidemark.event.StoredRequest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Decides what becomes of requests with a producer or an idempotency key: sent, answered as the first time, refused, or waiting for
 * what is under way. Of each writer at most one request is under way, until its outcome is known, also when its client was told
 * long ago that it isn't; the others wait in the order of their numbers and are decided upon again when it is over.
 *
 * <pre>
 *                 nothing under way, next number          acknowledged, or found in Redis
 *   admit ──┬──────────────────────────────> UNDER WAY ───────────────────────────────────> remembered
 *           │                                     │ refused, or not found in Redis
 *           ├──────> answered: known, refused     └──────────────────────────────────────> forgotten
 *           │                                                        │ both: the next one that waits
 *           └──────> waits: the same number, the one after it <──────┘ is decided upon
 * </pre>
 *
 * Until the history has been restored from archive and live log, everything waits. Owned by the stripe's keeper.
 */
final class ProducerTable {
    /** How far the history of the time before this process is known. */
    private enum Knowledge {
        NONE,
        BEING_RESTORED,
        WHOLE
    }

    private record Writer(String id, boolean isKey) {
        static Writer of(PendingAppend append) {
            Producer producer = request(append).producer();
            return new Writer(producer.id(), producer.isIdempotencyKey());
        }
    }

    /** What one writer has open. */
    private static final class Turn {
        @Nullable
        PendingAppend underWay;
        /** By epoch and number; of equal ones, the first to come first. */
        final List<PendingAppend> waiting = new ArrayList<>();

        boolean isOver() {
            return underWay == null && waiting.isEmpty();
        }

        Producer first() {
            return request(underWay != null ? underWay : waiting.get(0)).producer();
        }

        Producer last() {
            return request(waiting.isEmpty() ? Objects.requireNonNull(underWay) : waiting.get(waiting.size() - 1))
                    .producer();
        }
    }

    private final ProducerHistory history;
    private final KeeperLimits limits;
    private final Map<Writer, Turn> turns = new HashMap<>();
    /** Writers with nothing under way and something that waits. */
    private final Deque<Writer> ready = new ArrayDeque<>();
    /** What waits for the history. */
    private final Deque<PendingAppend> unknown = new ArrayDeque<>();

    private Knowledge knowledge = Knowledge.NONE;
    private long restoreAtNs = Long.MIN_VALUE;
    private int keysUnderWay;
    private int waiting;
    private long waitingBytes;

    ProducerTable(ProducerHistory history, KeeperLimits limits) {
        this.history = history;
        this.limits = limits;
    }

    private static ProducerRequest request(PendingAppend append) {
        return Objects.requireNonNull(append.request, "request of a producer");
    }

    // ---- history ----

    /** Whether the history is to be restored now. */
    boolean wantsHistory(long nowNs) {
        return knowledge == Knowledge.NONE && !unknown.isEmpty() && nowNs >= restoreAtNs;
    }

    void restoring() {
        knowledge = Knowledge.BEING_RESTORED;
    }

    void restored(List<StoredRequest> requests, long nowMs) {
        requests.forEach(history::remember);
        history.expire(nowMs);
        knowledge = Knowledge.WHOLE;
    }

    /** It is tried again then; who waits goes on waiting. */
    void notRestored(long retryAtNs) {
        knowledge = Knowledge.NONE;
        restoreAtNs = retryAtNs;
    }

    // ---- decisions ----

    /**
     * Whether the append is to be sent now; if not, it was answered, or waits here.
     *
     * @param nowMs of the stream clock
     */
    boolean admit(PendingAppend append, long nowMs) {
        if (append.request == null || append.underWay) {
            return true;
        }
        if (knowledge != Knowledge.WHOLE) {
            if (mayWait(append)) {
                unknown.add(append);
            }
            return false;
        }
        Turn turn = turns.get(Writer.of(append));
        return (turn == null || turn.isOver()) ? decide(append, nowMs) : behind(turn, append, nowMs);
    }

    /** With others of its writer before it. */
    private boolean behind(Turn turn, PendingAppend append, long nowMs) {
        Producer producer = request(append).producer();
        Producer tail = turn.last();
        if (producer.epoch() < tail.epoch()) {
            append.fail(ProducerRefusals.fenced(producer, tail.epoch()));
        } else if (producer.epoch() > tail.epoch() && producer.seq() > 0) {
            append.fail(ProducerRefusals.gap(producer, 0));
        } else if (producer.epoch() == tail.epoch() && producer.seq() > tail.seq() + 1) {
            append.fail(ProducerRefusals.gap(producer, tail.seq() + 1));
        } else if (isBelow(producer, turn.first()) && history.producer(producer.id(), nowMs) != null) {
            // Nothing that is open changes what becomes of it.
            return decide(append, nowMs);
        } else if (mayWait(append)) {
            int at = turn.waiting.size();
            while (at > 0 && isBelow(producer, request(turn.waiting.get(at - 1)).producer())) {
                at--;
            }
            turn.waiting.add(at, append);
        }
        return false;
    }

    private static boolean isBelow(Producer left, Producer right) {
        return left.epoch() < right.epoch() || (left.epoch() == right.epoch() && left.seq() < right.seq());
    }

    private boolean mayWait(PendingAppend append) {
        if (waiting >= limits.waitingMax() || waitingBytes + append.bytes > limits.inFlightBytesMax()) {
            append.fail(Problem.overloaded("too many requests of producers wait for those before them")
                    .with("stored", storedBefore(append).text()));
            return false;
        }
        waiting++;
        waitingBytes += append.bytes;
        return true;
    }

    private void noLongerWaits(PendingAppend append) {
        waiting--;
        waitingBytes -= append.bytes;
    }

    /** By what is remembered. */
    private boolean decide(PendingAppend append, long nowMs) {
        return request(append).producer().isIdempotencyKey() ? decideKey(append, nowMs) : decideSeq(append, nowMs);
    }

    private boolean decideKey(PendingAppend append, long nowMs) {
        StoredRequest known = history.key(request(append).producer().id(), nowMs);
        if (known != null) {
            answerAgain(append, known);
            return false;
        }
        history.expireKeys(nowMs);
        if (history.keys() + keysUnderWay >= history.keysMax()) {
            append.fail(ProducerRefusals.tooManyKeys(history.keysMax()));
            return false;
        }
        begin(append);
        return true;
    }

    private boolean decideSeq(PendingAppend append, long nowMs) {
        Producer producer = request(append).producer();
        ProducerHistory.Requests known = history.producer(producer.id(), nowMs);
        if (known == null) {
            begin(append);
            return true;
        }
        long newest = known.newest().producer().seq();
        long next = producer.epoch() > known.epoch() ? 0 : newest + 1;
        if (producer.epoch() < known.epoch()) {
            append.fail(ProducerRefusals.fenced(producer, known.epoch()));
        } else if (producer.seq() > next) {
            append.fail(ProducerRefusals.gap(producer, next));
        } else if (producer.seq() == next) {
            begin(append);
            return true;
        } else {
            StoredRequest first = known.find(producer.seq());
            if (first == null) {
                append.fail(ProducerRefusals.expired(producer, newest));
            } else {
                answerAgain(append, first);
            }
        }
        return false;
    }

    private void begin(PendingAppend append) {
        Turn turn = turns.computeIfAbsent(Writer.of(append), fresh -> new Turn());
        turn.underWay = append;
        append.underWay = true;
        append.whenDropped = () -> notStored(append);
        keysUnderWay += request(append).producer().isIdempotencyKey() ? 1 : 0;
    }

    private static void answerAgain(PendingAppend append, StoredRequest first) {
        if (first.body() == null || first.body().equals(request(append).body())) {
            append.succeedAgain(first.ids());
            return;
        }
        append.fail(ProducerRefusals.bodyChanged(first.producer()));
    }

    // ---- outcomes ----

    /** The append's events are stored, under the ids that it has now. */
    void stored(PendingAppend append) {
        ProducerRequest request = append.request;
        if (request != null) {
            history.remember(new StoredRequest(
                    request.producer(),
                    request.body(),
                    append.ids(),
                    append.minted.get(0).entry().ms()));
            over(append);
        }
    }

    /** The append certainly wasn't stored, and won't be. */
    void notStored(PendingAppend append) {
        if (append.request != null) {
            over(append);
        }
    }

    private void over(PendingAppend append) {
        append.whenDropped = null;
        Writer writer = Writer.of(append);
        Turn turn = turns.get(writer);
        if (!append.underWay || turn == null || turn.underWay != append) {
            return;
        }
        append.underWay = false;
        keysUnderWay -= writer.isKey() ? 1 : 0;
        turn.underWay = null;
        if (turn.waiting.isEmpty()) {
            turns.remove(writer);
        } else {
            ready.add(writer);
        }
    }

    /** An append that has waited and is to be sent now; answers those of which more is known now. Null if there is none. */
    @Nullable
    PendingAppend nextReady(long nowMs, long nowNs) {
        while (knowledge == Knowledge.WHOLE && !unknown.isEmpty()) {
            PendingAppend append = unknown.remove();
            noLongerWaits(append);
            append.sinceNs = nowNs;
            if (admit(append, nowMs)) {
                return append;
            }
        }
        for (Writer writer = ready.peek(); writer != null; writer = ready.peek()) {
            Turn turn = turns.get(writer);
            if (turn == null || turn.underWay != null || turn.waiting.isEmpty()) {
                ready.remove();
                if (turn != null && turn.isOver()) {
                    turns.remove(writer);
                }
                continue;
            }
            PendingAppend append = turn.waiting.remove(0);
            noLongerWaits(append);
            if (decide(append, nowMs)) {
                return append;
            }
        }
        return null;
    }

    // ---- waiting ----

    boolean hasWaiting() {
        return waiting > 0;
    }

    /** Whether no writer has anything open. */
    boolean isIdle() {
        return turns.isEmpty() && waiting == 0;
    }

    /** Whether an earlier try of the same request may be stored: its outcome, or what was stored before, isn't known. */
    boolean mayBeStored(PendingAppend append) {
        if (append.request == null) {
            return false;
        }
        if (knowledge != Knowledge.WHOLE) {
            return true;
        }
        Turn turn = turns.get(Writer.of(append));
        PendingAppend underWay = turn == null ? null : turn.underWay;
        return underWay != null
                && underWay != append
                && request(underWay).producer().equals(append.request.producer());
    }

    private Stored storedBefore(PendingAppend append) {
        return mayBeStored(append) ? Stored.UNKNOWN : Stored.NO;
    }

    /**
     * Answers those that have waited for too long: for the history as long as for a stripe to open.
     *
     * @param waitMs how long one waits for others of its producer
     */
    void expire(long waitMs, long nowNs) {
        if (waiting == 0) {
            return;
        }
        List<PendingAppend> late = take(unknown, append -> ageMs(append, nowNs) > limits.openMs());
        failAll(late, "what was stored before of the same producer couldn't be found out in time");
        late = new ArrayList<>();
        for (Turn turn : turns.values()) {
            late.addAll(take(turn.waiting, append -> ageMs(append, nowNs) > waitMs));
        }
        failAll(late, "what is under way of the same producer has no answer yet");
    }

    private static long ageMs(PendingAppend append, long nowNs) {
        return (nowNs - append.sinceNs) / 1_000_000;
    }

    private void failAll(List<PendingAppend> late, String detail) {
        late.forEach(append -> append.fail(Problem.unavailable(storedBefore(append), detail)));
    }

    void failWaiting(RuntimeException problem) {
        List<PendingAppend> all = take(unknown, append -> true);
        turns.values().forEach(turn -> all.addAll(take(turn.waiting, append -> true)));
        all.forEach(append -> append.fail(problem));
    }

    /** Takes some of those that wait away; the caller answers them. */
    private List<PendingAppend> take(Collection<PendingAppend> from, Predicate<PendingAppend> which) {
        List<PendingAppend> taken = new ArrayList<>();
        from.removeIf(append -> which.test(append) && taken.add(append));
        taken.forEach(this::noLongerWaits);
        return taken;
    }
}
