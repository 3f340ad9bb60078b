package dev.tidemark.event;

import org.jspecify.annotations.Nullable;

/**
 * Events in id order, or in that of their arrival where {@link ChunkBuilder} says so, immutable: one byte slab and offsets into it, so that an event is sent from where it lies
 * and costs no heap object of its own. Made by a {@link ChunkBuilder}; safe to read from any thread once published safely.
 *
 * <p>The slab holds, for each event, its JSON object (see {@code EventJson}); a payload that isn't JSON stands before it as it
 * came. Arrays are handed out uncopied: callers only read them.
 */
public final class Chunk {
    /** Length of the fixed part at the start of every event's JSON: more fields may be put in behind it. */
    public static final int JSON_HEAD_BYTES = EventJson.HEAD_BYTES;

    private final Columns columns;
    private final int count;
    private final int slabLength;

    Chunk(Columns columns, int count, int slabLength) {
        this.columns = columns;
        this.count = count;
        this.slabLength = slabLength;
    }

    public Generation generation() {
        return columns.generation;
    }

    /** Number of events. */
    public int count() {
        return count;
    }

    /** Bytes of the slab that are used. */
    public int slabLength() {
        return slabLength;
    }

    /** Bytes that it takes on the heap: its slab and columns as they were allocated, used or not. */
    public long heapBytes() {
        return columns.heapBytes();
    }

    /** The slab; only read. */
    public byte[] slab() {
        return columns.slab;
    }

    public long ms(int i) {
        return columns.ms[i];
    }

    public long seq(int i) {
        return columns.seq[i];
    }

    /** Position of the event id. */
    public Position position(int i) {
        return new Position(columns.ms[i], columns.seq[i]);
    }

    /** Position of the entry id. */
    public Position entry(int i) {
        return columns.entryMs == null || columns.entrySeq == null
                ? position(i)
                : new Position(columns.entryMs[i], columns.entrySeq[i]);
    }

    public Position first() {
        return position(0);
    }

    public Position last() {
        return position(count - 1);
    }

    /** Stripe of an event. */
    public int stripe(int i) {
        return columns.stripes == null ? columns.stripe : columns.stripes[i];
    }

    public long ordinal(int i) {
        return columns.ordinal[i];
    }

    /** Claimed time in Unix milliseconds, or {@link Event#NO_TIME}. */
    public long time(int i) {
        return columns.time == null ? Event.NO_TIME : columns.time[i];
    }

    public boolean late(int i) {
        return (columns.flags[i] & Columns.LATE) != 0;
    }

    /** Whether the JSON object says that the event's place isn't final yet. */
    public boolean provisional(int i) {
        return (columns.flags[i] & Columns.PROVISIONAL) != 0;
    }

    public String type(int i) {
        return columns.type == null ? ContentType.JSON : columns.type[i];
    }

    public @Nullable EventExtras extras(int i) {
        return columns.extras == null ? null : columns.extras[i];
    }

    public int payloadStart(int i) {
        return columns.payloadStart[i];
    }

    public int payloadLength(int i) {
        return columns.payloadLength[i];
    }

    /** A copy of the payload. */
    public byte[] payload(int i) {
        int start = columns.payloadStart[i];
        return java.util.Arrays.copyOfRange(columns.slab, start, start + columns.payloadLength[i]);
    }

    /** Where the event's JSON object starts in the slab. */
    public int jsonStart(int i) {
        return columns.jsonStart[i];
    }

    public int jsonLength(int i) {
        return columns.jsonLength[i];
    }

    /** Whether the JSON object has raw line breaks (between tokens of the payload), which line formats turn into spaces. */
    public boolean hasLineBreaks(int i) {
        return (columns.flags[i] & Columns.LINE_BREAKS) != 0;
    }

    public Event event(int i) {
        return new Event(position(i), entry(i), ordinal(i), time(i), late(i), type(i), extras(i), payload(i));
    }

    /** Index of the first event above {@code position}; {@link #count()} if there is none. */
    public int firstAfter(Position position) {
        int low = 0;
        int high = count;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (Position.compare(columns.ms[middle], columns.seq[middle], position.ms(), position.seq()) > 0) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    /** Index of the first event that arrived above {@code entry}; of chunks in the order of arrival. {@link #count()} if there is none. */
    public int firstArrivedAfter(Position entry) {
        int low = 0;
        int high = count;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (entry(middle).isAfter(entry)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    /** Length of the cursor's text in an event's JSON object. */
    public int cursorLength(int i) {
        return EventJson.cursorLength(columns.slab, columns.jsonStart[i]);
    }

    public Slice slice() {
        return new Slice(this, 0, count);
    }

    @Override
    public String toString() {
        return count == 0 ? "empty chunk" : "chunk of " + count + " events, " + first() + " to " + last();
    }
}
