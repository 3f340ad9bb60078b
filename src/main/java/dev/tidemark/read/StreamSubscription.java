package dev.tidemark.read;

import dev.tidemark.event.Cursor;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Slice;
import dev.tidemark.keeper.MergedSnapshot;
import dev.tidemark.keeper.StreamSnapshot;
import io.vertx.core.AsyncResult;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One subscriber's way through a stream: history by merge-read, then the tail as it grows, inside one cursor, the {@link
 * AscendingMerge}. Nothing is queued for it: what it hasn't been given is read when it can take it.
 *
 * <pre>
 *  RESOLVING ──start found, hello──> CATCHING_UP ──at the tail, caughtUp──> FOLLOWING
 *                                         ^                                    |
 *                                         '──── too far behind, fellBehind ────'
 *  any ──close, deleted, problem──> CLOSED
 * </pre>
 *
 * Being paused, or not writable, holds it wherever it is. Everything runs on the subscriber's loop.
 */
final class StreamSubscription implements Subscription {
    /** While events are provisional a follower is told of the frontier in steps of at least so much. */
    private static final long SEALED_STEP_MS = 250;

    private static final Logger log = LoggerFactory.getLogger(StreamSubscription.class);
    /** Attempts at an archive that can't be read, in a row, before the subscription ends. */
    private static final int ATTEMPTS_MAX = 30;

    private enum State {
        RESOLVING,
        CATCHING_UP,
        FOLLOWING,
        CLOSED
    }

    private final StreamSource source;
    private final SubscribeRequest request;
    private final Subscriber subscriber;
    private final SeamRead seams;
    private final ReadPace pace;
    private final StreamFeeds feeds;
    private final StreamFeed feed;

    private State state = State.RESOLVING;
    private AscendingMerge merge;
    /** What the subscriber was given last; the merge may be ahead of it by the page that is held. */
    private Position delivered = Position.ZERO;

    /** Where it follows in the order of arrival, behind the merge's end; null if it doesn't. */
    private @Nullable Arrived place;

    private Position provisionalMax = Position.ZERO;
    private Position sealedThrough = Position.ZERO;
    private long placeOrdinal;

    private boolean paused;
    private boolean reading;
    private boolean skipping;
    private @Nullable MergePage held;

    private boolean waiting;
    private boolean waitingForLiveLog;
    private int attempts;

    StreamSubscription(
            StreamSource source,
            SubscribeRequest request,
            Subscriber subscriber,
            SeamRead seams,
            ReadPace pace,
            StreamFeeds feeds,
            EventLoop loop) {
        this.source = source;
        this.request = request;
        this.subscriber = subscriber;
        this.seams = seams;
        this.pace = pace;
        this.feeds = feeds;
        merge = new AscendingMerge(source, request.view(), Position.ZERO, true, Position.MAX);
        feed = feeds.join(source.stream(), loop, this);
    }

    private void enter(State next) {
        if ((state == State.CATCHING_UP) != (next == State.CATCHING_UP)) {
            feeds.behind(next == State.CATCHING_UP ? 1 : -1);
        }
        state = next;
    }

    boolean isClosed() {
        return state == State.CLOSED;
    }

    /** Goes on with whatever the state allows now. */
    private void run() {
        guarded(() -> {
            switch (state) {
                case RESOLVING -> resolve();
                case CATCHING_UP -> catchUp();
                case FOLLOWING -> followOn();
                case CLOSED -> {}
            }
        });
    }

    /** What a session throws ends its own subscription only. */
    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            log.error("a subscription to {} failed while {}", source.stream().name(), state, e);
            if (!isClosed()) {
                end(problemOf(e));
            }
        }
    }

    // ---- RESOLVING

    /** Begins; called once, posted to the loop. */
    void start() {
        run();
    }

    private void resolve() {
        if (reading) {
            return;
        }
        reading = true;
        SubscriptionStart.find(source, request, pace).onComplete(found -> guarded(() -> resolved(found)));
    }

    private void resolved(AsyncResult<SubscriptionStart> found) {
        reading = false;
        if (isClosed()) {
            return;
        }
        if (found.failed()) {
            end(problemOf(found.cause()));
            return;
        }
        SubscriptionStart start = found.result();
        merge = mergeFrom(start.position(), start.floors());
        delivered = start.position();
        enter(State.CATCHING_UP);
        subscriber.hello(source.stream().id(), cursor(), seam());
        Gap gap = start.gap();
        if (gap != null && !isClosed()) {
            giveGap(gap);
        }
        giveProvisional(start.first());
        run();
    }

    private AscendingMerge mergeFrom(Position position, List<Position> floors) {
        return new AscendingMerge(source, request.view(), position, Floors.of(floors), false, Position.MAX);
    }

    // ---- CATCHING_UP

    private void catchUp() {
        if (paused || reading || waiting || !subscriber.writable()) {
            return;
        }
        MergePage page = held;
        if (page != null) {
            held = null;
            give(page);
            return;
        }
        reading = true;
        merge.next(pace.batchEvents(), pace.batchBytes()).onComplete(next -> guarded(() -> read(next)));
    }

    private void read(AsyncResult<MergePage> next) {
        reading = false;
        if (isClosed()) {
            return;
        }
        if (next.failed()) {
            retryOrEnd(problemOf(next.cause()));
        } else if (paused) {
            held = next.result().notTheLast();
        } else {
            give(next.result());
        }
    }

    private void give(MergePage page) {
        attempts = 0;
        deliver(page.events(), page.gaps());
        if (isClosed()) {
            return;
        }
        switch (page.end()) {
            case MORE -> feed.loop().post(this::run);
            case AWAY -> waitAWhile();
            case REACHED -> {
                enter(State.FOLLOWING);
                subscriber.caughtUp(cursor());
                if (!isClosed()) {
                    feed.request();
                }
            }
        }
    }

    private void retryOrEnd(Problem problem) {
        attempts++;
        if (problem.kind().retryable() && attempts < ATTEMPTS_MAX) {
            waitAWhile();
        } else {
            end(problem);
        }
    }

    private void waitAWhile() {
        waiting = true;
        waitingForLiveLog = !liveLogReachable();
        feed.loop().schedule(pace.retryMs(), this::goOn);
    }

    private void goOn() {
        waiting = false;
        run();
    }

    // ---- FOLLOWING

    /** The stream has more events, or is deleted, or its live log has come or gone. */
    void advance(StreamSnapshot snapshot) {
        guarded(() -> {
            if (isClosed()) {
                return;
            }
            if (source.isDeleted()) {
                end(source.deleted());
            } else if (state == State.FOLLOWING && snapshot.isOpen()) {
                follow(snapshot);
            } else if (waiting && waitingForLiveLog && liveLogReachable()) {
                goOn();
            }
        });
    }

    private void followOn() {
        StreamSnapshot snapshot = source.snapshot();
        if (snapshot.isOpen()) {
            follow(snapshot);
        } else {
            goBack();
        }
    }

    private void follow(StreamSnapshot snapshot) {
        if (snapshot instanceof MergedSnapshot merged && request.view() == View.LIVE) {
            followArrivals(merged);
            return;
        }
        Position end = StreamSource.end(snapshot, request.view());
        if (paused || !end.isAfter(merge.cursor())) {
            return;
        }
        boolean writable = subscriber.writable();
        if (!snapshot.covers(merge.cursor()) || skipping || (!writable && lag(snapshot) > pace.lagEventsMax())) {
            fallBehind(snapshot, writable);
        } else if (writable) {
            List<Slice> events = feed.eventsAfter(snapshot, merge.cursor(), request.view());
            if (events.isEmpty() && snapshot instanceof MergedSnapshot) {
                merge.passEmpty(end);
                return;
            }
            List<Gap> gaps = events.isEmpty() ? null : merge.follow(events);
            if (gaps == null) {
                // Memory hasn't got what it says there is: the merge-read finds out what is missing.
                enter(State.CATCHING_UP);
                run();
                return;
            }
            deliver(events, gaps);
            if (!isClosed() && end.isAfter(merge.cursor())) {
                feed.request();
            }
        }
    }

    /** The merge-read ends at the frontier; behind it, events are given as they arrive. */
    private void followArrivals(MergedSnapshot snapshot) {
        if (paused) {
            return;
        }
        Arrived at = place;
        Arrived now = at == null ? placeBehindMerge(snapshot) : at;
        boolean writable = subscriber.writable();
        boolean covered = snapshot.coversArrivals(now.floors(), now.through());
        if (at == null && !covered) {
            // Some of it has become final since the merge-read ended: it goes on with that.
            enter(State.CATCHING_UP);
            run();
            return;
        }
        place = now;
        boolean tooFar = !writable && snapshot.lastOrdinal() - placeOrdinal > pace.lagEventsMax();
        if (!covered || skipping || tooFar) {
            fallBehind(snapshot, writable);
        } else if (writable) {
            Arrived next = feed.arrivedAfter(snapshot, now.through(), now.floors());
            moveTo(next, snapshot);
            if (!next.events().isEmpty()) {
                merge.startLoss().forEach(this::giveGap);
            }
            giveProvisional(next.events());
            if (isClosed()) {
                return;
            }
            if (next.more()) {
                feed.request();
            } else {
                tellSealed(snapshot.frontier());
            }
        }
    }

    private Arrived placeBehindMerge(MergedSnapshot snapshot) {
        List<Position> floors = merge.floors().positions();
        List<Position> known = floors.size() == snapshot.stripes().size() ? floors : Arrived.none(snapshot);
        sealedThrough = Position.max(sealedThrough, merge.cursor());
        return new Arrived(List.of(), merge.cursor(), known, true);
    }

    private void moveTo(Arrived next, MergedSnapshot snapshot) {
        place = next;
        delivered = next.through();
        if (!next.more()) {
            placeOrdinal = snapshot.lastOrdinal();
        }
    }

    private void giveProvisional(List<Slice> events) {
        if (events.isEmpty() || isClosed()) {
            return;
        }
        for (Slice slice : events) {
            for (int i = slice.from(); i < slice.to(); i++) {
                if (slice.chunk().provisional(i)) {
                    provisionalMax = Position.max(provisionalMax, slice.chunk().position(i));
                }
            }
        }
        subscriber.events(events);
    }

    /** Everything at or below the frontier has been given. */
    private void tellSealed(Position frontier) {
        boolean all = frontier.compareTo(provisionalMax) >= 0;
        boolean enough = all || frontier.ms() - sealedThrough.ms() >= SEALED_STEP_MS;
        if (provisionalMax.isAfter(sealedThrough) && frontier.isAfter(sealedThrough) && enough) {
            sealedThrough = frontier;
            subscriber.sealed(frontier);
        }
    }

    private long lag(StreamSnapshot snapshot) {
        long ordinal = merge.ordinal();
        return ordinal >= 0 ? snapshot.lastOrdinal() - ordinal : snapshot.countAfter(merge.cursor());
    }

    private void fallBehind(StreamSnapshot snapshot, boolean writable) {
        switch (request.slow()) {
            case ARCHIVE -> goBack();
            case SKIP -> {
                skipping = !writable;
                if (writable && snapshot instanceof MergedSnapshot merged && request.view() == View.LIVE) {
                    Position from = delivered;
                    moveTo(Arrived.all(merged), merged);
                    giveGap(new Gap(from, Position.max(from, merged.tail()), Gap.Reason.SKIPPED));
                    delivered = merged.frontier();
                } else if (writable) {
                    deliver(List.of(), List.of(merge.skipTo(snapshot)));
                }
            }
            case CLOSE ->
                end(new Problem(
                        Problem.Kind.OVERLOADED, "the subscriber is too slow; reconnect with the cursor to go on"));
        }
    }

    private void goBack() {
        Cursor cursor = cursor();
        Arrived from = place;
        if (from != null) {
            merge = mergeFrom(from.through(), from.floors());
            delivered = from.through();
            place = null;
        }
        enter(State.CATCHING_UP);
        subscriber.fellBehind(cursor);
        run();
    }

    // ---- all states

    private void deliver(List<Slice> events, List<Gap> gaps) {
        List<Slice> rest = events;
        for (Gap gap : gaps) {
            giveEvents(AscendingMerge.through(rest, gap.from()));
            rest = after(rest, gap.from());
            if (!isClosed()) {
                boolean done = !gap.to().isAfter(merge.cursor())
                        && AscendingMerge.through(rest, gap.to()).isEmpty();
                giveGap(gap, done);
            }
        }
        giveEvents(rest);
    }

    private static List<Slice> after(List<Slice> slices, Position position) {
        List<Slice> rest = new ArrayList<>();
        for (Slice slice : slices) {
            Slice kept = slice.after(position);
            if (!kept.isEmpty()) {
                rest.add(kept);
            }
        }
        return rest;
    }

    private void giveEvents(List<Slice> events) {
        if (!events.isEmpty() && !isClosed()) {
            delivered = events.get(events.size() - 1).last();
            subscriber.events(events);
        }
    }

    private void giveGap(Gap gap) {
        giveGap(gap, true);
    }

    /** @param done whether no event is left to be given at or below the gap's end: there may be some within a gap */
    private void giveGap(Gap gap, boolean done) {
        Position earliest = SeamRead.earliest(source);
        delivered = done ? Position.max(delivered, gap.to()) : delivered;
        subscriber.gap(gap, earliest);
        if (request.closeOnGap() && gap.reason() != Gap.Reason.SKIPPED && !isClosed()) {
            Problem problem = gap.reason() == Gap.Reason.EXPIRED ? source.expired(earliest) : source.missing(earliest);
            end(problem.with("reason", gap.reason().text()));
        }
    }

    private Problem problemOf(Throwable failure) {
        if (failure instanceof Problem problem) {
            return problem;
        }
        return new Problem(Problem.Kind.INTERNAL, "the subscription failed").causedBy(failure);
    }

    /** Ends it with a problem, which the subscriber is told. */
    void end(Problem problem) {
        if (!isClosed()) {
            enter(State.CLOSED);
            feeds.leave(source.stream(), feed);
            subscriber.closed(problem, cursor());
        }
    }

    @Override
    public void drained() {
        run();
    }

    @Override
    public void pause() {
        paused = true;
    }

    @Override
    public void resume() {
        if (!paused) {
            return;
        }
        paused = false;
        guarded(() -> {
            if (state == State.FOLLOWING && place == null && !source.snapshot().covers(merge.cursor())) {
                // It asked to stand still: that doesn't make it a slow one.
                goBack();
            } else {
                run();
            }
        });
    }

    @Override
    public Cursor cursor() {
        Arrived at = place;
        return at == null
                ? merge.floors().cursor(source.generation(), delivered)
                : Arrived.cursor(source.generation(), at.through(), at.floors());
    }

    @Override
    public Seam seam() {
        return seams.of(source);
    }

    @Override
    public boolean liveLogReachable() {
        return source.stream().liveLogReachable();
    }

    @Override
    public void close() {
        if (!isClosed()) {
            enter(State.CLOSED);
            feeds.leave(source.stream(), feed);
        }
    }
}
