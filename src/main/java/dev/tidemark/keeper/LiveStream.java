package dev.tidemark.keeper;

import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.StreamSettings;
import dev.tidemark.event.StripeId;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One stream of this process, as those who append to it, read it and fold it see it. Any thread; futures complete on the caller's
 * context.
 */
public interface LiveStream {
    StreamId id();

    default StreamName name() {
        return id().name();
    }

    StreamSettings settings();

    /** Unix milliseconds. */
    long createdMs();

    int stripes();

    default StripeId stripe(int index) {
        return new StripeId(id(), index);
    }

    /**
     * Whether an event's place is final as soon as it is acknowledged: one stripe, and no acceptance window. A stream that once had a
     * window says no as long as this process knows it.
     */
    default boolean finalOnArrival() {
        return true;
    }

    /** What memory holds of the stream now. */
    default StreamSnapshot snapshot() {
        return finalOnArrival() ? snapshot(0) : merged();
    }

    /** What memory holds of all stripes now. */
    default MergedSnapshot merged() {
        List<TimelineSnapshot> parts = new ArrayList<>(stripes());
        for (int i = 0; i < stripes(); i++) {
            parts.add(snapshot(i));
        }
        return new MergedSnapshot(parts);
    }

    /** What memory holds of a stripe now. */
    TimelineSnapshot snapshot(int stripe);

    /**
     * Opens the stream's stripes if that hasn't been done: recovers what Redis and the archive hold, fences. Completes at once
     * afterwards. Fails with a {@link dev.tidemark.event.Problem} if Redis or the archive is away; the next call tries again.
     */
    Future<Void> open();

    /** Whether the keeper's connection to Redis stands: if not, the live log can't be read beyond memory and nothing is appended. */
    boolean liveLogReachable();

    /** Ordinals of a stripe that refused appends had: not lost. Only those that the archive doesn't account for yet. */
    default List<OrdinalRange> voided(int stripe) {
        return List.of();
    }

    /**
     * An ordinal of a stripe that stands for what may be lost behind the last event found at the start: no event has it, and it is
     * announced as lost with the next event that is folded. 0 for none.
     */
    default long passedOver(int stripe) {
        return 0;
    }

    /**
     * What the start found missing, of a stream whose order isn't final on arrival: announced to every reader that passes it. Null if
     * nothing is. Known when the stream is open.
     */
    default @Nullable StartLoss lossAtStart() {
        return null;
    }

    /** The same, of one stripe. */
    default @Nullable StartLoss lossAtStart(int stripe) {
        return null;
    }

    /** What is sealed up to this position is to be folded without waiting: Redis has lost some of it. {@link Position#ZERO} for nothing. */
    default Position foldSoonThrough() {
        return Position.ZERO;
    }

    /** Whether the event loops of its keepers have been alive within so many milliseconds: if not, memory may be stale. */
    default boolean isKept(long withinMs) {
        return true;
    }

    /** Whether the stream was deleted: nothing of it may be given any more. */
    boolean isDeleted();

    /** Somebody reads it: its keepers keep what they hold in memory for a while. */
    default void used() {}

    /**
     * Calls {@code onAdvance} whenever the snapshot has more events, the stream is deleted, or the live log comes or goes. It is
     * called on the keeper's event loop, often: it only sets a flag and schedules work elsewhere.
     *
     * @return ends it; any thread
     */
    Runnable follow(Runnable onAdvance);
}
