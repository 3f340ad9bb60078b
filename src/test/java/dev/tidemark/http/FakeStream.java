package dev.tidemark.http;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.ContentType;
import dev.tidemark.event.Cursor;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A stream in memory: events in chunks of a few, one millisecond apart. */
final class FakeStream {
    static final long FIRST_MS = EventId.EPOCH_MS + 1_000_000_000L;

    final StreamId id;
    final List<Chunk> chunks = new ArrayList<>();
    private int count;

    FakeStream(String name, long generation) {
        id = new StreamId(new StreamName(name), new Generation(generation));
    }

    FakeStream with(String... payloads) {
        for (String payload : payloads) {
            add(ContentType.JSON, payload.getBytes(StandardCharsets.UTF_8));
        }
        return this;
    }

    /** {@code count} events <code>{"n":1}</code> and so on, {@code a} chunk each. */
    FakeStream withNumbers(int events, int perChunk) {
        for (int i = 0; i < events; i += perChunk) {
            ChunkBuilder chunk = new ChunkBuilder(id.generation(), 0);
            for (int k = i; k < Math.min(events, i + perChunk); k++) {
                addTo(chunk, ContentType.JSON, ("{\"n\":" + (k + 1) + "}").getBytes(StandardCharsets.UTF_8));
            }
            chunks.add(chunk.seal());
        }
        return this;
    }

    FakeStream add(String type, byte[] payload) {
        ChunkBuilder chunk = new ChunkBuilder(id.generation(), 0);
        addTo(chunk, type, payload);
        chunks.add(chunk.seal());
        return this;
    }

    private void addTo(ChunkBuilder chunk, String type, byte[] payload) {
        Position at = position(count);
        count++;
        chunk.add(new Event(at, at, count, Event.NO_TIME, false, type, null, payload));
    }

    int count() {
        return count;
    }

    /** Of the event with that index, from 0. */
    static Position position(int index) {
        return new Position(FIRST_MS + index, 0);
    }

    static String eventId(int index) {
        return EventId.of(position(index)).toString();
    }

    Cursor cursor(int index) {
        return new Cursor(id.generation(), position(index));
    }

    Cursor end() {
        return count == 0 ? new Cursor(id.generation(), Position.ZERO) : cursor(count - 1);
    }

    /** The newest {@code n}. */
    List<Slice> last(int n) {
        int skip = Math.max(0, count - n);
        return range(skip, count);
    }

    /** Events by index, from inclusive, to exclusive. */
    List<Slice> range(int from, int to) {
        List<Slice> slices = new ArrayList<>();
        int at = 0;
        for (Chunk chunk : chunks) {
            int start = Math.max(from - at, 0);
            int end = Math.min(to - at, chunk.count());
            if (start < end) {
                slices.add(new Slice(chunk, start, end));
            }
            at += chunk.count();
        }
        return slices;
    }
}
