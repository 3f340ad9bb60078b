package dev.tidemark.read;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventExtras;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import dev.tidemark.keeper.StreamSnapshot;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The event next above a place, by what tells whether something is missing before it.
 *
 * @param position its id
 * @param ordinal its ordinal
 * @param voided ordinals before it that were never acknowledged
 */
record Neighbour(Position position, long ordinal, List<OrdinalRange> voided) {
    static Neighbour of(Chunk chunk, int i) {
        return new Neighbour(chunk.position(i), chunk.ordinal(i), voided(chunk.extras(i)));
    }

    static Neighbour of(Event event) {
        return new Neighbour(event.id(), event.ordinal(), voided(event.extras()));
    }

    static Neighbour firstOf(List<Slice> slices) {
        Slice first = slices.get(0);
        return of(first.chunk(), first.from());
    }

    /** What comes next behind the tail: nothing may be missing before it. */
    static Neighbour behind(StreamSnapshot snapshot) {
        return new Neighbour(snapshot.tail().next(), snapshot.lastOrdinal() + 1, List.of());
    }

    private static List<OrdinalRange> voided(@Nullable EventExtras extras) {
        return extras == null ? List.of() : extras.voided();
    }

    /** Whether nothing acknowledged is missing between the event of ordinal {@code before} and this one, as far as this one tells. */
    boolean follows(long before) {
        return accounted(before, ordinal, voided);
    }

    /** As {@link #follows}, for an event in a chunk. */
    static boolean follows(long before, Chunk chunk, int i) {
        long ordinal = chunk.ordinal(i);
        return ordinal <= before + 1 || accounted(before, ordinal, voided(chunk.extras(i)));
    }

    /** Whether all ordinals between two events are voided ones. */
    static boolean accounted(long before, long ordinal, List<OrdinalRange> voided) {
        long next = before + 1;
        boolean moved = true;
        while (moved && next < ordinal) {
            moved = false;
            for (OrdinalRange range : voided) {
                if (range.first() <= next && range.last() >= next) {
                    next = range.last() + 1;
                    moved = true;
                }
            }
        }
        return next >= ordinal;
    }
}
