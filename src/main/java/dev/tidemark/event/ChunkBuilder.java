package dev.tidemark.event;

import org.jspecify.annotations.Nullable;

/**
 * Builds a {@link Chunk} event by event, in id order, or in the order of arrival ({@link #inArrivalOrder}). One thread owns it; the views that it gives are immutable and may be read
 * by any thread once published safely, while the owner goes on adding.
 */
public final class ChunkBuilder {
    private static final int EVENTS_AT_FIRST = 16;
    private static final int SLAB_AT_FIRST = 4 << 10;

    /** Which order is kept. */
    private enum Order {
        ID,
        ARRIVAL,
        GIVEN
    }

    private final Order order;
    private Columns columns;
    private Columns.Wants wants = Columns.Wants.NOTHING;
    private int count;
    private int slabLength;
    private long payloadBytes;

    /** Takes next to no memory before the first event comes. */
    public ChunkBuilder(Generation generation, int stripe) {
        this(generation, stripe, 0, 0);
    }

    /** With room for that many events and bytes before anything must grow. */
    public ChunkBuilder(Generation generation, int stripe, int events, int slabBytes) {
        this(Order.ID, new Columns(generation, stripe, events, slabBytes));
    }

    private ChunkBuilder(Order order, Columns columns) {
        this.order = order;
        this.columns = columns;
    }

    /** For events of one stripe with rising entry ids. */
    public static ChunkBuilder inArrivalOrder(Generation generation, int stripe) {
        return new ChunkBuilder(Order.ARRIVAL, new Columns(generation, stripe, EVENTS_AT_FIRST, SLAB_AT_FIRST));
    }

    /** For what a reader is given, in whatever order that is. */
    public static ChunkBuilder inGivenOrder(Generation generation, int events, int slabBytes) {
        return new ChunkBuilder(Order.GIVEN, new Columns(generation, 0, events, slabBytes));
    }

    public int count() {
        return count;
    }

    public boolean isEmpty() {
        return count == 0;
    }

    public int slabLength() {
        return slabLength;
    }

    /** Bytes that it takes on the heap, with room that isn't used yet. */
    public long heapBytes() {
        return columns.heapBytes();
    }

    public long payloadBytes() {
        return payloadBytes;
    }

    /** Bytes that an event will take in the slab, at most. */
    public static int slabBytesMax(String type, byte[] source, int from, int length) {
        int json = EventJson.bytesMax(type, source, from, length);
        return ContentType.isJson(type) ? json : json + length;
    }

    public void add(Event event) {
        add(columns.stripe, event);
    }

    /** Adds an event of a stripe that may be another than this builder's. */
    public void add(int stripe, Event event) {
        byte[] payload = event.payload();
        add(
                stripe,
                event.id(),
                event.entry(),
                event.ordinal(),
                event.time(),
                event.late(),
                event.type(),
                event.extras(),
                payload,
                0,
                payload.length);
    }

    /**
     * Adds an event whose payload is {@code length} bytes of {@code source}, copied.
     *
     * @throws IllegalArgumentException if it doesn't stand above the last one in this builder's order
     */
    public void add(
            int stripe,
            Position id,
            Position entry,
            long ordinal,
            long time,
            boolean late,
            String type,
            @Nullable EventExtras extras,
            byte[] source,
            int from,
            int length) {
        checkOrder(id, entry);
        makeRoom(wanted(stripe, id, entry, time, type, extras), slabBytesMax(type, source, from, length));
        writeColumns(stripe, id, entry, ordinal, time, type, extras);
        columns.flags[count] = late ? Columns.LATE : 0;
        writeBytes(count, id, time, late, type, source, from, length);
        payloadBytes += length;
        count++;
    }

    private void checkOrder(Position id, Position entry) {
        if (count == 0 || order == Order.GIVEN) {
            return;
        }
        int last = count - 1;
        Columns there = columns;
        Position next = id;
        long lastMs = there.ms[last];
        long lastSeq = there.seq[last];
        if (order == Order.ARRIVAL) {
            next = entry;
            if (there.entryMs != null && there.entrySeq != null) {
                lastMs = there.entryMs[last];
                lastSeq = there.entrySeq[last];
            }
        }
        if (Position.compare(next.ms(), next.seq(), lastMs, lastSeq) <= 0) {
            throw new IllegalArgumentException(
                    "a chunk takes rising ids: " + next + " after " + new Position(lastMs, lastSeq));
        }
    }

    private Columns.Wants wanted(
            int stripe, Position id, Position entry, long time, String type, @Nullable EventExtras extras) {
        return new Columns.Wants(
                stripe != columns.stripe,
                !entry.equals(id),
                time != Event.NO_TIME,
                !type.equals(ContentType.JSON),
                extras != null);
    }

    /**
     * Adds an event of another chunk as a reader is given it: with a cursor of its own, and marked if its place isn't final.
     *
     * @param cursor as {@link Cursor#bytes}
     */
    public void addGiven(Chunk from, int i, byte[] cursor, boolean provisional) {
        Position id = from.position(i);
        Position entry = from.entry(i);
        checkOrder(id, entry);
        int jsonLength = from.jsonLength(i);
        boolean json = ContentType.isJson(from.type(i));
        int bytes = EventJson.rewrittenBytesMax(jsonLength, cursor) + (json ? 0 : from.payloadLength(i));
        makeRoom(wanted(from.stripe(i), id, entry, from.time(i), from.type(i), from.extras(i)), bytes);
        writeColumns(from.stripe(i), id, entry, from.ordinal(i), from.time(i), from.type(i), from.extras(i));
        Columns to = columns;
        to.flags[count] = (byte) ((from.late(i) ? Columns.LATE : 0)
                | (provisional ? Columns.PROVISIONAL : 0)
                | (from.hasLineBreaks(i) ? Columns.LINE_BREAKS : 0));
        int at = slabLength;
        if (!json) {
            System.arraycopy(from.slab(), from.payloadStart(i), to.slab, at, from.payloadLength(i));
            to.payloadStart[count] = at;
            at += from.payloadLength(i);
        }
        to.jsonStart[count] = at;
        at = EventJson.rewrite(from.slab(), from.jsonStart(i), jsonLength, cursor, provisional, to.slab, at);
        if (json) {
            to.payloadStart[count] = at - 1 - from.payloadLength(i);
        }
        to.payloadLength[count] = from.payloadLength(i);
        to.jsonLength[count] = at - to.jsonStart[count];
        slabLength = at;
        payloadBytes += from.payloadLength(i);
        count++;
    }

    private void writeColumns(
            int stripe,
            Position id,
            Position entry,
            long ordinal,
            long time,
            String type,
            @Nullable EventExtras extras) {
        Columns to = columns;
        int i = count;
        if (to.stripes != null) {
            to.stripes[i] = stripe;
        }
        to.ms[i] = id.ms();
        to.seq[i] = id.seq();
        to.ordinal[i] = ordinal;
        if (to.entryMs != null && to.entrySeq != null) {
            to.entryMs[i] = entry.ms();
            to.entrySeq[i] = entry.seq();
        }
        if (to.time != null) {
            to.time[i] = time;
        }
        if (to.type != null) {
            to.type[i] = type;
        }
        if (to.extras != null) {
            to.extras[i] = extras;
        }
    }

    private void writeBytes(
            int i, Position id, long time, boolean late, String type, byte[] source, int from, int length) {
        Columns to = columns;
        boolean json = ContentType.isJson(type);
        int at = slabLength;
        if (!json) {
            System.arraycopy(source, from, to.slab, at, length);
            to.payloadStart[i] = at;
            at += length;
        }
        to.jsonStart[i] = at;
        at = EventJson.writeHead(to.generation, id.ms(), id.seq(), time, late, type, to.slab, at);
        if (json) {
            at = EventJson.writeDataKey(to.slab, at);
            System.arraycopy(source, from, to.slab, at, length);
            to.payloadStart[i] = at;
            if (ByteScan.hasLineBreak(source, from, from + length)) {
                to.flags[i] |= Columns.LINE_BREAKS;
            }
            at += length;
            to.slab[at++] = '}';
        } else {
            at = EventJson.writeEncoded(type, source, from, length, to.slab, at);
        }
        to.payloadLength[i] = length;
        to.jsonLength[i] = at - to.jsonStart[i];
        slabLength = at;
    }

    private void makeRoom(Columns.Wants more, int bytes) {
        Columns.Wants all = wants.or(more);
        boolean eventsFull = count == columns.ms.length;
        long needed = (long) slabLength + bytes;
        boolean slabFull = needed > columns.slab.length;
        if (!eventsFull && !slabFull && all.equals(wants)) {
            return;
        }
        if (needed > Integer.MAX_VALUE - 16) {
            throw new IllegalStateException("a chunk's slab can't hold " + needed + " bytes");
        }
        int events = eventsFull ? Math.max(EVENTS_AT_FIRST, count * 2) : columns.ms.length;
        long doubled = Math.max(SLAB_AT_FIRST, Math.min(columns.slab.length * 2L, Integer.MAX_VALUE - 16));
        int slab = slabFull ? (int) Math.max(needed, doubled) : columns.slab.length;
        columns = new Columns(columns, count, events, slabLength, slab, all);
        wants = all;
    }

    /** What is there now; later additions aren't in it. */
    public Chunk view() {
        return new Chunk(columns, count, slabLength);
    }

    /** What is there, cut to size unless little would be gained. The builder isn't used after it. */
    public Chunk seal() {
        boolean fits = isNearly(count, columns.ms.length) && isNearly(slabLength, columns.slab.length);
        Columns cut = fits ? columns : new Columns(columns, count, count, slabLength, slabLength, wants);
        return new Chunk(cut, count, slabLength);
    }

    private static boolean isNearly(int used, int room) {
        return room - used <= room / 8;
    }
}
