package dev.tidemark.read;

import dev.tidemark.event.Clock;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Slice;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.MergedSnapshot;
import dev.tidemark.keeper.StreamSnapshot;
import dev.tidemark.keeper.TimelineSnapshot;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * What all subscriptions of one event loop to one stream share: one registration with the stream, one round for however many
 * notifications came since the last one, and in a round one list of events for all that stand at the same position.
 *
 * <p>A round goes over all members with one snapshot, some of them a turn, so that the loop is free in between. Between two rounds lies
 * at least four times what the last one cost: next to nothing for few members, {@link #PAUSE_NS_MAX} for many.
 */
final class StreamFeed {
    private static final long PAUSE_NS_MAX = 2_000_000;
    /** Members that may have left before the list is cleaned between rounds. */
    private static final int LEFT_MAX = 16;

    /** Positions whose events are kept during a round: followers that were slow for a moment stand at a few others than the rest. */
    private static final int BATCHES_MAX = 4;

    private final LiveStream stream;
    private final EventLoop loop;
    private final Clock clock;
    private final ReadPace pace;

    /** Any thread: whether a round is due that hasn't begun. */
    private final AtomicBoolean due = new AtomicBoolean();

    // The rest belongs to the loop.
    private final List<StreamSubscription> members = new ArrayList<>();
    private int live;
    private @Nullable Runnable unfollow;
    private StreamSnapshot snapshot = TimelineSnapshot.COLD;
    private boolean inRound;
    private boolean anotherRound;
    private int nextMember;
    private long roundNs;
    private long restUntilNs;
    /** Of this round, for the positions asked for last; the newest first. */
    private final Deque<Batch> batches = new ArrayDeque<>();

    private @Nullable ArrivedBatch arrivedBatch;

    /** Events behind a position in a snapshot. */
    private record Batch(StreamSnapshot snapshot, Position after, View view, List<Slice> events) {}

    /** Arrivals behind a place in a snapshot. */
    private record ArrivedBatch(MergedSnapshot snapshot, Position through, List<Position> floors, Arrived arrived) {}

    StreamFeed(LiveStream stream, EventLoop loop, Clock clock, ReadPace pace) {
        this.stream = stream;
        this.loop = loop;
        this.clock = clock;
        this.pace = pace;
        restUntilNs = clock.monotonicNs();
    }

    EventLoop loop() {
        return loop;
    }

    void join(StreamSubscription member) {
        members.add(member);
        live++;
        if (unfollow == null) {
            unfollow = stream.follow(this::request);
        }
    }

    /** @return whether nobody is left: the feed isn't used any more */
    boolean leave() {
        live--;
        if (live > 0) {
            if (!inRound && members.size() > 2 * live + LEFT_MAX) {
                members.removeIf(StreamSubscription::isClosed);
            }
            return false;
        }
        if (unfollow != null) {
            unfollow.run();
        }
        return true;
    }

    /** A round is wanted: there may be more events, or something else to know. Any thread. */
    void request() {
        if (!due.getAndSet(true)) {
            loop.post(this::begin);
        }
    }

    private void begin() {
        long restNs = restUntilNs - clock.monotonicNs();
        if (restNs > 0) {
            loop.schedule(Math.max(1, Math.min(restNs, PAUSE_NS_MAX) / 1_000_000), this::round);
        } else {
            round();
        }
    }

    private void round() {
        due.set(false);
        if (inRound) {
            anotherRound = true;
            return;
        }
        inRound = true;
        snapshot = stream.snapshot();
        nextMember = 0;
        roundNs = 0;
        turn();
    }

    private void turn() {
        long startNs = clock.monotonicNs();
        int stop = Math.min(members.size(), nextMember + pace.fanOutPerTurn());
        while (nextMember < stop) {
            members.get(nextMember).advance(snapshot);
            nextMember++;
        }
        long nowNs = clock.monotonicNs();
        roundNs += nowNs - startNs;
        if (nextMember < members.size()) {
            loop.post(this::turn);
            return;
        }
        inRound = false;
        // Nothing that the keeper may want to release is held on to.
        snapshot = TimelineSnapshot.COLD;
        batches.clear();
        arrivedBatch = null;
        restUntilNs = nowNs + Math.min(PAUSE_NS_MAX, 4 * roundNs);
        members.removeIf(StreamSubscription::isClosed);
        if (anotherRound) {
            anotherRound = false;
            request();
        }
    }

    /** The events of a snapshot behind a position, up to the size of a batch: the same list for all who ask the same. */
    List<Slice> eventsAfter(StreamSnapshot from, Position after, View view) {
        for (Batch known : batches) {
            if (known.snapshot == from && known.view == view && known.after.equals(after)) {
                return known.events;
            }
        }
        List<Slice> events = AscendingMerge.through(
                from.after(after, pace.batchEvents(), pace.batchBytes()), StreamSource.end(from, view));
        if (inRound) {
            if (batches.size() == BATCHES_MAX) {
                batches.removeLast();
            }
            batches.addFirst(new Batch(from, after, view, events));
        }
        return events;
    }

    /** As {@link #eventsAfter}, in the order of arrival. */
    Arrived arrivedAfter(MergedSnapshot from, Position through, List<Position> floors) {
        ArrivedBatch last = arrivedBatch;
        if (last != null && last.snapshot == from && last.through.equals(through) && last.floors.equals(floors)) {
            return last.arrived;
        }
        Arrived arrived = Arrived.after(
                stream.id().generation(), from, through, floors, Position.MAX, pace.batchEvents(), pace.batchBytes());
        arrivedBatch = new ArrivedBatch(from, through, floors, arrived);
        return arrived;
    }

    /** The server stops: everyone is told where to resume. */
    void stop() {
        Problem stopping = new Problem(Problem.Kind.UNAVAILABLE, "the server is stopping; reconnect with the cursor");
        for (StreamSubscription member : List.copyOf(members)) {
            member.end(stopping);
        }
    }
}
