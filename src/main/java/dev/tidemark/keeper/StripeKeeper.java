package dev.tidemark.keeper;

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
    private final VoidedOrdinals voided = new VoidedOrdinals();
    private final PendingAppends pending;
    private final ProducerTable producers;

    private State state = State.COLD;
    /** The opening or resuming under way or done last: it may still create the key. */
    private Future<?> atWork = Future.succeededFuture();

    private @Nullable Timeline timeline;
    private Position watermark = Position.ZERO;
    private long nextOrdinal = 1;
    private long partedSinceNs;
    private long retryAtNs;

    StripeKeeper(KeeperStream stream, int index, Keeper keeper) {
        this.stream = stream;
        this.stripe = stream.stripe(index);
        this.keeper = keeper;
        this.mint = new Mint(index);
        this.clock = new StreamClock(keeper.clock());
        this.pending = new PendingAppends(keeper.limits(), keeper.clock());
        this.producers = new ProducerTable(ProducerHistory.ofStripe(stream.stripes()), keeper.limits());
    }

    State state() {
        return state;
    }

    StripeId stripe() {
        return stripe;
    }

    private void become(State next) {
        state = next;
        if (next == State.PARTED) {
            partedSinceNs = keeper.clock().monotonicNs();
        }
        stream.reachable(next == State.OPEN);
    }

    // ---- appends ----

    void append(PendingAppend append) {
        if (state == State.CLOSED) {
            append.fail(stream.gone());
        } else if (state == State.OPEN && !pending.hasWaiting()) {
            send(append);
        } else if (state == State.PARTED
                && sinceMs(partedSinceNs) > keeper.limits().resumeMs()) {
            append.fail(Problem.unavailable(storedBefore(append), "the live log can't be reached"));
        } else {
            enqueue(append);
        }
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
        pending.waitLast(append);
        if (state == State.COLD) {
            open();
        }
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
        if (!keeper.hasMemory()) {
            append.fail(Problem.overloaded("memory.max is reached: what is in memory must be folded first"));
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
            keeper.answered();
            if (answer.succeeded()) {
                acknowledged(append);
            } else {
                refused(append, keeper.asLiveLogException(answer.cause()));
            }
        });
    }

    /** Gives ids and ordinals to all events of an append; false if it was refused. */
    private boolean mintFor(PendingAppend append) {
        if (append.events.get(0).importId() != null && !importable(append)) {
            return false;
        }
        List<OrdinalRange> carried = voided.takeUnwritten();
        List<Event> minted = new ArrayList<>(append.events.size());
        for (NewEvent event : append.events) {
            Position id = nextId(event);
            EventExtras extras = carried.isEmpty() ? null : new EventExtras(null, carried);
            carried = List.of();
            minted.add(new Event(id, id, nextOrdinal++, event.time(), false, event.type(), extras, event.payload()));
        }
        append.minted = append.marked(minted);
        clock.reached(mint.last().ms());
        keeper.reservation().used(mint.last().ms());
        return true;
    }

    private Position nextId(NewEvent event) {
        if (event.importId() == null) {
            return mint.next(clock.nowMs());
        }
        Position id = event.importId().position();
        mint.imported(id);
        return id;
    }

    private boolean importable(PendingAppend append) {
        Position last = mint.last();
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
        long before = timeline().bytes();
        for (Event event : append.minted) {
            timeline().add(event, settings);
        }
        keeper.memoryChanged(timeline().bytes() - before);
        producers.stored(append);
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
        append.fail(problemOf(failure));
        switch (failure.kind()) {
            case ID_TOO_LOW, KEY_MISSING -> {
                LOG.warn("stripe {}: {}; it is fenced again", stripe, failure.getMessage());
                part();
            }
            case NOT_SENT -> {
                if (keeper.appender() == null) {
                    part();
                }
            }
            default -> {}
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
        stream.voided(voided.all());
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
        Future<StripeOpening.Opened> opening = new StripeOpening(stripe, stream, keeper).open();
        atWork = opening;
        opening.onComplete(opened -> {
            if (state != State.OPENING) {
                return;
            }
            if (opened.succeeded()) {
                opened(opened.result());
            } else {
                openFailed(opened.cause());
            }
        });
    }

    private void opened(StripeOpening.Opened opened) {
        watermark = opened.watermark();
        mint.startAfter(opened.lastPossible());
        clock.reached(Math.max(mint.last().ms(), keeper.reservation().startMs()));
        if (stream.createdHere()) {
            // A stream of that name may have been deleted: its ids aren't given again, even while they are ahead of the
            // clock.
            clock.reached(keeper.reservation().usedMs() + 1);
        }
        nextOrdinal = opened.lastOrdinal() + 1;
        Timeline fresh = new Timeline(stripe, keeper.clock(), opened.floor(), opened.tail(), opened.lastOrdinal());
        fresh.preload(opened.newest(), opened.floor(), stream.settings());
        timeline = fresh;
        if (opened.lastOrdinal() == 0) {
            producers.restored(List.of(), clock.nowMs());
        }
        keeper.memoryChanged(fresh.bytes());
        pending.beginToWait();
        become(State.OPEN);
        publish();
        keeper.opened(this);
        sendWaiting();
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
        Position lastEntry = timeline().tail();
        Future<List<Event>> resuming = new StripeResume(stripe, appender, mint, lastEntry, clock.nowMs()).resume();
        atWork = resuming;
        resuming.onComplete(resumed -> {
            if (state != State.RESUMING) {
                return;
            }
            if (resumed.succeeded()) {
                resumed(resumed.result());
            } else {
                LOG.warn(
                        "stripe {} can't resume yet: {}",
                        stripe,
                        resumed.cause().getMessage());
                become(State.PARTED);
                retryAtNs = keeper.clock().monotonicNs() + RETRY_NS;
            }
        });
    }

    /** Nothing can change any more below the fence: what Redis holds decides what the open appends came to. */
    private void resumed(List<Event> found) {
        keeper.reservation().used(mint.last().ms());
        Deque<Event> stored = new ArrayDeque<>(found);
        List<PendingAppend> notStored = new ArrayList<>();
        List<PendingAppend> succeeded = new ArrayList<>();
        for (PendingAppend append : pending.landAll()) {
            dropBelow(stored, append.firstId());
            Event first = stored.peek();
            if (first != null && first.id().equals(append.firstId())) {
                append.minted.forEach(event -> stored.poll());
                store(append);
                succeeded.add(append);
            } else {
                notStored.add(append);
            }
        }
        nextOrdinal = timeline().lastOrdinal() + 1;
        for (PendingAppend append : notStored) {
            if (append.ordinals().last() < nextOrdinal) {
                voided.add(append.ordinals());
            }
        }
        stream.voided(voided.all());
        become(State.OPEN);
        publish();
        succeeded.forEach(PendingAppend::succeed);
        sendAgain(notStored);
        sendWaiting();
    }

    private static void dropBelow(Deque<Event> stored, Position id) {
        while (!stored.isEmpty() && stored.element().id().isBefore(id)) {
            stored.remove();
        }
    }

    /** What certainly wasn't stored is sent again under new ids, before what came later. */
    private void sendAgain(List<PendingAppend> notStored) {
        for (int i = notStored.size() - 1; i >= 0; i--) {
            PendingAppend append = notStored.get(i);
            if (!append.isAnswered()) {
                append.outcomeOpen = false;
                append.minted = List.of();
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
        if (timeline != null && state != State.COLD && timeline.sealIfDue(clock.nowMs(), stream.settings())) {
            publish();
        }
        pending.expire(
                state == State.OPENING
                        ? keeper.limits().openMs()
                        : keeper.limits().resumeMs(),
                keeper.answeredNs());
        producers.expire(
                pending.answerMsMax(keeper.answeredNs()), keeper.clock().monotonicNs());
        if (state == State.PARTED) {
            tryResume();
        }
        sendWaiting();
    }

    private long sinceMs(long ns) {
        return (keeper.clock().monotonicNs() - ns) / 1_000_000;
    }

    boolean needsTick() {
        return !isQuiet() || state == State.PARTED || (timeline != null && timeline.hasActive());
    }

    boolean isQuiet() {
        return pending.isEmpty() && !producers.hasWaiting();
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
        if (timeline().seal()) {
            publish();
        }
        return timeline().tail();
    }

    void folded(Position newWatermark, long lastOrdinal) {
        if (timeline == null || state == State.CLOSED) {
            return;
        }
        watermark = Position.max(watermark, newWatermark);
        voided.archived(lastOrdinal);
        stream.voided(voided.all());
        release(stream.settings().tailCapacity());
    }

    /** Lets go of folded chunks beyond the newest {@code keepEvents}. */
    void release(long keepEvents) {
        if (timeline == null) {
            return;
        }
        long before = timeline.bytes();
        if (timeline.release(watermark, keepEvents)) {
            keeper.memoryChanged(timeline.bytes() - before);
            publish();
        }
    }

    // ---- end ----

    /** Closes for good; completes when nothing that was begun can make the key again. */
    Future<Void> close(RuntimeException problem) {
        long bytes = timeline == null ? 0 : timeline.bytes();
        become(State.CLOSED);
        pending.failWaiting(problem);
        pending.landAll().forEach(append -> append.fail(problem));
        producers.failWaiting(problem);
        timeline = null;
        keeper.memoryChanged(-bytes);
        return atWork.transform(ended -> Future.succeededFuture());
    }

    private void publish() {
        stream.publish(stripe.index(), timeline().snapshot(timeline().tail()));
    }
}
