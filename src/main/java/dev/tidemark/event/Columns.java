package dev.tidemark.event;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The arrays behind chunks. A {@link ChunkBuilder} fills them from the front and never changes what it has written; it replaces
 * the object when an array must grow, so that chunks which share it stay valid.
 */
final class Columns {
    static final byte LATE = 1;
    static final byte LINE_BREAKS = 2;
    static final byte PROVISIONAL = 4;

    /** The object itself, the chunk's, and the heads of the arrays. */
    private static final long FIXED_BYTES = 360;
    /** Of the columns that are always there. */
    private static final long ROW_BYTES = 3 * Long.BYTES + 4 * Integer.BYTES + 1;
    /** A reference and a text of its own. */
    private static final long TYPE_BYTES = 72;

    private static final long EXTRAS_BYTES = 64;

    final Generation generation;
    final int stripe;
    /** Where events of several stripes stand together; else all are of {@link #stripe}. */
    final int @Nullable [] stripes;

    final long[] ms;
    final long[] seq;
    final long @Nullable [] entryMs;
    final long @Nullable [] entrySeq;
    final long[] ordinal;
    final long @Nullable [] time;
    final String @Nullable [] type;
    final @Nullable EventExtras @Nullable [] extras;
    final byte[] flags;
    final int[] payloadStart;
    final int[] payloadLength;
    final int[] jsonStart;
    final int[] jsonLength;
    final byte[] slab;

    /** Empty columns. */
    Columns(Generation generation, int stripe, int events, int slabBytes) {
        this.generation = generation;
        this.stripe = stripe;
        stripes = null;
        ms = new long[events];
        seq = new long[events];
        entryMs = null;
        entrySeq = null;
        ordinal = new long[events];
        time = null;
        type = null;
        extras = null;
        flags = new byte[events];
        payloadStart = new int[events];
        payloadLength = new int[events];
        jsonStart = new int[events];
        jsonLength = new int[events];
        slab = new byte[slabBytes];
    }

    /** The first {@code count} rows of {@code from} in arrays of other sizes, with the optional columns that {@code wants} asks for. */
    Columns(Columns from, int count, int events, int slabLength, int slabBytes, Wants wants) {
        generation = from.generation;
        stripe = from.stripe;
        stripes = wants.stripe ? stripeColumn(from.stripes, from.stripe, count, events) : null;
        ms = Arrays.copyOf(from.ms, events);
        seq = Arrays.copyOf(from.seq, events);
        entryMs = wants.entry ? column(from.entryMs, from.ms, count, events) : null;
        entrySeq = wants.entry ? column(from.entrySeq, from.seq, count, events) : null;
        ordinal = Arrays.copyOf(from.ordinal, events);
        time = wants.time ? timeColumn(from.time, count, events) : null;
        type = wants.type ? typeColumn(from.type, count, events) : null;
        extras = wants.extras ? extrasColumn(from.extras, count, events) : null;
        flags = Arrays.copyOf(from.flags, events);
        payloadStart = Arrays.copyOf(from.payloadStart, events);
        payloadLength = Arrays.copyOf(from.payloadLength, events);
        jsonStart = Arrays.copyOf(from.jsonStart, events);
        jsonLength = Arrays.copyOf(from.jsonLength, events);
        if (slabBytes == from.slab.length) {
            slab = from.slab;
        } else {
            slab = new byte[slabBytes];
            System.arraycopy(from.slab, 0, slab, 0, slabLength);
        }
    }

    /** Bytes that the arrays take on the heap, filled or not; an estimate where other objects hang on a row. */
    long heapBytes() {
        long row = ROW_BYTES;
        row += entryMs == null ? 0 : 2 * Long.BYTES;
        row += time == null ? 0 : Long.BYTES;
        row += type == null ? 0 : TYPE_BYTES;
        row += extras == null ? 0 : EXTRAS_BYTES;
        return FIXED_BYTES + row * ms.length + slab.length;
    }

    private static long[] column(long @Nullable [] from, long[] otherwise, int count, int events) {
        long[] column = new long[events];
        System.arraycopy(from == null ? otherwise : from, 0, column, 0, count);
        return column;
    }

    private static int[] stripeColumn(int @Nullable [] from, int stripe, int count, int events) {
        int[] column = new int[events];
        if (from == null) {
            Arrays.fill(column, 0, count, stripe);
        } else {
            System.arraycopy(from, 0, column, 0, count);
        }
        return column;
    }

    private static long[] timeColumn(long @Nullable [] from, int count, int events) {
        long[] column = new long[events];
        if (from == null) {
            Arrays.fill(column, 0, count, Event.NO_TIME);
        } else {
            System.arraycopy(from, 0, column, 0, count);
        }
        return column;
    }

    private static String[] typeColumn(String @Nullable [] from, int count, int events) {
        String[] column = new String[events];
        if (from == null) {
            Arrays.fill(column, 0, count, ContentType.JSON);
        } else {
            System.arraycopy(from, 0, column, 0, count);
        }
        return column;
    }

    private static @Nullable EventExtras[] extrasColumn(
            @Nullable EventExtras @Nullable [] from, int count, int events) {
        @Nullable EventExtras[] column = new @Nullable EventExtras[events];
        if (from != null) {
            System.arraycopy(from, 0, column, 0, count);
        }
        return column;
    }

    /** Which optional columns are needed. */
    record Wants(boolean stripe, boolean entry, boolean time, boolean type, boolean extras) {
        static final Wants NOTHING = new Wants(false, false, false, false, false);

        Wants or(Wants other) {
            return new Wants(
                    stripe || other.stripe,
                    entry || other.entry,
                    time || other.time,
                    type || other.type,
                    extras || other.extras);
        }
    }
}
