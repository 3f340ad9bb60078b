package dev.tidemark.livelog;

import dev.tidemark.event.BodyHash;
import dev.tidemark.event.ContentType;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventExtras;
import dev.tidemark.event.EventId;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Producer;
import dev.tidemark.event.RequestIds;
import dev.tidemark.event.RequestMark;
import dev.tidemark.event.Utf8;
import io.vertx.core.buffer.Buffer;
import io.vertx.redis.client.Response;
import io.vertx.redis.client.ResponseType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads entries of a Redis stream ({@link EntryCodec} has the format). Nothing that may stand in a stream makes it fail: what isn't
 * exactly as the codec writes it is foreign. One decoder serves one page, on one thread.
 */
final class EntryDecoder {
    private Buffer lastType = Buffer.buffer();
    private String lastTypeText = "";
    private boolean garbled;

    /** Values of the entry at hand by field; null where it has none. */
    private final @Nullable Buffer[] values = new @Nullable Buffer[EntryCodec.fields()];

    /** The event of an entry, or null if the entry is foreign. */
    @Nullable
    Event decode(Response entry) {
        if (!isPair(entry)) {
            return null;
        }
        Buffer idText = bytes(entry.get(0));
        Position id = idText == null ? null : exactPosition(idText);
        return id != null && readFields(entry.get(1)) ? event(id) : null;
    }

    private static boolean isPair(@Nullable Response entry) {
        return entry != null && entry.type() == ResponseType.MULTI && entry.isArray() && entry.size() == 2;
    }

    private static @Nullable Buffer bytes(@Nullable Response part) {
        return part != null && part.type() == ResponseType.BULK ? part.toBuffer() : null;
    }

    /**
     * The entry id of an entry; parts above 2^63 - 1 are cut to that.
     *
     * @throws LiveLogException if it isn't an entry of a stream at all
     */
    static Position entryId(@Nullable Response entry) {
        Buffer text = isPair(entry) && entry != null ? bytes(entry.get(0)) : null;
        Position position = text == null ? null : position(text);
        if (position == null) {
            throw new LiveLogException(
                    LiveLogException.Kind.REFUSED, "Redis answered with something else than entries");
        }
        return position;
    }

    /** An entry id whose parts may be up to 2^64 - 1: above 2^63 - 1 they are cut to that. Null if it isn't one. */
    static @Nullable Position position(Buffer text) {
        int dash = dash(text);
        if (dash < 1 || !areDigits(text, 0, dash) || !areDigits(text, dash + 1, text.length())) {
            return null;
        }
        long ms = Digits.parse(text, 0, dash);
        long seq = Digits.parse(text, dash + 1, text.length());
        return ms == Digits.NONE ? Position.MAX : new Position(ms, seq == Digits.NONE ? Long.MAX_VALUE : seq);
    }

    private static @Nullable Position exactPosition(Buffer text) {
        int dash = dash(text);
        long ms = dash < 1 ? Digits.NONE : Digits.parse(text, 0, dash);
        long seq = dash < 1 ? Digits.NONE : Digits.parse(text, dash + 1, text.length());
        return ms == Digits.NONE || seq == Digits.NONE ? null : new Position(ms, seq);
    }

    private static int dash(Buffer text) {
        for (int i = 0; i < Math.min(text.length(), 21); i++) {
            if (text.getByte(i) == '-') {
                return i;
            }
        }
        return -1;
    }

    private static boolean areDigits(Buffer text, int from, int to) {
        for (int i = from; i < to; i++) {
            if (text.getByte(i) < '0' || text.getByte(i) > '9') {
                return false;
            }
        }
        return to > from;
    }

    private boolean readFields(@Nullable Response fields) {
        if (fields == null || fields.type() != ResponseType.MULTI || !fields.isArray() || fields.size() % 2 != 0) {
            return false;
        }
        java.util.Arrays.fill(values, null);
        for (int i = 0; i < fields.size(); i += 2) {
            Buffer name = bytes(fields.get(i));
            Buffer value = bytes(fields.get(i + 1));
            if (name == null || value == null) {
                return false;
            }
            int field = field(name);
            if (field >= 0) {
                if (values[field] != null) {
                    return false;
                }
                values[field] = value;
            }
        }
        return values[EntryCodec.DATA] != null && values[EntryCodec.ORDINAL] != null;
    }

    private static int field(Buffer name) {
        for (int field = 0; field < EntryCodec.fields(); field++) {
            if (equal(name, EntryCodec.name(field))) {
                return field;
            }
        }
        return -1;
    }

    private static boolean equal(Buffer text, byte[] expected) {
        if (text.length() != expected.length) {
            return false;
        }
        for (int i = 0; i < expected.length; i++) {
            if (text.getByte(i) != expected[i]) {
                return false;
            }
        }
        return true;
    }

    private @Nullable Event event(Position entry) {
        Buffer data = values[EntryCodec.DATA];
        Position id = id(entry);
        String type = type();
        garbled = false;
        EventExtras extras = id == null ? null : extras(id);
        long ordinal = number(EntryCodec.ORDINAL, Digits.NONE);
        long time = number(EntryCodec.TIME, Event.NO_TIME);
        boolean late = values[EntryCodec.LATE] != null;
        if (data == null
                || id == null
                || type == null
                || garbled
                || ordinal < 1
                || (values[EntryCodec.TIME] != null && time == Digits.NONE)
                || (late && number(EntryCodec.LATE, 0) != 1)) {
            return null;
        }
        return new Event(id, entry, ordinal, time, late, type, extras, data.getBytes());
    }

    private long number(int field, long absent) {
        Buffer text = values[field];
        return text == null ? absent : Digits.parse(text);
    }

    private @Nullable Position id(Position entry) {
        Buffer text = values[EntryCodec.ID];
        if (text == null) {
            return entry;
        }
        EventId branded = text.length() == EventId.LENGTH ? EventId.parseOrNull(latin(text)) : null;
        Position id = branded != null ? branded.position() : exactPosition(text);
        return id == null || id.isAfter(entry) ? null : id;
    }

    private static String latin(Buffer text) {
        return new String(text.getBytes(), StandardCharsets.ISO_8859_1);
    }

    private @Nullable String type() {
        Buffer text = values[EntryCodec.TYPE];
        if (text == null) {
            return ContentType.JSON;
        }
        if (!text.equals(lastType)) {
            String type = latin(text);
            if (!isNormalized(type)) {
                return null;
            }
            lastType = text;
            lastTypeText = type;
        }
        return lastTypeText;
    }

    private static boolean isNormalized(String type) {
        try {
            return ContentType.normalize(type).equals(type);
        } catch (Problem notAType) {
            return false;
        }
    }

    /** Null if there are none, or if they aren't as they should be: then {@link #garbled} is set. */
    private @Nullable EventExtras extras(Position id) {
        Buffer pid = values[EntryCodec.PRODUCER_ID];
        Buffer epoch = values[EntryCodec.PRODUCER_EPOCH];
        Buffer seq = values[EntryCodec.PRODUCER_SEQ];
        Buffer key = values[EntryCodec.KEY];
        Buffer voided = values[EntryCodec.VOID];
        boolean any = pid != null || epoch != null || seq != null;
        boolean all = pid != null && epoch != null && seq != null;
        boolean marked = values[EntryCodec.BODY] != null || values[EntryCodec.IDS] != null;
        if (!any && key == null && voided == null && !marked) {
            return null;
        }
        Buffer who = pid != null ? pid : key;
        Producer producer = who == null ? null : producer(who, any);
        List<OrdinalRange> ranges = voided == null ? List.of() : ranges(voided);
        RequestMark request = marked ? request(id) : null;
        if (any != all
                || (any && key != null)
                || (who != null && producer == null)
                || (marked && (who == null || request == null))
                || ranges == null) {
            garbled = true;
            return null;
        }
        return new EventExtras(producer, request, ranges);
    }

    private @Nullable Producer producer(Buffer who, boolean numbered) {
        byte[] bytes = who.getBytes();
        if (!Utf8.isValid(bytes, 0, bytes.length)) {
            return null;
        }
        String text = new String(bytes, StandardCharsets.UTF_8);
        if (!numbered) {
            return Producer.idempotencyKey(text);
        }
        long epoch = number(EntryCodec.PRODUCER_EPOCH, Digits.NONE);
        long seq = number(EntryCodec.PRODUCER_SEQ, Digits.NONE);
        return epoch < 0 || seq < 0 ? null : new Producer(text, epoch, seq);
    }

    private @Nullable RequestMark request(Position id) {
        Buffer bodyText = values[EntryCodec.BODY];
        Buffer idsText = values[EntryCodec.IDS];
        BodyHash body = bodyText == null ? null : BodyHash.parseOrNull(latin(bodyText));
        RequestIds ids = idsText == null ? EntryCodec.idsOf(id) : RequestIds.parseOrNull(latin(idsText));
        return body == null || ids == null ? null : new RequestMark(body, ids);
    }

    private static @Nullable List<OrdinalRange> ranges(Buffer text) {
        List<OrdinalRange> ranges = new ArrayList<>();
        int start = 0;
        for (int i = 0; i <= text.length(); i++) {
            if (i == text.length() || text.getByte(i) == ',') {
                Position bounds = exactPosition(text.getBuffer(start, i));
                if (bounds == null || bounds.ms() < 1 || bounds.seq() < bounds.ms()) {
                    return null;
                }
                ranges.add(new OrdinalRange(bounds.ms(), bounds.seq()));
                start = i + 1;
            }
        }
        return ranges;
    }
}
