package dev.tidemark.archive;

import dev.tidemark.event.BodyHash;
import dev.tidemark.event.Producer;
import dev.tidemark.event.RequestIds;
import dev.tidemark.event.RequestMark;
import dev.tidemark.event.StoredRequest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * How requests are written inside excerpts, little-endian.
 *
 * <pre>
 *  a mark (of the first event of a request, and within a stored request)
 *   0       8       16      20     22      24
 *  +-------+-------+-------+------+-------+-------------------+------------------+
 *  | body: | body: | count | s    | l     | s x i64: numbers  | l x i32: lengths |
 *  | high  | low   | of    | u16  | u16   | of the ids that   | of the runs;     |
 *  |       |       | events|      |       | runs begin with   | l is 0: scattered|
 *  +-------+-------+-------+------+-------+-------------------+------------------+
 *
 *  a stored request (in a producer checkpoint)
 *   0       1              +2+n    +8     +8       +8
 *  +-------+--------------+-------+------+--------+------+
 *  | 1: its| producer id, | epoch | seq  | stored | mark |
 *  | body  | u16, UTF-8;  | i64;  | i64  | i64,   |      |
 *  | is    | 0: the one   | -1: a |      | Unix ms|      |
 *  | known | before       | key   |      |        |      |
 *  +-------+--------------+-------+------+--------+------+
 * </pre>
 */
final class RequestBytes {
    private static final int MARK_HEAD_BYTES = 24;
    private static final int REQUEST_HEAD_BYTES = 1 + 2 + 3 * 8;
    private static final int STARTS_AT = 20;
    private static final int LENGTHS_AT = 22;
    private static final BodyHash NO_BODY = new BodyHash(0, 0);

    private RequestBytes() {}

    /** Bytes that the mark takes. */
    static int bytes(RequestIds ids) {
        return MARK_HEAD_BYTES + 8 * ids.starts().length + 4 * ids.lengths().length;
    }

    /** Bytes of the mark that was written at {@code at}. */
    static int markBytes(byte[] bytes, int at) {
        return MARK_HEAD_BYTES
                + 8 * ExcerptCodec.shortAt(bytes, at + STARTS_AT)
                + 4 * ExcerptCodec.shortAt(bytes, at + LENGTHS_AT);
    }

    /** An upper bound of the bytes that a stored request takes. */
    static int bytesMax(StoredRequest request) {
        return REQUEST_HEAD_BYTES + 3 * request.producer().id().length() + bytes(request.ids());
    }

    static void putMark(ByteBuffer to, BodyHash body, RequestIds ids) {
        long[] starts = ids.starts();
        int[] lengths = ids.lengths();
        to.putLong(body.high()).putLong(body.low()).putInt(ids.count());
        to.putShort((short) starts.length).putShort((short) lengths.length);
        for (long start : starts) {
            to.putLong(start);
        }
        for (int length : lengths) {
            to.putInt(length);
        }
    }

    static RequestMark mark(ByteBuffer from) {
        BodyHash body = new BodyHash(from.getLong(), from.getLong());
        int count = from.getInt();
        long[] starts = new long[from.getShort() & 0xffff];
        int[] lengths = new int[from.getShort() & 0xffff];
        for (int i = 0; i < starts.length; i++) {
            starts[i] = from.getLong();
        }
        for (int i = 0; i < lengths.length; i++) {
            lengths[i] = from.getInt();
        }
        return new RequestMark(body, RequestIds.restore(count, starts, lengths));
    }

    /** @param before whose producer id needn't be written again; null for the first one of an excerpt */
    static void put(ByteBuffer to, StoredRequest request, @Nullable StoredRequest before) {
        Producer producer = request.producer();
        boolean again = before != null && before.producer().id().equals(producer.id());
        byte[] id = again ? new byte[0] : producer.id().getBytes(StandardCharsets.UTF_8);
        to.put((byte) (request.body() == null ? 0 : 1));
        to.putShort((short) id.length).put(id);
        to.putLong(producer.epoch()).putLong(producer.seq()).putLong(request.storedMs());
        putMark(to, request.body() == null ? NO_BODY : request.body(), request.ids());
    }

    static StoredRequest request(ByteBuffer from, @Nullable StoredRequest before) {
        boolean bodyKnown = from.get() == 1;
        byte[] text = new byte[from.getShort() & 0xffff];
        from.get(text);
        String id =
                text.length == 0 && before != null ? before.producer().id() : new String(text, StandardCharsets.UTF_8);
        Producer producer = new Producer(id, from.getLong(), from.getLong());
        long storedMs = from.getLong();
        RequestMark mark = mark(from);
        return new StoredRequest(producer, bodyKnown ? mark.body() : null, mark.ids(), storedMs);
    }
}
