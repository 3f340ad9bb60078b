package dev.tidemark.read;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.Cursor;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import dev.tidemark.keeper.MergedSnapshot;
import dev.tidemark.keeper.TimelineSnapshot;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * What comes next for a reader that stands behind final order, in the order of arrival. Its place is a position up to which it has
 * everything, and for each stripe an arrival floor: what had arrived by then it has too. Immutable.
 *
 * @param events as they are given: with cursors of this place, and marked where they aren't final
 * @param through everything at or below it has been given with them
 * @param floors and what had arrived by these entry ids
 * @param more whether the snapshot has more
 */
record Arrived(List<Slice> events, Position through, List<Position> floors, boolean more) {
    private static final int SLAB_AT_FIRST = 4 << 10;

    Arrived {
        events = List.copyOf(events);
        floors = List.copyOf(floors);
    }

    /**
     * The next arrivals; the snapshot must cover them.
     *
     * @param through everything at or below it has been given
     * @param floors and what had arrived by then
     * @param bound events above it aren't given
     */
    static Arrived after(
            Generation generation,
            MergedSnapshot snapshot,
            Position through,
            List<Position> floors,
            Position bound,
            int eventsMax,
            long bytesMax) {
        List<Position> reached = new ArrayList<>(floors);
        List<List<Slice>> arrivals = new ArrayList<>();
        for (int s = 0; s < reached.size(); s++) {
            arrivals.add(snapshot.stripes().get(s).arrivedAfter(reached.get(s), eventsMax, bytesMax));
        }
        Merge merge = new Merge(arrivals);
        ChunkBuilder given = ChunkBuilder.inGivenOrder(generation, 16, SLAB_AT_FIRST);
        while (given.count() < eventsMax && given.slabLength() < bytesMax && merge.next()) {
            Chunk chunk = merge.chunk;
            int i = merge.event;
            reached.set(merge.source, chunk.entry(i));
            Position id = chunk.position(i);
            if (id.isAfter(through) && !id.isAfter(bound)) {
                byte[] cursor = new Cursor(generation, through, reached).bytes();
                given.addGiven(chunk, i, cursor, id.isAfter(snapshot.frontier()));
            }
        }
        boolean more = false;
        for (int s = 0; s < reached.size(); s++) {
            TimelineSnapshot stripe = snapshot.stripes().get(s);
            if (stripe.arrivedAfter(reached.get(s), 1, 1).isEmpty()) {
                reached.set(s, Position.max(reached.get(s), stripe.arrivedThrough()));
            } else {
                more = true;
            }
        }
        List<Slice> events = given.isEmpty() ? List.of() : List.of(given.view().slice());
        return new Arrived(events, more ? through : Position.max(through, snapshot.frontier()), reached, more);
    }

    /** Where a reader stands that has everything that {@code snapshot} has. */
    static Arrived all(MergedSnapshot snapshot) {
        return new Arrived(List.of(), snapshot.frontier(), snapshot.arrived(), false);
    }

    /** Where a reader stands that has everything up to {@code through} and nothing above it. */
    static List<Position> none(MergedSnapshot snapshot) {
        return Collections.nCopies(snapshot.stripes().size(), Position.ZERO);
    }

    /** The cursor behind all of it: without floors if everything that arrived is final. */
    static Cursor cursor(Generation generation, Position through, List<Position> floors) {
        for (Position floor : floors) {
            if (floor.isAfter(through)) {
                return new Cursor(generation, through, floors);
            }
        }
        return new Cursor(generation, through);
    }

    /** Goes through several stripes' arrivals by entry id. */
    private static final class Merge {
        private final List<List<Slice>> sources;
        private final int[] slice;
        private final int[] index;
        int source;
        Chunk chunk;
        int event;

        Merge(List<List<Slice>> sources) {
            this.sources = sources;
            slice = new int[sources.size()];
            index = new int[sources.size()];
            for (int s = 0; s < index.length; s++) {
                index[s] = sources.get(s).isEmpty() ? 0 : sources.get(s).get(0).from();
            }
            chunk = new ChunkBuilder(new Generation(1), 0, 1, 1).view();
        }

        boolean next() {
            int lowest = -1;
            for (int s = 0; s < slice.length; s++) {
                if (slice[s] < sources.get(s).size() && (lowest < 0 || entry(s).isBefore(entry(lowest)))) {
                    lowest = s;
                }
            }
            if (lowest < 0) {
                return false;
            }
            Slice from = sources.get(lowest).get(slice[lowest]);
            source = lowest;
            chunk = from.chunk();
            event = index[lowest];
            index[lowest]++;
            if (index[lowest] == from.to()) {
                slice[lowest]++;
                List<Slice> rest = sources.get(lowest);
                index[lowest] =
                        slice[lowest] < rest.size() ? rest.get(slice[lowest]).from() : 0;
            }
            return true;
        }

        private Position entry(int s) {
            return sources.get(s).get(slice[s]).chunk().entry(index[s]);
        }
    }
}
