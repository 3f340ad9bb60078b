package dev.tidemark.archive;

import static dev.tidemark.archive.ExcerptCodec.HEAD_BYTES;
import static dev.tidemark.archive.ExcerptCodec.intAt;
import static dev.tidemark.archive.ExcerptCodec.longAt;
import static dev.tidemark.archive.ExcerptCodec.shortAt;

import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.ContentType;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventExtras;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Producer;
import dev.tidemark.event.RequestMark;
import dev.tidemark.event.StoredRequest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** One excerpt that was read, in the form that {@link ExcerptCodec} draws. It is filled again by the next read; not thread-safe. */
final class Excerpt {
    private final CRC32C crc = new CRC32C();
    private byte[] bytes = new byte[ExcerptCodec.BUFFER_AT_FIRST];
    private int length;
    private String lastType = ContentType.JSON;

    /** Room for an excerpt of {@code length} bytes, to be filled before {@link #check}. */
    byte[] room(int wanted) {
        if (bytes.length < wanted) {
            bytes = new byte[Math.max(wanted, bytes.length * 2)];
        }
        return bytes;
    }

    /** Whether the first {@code available} bytes of the room are an excerpt, by version, length and CRC. */
    boolean check(int available) {
        length = 0;
        if (available < HEAD_BYTES || bytes[0] != ExcerptCodec.VERSION) {
            return false;
        }
        int claimed = intAt(bytes, ExcerptCodec.LENGTH_AT);
        if (claimed < HEAD_BYTES
                || claimed > available
                || ExcerptCodec.crc(crc, bytes, claimed) != intAt(bytes, ExcerptCodec.CRC_AT)) {
            return false;
        }
        length = claimed;
        return keyMs() >= 0 && keySeq() >= 0;
    }

    /** Gives a buffer back that a large event has made large. */
    void trim() {
        if (bytes.length > ExcerptCodec.BUFFER_KEPT) {
            bytes = new byte[ExcerptCodec.BUFFER_AT_FIRST];
            length = 0;
        }
    }

    byte[] bytes() {
        return bytes;
    }

    int length() {
        return length;
    }

    int kind() {
        return bytes[1];
    }

    boolean isEvent() {
        return kind() == ExcerptCodec.EVENT;
    }

    boolean isMissing() {
        return kind() == ExcerptCodec.MISSING;
    }

    boolean isProducers() {
        return kind() == ExcerptCodec.PRODUCERS;
    }

    boolean isWaypoint() {
        return kind() == ExcerptCodec.WAYPOINT;
    }

    int stripe() {
        return intAt(bytes, ExcerptCodec.STRIPE_AT);
    }

    long keyMs() {
        return longAt(bytes, ExcerptCodec.KEY_AT);
    }

    long keySeq() {
        return longAt(bytes, ExcerptCodec.KEY_AT + 8);
    }

    /** Id of the event, or of the event before. */
    Position key() {
        return new Position(keyMs(), keySeq());
    }

    int compareKey(Position position) {
        return Position.compare(keyMs(), keySeq(), position.ms(), position.seq());
    }

    /** Of an event. */
    long ordinal() {
        return longAt(bytes, HEAD_BYTES);
    }

    /** Of missing ordinals. */
    OrdinalRange ordinals() {
        return new OrdinalRange(longAt(bytes, HEAD_BYTES), longAt(bytes, HEAD_BYTES + 8));
    }

    boolean isLost() {
        return isMissing() && (flags() & ExcerptCodec.LOST) != 0;
    }

    Position missingAfter() {
        return position(HEAD_BYTES + 16);
    }

    Position missingThrough() {
        return position(HEAD_BYTES + 32);
    }

    /** Of a waypoint: events archived before it. */
    long eventsBefore() {
        return longAt(bytes, HEAD_BYTES);
    }

    /** Of a waypoint: bytes of the roll files before its own. */
    long earlierBytes() {
        return longAt(bytes, HEAD_BYTES + 8);
    }

    /** Of a waypoint: cycle of the file before its own, or {@link RollFiles#NONE}. */
    int fileBefore() {
        return (int) longAt(bytes, HEAD_BYTES + 16);
    }

    /** Of a waypoint: last ordinal by stripe. */
    Map<Integer, Long> ordinalsBefore() {
        int count = intAt(bytes, ExcerptCodec.WAYPOINT_BYTES - 4);
        Map<Integer, Long> ordinals = new TreeMap<>();
        for (int i = 0; i < count; i++) {
            int at = ExcerptCodec.WAYPOINT_BYTES + 12 * i;
            ordinals.put(intAt(bytes, at), longAt(bytes, at + 4));
        }
        return ordinals;
    }

    /** Of a waypoint: what was counted before it, by stripe. One from before there were counts takes its ordinals for granted. */
    Map<Integer, StripeCount> countsBefore() {
        int stripes = intAt(bytes, ExcerptCodec.WAYPOINT_BYTES - 4);
        int at = ExcerptCodec.WAYPOINT_BYTES + 12 * stripes + ExcerptCodec.BOUNDS_BYTES;
        boolean counted = length >= at + ExcerptCodec.COUNT_BYTES * stripes;
        Map<Integer, StripeCount> counts = new TreeMap<>();
        for (int i = 0; i < stripes; i++) {
            int ordinal = ExcerptCodec.WAYPOINT_BYTES + 12 * i;
            int count = at + ExcerptCodec.COUNT_BYTES * i;
            counts.put(
                    intAt(bytes, ordinal),
                    counted
                            ? new StripeCount(
                                    longAt(bytes, count),
                                    longAt(bytes, count + 8),
                                    longAt(bytes, count + 16),
                                    longAt(bytes, count + 24))
                            : StripeCount.uncounted(longAt(bytes, ordinal + 4)));
        }
        return counts;
    }

    /** Of a waypoint: adopts where what producers are known from stands. */
    void takeProducersBefore(ProducerBounds bounds) {
        int at = ExcerptCodec.WAYPOINT_BYTES + 12 * intAt(bytes, ExcerptCodec.WAYPOINT_BYTES - 4);
        if (length < at + ExcerptCodec.BOUNDS_BYTES) {
            bounds.set(Position.ZERO, Position.ZERO);
        } else {
            bounds.set(position(at), position(at + 16));
        }
    }

    /** Of a producer checkpoint: number of this part, from 0. */
    int partNumber() {
        return intAt(bytes, HEAD_BYTES);
    }

    /** Of a producer checkpoint: how many parts it has. */
    int parts() {
        return intAt(bytes, HEAD_BYTES + 4);
    }

    /** Of a producer checkpoint. */
    ProducerCheckpoint.Part producersPart() {
        ByteBuffer from = buffer(HEAD_BYTES + 8);
        int count = from.getInt();
        List<StoredRequest> requests = new ArrayList<>(count);
        StoredRequest last = null;
        for (int i = 0; i < count; i++) {
            last = RequestBytes.request(from, last);
            requests.add(last);
        }
        return new ProducerCheckpoint.Part(stripe(), partNumber(), parts(), requests);
    }

    private ByteBuffer buffer(int at) {
        return ByteBuffer.wrap(bytes, 0, length).order(ByteOrder.LITTLE_ENDIAN).position(at);
    }

    /** Of an event. */
    Position entry() {
        return (flags() & ExcerptCodec.ENTRY) != 0 ? position(HEAD_BYTES + 8) : key();
    }

    /** Of an event: ordinals of refused appends that it carries. */
    List<OrdinalRange> voidedOrdinals() {
        if ((flags() & ExcerptCodec.VOIDED) == 0) {
            return List.of();
        }
        int at = HEAD_BYTES + 8 + entryAndTimeBytes();
        if ((flags() & ExcerptCodec.TYPE) != 0) {
            at += 2 + shortAt(bytes, at);
        }
        return extras(at).voided();
    }

    /** Of an event. */
    boolean hasProducer() {
        return (flags() & ExcerptCodec.PRODUCER) != 0;
    }

    /** Of an event with a producer; null if it isn't one that was minted here. */
    @Nullable
    StoredRequest storedRequest() {
        int at = HEAD_BYTES + 8;
        Position entry = key();
        if ((flags() & ExcerptCodec.ENTRY) != 0) {
            entry = position(at);
        }
        at += entryAndTimeBytes();
        if ((flags() & ExcerptCodec.TYPE) != 0) {
            at += 2 + shortAt(bytes, at);
        }
        return StoredRequest.of(key(), entry, extras(at));
    }

    private int flags() {
        return bytes[2];
    }

    private Position position(int at) {
        return new Position(longAt(bytes, at), longAt(bytes, at + 8));
    }

    /** What the event counts towards the bytes of a page. */
    long weight() {
        int at = HEAD_BYTES + 8 + entryAndTimeBytes();
        String type = ContentType.JSON;
        if ((flags() & ExcerptCodec.TYPE) != 0) {
            int typeLength = shortAt(bytes, at);
            type = type(at + 2, typeLength);
            at += 2 + typeLength;
        }
        return ArchivePage.weight(type, length - extrasEnd(at));
    }

    private int entryAndTimeBytes() {
        return ((flags() & ExcerptCodec.ENTRY) != 0 ? 16 : 0) + ((flags() & ExcerptCodec.TIME) != 0 ? 8 : 0);
    }

    private int extrasEnd(int start) {
        int at = start;
        if ((flags() & ExcerptCodec.PRODUCER) != 0) {
            at += 2 + shortAt(bytes, at) + 16;
        }
        if ((flags() & ExcerptCodec.REQUEST) != 0) {
            at += RequestBytes.markBytes(bytes, at);
        }
        if ((flags() & ExcerptCodec.VOIDED) != 0) {
            at += 4 + 16 * intAt(bytes, at);
        }
        return at;
    }

    /** Adds the event to a chunk. */
    void addTo(ChunkBuilder chunk) {
        int flags = flags();
        int at = HEAD_BYTES + 8;
        Position id = key();
        Position entry = id;
        if ((flags & ExcerptCodec.ENTRY) != 0) {
            entry = position(at);
            at += 16;
        }
        long time = Event.NO_TIME;
        if ((flags & ExcerptCodec.TIME) != 0) {
            time = longAt(bytes, at);
            at += 8;
        }
        String type = ContentType.JSON;
        if ((flags & ExcerptCodec.TYPE) != 0) {
            int typeLength = shortAt(bytes, at);
            type = type(at + 2, typeLength);
            at += 2 + typeLength;
        }
        boolean plain = (flags & (ExcerptCodec.PRODUCER | ExcerptCodec.VOIDED)) == 0;
        EventExtras extras = plain ? null : extras(at);
        int payload = plain ? at : extrasEnd(at);
        chunk.add(
                stripe(),
                id,
                entry,
                ordinal(),
                time,
                (flags & ExcerptCodec.LATE) != 0,
                type,
                extras,
                bytes,
                payload,
                length - payload);
    }

    private EventExtras extras(int start) {
        int at = start;
        Producer producer = null;
        if ((flags() & ExcerptCodec.PRODUCER) != 0) {
            int idLength = shortAt(bytes, at);
            String id = new String(bytes, at + 2, idLength, StandardCharsets.UTF_8);
            at += 2 + idLength;
            producer = new Producer(id, longAt(bytes, at), longAt(bytes, at + 8));
            at += 16;
        }
        RequestMark request = null;
        if ((flags() & ExcerptCodec.REQUEST) != 0) {
            request = RequestBytes.mark(buffer(at));
            at += RequestBytes.markBytes(bytes, at);
        }
        return new EventExtras(producer, request, voided(at));
    }

    private List<OrdinalRange> voided(int start) {
        if ((flags() & ExcerptCodec.VOIDED) == 0) {
            return List.of();
        }
        int count = intAt(bytes, start);
        List<OrdinalRange> ranges = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int at = start + 4 + 16 * i;
            ranges.add(new OrdinalRange(longAt(bytes, at), longAt(bytes, at + 8)));
        }
        return ranges;
    }

    /** The type's text; the last one's string is used again, since neighbours mostly have the same. */
    private String type(int at, int typeLength) {
        if (!isLastType(at, typeLength)) {
            lastType = new String(bytes, at, typeLength, StandardCharsets.ISO_8859_1);
        }
        return lastType;
    }

    private boolean isLastType(int at, int typeLength) {
        if (lastType.length() != typeLength) {
            return false;
        }
        for (int i = 0; i < typeLength; i++) {
            if (lastType.charAt(i) != (char) (bytes[at + i] & 0xff)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public String toString() {
        @Nullable
        String what = switch (kind()) {
            case ExcerptCodec.EVENT -> "event";
            case ExcerptCodec.MISSING -> "missing ordinals";
            case ExcerptCodec.PRODUCERS -> "producer checkpoint";
            case ExcerptCodec.WAYPOINT -> "waypoint";
            default -> "excerpt of kind " + kind();
        };
        return what + " at " + keyMs() + "-" + keySeq() + ", " + length + " bytes";
    }
}
