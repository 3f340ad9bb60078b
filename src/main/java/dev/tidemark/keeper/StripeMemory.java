package dev.tidemark.keeper;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.Event;
import dev.tidemark.event.Position;
import dev.tidemark.event.StripeId;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a keeper knows of the acknowledged events of one stripe, and holds of them in memory: takes and publishes them, moves what has
 * become final into the timeline, seals, and lets go of what is folded. It has a timeline from the opening until the stripe is closed.
 * Owned by the {@link StripeKeeper}; on the keeper's event loop.
 */
final class StripeMemory {
    private static final Logger LOG = LoggerFactory.getLogger(StripeMemory.class);

    private final StripeId stripe;
    private final KeeperStream stream;
    private final Keeper keeper;
    private final StreamClock clock;
    private final PendingAppends pending;
    private final IdleWatch idle;

    private @Nullable Timeline timeline;
    /** Null as long as order is final on arrival. */
    private @Nullable Sorting sorting;

    private Position watermark = Position.ZERO;
    /** Highest ordinal that is acknowledged, or passed over for what a start may have lost. */
    private long lastOrdinal;
    /** Of the newest event that the live log had, as far as this process knows. */
    private long storedOrdinal;
    /** The archive accounts for all up to it. */
    private long archivedOrdinal;
    /** What the keeper knows of. */
    private long countedBytes;

    /** @param pending what is in flight holds back the frontier */
    StripeMemory(StripeId stripe, KeeperStream stream, Keeper keeper, StreamClock clock, PendingAppends pending) {
        this.stripe = stripe;
        this.stream = stream;
        this.keeper = keeper;
        this.clock = clock;
        this.pending = pending;
        this.idle = new IdleWatch(keeper.clock(), keeper.limits().idleMs());
    }

    // ---- opening and end ----

    /**
     * Takes what an opening found.
     *
     * @param missingThrough see {@link StripeOpening#missingThrough}
     */
    void open(StripeOpening.Opened opened, Position missingThrough) {
        watermark = opened.watermark();
        lastOrdinal = opened.lastOrdinal();
        storedOrdinal = opened.lastOrdinal();
        archivedOrdinal = opened.archivedOrdinal();
        timeline = new Timeline(stripe, keeper.clock(), opened.floor(), opened.tail(), opened.lastOrdinal());
        if (opened.sorted()) {
            sort(Position.max(frontierAtStart(opened), missingThrough), opened.lastEntry());
            opened.newest().forEach(this::takeFound);
        } else {
            timeline.preload(opened.newest(), opened.floor(), stream.settings());
        }
        if (opened.mayHaveLost() && sorting == null) {
            lastOrdinal++;
            timeline.lost(opened.lost(), lastOrdinal);
        }
        idle.used();
    }

    /** Nothing may be given at or below what the predecessor may have called final. */
    private Position frontierAtStart(StripeOpening.Opened opened) {
        Position before = stream.createdHere()
                ? Position.ZERO
                : keeper.reservation()
                        .frontierAtStart(stream.id(), stream.settings().acceptanceWindowMs());
        return Position.max(opened.watermark(), before);
    }

    /** An unfolded event that stood in the live log at the start. */
    private void takeFound(Event event) {
        Objects.requireNonNull(sorting).taken(event);
        store(event);
    }

    /** From now on the places of events are decided by {@link Acceptance}. */
    private void sort(Position frontier, Position lastEntry) {
        Acceptance acceptance = new Acceptance(
                stripe.index(),
                stream.stripes() == 1,
                clock,
                frontier,
                timeline().tail());
        sorting = new Sorting(stripe, stream, keeper, clock, pending, acceptance, new Arrivals(stripe, lastEntry));
    }

    /**
     * The stream got an acceptance window: what it has is final, and the claimed times of what comes are looked at. What is in flight has
     * ids of its arrival, so nothing waits for it.
     */
    void sortFromNow() {
        if (timeline != null && sorting == null) {
            sort(timeline.tail(), timeline.tail());
            Sorting begun = Objects.requireNonNull(sorting);
            pending.inFlight().forEach(append -> append.minted.forEach(begun::taken));
            publish();
        }
    }

    /** Lets go of everything, for good. */
    void close() {
        timeline = null;
        sorting = null;
        countMemory();
    }

    // ---- what is known ----

    boolean isOpen() {
        return timeline != null;
    }

    private Timeline timeline() {
        return Objects.requireNonNull(timeline, "timeline of an open stripe");
    }

    /** How its events are sorted; null as long as order is final on arrival. */
    @Nullable
    Sorting sorting() {
        return sorting;
    }

    Position watermark() {
        return watermark;
    }

    /** Highest ordinal that is acknowledged, or passed over where order is final on arrival. */
    long lastOrdinal() {
        return lastOrdinal;
    }

    /** Ordinal of the newest event that the live log had, as far as this process knows. */
    long storedOrdinal() {
        return storedOrdinal;
    }

    /** The archive accounts for all up to it. */
    long archivedOrdinal() {
        return archivedOrdinal;
    }

    /** Whether the newest ordinal was passed over, and no event is stored behind it yet. */
    boolean hasPassedOverLast() {
        return sorting == null && lastOrdinal > storedOrdinal;
    }

    /** Entry id of the last acknowledged event, or where what isn't folded begins. */
    Position lastEntry() {
        return sorting == null ? timeline().tail() : sorting.lastEntry();
    }

    /** Whether others see events that aren't folded. */
    boolean hasUnfolded() {
        return stream.snapshot(stripe.index()).tail().isAfter(watermark);
    }

    // ---- acknowledged events ----

    /** Takes acknowledged events, the newest of the stripe; nobody sees them before {@link #publish}. */
    void store(List<Event> acknowledged) {
        for (Event event : acknowledged) {
            store(event);
        }
        timeline().release(watermark, stream.settings().tailCapacity());
        idle.used();
    }

    private void store(Event event) {
        Sorting sorts = sorting;
        if (sorts == null) {
            timeline().add(event, stream.settings());
        } else {
            sorts.store(event);
        }
        // What a start finds unfolded may have come before what is folded already.
        lastOrdinal = Math.max(lastOrdinal, event.ordinal());
        storedOrdinal = lastOrdinal;
    }

    /** Lets others see what is acknowledged and how far order is final. */
    void publish() {
        Sorting sorts = sorting;
        if (sorts == null) {
            countMemory();
            stream.publish(stripe.index(), timeline().snapshot(timeline().tail()));
            return;
        }
        for (Event event : sorts.settle()) {
            timeline().add(event, stream.settings());
        }
        sorts.release();
        countMemory();
        stream.publish(stripe.index(), sorts.snapshot(timeline(), lastOrdinal));
    }

    private void countMemory() {
        long bytes = timeline == null ? 0 : timeline.bytes();
        bytes += sorting == null ? 0 : sorting.bytes();
        keeper.memoryChanged(bytes - countedBytes);
        countedBytes = bytes;
    }

    /** Redis hasn't got all that was acknowledged any more: what memory holds of it is to be folded soon. */
    void foldSoon() {
        if (hasUnfolded() && stream.foldSoonThrough().compareTo(watermark) <= 0) {
            LOG.warn("stripe {}: Redis lacks unfolded events; what memory holds of them is folded now", stripe);
        }
        stream.foldSoon();
    }

    // ---- sealing, time ----

    /** Seals the active chunk and moves the frontier, if their time has come. */
    void tick() {
        if (timeline == null) {
            return;
        }
        boolean sealed = timeline.sealIfDue(clock.nowMs(), stream.settings());
        if (sealed || (sorting != null && sorting.frontierIsDue())) {
            publish();
        }
    }

    boolean needsTick() {
        return (timeline != null && timeline.hasActive()) || (sorting != null && sorting.needsTick());
    }

    /** Seals what is acknowledged; returns the frontier. */
    Position seal() {
        if (sorting != null) {
            publish();
        }
        if (timeline().seal()) {
            publish();
        }
        return sorting == null ? timeline().tail() : sorting.frontier();
    }

    // ---- letting go ----

    /**
     * All up to W is in the archive.
     *
     * @param newArchivedOrdinal the archive accounts for all ordinals up to it
     */
    void folded(Position newWatermark, long newArchivedOrdinal) {
        watermark = Position.max(watermark, newWatermark);
        archivedOrdinal = Math.max(archivedOrdinal, newArchivedOrdinal);
        release(stream.settings().tailCapacity());
    }

    /** Lets go of folded chunks beyond the newest {@code keepEvents}. */
    private void release(long keepEvents) {
        if (timeline == null) {
            return;
        }
        boolean released = timeline.release(watermark, keepEvents);
        if (sorting != null && keepEvents == 0) {
            sorting.releaseAll();
            released = true;
        }
        if (released) {
            publish();
        }
    }

    /**
     * Lets go of everything if nobody has used the stripe for a while and all is folded; tails come from the archive then.
     *
     * @param resting whether nothing is under way and nobody follows
     */
    void retireIfIdle(boolean resting) {
        if (idle.isOver(resting, stream.takeUsed(stripe.index())) && !hasUnfolded() && holdsAny()) {
            release(0);
        }
    }

    private boolean holdsAny() {
        return timeline().count() > 0 || (sorting != null && sorting.holdsAny());
    }

    /** Lets go of final events that are held twice, for followers; gives the bytes. */
    long releaseArrivals() {
        long freed = sorting == null ? 0 : sorting.releaseAll();
        if (freed > 0) {
            publish();
        }
        return freed;
    }

    /** The chunk that leaves memory next under pressure; null if none can. */
    @Nullable
    Chunk nextToLeave(boolean unfoldedToo) {
        Chunk oldest = timeline == null ? null : timeline.oldestSealed();
        return oldest != null && oldest.last().compareTo(mayLeaveThrough(unfoldedToo)) <= 0 ? oldest : null;
    }

    /** Lets go of the oldest chunks; see {@link Timeline#releaseOldest}. */
    long releaseOldest(long bytesWanted, long untilMs, boolean unfoldedToo) {
        long freed = timeline().releaseOldest(bytesWanted, untilMs, mayLeaveThrough(unfoldedToo));
        if (freed > 0) {
            publish();
        }
        return freed;
    }

    /** What is folded may always leave; what isn't, only in streams whose live log is in the order of the ids. */
    private Position mayLeaveThrough(boolean unfoldedToo) {
        return unfoldedToo && stream.finalOnArrival() ? Position.MAX : watermark;
    }
}
