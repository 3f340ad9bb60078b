package dev.tidemark.keeper;

import dev.tidemark.event.Event;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What keepers hold of one stream in memory at one moment, in id order up to {@link #end}: immutable, so any thread reads it without
 * asking them. Provisional events are not in its lists; see {@link #provisional}.
 */
public interface StreamSnapshot {
    /** Whether the stream has been opened: if not, nothing else here means anything. */
    boolean isOpen();

    /** Memory is complete above it. */
    Position floor();

    /** Id of the newest acknowledged event, in memory or not; {@link Position#ZERO} if there never was one. */
    Position tail();

    /** Order is final up to it. */
    Position frontier();

    /** The newest event whose place is final, or a position above it; nothing behind it is in the lists. */
    default Position end() {
        return Position.min(tail(), frontier());
    }

    /** Ordinal of the newest acknowledged event; of several stripes, the sum of theirs. */
    long lastOrdinal();

    /** Whether everything above {@code position} is here. */
    default boolean covers(Position position) {
        return isOpen() && position.compareTo(floor()) >= 0;
    }

    /** Number of events in memory. */
    long count();

    /** Number of events in memory above {@code position}. */
    long countAfter(Position position);

    /** Payload bytes in memory above {@code position}. */
    long payloadBytesAfter(Position position);

    /** Position of the event with that ordinal, or null if it isn't in memory or there are several stripes. */
    @Nullable
    Position positionOf(long ordinal);

    /** The newest {@code n} events in memory, or all if there are fewer, in rising order. */
    List<Slice> newest(int n);

    /** The oldest events in memory above {@code position}: at most {@code eventsMax}, ending behind the one that reaches {@code bytesMax} of JSON. */
    List<Slice> after(Position position, int eventsMax, long bytesMax);

    /** The newest events in memory below {@code before} and at or above {@code lowest}: bounds as in {@link #after}; in rising order. */
    List<Slice> before(Position before, Position lowest, int eventsMax, long bytesMax);

    /** Slab bytes of the sealed chunks that end above {@code position}. */
    long sealedBytesAfter(Position position);

    /** Time in the id of the oldest sealed event above {@code position}, Unix milliseconds; {@link Long#MAX_VALUE} if there is none. */
    long oldestSealedMsAfter(Position position);

    /** The events above the frontier, each in a slice of its own, in id order. */
    List<Slice> provisional();

    /** The event with that id, or null if memory doesn't hold it. */
    @Nullable
    Event find(Position id);
}
