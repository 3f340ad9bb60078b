package dev.tidemark.livelog;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.BodyHash;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventExtras;
import dev.tidemark.event.EventId;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Producer;
import dev.tidemark.event.RequestIds;
import dev.tidemark.event.RequestMark;
import io.vertx.core.buffer.Buffer;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.redis.client.impl.RequestImpl;
import io.vertx.redis.client.impl.types.BulkType;
import io.vertx.redis.client.impl.types.ErrorType;
import io.vertx.redis.client.impl.types.MultiType;
import io.vertx.redis.client.impl.types.NumberType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Entries hold events exactly, and nothing that can stand in an entry makes the decoder fail. */
final class EntryCodecTest {
    private static final Position ID = new Position(1_764_440_000_000L, 7);

    private static Event event(
            Position id,
            Position entry,
            long time,
            boolean late,
            String type,
            @Nullable EventExtras extras,
            byte[] data) {
        return new Event(id, entry, 42, time, late, type, extras, data);
    }

    private static Event json(String data) {
        return event(ID, ID, Event.NO_TIME, false, "application/json", null, bytes(data));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Entry id, names and values, as they go to Redis. */
    private static List<byte[]> encoded(Event event) {
        Request request = Request.cmd(Command.XADD);
        EntryCodec.addEntry(event, request);
        return ((RequestImpl) request).getArgs();
    }

    private static Response bulk(byte[] value) {
        return BulkType.create(Buffer.buffer(value), false);
    }

    private static Response multi(List<? extends @Nullable Response> parts) {
        MultiType multi = MultiType.create(parts.size(), false);
        parts.forEach(multi::add);
        return multi;
    }

    /** As Redis gives it back. */
    private static Response entry(List<byte[]> idNamesAndValues) {
        List<Response> fields = new ArrayList<>();
        for (byte[] part : idNamesAndValues.subList(1, idNamesAndValues.size())) {
            fields.add(bulk(part));
        }
        return multi(List.of(bulk(idNamesAndValues.get(0)), multi(fields)));
    }

    private static Response entry(String... idNamesAndValues) {
        List<byte[]> parts = new ArrayList<>();
        for (String part : idNamesAndValues) {
            parts.add(bytes(part));
        }
        return entry(parts);
    }

    private static void assertSame(Event expected, @Nullable Event actual) {
        assertNotNull(actual);
        assertEquals(expected.id(), actual.id());
        assertEquals(expected.entry(), actual.entry());
        assertEquals(expected.ordinal(), actual.ordinal());
        assertEquals(expected.time(), actual.time());
        assertEquals(expected.late(), actual.late());
        assertEquals(expected.type(), actual.type());
        assertEquals(expected.extras(), actual.extras());
        assertArrayEquals(expected.payload(), actual.payload());
    }

    private static void assertRoundTrip(Event event) {
        assertSame(event, new EntryDecoder().decode(entry(encoded(event))));
    }

    @Test
    void aPlainEventTakesTwoFields() {
        List<String> parts = encoded(json("{}")).stream()
                .map(part -> new String(part, StandardCharsets.UTF_8))
                .toList();
        assertEquals(List.of("1764440000000-7", "data", "{}", "n", "42"), parts);
    }

    @Test
    void everyFieldStandsUnderItsDocumentedName() {
        EventExtras extras =
                new EventExtras(new Producer("p", 3, 9), List.of(new OrdinalRange(5, 8), new OrdinalRange(11, 11)));
        Event event = event(ID, new Position(ID.ms() + 1, 0), -5, true, "text/plain", extras, bytes("x"));
        assertEquals(
                List.of(
                        "1764440000001-0",
                        "data",
                        "x",
                        "n",
                        "42",
                        "type",
                        "text/plain",
                        "time",
                        "-5",
                        "late",
                        "1",
                        "id",
                        EventId.of(ID).toString(),
                        "pid",
                        "p",
                        "epoch",
                        "3",
                        "seq",
                        "9",
                        "void",
                        "5-8,11-11"),
                encoded(event).stream()
                        .map(part -> new String(part, StandardCharsets.UTF_8))
                        .toList());
        assertRoundTrip(event);
        Event keyed = event(
                ID,
                ID,
                Event.NO_TIME,
                false,
                "application/json",
                new EventExtras(Producer.idempotencyKey("schlüssel 1"), List.of()),
                bytes("1"));
        assertTrue(encoded(keyed).stream().anyMatch(part -> new String(part, StandardCharsets.UTF_8).equals("key")));
        assertRoundTrip(keyed);
    }

    @Test
    @Tag("R28")
    void theFirstEntryOfARequestTellsOfTheWholeRequest() {
        BodyHash body = new BodyHash(1, 0xabcL);
        RequestIds three = RequestIds.of(List.of(ID, ID.next(), ID.next().next()));
        EventExtras extras = new EventExtras(new Producer("p", 3, 9), new RequestMark(body, three), List.of());
        Event first = event(ID, ID, Event.NO_TIME, false, "application/json", extras, bytes("1"));
        assertEquals(
                List.of("body", "00000000000000010000000000000abc", "ids", EventId.of(ID) + "+2"),
                encoded(first).stream()
                        .map(part -> new String(part, StandardCharsets.UTF_8))
                        .toList()
                        .subList(11, 15));
        assertRoundTrip(first);
        RequestMark alone = new RequestMark(body, RequestIds.of(List.of(ID)));
        EventExtras keyed = new EventExtras(Producer.idempotencyKey("k"), alone, List.of(new OrdinalRange(1, 2)));
        Event single = event(ID, new Position(ID.ms(), 9), Event.NO_TIME, false, "application/json", keyed, bytes("1"));
        assertTrue(encoded(single).stream().noneMatch(part -> new String(part, StandardCharsets.UTF_8).equals("ids")));
        assertRoundTrip(single);
    }

    @ParameterizedTest
    @Tag("R28")
    @CsvSource({
        "body,00000000000000010000000000000abc",
        "body,00000000000000010000000000000ABC,pid,p,epoch,1,seq,1",
        "ids,EVT0KHTOWnGLuC,pid,p,epoch,1,seq,1",
        "ids,EVT0KHTOWnGLuC+0,body,00000000000000010000000000000abc,key,k"
    })
    void aMarkThatIsNotAsItIsWrittenMakesAnEntryForeign(org.junit.jupiter.params.aggregator.ArgumentsAccessor fields) {
        List<String> parts = new ArrayList<>(List.of("1764440000000-7", "data", "{}", "n", "42"));
        for (Object field : fields.toArray()) {
            parts.add(String.valueOf(field));
        }
        assertNull(new EntryDecoder().decode(entry(parts.toArray(new String[0]))));
    }

    @Test
    void runsOfOneShapeShareTheirNames() {
        Event late = event(ID.next(), ID.next(), 5, true, "application/json", null, bytes("2"));
        Request request = Scripts.append(bytes("k"), List.of(json("1"), late, late));
        List<String> parts = ((RequestImpl) request)
                .getArgs().stream()
                        .map(part -> new String(part, StandardCharsets.UTF_8))
                        .toList();
        assertEquals(List.of("1", "k", "1", "2", "data", "n", "1764440000000-7", "1", "42"), parts.subList(1, 10));
        assertEquals(List.of("2", "4", "data", "n", "time", "late"), parts.subList(10, 16));
        assertEquals(parts.size(), Scripts.argumentCount(List.of(json("1"), late, late)));
    }

    @Test
    @Tag("R24")
    @Tag("R25")
    @Tag("R26")
    void randomEventsSurviveByteForByte() {
        long seed = new SplittableRandom().nextLong();
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 2_000; i++) {
            Position id = new Position(EventId.EPOCH_MS + random.nextLong(1L << 41), random.nextLong(1 << 22));
            Position entry = random.nextBoolean() ? id : new Position(id.ms() + random.nextInt(1, 99), 3);
            byte[] data = new byte[random.nextInt(200)];
            random.nextBytes(data);
            long time =
                    random.nextBoolean() ? Event.NO_TIME : random.nextLong(-62_135_596_800_000L, 253_402_300_799_999L);
            Event event = new Event(
                    id,
                    entry,
                    random.nextLong(1, Long.MAX_VALUE),
                    time,
                    random.nextBoolean(),
                    random.nextBoolean() ? "application/json" : "text/plain; charset=utf-8",
                    extras(random),
                    data);
            try {
                assertRoundTrip(event);
            } catch (AssertionError e) {
                throw new AssertionError("seed " + seed + ", event " + i + ": " + event, e);
            }
        }
    }

    private static @Nullable EventExtras extras(SplittableRandom random) {
        Producer producer = switch (random.nextInt(4)) {
            case 0 -> new Producer("id 😀 " + random.nextInt(), random.nextLong(1L << 62), random.nextLong(1L << 62));
            case 1 -> Producer.idempotencyKey("a\"b\\" + random.nextInt());
            default -> null;
        };
        List<OrdinalRange> voided = new ArrayList<>();
        for (int i = random.nextInt(-3, 3); i > 0; i--) {
            long first = random.nextLong(1, 1L << 60);
            voided.add(new OrdinalRange(first, first + random.nextLong(1 << 20)));
        }
        return producer == null && voided.isEmpty() ? null : new EventExtras(producer, voided);
    }

    @Test
    @Tag("R24")
    void numbersNearPowersOfTenAndAtTheEndsAreExact() {
        long power = 1;
        for (int i = 0; i < 18; i++, power *= 10) {
            for (long number : new long[] {power - 1, power, power + 1, 1 - power, -power}) {
                assertArrayEquals(bytes(Long.toString(number)), Digits.of(number));
                assertEquals(number, Digits.parse(Buffer.buffer(Long.toString(number))));
            }
        }
        assertEquals(Long.MAX_VALUE, Digits.parse(Buffer.buffer(Digits.of(Long.MAX_VALUE))));
        assertEquals(-Long.MAX_VALUE, Digits.parse(Buffer.buffer(Digits.of(-Long.MAX_VALUE))));
        for (String wrong : List.of("", "-", "-0", "01", "+1", " 1", "1 ", "1.0", "9223372036854775808", "1e3", "٣")) {
            assertEquals(Digits.NONE, Digits.parse(Buffer.buffer(wrong)), wrong);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1-1",
                "1-1|data|x",
                "1-1|n|1",
                "1-1|data|x|n|0",
                "1-1|data|x|n|-1",
                "1-1|data|x|n|01",
                "1-1|data|x|n|abc",
                "1-1|data|x|n|9223372036854775808",
                "1-1|data|x|n|1|n|2",
                "1-1|data|x|data|y|n|1",
                "1-1|data|x|n|1|time|soon",
                "1-1|data|x|n|1|late|yes",
                "1-1|data|x|n|1|late|",
                "1-1|data|x|n|1|type|not a type",
                "1-1|data|x|n|1|type|Text/Plain",
                "1-1|data|x|n|1|id|2-1",
                "1-1|data|x|n|1|id|EVT!!!!!!!!!!!",
                "1-1|data|x|n|1|pid|p",
                "1-1|data|x|n|1|pid|p|epoch|1",
                "1-1|data|x|n|1|pid|p|epoch|1|seq|-2",
                "1-1|data|x|n|1|pid|p|epoch|1|seq|2|key|k",
                "1-1|data|x|n|1|void|5",
                "1-1|data|x|n|1|void|8-5",
                "1-1|data|x|n|1|void|0-5",
                "1-1|data|x|n|1|void|1-2,",
                "18446744073709551615-1|data|x|n|1",
                "1-18446744073709551615|data|x|n|1",
                "1-1|DATA|x|n|1"
            })
    void whatIsNotOursIsForeign(String line) {
        String[] parts = line.split("\\|", -1);
        assertNull(new EntryDecoder().decode(entry(parts)), line);
    }

    @Test
    void unknownFieldsArePassedOver() {
        Event decoded =
                new EntryDecoder().decode(entry("1-1", "data", "x", "n", "1", "later", "?", "", "", "later", "!"));
        assertNotNull(decoded);
        assertEquals(1, decoded.ordinal());
    }

    @Test
    void answersThatAreNoEntriesAreForeignToo() {
        EntryDecoder decoder = new EntryDecoder();
        assertNull(decoder.decode(bulk(bytes("x"))));
        assertNull(decoder.decode(ErrorType.create("ERR x")));
        assertNull(decoder.decode(multi(List.of())));
        assertNull(decoder.decode(multi(List.of(bulk(bytes("1-1")), NumberType.create(1)))));
        assertNull(decoder.decode(multi(List.of(bulk(bytes("1-1")), multi(List.of(bulk(bytes("odd"))))))));
        assertNull(decoder.decode(multi(List.of(NumberType.create(1), multi(List.of())))));
        List<@Nullable Response> nothing = new ArrayList<>();
        nothing.add(bulk(bytes("1-1")));
        nothing.add(null);
        assertNull(decoder.decode(multi(nothing)));
        assertThrows(LiveLogException.class, () -> EntryDecoder.entryId(bulk(bytes("x"))));
        assertThrows(LiveLogException.class, () -> EntryDecoder.entryId(null));
    }

    @Test
    void hugeEntryIdsAreCut() {
        assertEquals(Position.MAX, EntryDecoder.position(Buffer.buffer("18446744073709551615-3")));
        assertEquals(new Position(5, Long.MAX_VALUE), EntryDecoder.position(Buffer.buffer("5-18446744073709551615")));
        assertEquals(new Position(5, 6), EntryDecoder.position(Buffer.buffer("5-6")));
        assertNull(EntryDecoder.position(Buffer.buffer("5")));
        assertNull(EntryDecoder.position(Buffer.buffer("5-")));
        assertNull(EntryDecoder.position(Buffer.buffer("-5")));
        assertNull(EntryDecoder.position(Buffer.buffer("a-b")));
    }

    @Test
    void randomGarbageNeverFails() {
        long seed = new SplittableRandom().nextLong();
        SplittableRandom random = new SplittableRandom(seed);
        EntryDecoder decoder = new EntryDecoder();
        List<String> names =
                List.of("data", "n", "type", "time", "late", "id", "pid", "epoch", "seq", "key", "void", "x");
        for (int i = 0; i < 20_000; i++) {
            List<byte[]> parts = new ArrayList<>();
            parts.add(bytes("5-" + random.nextInt(9)));
            for (int f = random.nextInt(8); f > 0; f--) {
                parts.add(bytes(names.get(random.nextInt(names.size()))));
                byte[] value = new byte[random.nextInt(6)];
                for (int b = 0; b < value.length; b++) {
                    value[b] = (byte)
                            (random.nextBoolean() ? "0123456789-,EVT".charAt(random.nextInt(15)) : random.nextInt());
                }
                parts.add(value);
            }
            try {
                Event event = decoder.decode(entry(parts));
                assertTrue(event == null || event.ordinal() > 0);
            } catch (RuntimeException e) {
                throw new AssertionError("seed " + seed + ", entry " + i, e);
            }
        }
    }
}
