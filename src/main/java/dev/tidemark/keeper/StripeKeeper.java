package dev.tidemark.keeper;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.Event;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.StripeId;
import dev.tidemark.livelog.LiveLogException;
import dev.tidemark.livelog.StripeAppender;
import io.vertx.core.Future;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The single owner of a stripe: mints, appends to Redis, holds the timeline, seals. It decides by its state what is done when, and has
 * parts for how: {@link AppendGate}, {@link AppendMint}, {@link StripeMemory}, {@link Parting}. None of them knows it. Everything here
 * runs on the keeper's event loop.
 *
 * <pre>
 *          append or read              opened                 connection lost, key gone, foreign id
 *   COLD ───────────────> OPENING ─────────────> OPEN ────────────────────────────────> PARTED
 *    ^                       │                     ^                                       │ connected, all
 *    └────── failed ─────────┘                     └──────────── RESUMING <────────────────┘ answers in
 *                                                   fenced, outcome of open appends known
 * </pre>
 *
 * An append is acknowledged, and then visible, when Redis has answered; answers come in order. After a lost connection nothing is
 * appended before the stripe is fenced and what Redis really holds has been read.
 */
final class StripeKeeper {
    private static final Logger LOG = LoggerFactory.getLogger(StripeKeeper.class);

    /** Where the stripe is; {@link #become} is the one place that changes it. */
    enum State {
        COLD,
        OPENING,
        OPEN,
        PARTED,
        RESUMING,
        CLOSED
    }

    private final StripeId stripe;
    private final KeeperStream stream;
    private final Keeper keeper;
    private final PendingAppends pending;
    private final AppendGate gate;
    private final AppendMint mint;
    private final StripeMemory memory;
    private final Parting parting;
    private final StripePatrol patrol;

    private State state = State.COLD;
    /** The opening or resuming under way or done last: it may still create the key. */
    private Future<?> atWork = Future.succeededFuture();

    StripeKeeper(KeeperStream stream, int index, Keeper keeper) {
        this.stream = stream;
        this.stripe = stream.stripe(index);
        this.keeper = keeper;
        stream.keptBy(index, keeper);
        Mint ids = new Mint(index);
        StreamClock clock = new StreamClock(keeper.clock());
        this.pending = new PendingAppends(keeper.limits(), keeper.clock(), keeper.memory());
        this.gate = new AppendGate(stripe, stream, keeper, clock, pending);
        this.mint = new AppendMint(stripe, stream, keeper, ids, clock);
        this.memory = new StripeMemory(stripe, stream, keeper, clock, pending);
        this.parting = new Parting(stripe, keeper, ids, clock);
        this.patrol = new StripePatrol(stripe, keeper.clock(), mint::voidedCount, mint::voidedArchived);
    }

    State state() {
        return state;
    }

    StripeId stripe() {
        return stripe;
    }

    private void become(State next) {
        state = next;
        stream.reachable(stripe.index(), next == State.OPEN);
    }

    // ---- appends ----

    void append(PendingAppend append) {
        if (state == State.CLOSED) {
            append.fail(stream.gone());
        } else if (state == State.OPEN && !pending.hasWaiting()) {
            send(append);
        } else if (state == State.PARTED && parting.lastsTooLong()) {
            append.fail(parting.outOfReach(gate.storedBefore(append)));
        } else {
            enqueue(append);
        }
    }

    private void enqueue(PendingAppend append) {
        if (gate.waits(append) && state == State.COLD) {
            open();
        }
    }

    /** Sends what has waited for others of its producer, then what has waited for the stripe. */
    private void sendWaiting() {
        for (PendingAppend ready = nextReady(); ready != null; ready = nextReady()) {
            send(ready);
        }
        restoreProducers();
        PendingAppend next = pending.firstWaiting();
        while (state == State.OPEN && next != null && mint.isReserved(next)) {
            PendingAppend append = pending.takeWaiting();
            if (!append.isAnswered()) {
                send(append);
            }
            next = pending.firstWaiting();
        }
    }

    private @Nullable PendingAppend nextReady() {
        return state == State.OPEN ? gate.nextReady() : null;
    }

    /** The first request of a producer since the stripe was opened: what was stored before must be known. */
    private void restoreProducers() {
        StripeAppender appender = keeper.appender();
        if (state == State.OPEN && appender != null && gate.wantsHistory()) {
            gate.restoreHistory(appender, memory.watermark()).onComplete(restored -> sendWaiting());
        }
    }

    private void send(PendingAppend append) {
        StripeAppender appender = keeper.appender();
        if (appender == null) {
            part();
            enqueue(append);
            return;
        }
        if (!gate.admits(append)) {
            restoreProducers();
            return;
        }
        if (!gate.mayFly(append)) {
            return;
        }
        if (!mint.isReserved(append)) {
            pending.waitFirst(append);
            return;
        }
        if (!mint.mint(append, memory.sorting())) {
            return;
        }
        pending.fly(append);
        appender.append(stripe, append.minted).onComplete(answer -> {
            if (answer.succeeded()) {
                keeper.answered();
                acknowledged(append);
                return;
            }
            LiveLogException failure = keeper.asLiveLogException(answer.cause());
            if (failure.kind().isAnswer()) {
                keeper.answered();
            }
            refused(append, failure);
        });
    }

    // ---- answers ----

    private void acknowledged(PendingAppend append) {
        if (pending.isBehindAnOpenOne(append)) {
            append.outcomeOpen = true;
            afterAnswer();
            return;
        }
        if (!pending.land(append)) {
            return;
        }
        store(append);
        memory.publish();
        append.succeed();
        afterAnswer();
    }

    private void store(PendingAppend append) {
        memory.store(append.minted);
        gate.stored(append);
    }

    private void refused(PendingAppend append, LiveLogException failure) {
        if (state == State.CLOSED) {
            return;
        }
        if (!failure.kind().notExecuted()) {
            append.outcomeOpen = true;
            part();
            return;
        }
        if (failure.kind() == LiveLogException.Kind.ID_TOO_LOW || failure.kind() == LiveLogException.Kind.KEY_MISSING) {
            // It stays in its place among those in flight: they are sent again in their order when the stripe is
            // fenced.
            LOG.warn("stripe {}: {}; it is fenced again", stripe, failure.getMessage());
            append.outcomeOpen = true;
            append.refused = true;
            part();
            afterAnswer();
            return;
        }
        if (!pending.land(append)) {
            return;
        }
        mint.refused(append, pending.noneInFlight());
        switch (failure.kind()) {
            case OUT_OF_MEMORY -> {
                keeper.counters().refusedForMemory.increment();
                append.fail(LiveLogRefusals.refused(failure));
            }
            case NOT_SENT -> {
                append.fail(LiveLogRefusals.refused(failure));
                if (keeper.appender() == null) {
                    part();
                }
            }
            default -> append.fail(LiveLogRefusals.refused(failure));
        }
        afterAnswer();
    }

    private void afterAnswer() {
        if (state == State.PARTED) {
            tryResume();
        } else {
            sendWaiting();
        }
    }

    // ---- opening ----

    /** Begins to open a cold stripe; the stream is told how it went. */
    void open() {
        if (state != State.COLD) {
            return;
        }
        become(State.OPENING);
        StripeOpening start = new StripeOpening(stripe, stream, keeper);
        Future<StripeOpening.Opened> opening = start.open();
        atWork = opening;
        opening.onComplete(opened -> {
            if (state != State.OPENING) {
                return;
            }
            if (opened.succeeded()) {
                opened(opened.result(), start);
            } else {
                openFailed(opened.cause());
            }
        });
    }

    private void opened(StripeOpening.Opened opened, StripeOpening start) {
        mint.open(opened, start);
        parting.opened(opened.lastEntry(), start.keyPosition());
        memory.open(opened, start.missingThrough());
        gate.opened(opened.lastOrdinal());
        become(State.OPEN);
        if (!stream.finalOnArrival()) {
            sortFromNow();
        }
        memory.publish();
        keeper.opened(this);
        sendWaiting();
    }

    private void openFailed(Throwable cause) {
        become(State.COLD);
        RuntimeException problem = LiveLogRefusals.notOpened(cause);
        LOG.warn("stripe {} can't be opened: {}", stripe, cause.getMessage());
        keeper.openFailed(this, problem);
        pending.failWaiting(problem);
    }

    /** The stream got an acceptance window; see {@link StripeMemory#sortFromNow}. */
    void sortFromNow() {
        memory.sortFromNow();
    }

    // ---- connection lost and back ----

    /** The keeper's connection is gone. */
    void disconnected() {
        pending.outcomesAreOpen();
        part();
    }

    private void part() {
        if (state == State.OPEN || state == State.RESUMING) {
            parting.begin();
            become(State.PARTED);
            stream.advanced();
            keeper.watch(this);
        }
    }

    /** Resumes once there is a connection and no answer is outstanding any more. */
    void tryResume() {
        StripeAppender appender = keeper.appender();
        if (state != State.PARTED || appender == null || !parting.mayTry() || !pending.answersAreIn()) {
            return;
        }
        become(State.RESUMING);
        StripeResume resume = parting.resume(appender, memory);
        Future<List<Event>> resuming = resume.resume();
        atWork = resuming;
        resuming.onComplete(resumed -> {
            if (state != State.RESUMING) {
                return;
            }
            if (resume.hasLess()) {
                parting.foundLess(memory.storedOrdinal());
            }
            if (resumed.succeeded()) {
                if (resume.hasLess()) {
                    memory.foldSoon();
                }
                resumed(resumed.result());
            } else {
                LOG.warn(
                        "stripe {} can't resume yet: {}",
                        stripe,
                        resumed.cause().getMessage());
                parting.notResumed(keeper.asLiveLogException(resumed.cause()));
                become(State.PARTED);
            }
        });
    }

    /** Nothing can change any more below the fence: what Redis holds decides what the open appends came to. */
    private void resumed(List<Event> found) {
        OpenOutcomes outcomes = OpenOutcomes.of(pending.landAll(), found);
        outcomes.stored().forEach(this::store);
        mint.resumed(memory.lastOrdinal(), outcomes.notStored());
        parting.resumed();
        become(State.OPEN);
        memory.publish();
        outcomes.stored().forEach(PendingAppend::succeed);
        gate.sendAgain(outcomes.notStored());
        sendWaiting();
    }

    // ---- time ----

    /** Called some times a second: sealing, deadlines, retries. */
    void tick() {
        if (state == State.CLOSED) {
            return;
        }
        memory.tick();
        KeeperLimits limits = keeper.limits();
        gate.expire(state == State.OPENING ? limits.openMs() : limits.resumeMs(), parting.inTheWay());
        if (state == State.PARTED) {
            tryResume();
        }
        sendWaiting();
    }

    boolean needsTick() {
        return !isQuiet() || state == State.PARTED || state == State.RESUMING || memory.needsTick();
    }

    boolean isQuiet() {
        return gate.isQuiet();
    }

    /** Looks whether others have put something into the live log, or taken something out. */
    void patrol() {
        StripeAppender appender = keeper.appender();
        if (state != State.OPEN || appender == null) {
            return;
        }
        patrol.look(appender, memory.storedOrdinal(), memory.archivedOrdinal()).onSuccess(found -> {
            if (state != State.OPEN) {
                return;
            }
            keeper.counters().quarantined.add(found.moved());
            if (found.hasLess()) {
                memory.foldSoon();
            }
            if (found.keyGone() || found.highest().isAfter(memory.lastEntry())) {
                part();
                tryResume();
            }
        });
    }

    // ---- for the fold ----

    /**
     * Seals what is acknowledged; returns the frontier.
     *
     * @throws Problem {@link Problem.Kind#NOT_FOUND} if the stream was deleted meanwhile
     */
    Position seal() {
        if (state == State.CLOSED) {
            throw stream.gone();
        }
        return memory.seal();
    }

    /** @param archivedOrdinal all ordinals up to it are accounted for by the archive */
    void folded(Position newWatermark, long archivedOrdinal) {
        if (memory.isOpen()) {
            mint.archived(archivedOrdinal);
            memory.folded(newWatermark, archivedOrdinal);
        }
    }

    // ---- memory: what isn't folded may leave it only while Redis is there to give it ----

    /** The chunk that leaves memory next under pressure; null if none can. */
    @Nullable
    Chunk nextToLeave(boolean unfoldedToo) {
        return memory.nextToLeave(unfoldedToo && state == State.OPEN);
    }

    /** Lets go of final events that are held twice, for followers; gives the bytes. */
    long releaseArrivals() {
        return memory.releaseArrivals();
    }

    /** Lets go of the oldest chunks; see {@link Timeline#releaseOldest}. */
    long releaseOldest(long bytesWanted, long untilMs, boolean unfoldedToo) {
        return memory.releaseOldest(bytesWanted, untilMs, unfoldedToo && state == State.OPEN);
    }

    /** See {@link StripeMemory#retireIfIdle}. */
    void retireIfIdle() {
        boolean resting = state == State.OPEN && pending.isEmpty() && !stream.hasFollowers();
        memory.retireIfIdle(resting);
    }

    // ---- end ----

    /** Closes for good; completes when nothing that was begun can make the key again. */
    Future<Void> close(RuntimeException problem) {
        become(State.CLOSED);
        gate.failAll(problem);
        memory.close();
        return atWork.transform(ended -> Future.succeededFuture());
    }
}
