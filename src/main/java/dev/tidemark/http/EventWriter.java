package dev.tidemark.http;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.Cursor;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Slice;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Events in the forms of the answers, each copied once from its chunk's slab. JSON arrays and WebSocket frames keep an event's bytes;
 * line formats turn line breaks between JSON tokens into spaces.
 */
final class EventWriter {
    private static final byte[] EVENT_HEAD = ascii("{\"type\":\"event\",");
    private static final byte[] BATCH_HEAD = ascii("{\"type\":\"events\",\"events\":[");
    private static final byte[] BATCH_END = ascii("]}");
    private static final byte[] SSE_ID = ascii("id: ");
    private static final byte[] SSE_DATA = ascii("\ndata: ");
    private static final byte[] SSE_END = ascii("\n\n");
    /** Where the cursor stands in an event's JSON object: behind <code>{"id":"EVT…","cursor":"</code>. */
    private static final int CURSOR_AT = "{\"id\":\"\",\"cursor\":\"".length() + EventId.LENGTH;

    /** A batch frame is closed when it has so many bytes: clients with small limits can take it, unless one event is larger. */
    static final int BATCH_BYTES = 32 << 10;

    private EventWriter() {}

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Number of events. */
    static long count(List<Slice> events) {
        long count = 0;
        for (int s = 0; s < events.size(); s++) {
            count += events.get(s).count();
        }
        return count;
    }

    /** Bytes of the events as JSON with one byte between two, the size of {@link #array} and of the lines of {@link #line}, less one. */
    static long arrayBytes(List<Slice> events) {
        long bytes = 0;
        for (int s = 0; s < events.size(); s++) {
            bytes += events.get(s).jsonBytes() + events.get(s).count();
        }
        return bytes;
    }

    /** The events with commas between them, in rising order. */
    static void array(List<Slice> events, JsonOut json) {
        boolean first = true;
        for (int s = 0; s < events.size(); s++) {
            Slice slice = events.get(s);
            Chunk chunk = slice.chunk();
            byte[] slab = chunk.slab();
            for (int i = slice.from(); i < slice.to(); i++) {
                if (!first) {
                    json.ascii(",");
                }
                first = false;
                json.raw(slab, chunk.jsonStart(i), chunk.jsonLength(i));
            }
        }
    }

    /** One event as it is. */
    static void object(Chunk chunk, int i, JsonOut json) {
        json.raw(chunk.slab(), chunk.jsonStart(i), chunk.jsonLength(i));
    }

    /** One event on a line of its own. */
    static void line(Chunk chunk, int i, JsonOut json) {
        onOneLine(chunk, i, json);
        json.ascii("\n");
    }

    private static void onOneLine(Chunk chunk, int i, JsonOut json) {
        if (chunk.hasLineBreaks(i)) {
            json.rawOnOneLine(chunk.slab(), chunk.jsonStart(i), chunk.jsonLength(i));
        } else {
            object(chunk, i, json);
        }
    }

    /** The events as Server-Sent Events without a type, so that {@code onmessage} gets them; {@code id} is the cursor. */
    static JsonOut serverSentEvents(List<Slice> events) {
        long bytes = arrayBytes(events) + count(events) * (SSE_ID.length + Cursor.LENGTH + SSE_DATA.length + 1);
        JsonOut out = new JsonOut(Math.toIntExact(bytes));
        for (Slice slice : events) {
            Chunk chunk = slice.chunk();
            for (int i = slice.from(); i < slice.to(); i++) {
                out.raw(SSE_ID, 0, SSE_ID.length);
                out.raw(chunk.slab(), chunk.jsonStart(i) + CURSOR_AT, chunk.cursorLength(i));
                out.raw(SSE_DATA, 0, SSE_DATA.length);
                onOneLine(chunk, i, out);
                out.raw(SSE_END, 0, SSE_END.length);
            }
        }
        return out;
    }

    /**
     * The events as whole WebSocket text frames, one an event, one behind the other: ready for the socket, so that any number of
     * followers share them and one write carries them all.
     */
    static ByteBuf frames(List<Slice> events, ByteBufAllocator allocator) {
        long bytes = 0;
        for (Slice slice : events) {
            for (int i = slice.from(); i < slice.to(); i++) {
                bytes += WebSocketFrames.bytes(eventFrameLength(slice.chunk(), i));
            }
        }
        ByteBuf out = allocator.directBuffer(Math.toIntExact(bytes));
        for (Slice slice : events) {
            Chunk chunk = slice.chunk();
            for (int i = slice.from(); i < slice.to(); i++) {
                WebSocketFrames.writeTextHead(out, eventFrameLength(chunk, i));
                out.writeBytes(EVENT_HEAD);
                out.writeBytes(chunk.slab(), chunk.jsonStart(i) + 1, chunk.jsonLength(i) - 1);
            }
        }
        return out;
    }

    private static int eventFrameLength(Chunk chunk, int i) {
        return EVENT_HEAD.length + chunk.jsonLength(i) - 1;
    }

    /** As {@link #frames} with several events a frame. */
    static ByteBuf batchFrames(List<Slice> events, ByteBufAllocator allocator) {
        BatchFrames batches = new BatchFrames(allocator.directBuffer(
                Math.toIntExact(arrayBytes(events)) + BATCH_HEAD.length + BATCH_END.length + WebSocketFrames.HEAD_MAX));
        for (Slice slice : events) {
            for (int i = slice.from(); i < slice.to(); i++) {
                batches.add(slice.chunk(), i);
            }
        }
        batches.flush();
        return batches.out;
    }

    /** Collects a run of events until the frame is large enough, then writes the frame. */
    private static final class BatchFrames {
        private final ByteBuf out;
        private final List<Chunk> chunks = new java.util.ArrayList<>();
        private final List<Integer> indexes = new java.util.ArrayList<>();
        private int bytes;

        BatchFrames(ByteBuf out) {
            this.out = out;
        }

        void add(Chunk chunk, int i) {
            if (!chunks.isEmpty() && bytes + chunk.jsonLength(i) > BATCH_BYTES) {
                flush();
            }
            chunks.add(chunk);
            indexes.add(i);
            bytes += chunk.jsonLength(i);
        }

        void flush() {
            if (chunks.isEmpty()) {
                return;
            }
            WebSocketFrames.writeTextHead(out, BATCH_HEAD.length + bytes + chunks.size() - 1 + BATCH_END.length);
            out.writeBytes(BATCH_HEAD);
            for (int k = 0; k < chunks.size(); k++) {
                if (k > 0) {
                    out.writeByte(',');
                }
                Chunk chunk = chunks.get(k);
                int i = indexes.get(k);
                out.writeBytes(chunk.slab(), chunk.jsonStart(i), chunk.jsonLength(i));
            }
            out.writeBytes(BATCH_END);
            chunks.clear();
            indexes.clear();
            bytes = 0;
        }
    }
}
