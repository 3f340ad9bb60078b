package dev.tidemark.keeper;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.Event;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a keeper holds of one stripe in memory at one moment: immutable, so any thread reads it without asking the keeper. Every
 * acknowledged event of the stripe above {@link #floor} is in it, up to {@link #tail}.
 */
public final class TimelineSnapshot implements StreamSnapshot {
    /** Nothing is known: the stripe hasn't been opened. */
    public static final TimelineSnapshot COLD = new TimelineSnapshot(
            new Chunk[0], 0, 0, null, null, 0, Position.ZERO, Position.ZERO, Position.ZERO, 0, false);

    /** Shared with later snapshots, which only add behind {@link #to}. */
    private final Chunk[] sealed;

    private final int from;
    private final int to;
    private final @Nullable Chunk active;
    private final @Nullable ArrivalsView arrivals;
    private final long count;
    private final Position floor;
    private final Position tail;
    private final Position frontier;
    private final long lastOrdinal;
    private final boolean open;

    /**
     * @param sealed sealed chunks in id order, at indexes {@code from} to {@code to - 1}, none empty
     * @param active what the active chunk holds now; null if that is nothing
     * @param arrivals of a stripe with acceptance window: what has arrived; its events above the frontier are only there
     * @param count events in all chunks
     * @param floor memory is complete above it
     * @param tail id of the newest acknowledged event, in memory or not; {@link Position#ZERO} if there never was one
     * @param frontier order is final up to it; at or above {@code tail} in a stripe without acceptance window
     * @param lastOrdinal ordinal of the newest acknowledged event
     * @param open whether the stripe has been opened: if not, nothing else here means anything
     */
    TimelineSnapshot(
            Chunk[] sealed,
            int from,
            int to,
            @Nullable Chunk active,
            @Nullable ArrivalsView arrivals,
            long count,
            Position floor,
            Position tail,
            Position frontier,
            long lastOrdinal,
            boolean open) {
        this.sealed = sealed;
        this.from = from;
        this.to = to;
        this.active = active;
        this.arrivals = arrivals;
        this.count = count;
        this.floor = floor;
        this.tail = tail;
        this.frontier = frontier;
        this.lastOrdinal = lastOrdinal;
        this.open = open;
    }

    /**
     * An open stripe's snapshot.
     *
     * @param chunks in id order, none empty; at most one of them isn't sealed
     * @param sealed how many of them, from the front, are sealed
     * @param floor memory is complete above it
     * @param tail id of the newest acknowledged event
     * @param frontier order is final up to it
     * @param lastOrdinal ordinal of the newest acknowledged event
     */
    public static TimelineSnapshot of(
            List<Chunk> chunks, int sealed, Position floor, Position tail, Position frontier, long lastOrdinal) {
        Chunk[] array = chunks.toArray(new Chunk[0]);
        Chunk active = sealed < array.length ? array[sealed] : null;
        long count = chunks.stream().mapToLong(Chunk::count).sum();
        return new TimelineSnapshot(array, 0, sealed, active, null, count, floor, tail, frontier, lastOrdinal, true);
    }

    private int sealedCount() {
        return to - from;
    }

    private int chunkCount() {
        return active == null ? sealedCount() : sealedCount() + 1;
    }

    private Chunk chunk(int i) {
        return i < sealedCount() || active == null ? sealed[from + i] : active;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public Position floor() {
        return floor;
    }

    @Override
    public Position tail() {
        return tail;
    }

    @Override
    public Position frontier() {
        return frontier;
    }

    @Override
    public long lastOrdinal() {
        return lastOrdinal;
    }

    /** Whether everything above {@code position} is here. */
    @Override
    public boolean covers(Position position) {
        return open && position.compareTo(floor) >= 0;
    }

    /** Number of events in memory. */
    @Override
    public long count() {
        return count;
    }

    /** Number of events in memory above {@code position}. */
    @Override
    public long countAfter(Position position) {
        return after(position, Integer.MAX_VALUE, Long.MAX_VALUE).stream()
                .mapToLong(Slice::count)
                .sum();
    }

    /** Slab bytes in memory. */
    public long bytes() {
        long bytes = 0;
        for (int i = 0; i < chunkCount(); i++) {
            bytes += chunk(i).slabLength();
        }
        return bytes;
    }

    /** Slab bytes of the sealed chunks that end above {@code position}. */
    @Override
    public long sealedBytesAfter(Position position) {
        long bytes = 0;
        for (int i = sealedCount() - 1; i >= 0 && chunk(i).last().isAfter(position); i--) {
            bytes += chunk(i).slabLength();
        }
        return bytes;
    }

    /** Payload bytes in memory above {@code position}. */
    @Override
    public long payloadBytesAfter(Position position) {
        long bytes = 0;
        for (int i = chunkCount() - 1; i >= 0 && chunk(i).last().isAfter(position); i--) {
            bytes += chunk(i).slice().after(position).payloadBytes();
        }
        return bytes;
    }

    /** Time in the id of the oldest sealed event above {@code position}, Unix milliseconds; {@link Long#MAX_VALUE} if there is none. */
    @Override
    public long oldestSealedMsAfter(Position position) {
        int first = firstChunkAfter(position, sealedCount());
        if (first == sealedCount()) {
            return Long.MAX_VALUE;
        }
        Chunk chunk = chunk(first);
        return chunk.ms(chunk.firstAfter(position));
    }

    /** The newest {@code n} events in memory, or all if there are fewer, in rising order. */
    @Override
    public List<Slice> newest(int n) {
        List<Slice> slices = new ArrayList<>();
        int wanted = n;
        for (int i = chunkCount() - 1; i >= 0 && wanted > 0; i--) {
            Chunk chunk = chunk(i);
            int taken = Math.min(wanted, chunk.count());
            slices.add(new Slice(chunk, chunk.count() - taken, chunk.count()));
            wanted -= taken;
        }
        Collections.reverse(slices);
        return slices;
    }

    /** The oldest events in memory above {@code position}: at most {@code eventsMax}, ending behind the one that reaches {@code bytesMax} of JSON. */
    @Override
    public List<Slice> after(Position position, int eventsMax, long bytesMax) {
        return take(chunkCount(), position, eventsMax, bytesMax);
    }

    /** As {@link #after}, of sealed chunks only. */
    public List<Slice> sealedAfter(Position position, int eventsMax, long bytesMax) {
        return take(sealedCount(), position, eventsMax, bytesMax);
    }

    private List<Slice> take(int chunksWanted, Position position, int eventsMax, long bytesMax) {
        List<Slice> slices = new ArrayList<>();
        int wanted = eventsMax;
        long room = bytesMax;
        for (int c = firstChunkAfter(position, chunksWanted); c < chunksWanted && wanted > 0 && room > 0; c++) {
            Chunk chunk = chunk(c);
            int start = chunk.firstAfter(position);
            int end = start;
            while (end < chunk.count() && wanted > 0 && room > 0) {
                room -= chunk.jsonLength(end);
                wanted--;
                end++;
            }
            if (end > start) {
                slices.add(new Slice(chunk, start, end));
            }
        }
        return slices;
    }

    /** The newest events in memory below {@code before} and at or above {@code lowest}: bounds as in {@link #after}; in rising order. */
    @Override
    public List<Slice> before(Position before, Position lowest, int eventsMax, long bytesMax) {
        List<Slice> slices = new ArrayList<>();
        int wanted = eventsMax;
        long room = bytesMax;
        for (int c = chunkCount() - 1; c >= 0 && wanted > 0 && room > 0; c--) {
            Chunk chunk = chunk(c);
            int end = chunk.firstAfter(before.previous());
            int start = end;
            while (start > 0
                    && wanted > 0
                    && room > 0
                    && chunk.position(start - 1).compareTo(lowest) >= 0) {
                start--;
                room -= chunk.jsonLength(start);
                wanted--;
            }
            if (end > start) {
                slices.add(new Slice(chunk, start, end));
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
        return sealedCount() == 0 ? Position.ZERO : chunk(sealedCount() - 1).last();
    }

    /** Position of the event with that ordinal, or null if it isn't in memory. */
    @Override
    public @Nullable Position positionOf(long ordinal) {
        int low = 0;
        int high = chunkCount();
        while (low < high) {
            int middle = (low + high) >>> 1;
            Chunk chunk = chunk(middle);
            if (chunk.ordinal(chunk.count() - 1) >= ordinal) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        if (low == chunkCount()) {
            return null;
        }
        Chunk chunk = chunk(low);
        for (int i = 0; i < chunk.count(); i++) {
            if (chunk.ordinal(i) == ordinal) {
                return chunk.position(i);
            }
        }
        return null;
    }

    private int firstChunkAfter(Position position, int chunksWanted) {
        int low = 0;
        int high = chunksWanted;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (chunk(middle).last().isAfter(position)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    // ---- events in the order of arrival, and those whose place isn't final ----

    /** Ids of the newest {@code n} events at or below {@code top}, provisional ones included, rising. */
    List<Position> newestIds(int n, Position top) {
        List<Slice> above = arrivals == null
                ? List.of()
                : provisional().stream()
                        .filter(slice -> !slice.first().isAfter(top))
                        .toList();
        int provisional = Math.min(n, above.size());
        List<Position> ids = new ArrayList<>(Math.min(n, 1_024));
        Position bound = top.equals(Position.MAX) ? top : top.next();
        for (Slice slice : before(bound, Position.ZERO, n - provisional, Long.MAX_VALUE)) {
            for (int i = slice.from(); i < slice.to(); i++) {
                ids.add(slice.chunk().position(i));
            }
        }
        for (Slice slice : above.subList(above.size() - provisional, above.size())) {
            ids.add(slice.first());
        }
        return ids;
    }

    /** The events with these ids, which rise, as far as they are here; copied. */
    public Chunk copy(Generation generation, int stripe, List<Position> ids) {
        Map<Position, Slice> above = new HashMap<>();
        if (arrivals != null) {
            provisional().forEach(slice -> above.put(slice.first(), slice));
        }
        ChunkBuilder copied = new ChunkBuilder(generation, stripe, Math.max(1, ids.size()), 4 << 10);
        for (Position id : ids) {
            Slice slice = above.get(id);
            if (slice == null) {
                List<Slice> next = after(id.previous(), 1, 1);
                slice = next.isEmpty() || !next.get(0).first().equals(id) ? null : next.get(0);
            }
            if (slice != null) {
                copied.add(slice.chunk().event(slice.from()));
            }
        }
        return copied.view();
    }

    /** Whether events above the frontier stand only among the arrivals. */
    boolean hasWindow() {
        return arrivals != null;
    }

    /** Entry id of the newest acknowledged event. */
    public Position arrivedThrough() {
        return arrivals == null ? tail : arrivals.last();
    }

    /** Whether all that arrived above {@code entry} with an id above {@code through} is in memory. */
    public boolean coversArrivals(Position entry, Position through) {
        return open
                && (arrivals == null
                        ? entry.compareTo(floor) >= 0 || floor.compareTo(through) <= 0
                        : arrivals.covers(entry, through));
    }

    /** What arrived above {@code entry} in the order of arrival; bounds as in {@link #after}. */
    public List<Slice> arrivedAfter(Position entry, int eventsMax, long bytesMax) {
        return arrivals == null ? after(entry, eventsMax, bytesMax) : arrivals.after(entry, eventsMax, bytesMax);
    }

    @Override
    public List<Slice> provisional() {
        return tail.isAfter(frontier) ? aboveAll(frontier) : List.of();
    }

    /** The events above {@code position}, final or not, each in a slice of its own, in id order. */
    public List<Slice> aboveAll(Position position) {
        List<Slice> above = new ArrayList<>();
        for (Slice slice : after(position, Integer.MAX_VALUE, Long.MAX_VALUE)) {
            for (int i = slice.from(); i < slice.to(); i++) {
                above.add(new Slice(slice.chunk(), i, i + 1));
            }
        }
        if (arrivals != null) {
            arrivals.addAbove(Position.max(position, frontier), above);
            above.sort(Comparator.comparing(Slice::first));
        }
        return above;
    }

    @Override
    public @Nullable Event find(Position id) {
        List<Slice> next = after(id.previous(), 1, 1);
        if (!next.isEmpty() && next.get(0).first().equals(id)) {
            return next.get(0).chunk().event(next.get(0).from());
        }
        if (arrivals != null && id.isAfter(frontier)) {
            for (Slice slice : aboveAll(frontier)) {
                if (slice.first().equals(id)) {
                    return slice.chunk().event(slice.from());
                }
            }
        }
        return null;
    }
}
