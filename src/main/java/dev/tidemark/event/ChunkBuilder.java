package dev.tidemark.event;

import org.jspecify.annotations.Nullable;

/**
 * Builds a {@link Chunk} event by event, in id order. One thread owns it; the views that it gives are immutable and may be read
 * by any thread once published safely, while the owner goes on adding.
 */
public final class ChunkBuilder {
    private static final int EVENTS_AT_FIRST = 16;
    private static final int SLAB_AT_FIRST = 4 << 10;

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
        columns = new Columns(generation, stripe, events, slabBytes);
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
        byte[] payload = event.payload();
        add(
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
     * @throws IllegalArgumentException if its id isn't above the last one's
     */
    public void add(
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
        if (count > 0 && Position.compare(id.ms(), id.seq(), columns.ms[count - 1], columns.seq[count - 1]) <= 0) {
            throw new IllegalArgumentException("a chunk takes rising ids: " + id + " after "
                    + new Position(columns.ms[count - 1], columns.seq[count - 1]));
        }
        makeRoom(
                new Columns.Wants(
                        !entry.equals(id), time != Event.NO_TIME, !type.equals(ContentType.JSON), extras != null),
                slabBytesMax(type, source, from, length));
        Columns to = columns;
        int i = count;
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
        to.flags[i] = late ? Columns.LATE : 0;
        writeBytes(i, id, time, late, type, source, from, length);
        payloadBytes += length;
        count++;
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
            if (hasLineBreak(source, from, length)) {
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

    private static boolean hasLineBreak(byte[] source, int from, int length) {
        for (int i = from; i < from + length; i++) {
            if (source[i] == '\n' || source[i] == '\r') {
                return true;
            }
        }
        return false;
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

    /** What is there, cut to size. The builder isn't used after it. */
    public Chunk seal() {
        boolean exact = count == columns.ms.length && slabLength == columns.slab.length;
        Columns cut = exact ? columns : new Columns(columns, count, count, slabLength, slabLength, wants);
        return new Chunk(cut, count, slabLength);
    }
}
