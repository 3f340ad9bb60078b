package dev.tidemark.read;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.Cursor;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import java.util.ArrayList;
import java.util.List;

/**
 * What a reader that goes on in id order was given before, in the order of arrival: it isn't given that again, and the cursors of what
 * it is given remember it. Immutable.
 */
final class Floors {
    static final Floors NONE = new Floors(List.of());

    private final List<Position> floors;
    private final Position highest;

    private Floors(List<Position> floors) {
        this.floors = floors;
        highest = floors.stream().reduce(Position.ZERO, Position::max);
    }

    /** @param floors by stripe: what had arrived by these entry ids was given; empty for nothing */
    static Floors of(List<Position> floors) {
        return floors.isEmpty() ? NONE : new Floors(floors);
    }

    List<Position> positions() {
        return floors;
    }

    /** Whether nothing above {@code position} can have been given before: an event's id is never above its entry id. */
    boolean isPassed(Position position) {
        return position.compareTo(highest) >= 0;
    }

    Cursor cursor(Generation generation, Position position) {
        return isPassed(position) ? new Cursor(generation, position) : new Cursor(generation, position, floors);
    }

    /** The events that weren't given before. */
    List<Slice> unseen(List<Slice> slices) {
        if (floors.isEmpty()) {
            return slices;
        }
        List<Slice> unseen = new ArrayList<>();
        for (Slice slice : slices) {
            boolean mayBeSeen = !slice.isEmpty() && !slice.first().isAfter(highest);
            Slice kept = mayBeSeen ? unseen(slice) : slice;
            if (!kept.isEmpty()) {
                unseen.add(kept);
            }
        }
        return unseen;
    }

    private Slice unseen(Slice slice) {
        Chunk chunk = slice.chunk();
        Generation generation = chunk.generation();
        ChunkBuilder kept = ChunkBuilder.inGivenOrder(generation, slice.count(), 4 << 10);
        for (int i = slice.from(); i < slice.to(); i++) {
            int stripe = chunk.stripe(i);
            boolean seen = stripe < floors.size() && !chunk.entry(i).isAfter(floors.get(stripe));
            if (!seen) {
                kept.addGiven(chunk, i, cursor(generation, chunk.position(i)).bytes(), false);
            }
        }
        return kept.view().slice();
    }
}
