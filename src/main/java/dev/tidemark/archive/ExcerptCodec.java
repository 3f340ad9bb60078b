package dev.tidemark.archive;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.ContentType;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventExtras;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Producer;
import dev.tidemark.event.RequestMark;
import dev.tidemark.event.StoredRequest;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Writes excerpts, the records of an archive. {@link Excerpt} reads them. Not thread-safe.
 *
 * <p>Numbers are little-endian. Every excerpt starts alike; its key never falls from one excerpt to the next, so that a position
 * is found by binary search over all kinds:
 *
 * <pre>
 *   0       1      2       3      4           8            12        16        24
 *  +-------+------+-------+------+-----------+------------+---------+---------+---------+
 *  |version| kind | flags |  0   |  CRC32C   |   length   | stripe  | key: ms | key: seq|
 *  |   1   |      |       |      | of 0-3, 8-| whole, i32 |   i32   |   i64   |   i64   |
 *  +-------+------+-------+------+-----------+------------+---------+---------+---------+
 *
 *  kind 1, event. The key is the event id. What flags don't announce is left out.
 *  32        40          56     64         +2+n    +2+n   +8     +8     +4         +16 each
 *  +---------+-----------+------+-----------+-------------+------+------+----------+---------+---------+
 *  | ordinal | entry id  | time | type      | producer id | epoch| seq  | count of | first,  | payload |
 *  |   i64   | 2 x i64   | i64  | u16, ASCII| u16, UTF-8  | i64  | i64  | voided   | last    | to the  |
 *  |         | [ENTRY]   |[TIME]| [TYPE]    |        [PRODUCER]         |  [VOIDED, i32]     | end     |
 *  +---------+-----------+------+-----------+---------------------------+--------------------+---------+
 *
 *  kind 2, missing ordinals. The key is the id of the event before it. Flag 1: lost (without it: void, never acknowledged).
 *  32        40       48                 64
 *  +---------+--------+------------------+--------------------+
 *  | first   | last   | after (ms, seq)  | through (ms, seq)  |
 *  | ordinal | ordinal|                  |                    |
 *  +---------+--------+------------------+--------------------+
 *
 *  With flag 64, REQUEST, a mark stands behind the producer's seq: {@link RequestBytes} draws it.
 *
 *  kind 3, producer checkpoint: the requests of producers that are remembered at this place, all of them, so that none before it
 *  needs to be looked for. It comes in parts, one behind the other; one that lacks parts says nothing. The key is the id of the
 *  event before it. The stripe is that of the requests ({@link RequestBytes}).
 *  32       36        40      44
 *  +--------+---------+-------+----------------------+
 *  | number | of how  | count | requests             |
 *  | of the | many    |  i32  |                      |
 *  | part   | parts   |       |                      |
 *  +--------+---------+-------+----------------------+
 *
 *  kind 4, waypoint: what the archive held before it, so that totals and holes are known without reading everything. It is the
 *  first excerpt of every roll file and comes again after some thousand others. The key is the id of the event before it.
 *  32        40        48            56      60
 *  +---------+---------+-------------+-------+---------------------------+
 *  | events  | bytes of| cycle of the| count | stripe i32, last ordinal  |
 *  | so far  | earlier | file before,|  i32  | i64, for each             |
 *  |   i64   | files   | i64, or -1  |       |                           |
 *  +---------+---------+-------------+-------+---------------------------+
 *  and behind them two keys, (ms, seq) each, between which everything stands that the requests of producers are known from
 *  ({@link ProducerBounds}); zero if there is nothing. Behind these, for each of the stripes above in their order, what is counted
 *  of it ({@link StripeCount}), i64 each: archived before there were counts, events, lost ordinals, voided ones.
 * </pre>
 *
 * Kinds that a reader doesn't know are skipped; of another version nothing is taken for known.
 */
final class ExcerptCodec {
    static final byte VERSION = 1;

    static final byte EVENT = 1;
    static final byte MISSING = 2;
    static final byte PRODUCERS = 3;
    static final byte WAYPOINT = 4;

    static final int LATE = 1;
    static final int ENTRY = 1 << 1;
    static final int TIME = 1 << 2;
    static final int TYPE = 1 << 3;
    static final int PRODUCER = 1 << 4;
    static final int VOIDED = 1 << 5;
    static final int REQUEST = 1 << 6;
    static final int LOST = 1;

    static final int CRC_AT = 4;
    static final int LENGTH_AT = 8;
    static final int STRIPE_AT = 12;
    static final int KEY_AT = 16;
    static final int HEAD_BYTES = 32;
    static final int MISSING_BYTES = 80;
    static final int WAYPOINT_BYTES = 60;
    static final int BOUNDS_BYTES = 32;
    static final int COUNT_BYTES = 32;
    static final int PRODUCERS_BYTES = 44;

    static final int BUFFER_AT_FIRST = 4 << 10;
    static final int BUFFER_KEPT = 64 << 10;

    /** Most bytes that an event's excerpt has besides its payload: what is beyond is refused, never cut. */
    static final int OVERHEAD_BYTES_MAX = 64 << 10;

    private static final VarHandle I64 = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle I32 = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle I16 = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);

    private final CRC32C crc = new CRC32C();
    private byte[] bytes = new byte[BUFFER_AT_FIRST];
    private int length;
    private @Nullable String typeText;
    private byte[] typeBytes = new byte[0];

    /** Gives a buffer back that a large event has made large. */
    void trim() {
        if (bytes.length > BUFFER_KEPT) {
            bytes = new byte[BUFFER_AT_FIRST];
        }
    }

    /** What was written last, from 0 to {@link #length}. */
    byte[] bytes() {
        return bytes;
    }

    int length() {
        return length;
    }

    /** An upper bound of the bytes that an event's excerpt takes. */
    static int bytesMax(Chunk chunk, int i) {
        EventExtras extras = chunk.extras(i);
        int fixed = HEAD_BYTES + 8 + 16 + 8 + 2 + chunk.type(i).length();
        return fixed + chunk.payloadLength(i) + (extras == null ? 0 : bytesMax(extras));
    }

    private static int bytesMax(EventExtras extras) {
        Producer producer = extras.producer();
        RequestMark request = extras.request();
        return (producer == null ? 0 : 18 + 3 * producer.id().length())
                + (request == null ? 0 : RequestBytes.bytes(request.ids()))
                + 4
                + 16 * extras.voided().size();
    }

    /** Writes an event; its excerpt must fit: {@link #OVERHEAD_BYTES_MAX} besides the payload. */
    void event(Chunk chunk, int i) {
        makeRoom(bytesMax(chunk, i));
        Position entry = chunk.entry(i);
        long time = chunk.time(i);
        String type = chunk.type(i);
        EventExtras extras = chunk.extras(i);
        int flags = chunk.late(i) ? LATE : 0;
        int at = putLong(HEAD_BYTES, chunk.ordinal(i));
        if (entry.ms() != chunk.ms(i) || entry.seq() != chunk.seq(i)) {
            flags |= ENTRY;
            at = putPosition(at, entry);
        }
        if (time != Event.NO_TIME) {
            flags |= TIME;
            at = putLong(at, time);
        }
        if (!type.equals(ContentType.JSON)) {
            flags |= TYPE;
            at = putShortBytes(at, ascii(type));
        }
        if (extras != null) {
            if (extras.producer() != null) {
                flags |= PRODUCER;
                at = putProducer(at, extras.producer());
            }
            if (extras.request() != null) {
                flags |= REQUEST;
                at = putRequest(at, extras.request());
            }
            if (!extras.voided().isEmpty()) {
                flags |= VOIDED;
                at = putVoided(at, extras.voided());
            }
        }
        int payload = chunk.payloadLength(i);
        System.arraycopy(chunk.slab(), chunk.payloadStart(i), bytes, at, payload);
        finish(EVENT, flags, chunk.stripe(i), chunk.ms(i), chunk.seq(i), at + payload);
    }

    /** Writes that ordinals are accounted for without an event; {@code before} is the id of the event before it. */
    void missing(int stripe, OrdinalRange ordinals, boolean lost, Position after, Position through, Position before) {
        int at = putLong(HEAD_BYTES, ordinals.first());
        at = putLong(at, ordinals.last());
        at = putPosition(at, after);
        at = putPosition(at, through);
        finish(MISSING, lost ? LOST : 0, stripe, before.ms(), before.seq(), at);
    }

    /** Writes a part of a checkpoint; {@code before} is the id of the event before it. */
    void producers(ProducerCheckpoint.Part part, Position before) {
        makeRoom(part.bytesMax());
        ByteBuffer to = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).position(HEAD_BYTES);
        to.putInt(part.number()).putInt(part.of()).putInt(part.requests().size());
        StoredRequest last = null;
        for (StoredRequest request : part.requests()) {
            RequestBytes.put(to, request, last);
            last = request;
        }
        finish(PRODUCERS, 0, part.stripe(), before.ms(), before.seq(), to.position());
    }

    /** Writes what was archived so far. */
    void waypoint(
            Position last,
            long events,
            long earlierBytes,
            int fileBefore,
            Map<Integer, Long> ordinals,
            Map<Integer, StripeCount> counts,
            ProducerBounds producers) {
        makeRoom(WAYPOINT_BYTES + (12 + COUNT_BYTES) * ordinals.size() + BOUNDS_BYTES);
        int at = putLong(HEAD_BYTES, events);
        at = putLong(at, earlierBytes);
        at = putLong(at, fileBefore);
        I32.set(bytes, at, ordinals.size());
        at += 4;
        for (Map.Entry<Integer, Long> stripe : ordinals.entrySet()) {
            I32.set(bytes, at, (int) stripe.getKey());
            at = putLong(at + 4, stripe.getValue());
        }
        at = putPosition(putPosition(at, producers.from()), producers.through());
        for (Integer stripe : ordinals.keySet()) {
            StripeCount count = counts.getOrDefault(stripe, StripeCount.NONE);
            at = putLong(putLong(at, count.uncounted()), count.events());
            at = putLong(putLong(at, count.lost()), count.voided());
        }
        finish(WAYPOINT, 0, 0, last.ms(), last.seq(), at);
    }

    private void finish(byte kind, int flags, int stripe, long ms, long seq, int end) {
        bytes[0] = VERSION;
        bytes[1] = kind;
        bytes[2] = (byte) flags;
        bytes[3] = 0;
        I32.set(bytes, LENGTH_AT, end);
        I32.set(bytes, STRIPE_AT, stripe);
        I64.set(bytes, KEY_AT, ms);
        I64.set(bytes, KEY_AT + 8, seq);
        I32.set(bytes, CRC_AT, crc(crc, bytes, end));
        length = end;
    }

    static int crc(CRC32C crc, byte[] bytes, int length) {
        crc.reset();
        crc.update(bytes, 0, CRC_AT);
        crc.update(bytes, LENGTH_AT, length - LENGTH_AT);
        return (int) crc.getValue();
    }

    static long longAt(byte[] bytes, int at) {
        return (long) I64.get(bytes, at);
    }

    static int intAt(byte[] bytes, int at) {
        return (int) I32.get(bytes, at);
    }

    static int shortAt(byte[] bytes, int at) {
        return (short) I16.get(bytes, at) & 0xffff;
    }

    private byte[] ascii(String type) {
        if (!type.equals(typeText)) {
            typeText = type;
            typeBytes = type.getBytes(StandardCharsets.ISO_8859_1);
        }
        return typeBytes;
    }

    private int putLong(int at, long value) {
        I64.set(bytes, at, value);
        return at + 8;
    }

    private int putPosition(int at, Position position) {
        return putLong(putLong(at, position.ms()), position.seq());
    }

    private int putShortBytes(int at, byte[] text) {
        I16.set(bytes, at, (short) text.length);
        System.arraycopy(text, 0, bytes, at + 2, text.length);
        return at + 2 + text.length;
    }

    private int putProducer(int start, Producer producer) {
        int at = putShortBytes(start, producer.id().getBytes(StandardCharsets.UTF_8));
        return putLong(putLong(at, producer.epoch()), producer.seq());
    }

    private int putRequest(int start, RequestMark request) {
        ByteBuffer to = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).position(start);
        RequestBytes.putMark(to, request.body(), request.ids());
        return to.position();
    }

    private int putVoided(int start, List<OrdinalRange> voided) {
        I32.set(bytes, start, voided.size());
        int at = start + 4;
        for (OrdinalRange range : voided) {
            at = putLong(putLong(at, range.first()), range.last());
        }
        return at;
    }

    private void makeRoom(int room) {
        if (bytes.length < room) {
            bytes = Arrays.copyOf(bytes, Math.max(room, bytes.length * 2));
        }
    }
}
