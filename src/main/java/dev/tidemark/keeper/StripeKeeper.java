package dev.tidemark.keeper;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventExtras;
import dev.tidemark.event.EventId;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Problem.Stored;
import dev.tidemark.event.StreamSettings;
import dev.tidemark.event.StripeId;
import dev.tidemark.event.Units;
import dev.tidemark.livelog.LiveLogException;
import dev.tidemark.livelog.StripeAppender;
import io.vertx.core.Future;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The single owner of a stripe: mints, appends to Redis, holds the timeline, seals. Everything here runs on the keeper's event loop.
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
    private static final long RETRY_NS = 200_000_000;

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
    private final Mint mint;
    private final StreamClock clock;
    /** The start's last entry, and where the key's position was then. */
    private Position startEntry = Position.ZERO;

    private Position startPosition = Position.ZERO;
    /** The newest ordinal in Redis when that was found to have less than it had; -1 if it never was. */
    private long lackingSince = -1;

    private final VoidedOrdinals voided = new VoidedOrdinals();
    private final PendingAppends pending;
    private final IdleWatch idle;
    private final ProducerTable producers;

    private State state = State.COLD;
    /** The opening or resuming under way or done last: it may still create the key. */
    private Future<?> atWork = Future.succeededFuture();

    private @Nullable Timeline timeline;
    /** Where events stand, and those whose place isn't final; null as long as order is final on arrival. */
    private @Nullable Acceptance acceptance;

    private @Nullable Arrivals arrivals;
    private long lastOrdinal;
    private Position watermark = Position.ZERO;
    private long nextOrdinal = 1;
    /** Memory of the timeline that the keeper knows of. */
    private long countedBytes;

    private long partedSinceNs;
    private long retryAtNs;
    /** Why the last try to resume failed, if Redis itself said so. */
    private @Nullable LiveLogException resumeRefusal;

    private final StripePatrol patrol;
    /** Of the newest event that the live log had, as far as this process knows. */
    private long storedOrdinal;
    /** The archive accounts for all up to it. */
    private long archivedOrdinal;

    StripeKeeper(KeeperStream stream, int index, Keeper keeper) {
        this.stream = stream;
        this.stripe = stream.stripe(index);
        this.keeper = keeper;
        stream.keptBy(index, keeper);
        this.mint = new Mint(index);
        this.clock = new StreamClock(keeper.clock());
        this.pending = new PendingAppends(keeper.limits(), keeper.clock(), keeper.memory());
        this.idle = new IdleWatch(keeper.clock(), keeper.limits().idleMs());
        this.patrol = new StripePatrol(stripe, keeper.clock());
        this.producers = new ProducerTable(ProducerHistory.ofStripe(stream.stripes()), keeper.limits());
    }

    State state() {
        return state;
    }

    StripeId stripe() {
        return stripe;
    }

    private void become(State next) {
        become(next, keeper.clock().monotonicNs());
    }

    private void become(State next, long sinceNs) {
        state = next;
        if (next == State.PARTED) {
            partedSinceNs = sinceNs;
        }
        stream.reachable(stripe.index(), next == State.OPEN);
    }

    // ---- appends ----

    void append(PendingAppend append) {
        if (state == State.CLOSED) {
            append.fail(stream.gone());
        } else if (state == State.OPEN && !pending.hasWaiting()) {
            send(append);
        } else if (state == State.PARTED
                && sinceMs(partedSinceNs) > keeper.limits().resumeMs()) {
            append.fail(outOfReach(append));
        } else {
            enqueue(append);
        }
    }

    private Problem outOfReach(PendingAppend append) {
        LiveLogException refusal = resumeRefusal;
        if (refusal != null && !refusal.kind().retryable()) {
            return problemOf(refusal);
        }
        String why = inTheWay();
        return Problem.unavailable(
                storedBefore(append), "the live log can't be reached" + (why.isEmpty() ? "" : ": " + why));
    }

    private String inTheWay() {
        LiveLogException refusal = resumeRefusal;
        return refusal == null ? keeper.trouble() : String.valueOf(refusal.getMessage());
    }

    /** What is to be said of an append that wasn't sent: an earlier try of the same request may have been. */
    private Stored storedBefore(PendingAppend append) {
        return producers.mayBeStored(append) ? Stored.UNKNOWN : Stored.NO;
    }

    private void enqueue(PendingAppend append) {
        append.storedIfDropped = storedBefore(append);
        if (!pending.mayWait(append)) {
            append.fail(Problem.overloaded("too many appends wait for stream '" + stream.name() + "'")
                    .with("stored", append.storedIfDropped.text()));
            return;
        }
        if (!keeper.hasMemoryFor(append)) {
            append.fail(noMemory());
            return;
        }
        pending.waitLast(append);
        if (state == State.COLD) {
            open();
        }
    }

    private static Problem noMemory() {
        return Problem.overloaded("memory.max is reached, and nothing more can leave memory now");
    }

    private void sendWaiting() {
        sendReady();
        PendingAppend next = pending.firstWaiting();
        while (state == State.OPEN && next != null && reserved(next)) {
            PendingAppend append = pending.takeWaiting();
            if (!append.isAnswered()) {
                send(append);
            }
            next = pending.firstWaiting();
        }
    }

    /** Sends what has waited for others of its producer. */
    private void sendReady() {
        PendingAppend next = nextReady();
        while (next != null) {
            send(next);
            next = nextReady();
        }
        restoreProducers();
    }

    private @Nullable PendingAppend nextReady() {
        return state == State.OPEN
                ? producers.nextReady(clock.nowMs(), keeper.clock().monotonicNs())
                : null;
    }

    /** The first request of a producer since the stripe was opened: what was stored before must be known. */
    private void restoreProducers() {
        StripeAppender appender = keeper.appender();
        if (state != State.OPEN
                || appender == null
                || !producers.wantsHistory(keeper.clock().monotonicNs())) {
            return;
        }
        producers.restoring();
        new ProducerRestore(stripe, appender)
                .run(stream, keeper.archivedState(), watermark)
                .onComplete(restored -> {
                    if (restored.succeeded()) {
                        producers.restored(restored.result(), clock.nowMs());
                    } else {
                        LOG.warn(
                                "stripe {}: its producers aren't known yet: {}",
                                stripe,
                                restored.cause().getMessage());
                        producers.notRestored(keeper.clock().monotonicNs() + RETRY_NS);
                    }
                    sendWaiting();
                });
    }

    /** Whether the append's ids stay below the reservation; if not, it is being raised. */
    private boolean reserved(PendingAppend append) {
        int count = append.events.size();
        if (!mint.staysBelow(keeper.reservation().highMs(), clock.nowMs(), count)) {
            keeper.reservation().raise(Math.max(clock.nowMs(), mint.last().ms()) + count);
        }
        return mint.staysBelow(keeper.reservation().highMs(), clock.nowMs(), count);
    }

    private void send(PendingAppend append) {
        StripeAppender appender = keeper.appender();
        if (appender == null) {
            part();
            enqueue(append);
            return;
        }
        if (!producers.admit(append, clock.nowMs())) {
            restoreProducers();
            return;
        }
        if (pending.isUnansweredTooLong(keeper.answeredNs())) {
            append.fail(Problem.unavailable(storedBefore(append), "the live log doesn't answer"));
            return;
        }
        if (!keeper.hasMemoryFor(append)) {
            append.fail(noMemory().with("stored", storedBefore(append).text()));
            return;
        }
        if (!pending.mayFly(append)) {
            append.fail(Problem.overloaded("too much is in flight for stream '" + stream.name() + "'"));
            return;
        }
        if (!reserved(append)) {
            pending.waitFirst(append);
            return;
        }
        if (!mintFor(append)) {
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

    /** Gives ids and ordinals to all events of an append; false if it was refused. */
    private boolean mintFor(PendingAppend append) {
        if (append.events.get(0).importId() != null && !importable(append)) {
            return false;
        }
        Acceptance window = acceptance;
        if (window != null && !isAccepted(append, window)) {
            return false;
        }
        List<OrdinalRange> carried = voided.takeUnwritten();
        List<Event> minted = new ArrayList<>(append.events.size());
        for (NewEvent event : append.events) {
            Position entry = nextId(event);
            Acceptance.Place place =
                    window == null ? new Acceptance.Place(entry, false) : window.place(event, entry, stream.settings());
            EventExtras extras = carried.isEmpty() ? null : new EventExtras(null, carried);
            carried = List.of();
            minted.add(new Event(
                    place.id(),
                    entry,
                    nextOrdinal++,
                    event.time(),
                    place.late(),
                    event.type(),
                    extras,
                    event.payload()));
        }
        append.minted(append.marked(minted));
        clock.reached(mint.last().ms());
        keeper.reservation().used(mint.last().ms());
        return true;
    }

    private boolean isAccepted(PendingAppend append, Acceptance window) {
        advance(window);
        Problem refusal = window.refusalOrNull(append.events, stream.settings(), clock.nowMs());
        if (refusal != null) {
            keeper.counters().timesRefused.add(append.events.size());
            append.fail(refusal);
        }
        return refusal == null;
    }

    private Position nextId(NewEvent event) {
        if (event.importId() == null) {
            long finalMs = acceptance == null ? 0 : acceptance.frontier().ms();
            return mint.next(Math.max(clock.nowMs(), finalMs + 1));
        }
        Position id = event.importId().position();
        mint.imported(id);
        return id;
    }

    private boolean importable(PendingAppend append) {
        if (stream.settings().acceptanceWindowMs() > 0) {
            append.fail(Problem.badRequest(
                            "ids can't be imported into a stream with an acceptance window (acceptance_window is "
                                    + Units.formatDuration(stream.settings().acceptanceWindowMs()) + ")")
                    .with("stored", Stored.NO.text()));
            return false;
        }
        if (stream.stripes() > 1) {
            append.fail(Problem.badRequest("ids can't be imported into a stream with several stripes (stripes is "
                            + stream.stripes() + "): their frontier follows the clock")
                    .with("stored", Stored.NO.text()));
            return false;
        }
        Acceptance window = acceptance;
        Position last = mint.last();
        if (window != null) {
            advance(window);
            last = Position.max(last, window.frontier());
        }
        for (NewEvent event : append.events) {
            Position id = Objects.requireNonNull(event.importId()).position();
            if (!id.isAfter(last) || id.ms() > keeper.clock().wallMs()) {
                append.fail(new Problem(
                                Problem.Kind.NONMONOTONIC,
                                "id " + event.importId() + " can't be imported: it must be above the stream's last id "
                                        + shown(last) + " and not ahead of the clock")
                        .with("last", shown(last))
                        .with("stored", Stored.NO.text()));
                return false;
            }
            last = id;
        }
        return true;
    }

    private static String shown(Position position) {
        return EventId.fits(position) ? EventId.of(position).toString() : "none";
    }

    private Timeline timeline() {
        return Objects.requireNonNull(timeline, "timeline of an open stripe");
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
        publish();
        append.succeed();
        afterAnswer();
    }

    private void store(PendingAppend append) {
        StreamSettings settings = stream.settings();
        for (Event event : append.minted) {
            store(event);
        }
        producers.stored(append);
        timeline().release(watermark, settings.tailCapacity());
        idle.used();
    }

    private void store(Event event) {
        Acceptance window = acceptance;
        Arrivals arrived = arrivals;
        if (window == null || arrived == null) {
            timeline().add(event, stream.settings());
        } else {
            arrived.add(event, stream.settings());
            window.acknowledged(event);
            if (event.late()) {
                keeper.counters().lateRescued.increment();
            }
        }
        // What a start finds unfolded may have come before what is folded already.
        lastOrdinal = Math.max(lastOrdinal, event.ordinal());
        storedOrdinal = lastOrdinal;
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
        if (!pending.land(append)) {
            return;
        }
        takeBackOrdinals(append);
        switch (failure.kind()) {
            case ID_TOO_LOW, KEY_MISSING -> {
                LOG.warn("stripe {}: {}; it is fenced again", stripe, failure.getMessage());
                sendAgain(List.of(append));
                part();
            }
            case OUT_OF_MEMORY -> {
                keeper.counters().refusedForMemory.increment();
                append.fail(problemOf(failure));
            }
            case NOT_SENT -> {
                append.fail(problemOf(failure));
                if (keeper.appender() == null) {
                    part();
                }
            }
            default -> append.fail(problemOf(failure));
        }
        afterAnswer();
    }

    private void takeBackOrdinals(PendingAppend append) {
        EventExtras extras = append.minted.get(0).extras();
        if (extras != null) {
            voided.giveBack(extras.voided());
        }
        voided.add(append.ordinals());
        if (pending.noneInFlight()) {
            nextOrdinal = voided.takeBack(nextOrdinal);
        }
        stream.voided(stripe.index(), voided.all());
    }

    static Problem problemOf(LiveLogException failure) {
        String detail = "the live log refused: " + failure.getMessage();
        return failure.kind().retryable()
                ? Problem.unavailable(failure.kind().notExecuted() ? Stored.NO : Stored.UNKNOWN, detail)
                        .causedBy(failure)
                : new Problem(Problem.Kind.INTERNAL, detail)
                        .with("stored", Stored.NO.text())
                        .causedBy(failure);
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
        watermark = opened.watermark();
        mint.startAfter(opened.lastPossible());
        clock.reached(Math.max(mint.last().ms(), keeper.reservation().startMs()));
        if (stream.createdHere()) {
            // A stream of that name may have been deleted: its ids aren't given again, even while they are ahead of the
            // clock.
            clock.reached(keeper.reservation().usedMs() + 1);
        }
        startEntry = opened.lastEntry();
        startPosition = start.keyPosition();
        nextOrdinal = opened.lastOrdinal() + 1;
        lastOrdinal = opened.lastOrdinal();
        storedOrdinal = opened.lastOrdinal();
        archivedOrdinal = opened.archivedOrdinal();
        timeline = new Timeline(stripe, keeper.clock(), opened.floor(), opened.tail(), opened.lastOrdinal());
        if (opened.sorted()) {
            sort(Position.max(frontierAtStart(opened), start.missingThrough()), opened.lastEntry());
            opened.newest().forEach(this::takeFound);
        } else {
            timeline.preload(opened.newest(), opened.floor(), stream.settings());
        }
        passLost(opened.lost());
        if (opened.sorted() && !start.missingThrough().equals(Position.ZERO)) {
            stream.lostAtStart(
                    stripe.index(), new StartLoss(start.missingAfter(), start.missingThrough(), nextOrdinal - 1));
        }
        idle.used();
        if (opened.lastOrdinal() == 0) {
            producers.restored(List.of(), clock.nowMs());
        }
        pending.beginToWait();
        become(State.OPEN);
        if (!stream.finalOnArrival()) {
            sortFromNow();
        }
        publish();
        keeper.opened(this);
        sendWaiting();
    }

    /** What may be lost behind the newest event takes an ordinal that no event will have: so all who count them see the hole. */
    private void passLost(Position lost) {
        if (lost.equals(Position.ZERO)) {
            return;
        }
        stream.passedOver(stripe.index(), nextOrdinal);
        nextOrdinal++;
        if (acceptance == null) {
            lastOrdinal++;
            timeline().lost(lost, lastOrdinal);
        }
    }

    /** From now on the places of events are decided by {@link Acceptance}. */
    private void sort(Position frontier, Position lastEntry) {
        acceptance = new Acceptance(
                stripe.index(),
                stream.stripes() == 1,
                clock,
                frontier,
                timeline().tail());
        arrivals = new Arrivals(stripe, lastEntry);
    }

    /** An unfolded event that stood in the live log at the start. */
    private void takeFound(Event event) {
        Objects.requireNonNull(acceptance).taken(event);
        store(event);
    }

    /** Nothing may be given at or below what the predecessor may have called final. */
    private Position frontierAtStart(StripeOpening.Opened opened) {
        Position before = stream.createdHere()
                ? Position.ZERO
                : keeper.reservation()
                        .frontierAtStart(stream.id(), stream.settings().acceptanceWindowMs());
        return Position.max(opened.watermark(), before);
    }

    /**
     * The stream got an acceptance window: what it has is final, and the claimed times of what comes are looked at. What is in flight has
     * ids of its arrival, so nothing waits for it.
     */
    void sortFromNow() {
        if (timeline != null && acceptance == null && state != State.CLOSED) {
            sort(timeline.tail(), timeline.tail());
            Acceptance window = Objects.requireNonNull(acceptance);
            pending.inFlight().forEach(append -> append.minted.forEach(window::taken));
            publish();
        }
    }

    private void openFailed(Throwable cause) {
        become(State.COLD);
        RuntimeException problem = cause instanceof Problem known
                ? known
                : cause instanceof LiveLogException refused
                        ? problemOf(refused)
                        : Problem.unavailable(Stored.NO, "the stream can't be opened: " + cause.getMessage())
                                .causedBy(cause);
        LOG.warn("stripe {} can't be opened: {}", stripe, cause.getMessage());
        keeper.openFailed(this, problem);
        pending.failWaiting(problem);
    }

    // ---- connection lost and back ----

    /** The keeper's connection is gone. */
    void disconnected() {
        pending.outcomesAreOpen();
        if (state == State.OPEN || state == State.RESUMING) {
            part();
        }
    }

    private void part() {
        if (state == State.OPEN || state == State.RESUMING) {
            become(State.PARTED);
            retryAtNs = keeper.clock().monotonicNs();
            stream.advanced();
            keeper.watch(this);
        }
    }

    /** Resumes once there is a connection and no answer is outstanding any more. */
    void tryResume() {
        StripeAppender appender = keeper.appender();
        boolean tooEarly = keeper.clock().monotonicNs() < retryAtNs;
        if (state != State.PARTED || appender == null || tooEarly || !pending.answersAreIn()) {
            return;
        }
        become(State.RESUMING);
        Position lastEntry = arrivals == null ? timeline().tail() : arrivals.last();
        StripePosition position = new StripePosition(
                stripe,
                appender,
                mint,
                Math.max(clock.nowMs(), keeper.reservation().highMs()),
                keeper.counters());
        boolean passedOver = acceptance == null && lastOrdinal > storedOrdinal;
        boolean stillLacking = storedOrdinal == lackingSince
                && watermark.isBefore(stream.snapshot(stripe.index()).tail());
        boolean lossPending = passedOver || stillLacking;
        // Stripes share W: one that got nothing since the start stands below it rightly.
        Position known = lastEntry.equals(startEntry) ? startPosition : lastEntry;
        StripeResume resume =
                new StripeResume(stripe, appender, mint, lastEntry, known, watermark, position, lossPending);
        Future<List<Event>> resuming = resume.resume();
        atWork = resuming;
        resuming.onComplete(resumed -> {
            if (state != State.RESUMING) {
                return;
            }
            if (resume.hasLess()) {
                lackingSince = storedOrdinal;
            }
            if (resumed.succeeded()) {
                if (resume.hasLess()) {
                    hasLess();
                }
                resumed(resumed.result());
            } else {
                LOG.warn(
                        "stripe {} can't resume yet: {}",
                        stripe,
                        resumed.cause().getMessage());
                LiveLogException failure = keeper.asLiveLogException(resumed.cause());
                resumeRefusal = failure.kind().isAnswer() ? failure : null;
                become(State.PARTED, partedSinceNs);
                retryAtNs = keeper.clock().monotonicNs() + RETRY_NS;
            }
        });
    }

    /** Redis hasn't got all that was acknowledged any more. */
    private void hasLess() {
        boolean unfolded = stream.snapshot(stripe.index()).tail().isAfter(watermark);
        if (unfolded && stream.foldSoonThrough().compareTo(watermark) <= 0) {
            LOG.warn("stripe {}: Redis lacks unfolded events; what memory holds of them is folded now", stripe);
        }
        stream.foldSoon();
    }

    /** Nothing can change any more below the fence: what Redis holds decides what the open appends came to. */
    private void resumed(List<Event> found) {
        keeper.reservation().used(mint.last().ms());
        Deque<Event> stored = new ArrayDeque<>(found);
        List<PendingAppend> notStored = new ArrayList<>();
        List<PendingAppend> succeeded = new ArrayList<>();
        for (PendingAppend append : pending.landAll()) {
            dropBelow(stored, append.firstEntry());
            // It was stored as a whole; others may have removed some of it since.
            if (takeThrough(stored, append.lastEntry())) {
                store(append);
                succeeded.add(append);
            } else {
                notStored.add(append);
            }
        }
        nextOrdinal = Math.max(lastOrdinal, stream.passedOver(stripe.index())) + 1;
        for (PendingAppend append : notStored) {
            if (append.ordinals().last() < nextOrdinal) {
                voided.add(append.ordinals());
            }
        }
        stream.voided(stripe.index(), voided.all());
        resumeRefusal = null;
        become(State.OPEN);
        publish();
        succeeded.forEach(PendingAppend::succeed);
        sendAgain(notStored);
        sendWaiting();
    }

    /** Drops what lies at or below a position; whether there was something. */
    private static boolean takeThrough(Deque<Event> stored, Position last) {
        boolean any = false;
        for (Event first = stored.peek(); first != null && !first.entry().isAfter(last); first = stored.peek()) {
            stored.remove();
            any = true;
        }
        return any;
    }

    private static void dropBelow(Deque<Event> stored, Position entry) {
        while (!stored.isEmpty() && stored.element().entry().isBefore(entry)) {
            stored.remove();
        }
    }

    /** What certainly wasn't stored is sent again under new ids, before what came later. */
    private void sendAgain(List<PendingAppend> notStored) {
        for (int i = notStored.size() - 1; i >= 0; i--) {
            PendingAppend append = notStored.get(i);
            if (!append.isAnswered()) {
                append.outcomeOpen = false;
                append.minted(List.of());
                pending.waitFirst(append);
            } else {
                producers.notStored(append);
            }
        }
    }

    // ---- time ----

    /** Called some times a second: sealing, deadlines, retries. */
    void tick() {
        if (state == State.CLOSED) {
            return;
        }
        if (timeline != null && state != State.COLD) {
            boolean sealed = timeline.sealIfDue(clock.nowMs(), stream.settings());
            if (sealed || frontierIsDue()) {
                publish();
            }
        }
        pending.expire(
                state == State.OPENING
                        ? keeper.limits().openMs()
                        : keeper.limits().resumeMs(),
                keeper.answeredNs(),
                inTheWay());
        producers.expire(
                pending.answerMsMax(keeper.answeredNs()), keeper.clock().monotonicNs());
        if (state == State.PARTED) {
            tryResume();
        }
        sendWaiting();
    }

    private void advance(Acceptance window) {
        Position newest = stream.stripes() > 1 ? stream.newest() : window.tail();
        clock.reached(newest.ms());
        keeper.reservation()
                .ensure(Math.max(newest.ms(), clock.nowMs() - stream.settings().acceptanceWindowMs()));
        window.advance(
                stream.settings(),
                pending.lowestIdInFlight(),
                newest,
                keeper.reservation().highMs());
    }

    /** Whether the frontier can pass an event of the stream that it hasn't passed yet, for all to see. */
    private boolean frontierIsDue() {
        Acceptance window = acceptance;
        if (window == null) {
            return false;
        }
        Position published = stream.snapshot(stripe.index()).frontier();
        if (!stream.newest().isAfter(published)) {
            return false;
        }
        advance(window);
        boolean settles = arrivals != null && arrivals.hasAtOrBelow(window.frontier());
        return settles || (stream.stripes() > 1 && window.frontier().isAfter(published));
    }

    private long sinceMs(long ns) {
        return (keeper.clock().monotonicNs() - ns) / 1_000_000;
    }

    boolean needsTick() {
        return !isQuiet()
                || state == State.PARTED
                || state == State.RESUMING
                || (timeline != null && timeline.hasActive())
                || (arrivals != null && (arrivals.hasProvisional() || stream.stripes() > 1));
    }

    boolean isQuiet() {
        return pending.isEmpty() && !producers.hasWaiting();
    }

    /** Looks whether others have put something into the live log, or taken something out. */
    void patrol() {
        StripeAppender appender = keeper.appender();
        if (state != State.OPEN || appender == null || timeline == null) {
            return;
        }
        long refused = voided.all().stream().mapToLong(OrdinalRange::count).sum();
        patrol.look(appender, storedOrdinal, archivedOrdinal, refused).onSuccess(found -> {
            if (state != State.OPEN) {
                return;
            }
            keeper.counters().quarantined.add(found.moved());
            if (found.hasLess()) {
                hasLess();
            }
            boolean above =
                    found.highest().isAfter(arrivals == null ? timeline().tail() : arrivals.last());
            if (found.keyGone() || above) {
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
        if (acceptance != null) {
            publish();
        }
        if (timeline().seal()) {
            publish();
        }
        return acceptance == null ? timeline().tail() : acceptance.frontier();
    }

    /** @param archivedOrdinal all ordinals up to it are accounted for by the archive */
    void folded(Position newWatermark, long archivedOrdinal) {
        if (timeline == null || state == State.CLOSED) {
            return;
        }
        watermark = Position.max(watermark, newWatermark);
        this.archivedOrdinal = Math.max(this.archivedOrdinal, archivedOrdinal);
        voided.archived(archivedOrdinal);
        stream.voided(stripe.index(), voided.all());
        release(stream.settings().tailCapacity());
    }

    /** Lets go of folded chunks beyond the newest {@code keepEvents}. */
    void release(long keepEvents) {
        if (timeline == null) {
            return;
        }
        boolean released = timeline.release(watermark, keepEvents);
        if (arrivals != null && keepEvents == 0) {
            arrivals.release(stream.frontier(), 0);
            released = true;
        }
        if (released) {
            publish();
        }
    }

    // ---- memory ----

    /** The chunk that leaves memory next under pressure; null if none can. */
    @Nullable
    Chunk nextToLeave(boolean unfoldedToo) {
        Chunk oldest = timeline == null || state == State.CLOSED ? null : timeline.oldestSealed();
        return oldest != null && oldest.last().compareTo(mayLeaveThrough(unfoldedToo)) <= 0 ? oldest : null;
    }

    /** Lets go of final events that are held twice, for followers; gives the bytes. */
    long releaseArrivals() {
        Arrivals arrived = arrivals;
        if (arrived == null || state == State.CLOSED) {
            return 0;
        }
        long before = arrived.bytes();
        arrived.release(stream.frontier(), 0);
        long freed = before - arrived.bytes();
        if (freed > 0) {
            publish();
        }
        return freed;
    }

    /** Lets go of the oldest chunks; see {@link Timeline#releaseOldest}. */
    long releaseOldest(long bytesWanted, long untilMs, boolean unfoldedToo) {
        long freed = timeline().releaseOldest(bytesWanted, untilMs, mayLeaveThrough(unfoldedToo));
        if (freed > 0) {
            publish();
        }
        return freed;
    }

    /**
     * What is folded may always leave. What isn't may leave while Redis is there to give it, in streams whose live log is in the order
     * of the ids.
     */
    private Position mayLeaveThrough(boolean unfoldedToo) {
        return unfoldedToo && stream.finalOnArrival() && state == State.OPEN ? Position.MAX : watermark;
    }

    /** Lets go of all memory if nobody has used the stripe for a while and everything is folded; tails come from the archive then. */
    void retireIfIdle() {
        boolean resting = state == State.OPEN && timeline != null && pending.isEmpty() && !stream.hasFollowers();
        if (idle.isOver(resting, stream.takeUsed(stripe.index()))
                && stream.snapshot(stripe.index()).tail().compareTo(watermark) <= 0
                && (timeline().count() > 0 || (arrivals != null && arrivals.holdsAny()))) {
            release(0);
        }
    }

    // ---- end ----

    /** Closes for good; completes when nothing that was begun can make the key again. */
    Future<Void> close(RuntimeException problem) {
        become(State.CLOSED);
        pending.failWaiting(problem);
        pending.landAll().forEach(append -> append.fail(problem));
        producers.failWaiting(problem);
        timeline = null;
        arrivals = null;
        countMemory();
        return atWork.transform(ended -> Future.succeededFuture());
    }

    private void countMemory() {
        long bytes = timeline == null ? 0 : timeline.bytes();
        bytes += arrivals == null ? 0 : arrivals.bytes();
        keeper.memoryChanged(bytes - countedBytes);
        countedBytes = bytes;
    }

    private void publish() {
        Acceptance window = acceptance;
        Arrivals arrived = arrivals;
        if (window == null || arrived == null) {
            countMemory();
            stream.publish(stripe.index(), timeline().snapshot(timeline().tail()));
            return;
        }
        advance(window);
        window.raise(arrived.excess(keeper.limits().acceptanceBytesMax()), pending.lowestIdInFlight());
        for (Event event : arrived.settle(window.frontier())) {
            timeline().add(event, stream.settings());
        }
        arrived.release(stream.frontier());
        countMemory();
        stream.publish(
                stripe.index(), timeline().snapshot(window.frontier(), window.tail(), lastOrdinal, arrived.view()));
    }
}
