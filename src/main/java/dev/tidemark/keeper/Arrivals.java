package dev.tidemark.keeper;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.Event;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamSettings;
import dev.tidemark.event.StripeId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The acknowledged events of a stripe with an acceptance window whose place isn't final yet, by id, and the newest arrivals in the
 * order of arrival, for those who follow. Owned by the stripe's keeper; others see {@link #view}.
 */
final class Arrivals {
    /** So much stays for followers although it is final. */
    private static final long KEPT_BYTES = 512 << 10;

    private final StripeId stripe;
    private final TreeMap<Position, Event> provisional = new TreeMap<>();
    private ChunkBuilder active;
    private Position activeMax = Position.ZERO;

    /** At {@code from} to {@code to - 1}; views share it, so what they see is never changed. */
    private Chunk[] runs = new Chunk[8];

    /** Highest event id of each run. */
    private Position[] highest = new Position[8];

    private int from;
    private int to;
    private long runBytes;
    private long provisionalBytes;
    private Position floor;
    private Position droppedMax;
    private Position last;

    /** @param start entry id: nothing that arrived at or below it is known here, and all of that is final */
    Arrivals(StripeId stripe, Position start) {
        this.stripe = stripe;
        this.floor = start;
        this.droppedMax = start;
        this.last = start;
        active = newActive();
    }

    private ChunkBuilder newActive() {
        return ChunkBuilder.inArrivalOrder(stripe.stream().generation(), stripe.index());
    }

    /** Takes an acknowledged event, the newest arrival. */
    void add(Event event, StreamSettings settings) {
        byte[] payload = event.payload();
        int bytes = ChunkBuilder.slabBytesMax(event.type(), payload, 0, payload.length);
        if (active.count() >= settings.chunkMaxEvents() || active.slabLength() + bytes > settings.chunkMaxBytes()) {
            endRun();
        }
        active.add(event);
        activeMax = Position.max(activeMax, event.id());
        last = event.entry();
        provisional.put(event.id(), event);
        provisionalBytes += weight(event);
    }

    /** Roughly what an event takes beside its rendering. */
    private static long weight(Event event) {
        return 160L + event.payload().length;
    }

    private void endRun() {
        if (active.isEmpty()) {
            return;
        }
        if (to == runs.length) {
            int capacity = Math.max(8, (to - from) * 2);
            runs = Arrays.copyOfRange(runs, from, from + capacity);
            highest = Arrays.copyOfRange(highest, from, from + capacity);
            to -= from;
            from = 0;
        }
        runs[to] = active.seal();
        highest[to] = activeMax;
        runBytes += runs[to].heapBytes();
        to++;
        active = newActive();
        activeMax = Position.ZERO;
    }

    /** Takes out the events at or below the frontier, in id order. */
    List<Event> settle(Position frontier) {
        List<Event> settled = new ArrayList<>();
        Map.Entry<Position, Event> first = provisional.firstEntry();
        while (first != null && !first.getKey().isAfter(frontier)) {
            settled.add(first.getValue());
            provisionalBytes -= weight(first.getValue());
            provisional.remove(first.getKey());
            first = provisional.firstEntry();
        }
        return settled;
    }

    /**
     * Lets go of the oldest arrivals that nobody needs.
     *
     * @param streamFrontier of the whole stream: what lies above it stays
     * @param keepBytes newest arrivals that stay although they are final
     */
    void release(Position streamFrontier, long keepBytes) {
        if (keepBytes == 0 && !active.isEmpty() && !activeMax.isAfter(streamFrontier)) {
            endRun();
        }
        int first = from;
        while (from < to && !highest[from].isAfter(streamFrontier) && bytes() - runs[from].heapBytes() >= keepBytes) {
            Chunk oldest = runs[from];
            runBytes -= oldest.heapBytes();
            floor = oldest.entry(oldest.count() - 1);
            droppedMax = Position.max(droppedMax, highest[from]);
            from++;
        }
        if (from > first) {
            int capacity = Math.max(8, to - from);
            runs = Arrays.copyOfRange(runs, from, from + capacity);
            highest = Arrays.copyOfRange(highest, from, from + capacity);
            to -= from;
            from = 0;
        }
    }

    void release(Position streamFrontier) {
        if (runBytes > KEPT_BYTES) {
            release(streamFrontier, KEPT_BYTES);
        }
    }

    /** The id that must become final so that what isn't takes at most {@code bytesMax}; {@link Position#ZERO} if it does already. */
    Position excess(long bytesMax) {
        long excess = provisionalBytes - bytesMax;
        Position through = Position.ZERO;
        for (Event event : provisional.values()) {
            if (excess <= 0) {
                break;
            }
            excess -= weight(event);
            through = event.id();
        }
        return through;
    }

    /** Whether an event becomes final with this frontier. */
    boolean hasAtOrBelow(Position frontier) {
        return !provisional.isEmpty() && !provisional.firstKey().isAfter(frontier);
    }

    boolean holdsAny() {
        return from < to || !active.isEmpty();
    }

    boolean hasProvisional() {
        return !provisional.isEmpty();
    }

    long provisionalBytes() {
        return provisionalBytes;
    }

    /** Bytes of all that is held here. */
    long bytes() {
        return runBytes + active.heapBytes() + provisionalBytes;
    }

    /** Entry id of the newest arrival. */
    Position last() {
        return last;
    }

    ArrivalsView view() {
        return new ArrivalsView(runs, from, to, active.isEmpty() ? null : active.view(), floor, droppedMax, last);
    }
}
