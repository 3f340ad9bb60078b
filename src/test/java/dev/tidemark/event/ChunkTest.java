package dev.tidemark.event;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ChunkTest {
    private static final Generation GENERATION = new Generation(7);

    private static Position at(long ms, long seq) {
        return new Position(EventId.EPOCH_MS + ms, seq);
    }

    private static String json(Chunk chunk, int i) {
        return new String(chunk.slab(), chunk.jsonStart(i), chunk.jsonLength(i), StandardCharsets.UTF_8);
    }

    private static Event event(Position id, String type, byte[] payload) {
        return new Event(id, id, 1, Event.NO_TIME, false, type, null, payload);
    }

    @Test
    @Tag("R24")
    void theJsonOfAnEventHoldsItsPayloadAsItCame() {
        ChunkBuilder builder = new ChunkBuilder(GENERATION, 0);
        byte[] payload = "{ \"n\": 9007199254740993,\"x\":1e400 }".getBytes(StandardCharsets.UTF_8);
        Position id = at(5, 3);
        builder.add(new Event(id, id, 1, 1234, true, ContentType.JSON, null, payload));
        assertEquals(
                "{\"id\":\"" + EventId.of(id) + "\",\"cursor\":\"" + new Cursor(GENERATION, id) + "\",\"at\":" + id.ms()
                        + ",\"time\":1234,\"late\":true,\"data\":{ \"n\": 9007199254740993,\"x\":1e400 }}",
                json(builder.view(), 0));
        assertEquals(
                "\"at\":" + id.ms(),
                json(builder.view(), 0).substring(Chunk.JSON_HEAD_BYTES - 18, Chunk.JSON_HEAD_BYTES));
    }

    @Test
    @Tag("R26")
    void textIsEscapedAndOtherBytesAreBase64() {
        ChunkBuilder builder = new ChunkBuilder(GENERATION, 0);
        builder.add(event(at(1, 0), "text/plain", "a\"\\\n\u0001é".getBytes(StandardCharsets.UTF_8)));
        builder.add(event(at(2, 0), "text/plain", new byte[] {(byte) 0xc3, 0x28}));
        builder.add(event(at(3, 0), "application/octet-stream", new byte[] {0, (byte) 0xff}));
        Chunk chunk = builder.seal();
        assertEquals(
                true,
                json(chunk, 0).endsWith(",\"content_type\":\"text/plain\",\"text\":\"a\\\"\\\\\\u000a\\u0001é\"}"));
        assertEquals(true, json(chunk, 1).endsWith("\"base64\":\"wyg=\"}"));
        assertEquals(true, json(chunk, 2).endsWith("\"base64\":\"AP8=\"}"));
        assertArrayEquals(new byte[] {(byte) 0xc3, 0x28}, chunk.payload(1));
    }

    @Test
    void viewsStayAsTheyWereWhileTheBuilderGrows() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        ChunkBuilder builder = new ChunkBuilder(GENERATION, 0, 1, 1);
        List<Event> model = new ArrayList<>();
        List<Chunk> views = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            byte[] payload = new byte[random.nextInt(50)];
            java.util.Arrays.fill(payload, (byte) ('0' + i % 10));
            Position id = at(i, 0);
            Position entry = random.nextInt(10) == 0 ? at(i, 5) : id;
            @Nullable
            EventExtras extras = random.nextInt(10) == 0 ? new EventExtras(new Producer("p", 1, i), List.of()) : null;
            long time = random.nextInt(5) == 0 ? i : Event.NO_TIME;
            String type = random.nextInt(8) == 0 ? "text/plain" : ContentType.JSON;
            Event event = new Event(id, entry, i + 1, time, random.nextInt(9) == 0, type, extras, payload);
            builder.add(event);
            model.add(event);
            views.add(builder.view());
        }
        views.add(builder.seal());
        for (Chunk view : views) {
            for (int i = 0; i < view.count(); i += 1 + random.nextInt(40)) {
                Event expected = model.get(i);
                Event actual = view.event(i);
                assertEquals(expected.id(), actual.id(), "seed " + seed);
                assertEquals(expected.entry(), actual.entry(), "seed " + seed);
                assertEquals(expected.ordinal(), actual.ordinal(), "seed " + seed);
                assertEquals(expected.time(), actual.time(), "seed " + seed);
                assertEquals(expected.late(), actual.late(), "seed " + seed);
                assertEquals(expected.type(), actual.type(), "seed " + seed);
                assertEquals(expected.extras(), actual.extras(), "seed " + seed);
                assertArrayEquals(expected.payload(), actual.payload(), "seed " + seed);
            }
        }
    }

    @Test
    void idsMustRise() {
        ChunkBuilder builder = new ChunkBuilder(GENERATION, 0);
        builder.add(event(at(1, 1), ContentType.JSON, new byte[] {'1'}));
        assertThrows(
                IllegalArgumentException.class, () -> builder.add(event(at(1, 1), ContentType.JSON, new byte[] {'1'})));
    }

    @Test
    void slicesAreCutByPosition() {
        ChunkBuilder builder = new ChunkBuilder(GENERATION, 0);
        for (int i = 0; i < 10; i++) {
            builder.add(event(at(i, 0), ContentType.JSON, new byte[] {'1'}));
        }
        Slice all = builder.seal().slice();
        assertEquals(at(4, 0), all.after(at(3, 0)).first());
        assertEquals(at(3, 0), all.through(at(3, 5)).last());
        assertEquals(0, all.after(at(9, 0)).count());
        assertEquals(10, all.after(Position.ZERO).count());
        assertEquals(0, all.through(Position.ZERO).count());
    }
}
