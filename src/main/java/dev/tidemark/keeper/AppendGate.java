package dev.tidemark.keeper;

import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Problem.Stored;
import dev.tidemark.event.StripeId;
import dev.tidemark.livelog.StripeAppender;
import io.vertx.core.Future;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which appends of a stripe may be sent, which wait, and which are refused because too much waits or is under way. It keeps order: what
 * waits for the stripe, and what waits for others of its producer, is given out here when its turn has come. Owned by the
 * {@link StripeKeeper}, whose {@link PendingAppends} it fills; on the keeper's event loop.
 */
final class AppendGate {
    private static final Logger LOG = LoggerFactory.getLogger(AppendGate.class);

    private final StripeId stripe;
    private final KeeperStream stream;
    private final Keeper keeper;
    private final StreamClock clock;
    private final PendingAppends pending;
    private final ProducerTable producers;

    AppendGate(StripeId stripe, KeeperStream stream, Keeper keeper, StreamClock clock, PendingAppends pending) {
        this.stripe = stripe;
        this.stream = stream;
        this.keeper = keeper;
        this.clock = clock;
        this.pending = pending;
        this.producers = new ProducerTable(ProducerHistory.ofStripe(stream.stripes()), keeper.limits());
    }

    // ---- coming ----

    /** What has waited for the stripe to open goes on; where there was never an event, no producer has a history. */
    void opened(long lastOrdinal) {
        if (lastOrdinal == 0) {
            producers.restored(List.of(), clock.nowMs());
        }
        pending.beginToWait();
    }

    /** Lets an append wait for the stripe; false if it was refused. */
    boolean waits(PendingAppend append) {
        append.storedIfDropped = storedBefore(append);
        if (!pending.mayWait(append)) {
            append.fail(Problem.overloaded("too many appends wait for stream '" + stream.name() + "'")
                    .with("stored", append.storedIfDropped.text()));
            return false;
        }
        if (!keeper.hasMemoryFor(append)) {
            append.fail(noMemory());
            return false;
        }
        pending.waitLast(append);
        return true;
    }

    /** Whether what its producer sent before lets it be sent now; if not, it was answered, or waits for that. */
    boolean admits(PendingAppend append) {
        return producers.admit(append, clock.nowMs());
    }

    /** Whether there is room for it on the way to Redis; false if it was refused. */
    boolean mayFly(PendingAppend append) {
        if (pending.isUnansweredTooLong(keeper.answeredNs())) {
            append.fail(Problem.unavailable(storedBefore(append), "the live log doesn't answer"));
            return false;
        }
        if (!keeper.hasMemoryFor(append)) {
            append.fail(noMemory().with("stored", storedBefore(append).text()));
            return false;
        }
        if (!pending.mayFly(append)) {
            append.fail(Problem.overloaded("too much is in flight for stream '" + stream.name() + "'"));
            return false;
        }
        return true;
    }

    private static Problem noMemory() {
        return Problem.overloaded("memory.max is reached, and nothing more can leave memory now");
    }

    /** What is to be said of an append that wasn't sent: an earlier try of the same request may have been. */
    Stored storedBefore(PendingAppend append) {
        return producers.mayBeStored(append) ? Stored.UNKNOWN : Stored.NO;
    }

    /** An append that has waited for others of its producer and is to be sent now; null if there is none. */
    @Nullable
    PendingAppend nextReady() {
        return producers.nextReady(clock.nowMs(), keeper.clock().monotonicNs());
    }

    // ---- outcomes ----

    void stored(PendingAppend append) {
        producers.stored(append);
    }

    /** What certainly wasn't stored is sent again under new ids, before what came later. */
    void sendAgain(List<PendingAppend> notStored) {
        for (int i = notStored.size() - 1; i >= 0; i--) {
            PendingAppend append = notStored.get(i);
            if (!append.isAnswered()) {
                append.outcomeOpen = false;
                append.refused = false;
                append.minted(List.of());
                pending.waitFirst(append);
            } else {
                producers.notStored(append);
            }
        }
    }

    // ---- producers ----

    /** Whether a request waits for what its producer stored before the stripe was opened, and that is to be found out now. */
    boolean wantsHistory() {
        return producers.wantsHistory(keeper.clock().monotonicNs());
    }

    /** Finds it out; completes when it is known, or isn't yet. */
    Future<Void> restoreHistory(StripeAppender appender, Position watermark) {
        producers.restoring();
        return new ProducerRestore(stripe, appender)
                .run(stream, keeper.archivedState(), watermark)
                .transform(restored -> {
                    if (restored.succeeded()) {
                        producers.restored(restored.result(), clock.nowMs());
                    } else {
                        LOG.warn(
                                "stripe {}: its producers aren't known yet: {}",
                                stripe,
                                restored.cause().getMessage());
                        producers.notRestored(keeper.clock().monotonicNs() + Parting.RETRY_NS);
                    }
                    return Future.succeededFuture();
                });
    }

    // ---- time, end ----

    boolean isQuiet() {
        return pending.isEmpty() && !producers.hasWaiting();
    }

    /**
     * Answers those that have been here for too long.
     *
     * @param waitMs how long an append waits for the stripe
     * @param why what is in the way; empty if that isn't known
     */
    void expire(long waitMs, String why) {
        pending.expire(waitMs, keeper.answeredNs(), why);
        producers.expire(
                pending.answerMsMax(keeper.answeredNs()), keeper.clock().monotonicNs());
    }

    /** Answers all: the stripe is closed. */
    void failAll(RuntimeException problem) {
        pending.failWaiting(problem);
        pending.landAll().forEach(append -> append.fail(problem));
        producers.failWaiting(problem);
    }
}
