package dev.tidemark.keeper;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.tidemark.event.Event;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.StripeId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a stripe has besides its timeline if order isn't final on arrival: its acceptance, which decides where events stand and how far
 * the frontier is, and its arrivals, which hold what lies above that. Brings both together with the stream, the clock and what is in
 * flight. Owned by the {@link StripeMemory}; on the keeper's event loop.
 */
final class Sorting {
    private final StripeId stripe;
    private final KeeperStream stream;
    private final Keeper keeper;
    private final StreamClock clock;
    private final PendingAppends pending;
    private final Acceptance acceptance;
    private final Arrivals arrivals;

    Sorting(
            StripeId stripe,
            KeeperStream stream,
            Keeper keeper,
            StreamClock clock,
            PendingAppends pending,
            Acceptance acceptance,
            Arrivals arrivals) {
        this.stripe = stripe;
        this.stream = stream;
        this.keeper = keeper;
        this.clock = clock;
        this.pending = pending;
        this.acceptance = acceptance;
        this.arrivals = arrivals;
    }

    // ---- places ----

    /** Why events can't be taken with the times that they claim, or null if they can. */
    @Nullable
    Problem refusalOrNull(List<NewEvent> events) {
        return acceptance.refusalOrNull(events, stream.settings(), clock.nowMs());
    }

    /** Gives an event its place; {@code entry} is its entry id, just minted. */
    Acceptance.Place place(NewEvent event, Position entry) {
        return acceptance.place(event, entry, stream.settings());
    }

    /** An event's numbers are taken: it was found at the start, or is in flight under ids of its arrival. */
    void taken(Event event) {
        acceptance.taken(event);
    }

    /** Takes an acknowledged event, the newest arrival. */
    void store(Event event) {
        arrivals.add(event, stream.settings());
        acceptance.acknowledged(event);
        if (event.late()) {
            keeper.counters().lateRescued.increment();
        }
    }

    // ---- frontier ----

    Position frontier() {
        return acceptance.frontier();
    }

    /** Moves the frontier as far as it can go now. */
    void advance() {
        Position newest = stream.stripes() > 1 ? stream.newest() : acceptance.tail();
        clock.reached(newest.ms());
        keeper.reservation()
                .ensure(Math.max(newest.ms(), clock.nowMs() - stream.settings().acceptanceWindowMs()));
        acceptance.advance(
                stream.settings(),
                pending.lowestIdInFlight(),
                newest,
                keeper.reservation().highMs());
    }

    /** Whether the frontier can pass an event of the stream that it hasn't passed yet, for all to see. */
    boolean frontierIsDue() {
        Position published = stream.snapshot(stripe.index()).frontier();
        if (!stream.newest().isAfter(published)) {
            return false;
        }
        advance();
        boolean settles = arrivals.hasAtOrBelow(acceptance.frontier());
        return settles || (stream.stripes() > 1 && acceptance.frontier().isAfter(published));
    }

    /** Moves the frontier, further than it would go if too much isn't final; takes out what it has passed, in id order. */
    List<Event> settle() {
        advance();
        acceptance.raise(arrivals.excess(keeper.limits().acceptanceBytesMax()), pending.lowestIdInFlight());
        return arrivals.settle(acceptance.frontier());
    }

    // ---- arrivals ----

    /** Entry id of the newest arrival. */
    Position lastEntry() {
        return arrivals.last();
    }

    /** The timeline, which ends at the frontier, and what lies above it. */
    TimelineSnapshot snapshot(Timeline timeline, long lastOrdinal) {
        return timeline.snapshot(acceptance.frontier(), acceptance.tail(), lastOrdinal, arrivals.view());
    }

    /** Whether time alone moves the frontier past something. */
    boolean needsTick() {
        return arrivals.hasProvisional() || stream.stripes() > 1;
    }

    boolean holdsAny() {
        return arrivals.holdsAny();
    }

    long bytes() {
        return arrivals.bytes();
    }

    /** Lets go of final arrivals beyond what followers need. */
    void release() {
        arrivals.release(stream.frontier());
    }

    /** Lets go of all final arrivals; gives the bytes. */
    @CanIgnoreReturnValue
    long releaseAll() {
        long before = arrivals.bytes();
        arrivals.release(stream.frontier(), 0);
        return before - arrivals.bytes();
    }
}
