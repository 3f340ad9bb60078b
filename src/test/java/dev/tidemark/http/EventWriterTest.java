package dev.tidemark.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.Slice;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Events in the forms of the answers. */
class EventWriterTest {
    private final FakeStream stream = new FakeStream("s", 7)
            .with("{\"a\":\r\n[1,\n2]}", "\"x\"")
            .add("text/plain", "two\nlines".getBytes(StandardCharsets.UTF_8))
            .add("image/png", new byte[] {0, 1, (byte) 0xff})
            .withNumbers(5, 2);

    @Test
    @Tag("T1")
    void arraysHaveExactlyTheSizeThatWasSaidAndKeepBytes() {
        JsonOut json = new JsonOut((int) EventWriter.arrayBytes(stream.last(9)) - 1);
        byte[] before = json.array();
        EventWriter.array(stream.last(9), json);
        assertEquals(before, json.array(), "the array didn't have to grow");
        assertEquals(before.length, json.length());
        assertEquals(9, new JsonArray("[" + json + "]").size());
        assertTrue(json.toString().contains("\"data\":{\"a\":\r\n[1,\n2]}}"));
    }

    @Test
    void linesAreOneEachAndHoldTheSameValues() {
        JsonOut lines = new JsonOut(16);
        for (EventRun run = new EventRun(stream.last(9), false); !run.atEnd(); run.advance()) {
            EventWriter.line(run.chunk(), run.index(), lines);
        }
        List<String> all = lines.toString().lines().toList();
        assertEquals(9, all.size());
        assertTrue(all.get(0).endsWith("\"data\":{\"a\":  [1, 2]}}"), all.get(0));
        assertEquals("two\nlines", new JsonObject(all.get(2)).getString("text"));
        assertEquals("AAH/", new JsonObject(all.get(3)).getString("base64"));
    }

    @Test
    void runsWalkBothWaysAndOverEmptySlices() {
        List<Slice> slices = new ArrayList<>();
        Chunk chunk = stream.chunks.get(stream.chunks.size() - 2);
        slices.add(new Slice(chunk, 0, 0));
        slices.addAll(stream.last(9));
        slices.add(new Slice(chunk, 1, 1));
        List<Long> up = new ArrayList<>();
        for (EventRun run = new EventRun(slices, false); !run.atEnd(); run.advance()) {
            up.add(run.position().ms());
        }
        List<Long> down = new ArrayList<>();
        for (EventRun run = new EventRun(slices, true); !run.atEnd(); run.advance()) {
            down.add(0, run.position().ms());
        }
        assertEquals(9, up.size());
        assertEquals(up, down);
        assertTrue(new EventRun(List.of(), true).atEnd());
        assertTrue(new EventRun(List.of(new Slice(chunk, 0, 0)), false).atEnd());
    }

    @Test
    @Tag("R18")
    void framesOfEveryLengthHaveTheirHead() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        FakeStream sizes = new FakeStream("sizes", 9);
        for (int size : new int[] {1, 124, 125, 126, 127, 65_400, 65_535, 65_536, 70_000, random.nextInt(200_000)}) {
            sizes.with("\"" + "y".repeat(size) + "\"");
        }
        ByteBuf frames = EventWriter.frames(sizes.last(10), UnpooledByteBufAllocator.DEFAULT);
        try {
            for (int i = 0; i < 10; i++) {
                byte[] payload = frame(frames);
                JsonObject event = new JsonObject(new String(payload, StandardCharsets.UTF_8));
                assertEquals("event", event.getString("type"), "seed " + seed);
                assertEquals(FakeStream.eventId(i), event.getString("id"));
            }
            assertEquals(0, frames.readableBytes());
            assertEquals(frames.capacity(), frames.writerIndex(), "the buffer had the right size at once");
        } finally {
            frames.release();
        }
    }

    private static byte[] frame(ByteBuf in) {
        assertEquals(0x81, in.readUnsignedByte());
        long length = in.readUnsignedByte();
        if (length == 126) {
            length = in.readUnsignedShort();
            assertTrue(length > 125);
        } else if (length == 127) {
            length = in.readLong();
            assertTrue(length > 65_535);
        }
        byte[] payload = new byte[(int) length];
        in.readBytes(payload);
        return payload;
    }

    @Test
    void batchesAreClosedWhenLargeEnough() {
        FakeStream many = new FakeStream("many", 9).withNumbers(2_000, 100).with("\"" + "z".repeat(90_000) + "\"", "1");
        ByteBuf frames = EventWriter.batchFrames(many.last(2_002), UnpooledByteBufAllocator.DEFAULT);
        int events = 0;
        while (frames.isReadable()) {
            byte[] payload = frame(frames);
            JsonObject batch = new JsonObject(new String(payload, StandardCharsets.UTF_8));
            int size = batch.getJsonArray("events").size();
            assertTrue(payload.length < EventWriter.BATCH_BYTES * 2 || size == 1);
            events += size;
        }
        assertEquals(2_002, events);
        frames.release();
    }

    @Test
    void sharedBytesAreEncodedOnceAndFreedWhenTheLastOneIsDone() {
        SharedEncoding shared = new SharedEncoding(new FollowFigures());
        List<Slice> list = stream.last(3);
        ByteBuf one = shared.frames(list, false, false, UnpooledByteBufAllocator.DEFAULT);
        ByteBuf two = shared.frames(list, false, false, UnpooledByteBufAllocator.DEFAULT);
        assertEquals(one.memoryAddress(), two.memoryAddress());
        ByteBuf batch = shared.frames(list, true, false, UnpooledByteBufAllocator.DEFAULT);
        ByteBuf other = shared.frames(stream.last(3), false, false, UnpooledByteBufAllocator.DEFAULT);
        assertTrue(other.memoryAddress() != one.memoryAddress(), "an equal list is not the same list");
        shared.clear();
        assertEquals(2, one.refCnt());
        assertEquals(1, batch.refCnt());
        assertEquals(1, other.refCnt());
        one.release();
        two.release();
        batch.release();
        other.release();
        for (ByteBuf held : List.of(one, two, batch, other)) {
            assertEquals(0, held.refCnt());
        }
    }

    @Test
    void serverSentEventsCarryTheCursorAsTheirId() {
        String text = EventWriter.serverSentEvents(stream.last(9)).toString();
        String[] blocks = text.split("\n\n", -1);
        assertEquals(10, blocks.length);
        for (int i = 0; i < 9; i++) {
            String[] lines = blocks[i].split("\n", -1);
            assertEquals("id: " + stream.cursor(i), lines[0]);
            assertEquals(stream.cursor(i).toString(), new JsonObject(lines[1].substring(6)).getString("cursor"));
            assertEquals(2, lines.length);
        }
    }
}
