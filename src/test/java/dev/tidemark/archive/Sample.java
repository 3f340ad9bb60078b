package dev.tidemark.archive;

import dev.tidemark.event.BodyHash;
import dev.tidemark.event.Chunk;
import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.ContentType;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventExtras;
import dev.tidemark.event.Generation;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Producer;
import dev.tidemark.event.RequestIds;
import dev.tidemark.event.RequestMark;
import dev.tidemark.event.Slice;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Events to archive. */
final class Sample {
    static final Generation GENERATION = new Generation(4711);
    static final long DAY_MS = 86_400_000;
    /** Start of a day, Unix milliseconds. */
    static final long DAY = 1_764_374_400_000L;

    private Sample() {}

    static Position at(long ms, long seq) {
        return new Position(DAY + ms, seq);
    }

    /** A plain JSON event. */
    static Event event(Position id, long ordinal) {
        byte[] payload = ("{\"n\":" + ordinal + "}").getBytes(StandardCharsets.UTF_8);
        return new Event(id, id, ordinal, Event.NO_TIME, false, ContentType.JSON, null, payload);
    }

    static Event event(Position id, long ordinal, byte[] payload) {
        return new Event(id, id, ordinal, Event.NO_TIME, false, "application/octet-stream", null, payload);
    }

    /** {@code count} plain events, one a millisecond, the first at {@code firstMs} of the day with that ordinal. */
    static List<Event> run(long firstMs, long firstOrdinal, int count) {
        List<Event> events = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            events.add(event(at(firstMs + i, 0), firstOrdinal + i));
        }
        return events;
    }

    static Chunk chunk(List<Event> events) {
        ChunkBuilder builder = new ChunkBuilder(GENERATION, 0);
        events.forEach(builder::add);
        return builder.seal();
    }

    static List<Slice> slices(List<Event> events) {
        return List.of(chunk(events).slice());
    }

    static List<Slice> slices(Event... events) {
        return slices(List.of(events));
    }

    /** An event with random everything. */
    static Event random(Position id, long ordinal, Random random) {
        byte[] payload = new byte[random.nextInt(4) == 0 ? random.nextInt(3_000) : random.nextInt(60)];
        random.nextBytes(payload);
        String type = switch (random.nextInt(4)) {
            case 0 -> ContentType.JSON;
            case 1 -> "text/plain; charset=utf-8";
            case 2 -> "application/octet-stream";
            default -> "application/x-" + random.nextInt(5);
        };
        boolean timed = random.nextInt(3) == 0;
        long time = timed ? random.nextLong(-60_000_000_000_000L, 253_000_000_000_000L) : Event.NO_TIME;
        Position entry = random.nextInt(4) == 0 ? new Position(id.ms() + random.nextInt(1_000), id.seq() + 7) : id;
        return new Event(
                id, entry, ordinal, time, timed && random.nextBoolean(), type, extras(ordinal, random), payload);
    }

    private static @org.jspecify.annotations.Nullable EventExtras extras(long ordinal, Random random) {
        return switch (random.nextInt(5)) {
            case 0 ->
                new EventExtras(
                        new Producer("p\u00e9" + random.nextInt(9), 3, random.nextLong(0, 1L << 50)), List.of());
            case 1 ->
                new EventExtras(
                        Producer.idempotencyKey("key " + random.nextInt()),
                        new RequestMark(
                                new BodyHash(random.nextLong(), random.nextLong()),
                                RequestIds.of(List.of(at(ordinal, 0), at(ordinal, 1), at(random.nextInt(99), 5)))),
                        random.nextBoolean() ? List.of() : List.of(new OrdinalRange(ordinal + 1, ordinal + 1)));
            case 2 ->
                new EventExtras(
                        null, List.of(new OrdinalRange(ordinal + 100, ordinal + 103), new OrdinalRange(9, 1L << 40)));
            default -> null;
        };
    }
}
