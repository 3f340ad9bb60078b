package dev.tidemark.livelog;

import dev.tidemark.event.BodyHash;
import dev.tidemark.event.ContentType;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventExtras;
import dev.tidemark.event.EventId;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Producer;
import dev.tidemark.event.RequestIds;
import dev.tidemark.event.RequestMark;
import io.vertx.redis.client.Request;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How an event is written as an entry of a Redis stream.
 *
 * <pre>
 *   entry id   ms-seq of the event's entry position
 *   data       payload, the bytes as they came                                      always
 *   n          ordinal, decimal, from 1                                             always
 *   type       content type                                                         unless application/json
 *   time       claimed time, Unix ms, decimal                                       if claimed
 *   late       1                                                                    if late
 *   id         event id (EVT…; ms-seq where no event id fits)                       if it isn't the entry id
 *   pid        producer id, UTF-8  \
 *   epoch      its epoch, decimal   > all three or none                             if the writer gave them
 *   seq        request's number    /
 *   key        idempotency key, UTF-8; never together with pid                      if the writer gave it
 *   body       hash of the request's body, 32 hex digits                            first event of a request with pid or key
 *   ids        ids of the request's events ({@link RequestIds})                     with body, unless it is just this event's id
 *   void       ordinals that refused appends used up before it: 5-8,11-11           if there are any
 * </pre>
 *
 * Fields stand in this order. Numbers have no sign but minus, and no leading zeros. A reader passes over fields that it doesn't know;
 * one that stands twice, or isn't as above, makes the entry foreign ({@link EntryDecoder}).
 */
final class EntryCodec {
    static final int DATA = 0;
    static final int ORDINAL = 1;
    static final int TYPE = 2;
    static final int TIME = 3;
    static final int LATE = 4;
    static final int ID = 5;
    static final int PRODUCER_ID = 6;
    static final int PRODUCER_EPOCH = 7;
    static final int PRODUCER_SEQ = 8;
    static final int KEY = 9;
    static final int BODY = 10;
    static final int IDS = 11;
    static final int VOID = 12;

    private static final List<byte[]> NAMES = List.of(
            ascii("data"),
            ascii("n"),
            ascii("type"),
            ascii("time"),
            ascii("late"),
            ascii("id"),
            ascii("pid"),
            ascii("epoch"),
            ascii("seq"),
            ascii("key"),
            ascii("body"),
            ascii("ids"),
            ascii("void"));
    private static final int FIELDS = NAMES.size();
    private static final int ALWAYS = bit(DATA) | bit(ORDINAL);
    private static final int PRODUCER = bit(PRODUCER_ID) | bit(PRODUCER_EPOCH) | bit(PRODUCER_SEQ);
    private static final byte[] YES = ascii("1");
    /** What an entry takes on the wire besides payload, type and producer, at most, roughly. */
    private static final int OVERHEAD = 160;

    private EntryCodec() {}

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static int bit(int field) {
        return 1 << field;
    }

    static byte[] name(int field) {
        return NAMES.get(field);
    }

    static int fields() {
        return FIELDS;
    }

    /** Which fields the event's entry has, as a bit set. Entries of one shape have the same names in the same order. */
    static int shape(Event event) {
        int shape = ALWAYS;
        if (!event.type().equals(ContentType.JSON)) {
            shape |= bit(TYPE);
        }
        if (event.hasTime()) {
            shape |= bit(TIME);
        }
        if (event.late()) {
            shape |= bit(LATE);
        }
        if (!event.id().equals(event.entry())) {
            shape |= bit(ID);
        }
        EventExtras extras = event.extras();
        if (extras != null) {
            Producer producer = extras.producer();
            if (producer != null) {
                shape |= producer.isIdempotencyKey() ? bit(KEY) : PRODUCER;
                shape |= shape(event, extras.request());
            }
            if (!extras.voided().isEmpty()) {
                shape |= bit(VOID);
            }
        }
        return shape;
    }

    private static int shape(Event event, @Nullable RequestMark request) {
        if (request == null) {
            return 0;
        }
        return request.ids().equals(idsOf(event.id())) ? bit(BODY) : bit(BODY) | bit(IDS);
    }

    /** The ids of a request of one event; null where no event id fits. */
    static @Nullable RequestIds idsOf(Position id) {
        return EventId.fits(id) ? RequestIds.of(List.of(id)) : null;
    }

    static int width(int shape) {
        return Integer.bitCount(shape);
    }

    /** Adds the names of a shape's fields. */
    static void addNames(int shape, Request request) {
        for (int field = 0; field < FIELDS; field++) {
            if ((shape & bit(field)) != 0) {
                request.arg(NAMES.get(field));
            }
        }
    }

    /** Adds entry id and values of an event, in the order of {@link #addNames}. */
    static void addValues(Event event, int shape, Request request) {
        request.arg(Digits.ofEntryId(event.entry()));
        for (int field = 0; field < FIELDS; field++) {
            if ((shape & bit(field)) != 0) {
                request.arg(value(event, field));
            }
        }
    }

    /** Adds entry id, names and values of an event, as {@code XADD} takes them. */
    static void addEntry(Event event, Request request) {
        request.arg(Digits.ofEntryId(event.entry()));
        int shape = shape(event);
        for (int field = 0; field < FIELDS; field++) {
            if ((shape & bit(field)) != 0) {
                request.arg(NAMES.get(field)).arg(value(event, field));
            }
        }
    }

    private static byte[] value(Event event, int field) {
        return switch (field) {
            case DATA -> event.payload();
            case ORDINAL -> Digits.of(event.ordinal());
            case TYPE -> event.type().getBytes(StandardCharsets.UTF_8);
            case TIME -> Digits.of(event.time());
            case LATE -> YES;
            case ID -> idText(event.id());
            case PRODUCER_ID, KEY -> producer(event).id().getBytes(StandardCharsets.UTF_8);
            case PRODUCER_EPOCH -> Digits.of(producer(event).epoch());
            case PRODUCER_SEQ -> Digits.of(producer(event).seq());
            case BODY -> ascii(request(event).body().toString());
            case IDS -> ascii(request(event).ids().toString());
            case VOID -> voidText(event);
            default -> throw new IllegalArgumentException("no field " + field);
        };
    }

    private static Producer producer(Event event) {
        EventExtras extras = event.extras();
        Producer producer = extras == null ? null : extras.producer();
        if (producer == null) {
            throw new IllegalArgumentException(event + " has no producer");
        }
        return producer;
    }

    private static RequestMark request(Event event) {
        EventExtras extras = event.extras();
        RequestMark request = extras == null ? null : extras.request();
        if (request == null) {
            throw new IllegalArgumentException(event + " isn't the first of a marked request");
        }
        return request;
    }

    private static byte[] idText(Position id) {
        return EventId.fits(id) ? ascii(EventId.of(id).toString()) : Digits.ofEntryId(id);
    }

    private static byte[] voidText(Event event) {
        EventExtras extras = event.extras();
        StringBuilder text = new StringBuilder();
        for (OrdinalRange range : extras == null ? List.<OrdinalRange>of() : extras.voided()) {
            text.append(text.length() == 0 ? "" : ",")
                    .append(range.first())
                    .append('-')
                    .append(range.last());
        }
        return ascii(text.toString());
    }

    /** Roughly how many bytes the event takes on the wire. */
    static long wireBytes(Event event) {
        EventExtras extras = event.extras();
        Producer producer = extras == null ? null : extras.producer();
        int ranges = extras == null ? 0 : extras.voided().size();
        return (long) event.payload().length
                + OVERHEAD
                + event.type().length()
                + 40L * ranges
                + (producer == null ? 0 : 3L * producer.id().length() + BodyHash.TEXT_LENGTH)
                + (extras == null || extras.request() == null
                        ? 0
                        : extras.request().ids().textLengthMax());
    }
}
