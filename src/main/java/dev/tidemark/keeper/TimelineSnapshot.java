package dev.tidemark.keeper;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * What a keeper holds of one stripe in memory at one moment: immutable, so any thread reads it without asking the keeper. Every
 * acknowledged event of the stripe above {@link #floor} is in it, up to {@link #tail}.
 */
public final class TimelineSnapshot {
    /** Nothing is known: the stripe hasn't been opened. */
    public static final TimelineSnapshot COLD =
            new TimelineSnapshot(new Chunk[0], 0, Position.ZERO, Position.ZERO, Position.ZERO, 0, false);

    private final Chunk[] chunks;
    private final int sealed;
    private final Position floor;
    private final Position tail;
    private final Position frontier;
    private final long lastOrdinal;
    private final boolean open;

    /**
     * @param chunks in id order, none empty; not changed after this
     * @param sealed how many of them, from the front, are sealed
     * @param floor memory is complete above it
     * @param tail id of the newest acknowledged event, in memory or not; {@link Position#ZERO} if there never was one
     * @param frontier order is final up to it; at or above {@code tail} in a stripe without acceptance window
     * @param lastOrdinal ordinal of the newest acknowledged event
     * @param open whether the stripe has been opened: if not, nothing else here means anything
     */
    TimelineSnapshot(
            Chunk[] chunks,
            int sealed,
            Position floor,
            Position tail,
            Position frontier,
            long lastOrdinal,
            boolean open) {
        this.chunks = chunks;
        this.sealed = sealed;
        this.floor = floor;
        this.tail = tail;
        this.frontier = frontier;
        this.lastOrdinal = lastOrdinal;
        this.open = open;
    }

    /** A snapshot of these parts, for those who stand in for a keeper; parameters as of the constructor. */
    public static TimelineSnapshot of(
            List<Chunk> chunks, int sealed, Position floor, Position tail, Position frontier, long lastOrdinal) {
        return new TimelineSnapshot(chunks.toArray(Chunk[]::new), sealed, floor, tail, frontier, lastOrdinal, true);
    }

    public boolean isOpen() {
        return open;
    }

    public Position floor() {
        return floor;
    }

    public Position tail() {
        return tail;
    }

    public Position frontier() {
        return frontier;
    }

    public long lastOrdinal() {
        return lastOrdinal;
    }

    /** Whether everything above {@code position} is here. */
    public boolean covers(Position position) {
        return open && position.compareTo(floor) >= 0;
    }

    /** Number of events in memory. */
    public long count() {
        return Arrays.stream(chunks).mapToLong(Chunk::count).sum();
    }

    /** Number of events in memory above {@code position}. */
    public long countAfter(Position position) {
        return after(position, Integer.MAX_VALUE, Long.MAX_VALUE).stream()
                .mapToLong(Slice::count)
                .sum();
    }

    /** Slab bytes in memory. */
    public long bytes() {
        return Arrays.stream(chunks).mapToLong(Chunk::slabLength).sum();
    }

    /** The newest {@code n} events in memory, or all if there are fewer, in rising order. */
    public List<Slice> newest(int n) {
        List<Slice> slices = new ArrayList<>();
        int wanted = n;
        for (int i = chunks.length - 1; i >= 0 && wanted > 0; i--) {
            Chunk chunk = chunks[i];
            int taken = Math.min(wanted, chunk.count());
            slices.add(new Slice(chunk, chunk.count() - taken, chunk.count()));
            wanted -= taken;
        }
        Collections.reverse(slices);
        return slices;
    }

    /** The oldest events in memory above {@code position}: at most {@code eventsMax}, ending behind the one that reaches {@code bytesMax} of JSON. */
    public List<Slice> after(Position position, int eventsMax, long bytesMax) {
        return take(chunks.length, position, eventsMax, bytesMax);
    }

    /** As {@link #after}, of sealed chunks only. */
    public List<Slice> sealedAfter(Position position, int eventsMax, long bytesMax) {
        return take(sealed, position, eventsMax, bytesMax);
    }

    private List<Slice> take(int chunkCount, Position position, int eventsMax, long bytesMax) {
        List<Slice> slices = new ArrayList<>();
        int wanted = eventsMax;
        long room = bytesMax;
        for (int c = firstChunkAfter(position, chunkCount); c < chunkCount && wanted > 0 && room > 0; c++) {
            Chunk chunk = chunks[c];
            int from = chunk.firstAfter(position);
            int to = from;
            while (to < chunk.count() && wanted > 0 && room > 0) {
                room -= chunk.jsonLength(to);
                wanted--;
                to++;
            }
            if (to > from) {
                slices.add(new Slice(chunk, from, to));
            }
        }
        return slices;
    }

    /** The newest events in memory below {@code before} and at or above {@code from}: bounds as in {@link #after}; in rising order. */
    public List<Slice> before(Position before, Position from, int eventsMax, long bytesMax) {
        List<Slice> slices = new ArrayList<>();
        int wanted = eventsMax;
        long room = bytesMax;
        for (int c = chunks.length - 1; c >= 0 && wanted > 0 && room > 0; c--) {
            Chunk chunk = chunks[c];
            int to = chunk.firstAfter(before.previous());
            int start = to;
            while (start > 0
                    && wanted > 0
                    && room > 0
                    && chunk.position(start - 1).compareTo(from) >= 0) {
                start--;
                room -= chunk.jsonLength(start);
                wanted--;
            }
            if (to > start) {
                slices.add(new Slice(chunk, start, to));
            }
            if (start > 0) {
                break;
            }
        }
        Collections.reverse(slices);
        return slices;
    }

    /** Position of the newest sealed event in memory; {@link Position#ZERO} if there is none. */
    public Position lastSealed() {
        return sealed == 0 ? Position.ZERO : chunks[sealed - 1].last();
    }

    private int firstChunkAfter(Position position, int chunkCount) {
        int low = 0;
        int high = chunkCount;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (chunks[middle].last().isAfter(position)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }
}
