package dev.tidemark.read;

import dev.tidemark.event.Cursor;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Slice;
import dev.tidemark.keeper.MergedSnapshot;
import dev.tidemark.keeper.StreamSnapshot;
import io.vertx.core.AsyncResult;
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
    private final Delivery delivery;
    private final ArrivalPlace arrivals = new ArrivalPlace();

    private State state = State.RESOLVING;
    private AscendingMerge merge;

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
        delivery = new Delivery(source, request, subscriber, this::isClosed, this::end);
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
        delivery.movedTo(start.position());
        enter(State.CATCHING_UP);
        subscriber.hello(source.stream().id(), cursor(), seam());
        Gap gap = start.gap();
        if (gap != null && !isClosed()) {
            delivery.give(gap);
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
        delivery.give(page.events(), page.gaps(), merge);
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
            delivery.give(events, gaps, merge);
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
        Arrived at = arrivals.now();
        Arrived now = at == null ? arrivals.behind(merge, snapshot) : at;
        boolean writable = subscriber.writable();
        boolean covered = snapshot.coversArrivals(now.floors(), now.through());
        if (at == null && !covered) {
            // Some of it has become final since the merge-read ended: it goes on with that.
            enter(State.CATCHING_UP);
            run();
            return;
        }
        arrivals.standAt(now);
        boolean tooFar = !writable && arrivals.lag(snapshot) > pace.lagEventsMax();
        if (!covered || skipping || tooFar) {
            fallBehind(snapshot, writable);
        } else if (writable) {
            Arrived next = feed.arrivedAfter(snapshot, now.through(), now.floors());
            moveTo(next, snapshot);
            if (!next.events().isEmpty()) {
                merge.startLoss().forEach(delivery::give);
            }
            giveProvisional(next.events());
            if (isClosed()) {
                return;
            }
            if (next.more()) {
                feed.request();
            } else if (arrivals.seals(snapshot.frontier())) {
                subscriber.sealed(snapshot.frontier());
            }
        }
    }

    private void moveTo(Arrived next, MergedSnapshot snapshot) {
        arrivals.moveTo(next, snapshot);
        delivery.movedTo(next.through());
    }

    private void giveProvisional(List<Slice> events) {
        if (events.isEmpty() || isClosed()) {
            return;
        }
        arrivals.given(events);
        subscriber.events(events);
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
                    Position from = delivery.through();
                    moveTo(Arrived.all(merged), merged);
                    delivery.give(new Gap(from, Position.max(from, merged.tail()), Gap.Reason.SKIPPED));
                    delivery.movedTo(merged.frontier());
                } else if (writable) {
                    delivery.give(List.of(), List.of(merge.skipTo(snapshot)), merge);
                }
            }
            case CLOSE ->
                end(new Problem(
                        Problem.Kind.OVERLOADED, "the subscriber is too slow; reconnect with the cursor to go on"));
        }
    }

    private void goBack() {
        Cursor cursor = cursor();
        Arrived from = arrivals.leave();
        if (from != null) {
            merge = mergeFrom(from.through(), from.floors());
            delivery.movedTo(from.through());
        }
        enter(State.CATCHING_UP);
        subscriber.fellBehind(cursor);
        run();
    }

    // ---- all states

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
            if (state == State.FOLLOWING
                    && arrivals.now() == null
                    && !source.snapshot().covers(merge.cursor())) {
                // It asked to stand still: that doesn't make it a slow one.
                goBack();
            } else {
                run();
            }
        });
    }

    @Override
    public Cursor cursor() {
        Arrived at = arrivals.now();
        return at == null
                ? merge.floors().cursor(source.generation(), delivery.through())
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
