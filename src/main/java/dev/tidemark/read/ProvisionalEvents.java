package dev.tidemark.read;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.Cursor;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import java.util.ArrayList;
import java.util.List;

/** Renders events above the frontier in id order, as tails give them. Stateless. */
final class ProvisionalEvents {
    private ProvisionalEvents() {}

    /**
     * Marks provisional events. The cursor of one is behind all that had arrived but what stands behind it here, so that resuming
     * after it misses nothing; it may repeat what arrived later than an event that stands behind it.
     *
     * @param events each in a slice of its own, in id order, all above {@code frontier}: all that are given, and none is missing at
     *     their end
     * @param arrived what had arrived, by stripe
     */
    static List<Slice> marked(Generation generation, List<Slice> events, Position frontier, List<Position> arrived) {
        if (events.isEmpty()) {
            return List.of();
        }
        byte[][] cursors = new byte[events.size()][];
        List<Position> floors = new ArrayList<>(arrived);
        for (int i = events.size() - 1; i >= 0; i--) {
            cursors[i] = new Cursor(generation, frontier, floors).bytes();
            Chunk chunk = events.get(i).chunk();
            int at = events.get(i).from();
            int stripe = chunk.stripe(at);
            floors.set(stripe, Position.min(floors.get(stripe), chunk.entry(at).previous()));
        }
        ChunkBuilder marked = ChunkBuilder.inGivenOrder(generation, events.size(), 4 << 10);
        for (int i = 0; i < events.size(); i++) {
            marked.addGiven(events.get(i).chunk(), events.get(i).from(), cursors[i], true);
        }
        return List.of(marked.view().slice());
    }

    /** Each event in a slice of its own. */
    static List<Slice> single(List<Slice> slices) {
        List<Slice> single = new ArrayList<>();
        for (Slice slice : slices) {
            for (int i = slice.from(); i < slice.to(); i++) {
                single.add(new Slice(slice.chunk(), i, i + 1));
            }
        }
        return single;
    }
}
