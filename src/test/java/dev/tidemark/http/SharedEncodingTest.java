package dev.tidemark.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Slice;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class SharedEncodingTest {
    private static final ByteBufAllocator ALLOCATOR = UnpooledByteBufAllocator.DEFAULT;

    private final FollowFigures figures = new FollowFigures();
    private final SharedEncoding shared = new SharedEncoding(figures);
    private final FakeStream stream = new FakeStream("s", 1).withNumbers(100, 200);

    @AfterEach
    void close() {
        shared.close();
    }

    @Test
    void listsThatTakeTurnsAreEncodedOnceEach() {
        List<List<Slice>> lists = List.of(stream.last(3), stream.last(5), stream.last(7));
        for (int follower = 0; follower < 100; follower++) {
            for (List<Slice> list : lists) {
                shared.frames(list, false, false, ALLOCATOR).release();
                assertTrue(shared.serverSentEvents(list).length() > 0);
            }
        }
        assertEquals(2 * (3 + 5 + 7), figures.encodedEvents());
    }

    @Test
    void whatIsKeptIsBounded() {
        List<ByteBuf> given = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            given.add(shared.frames(stream.last(2), false, false, ALLOCATOR));
        }
        long kept = given.stream().filter(frames -> frames.refCnt() == 2).count();
        assertEquals(8, kept);
        FakeStream large = new FakeStream("large", 1).with("\"" + "x".repeat(3 << 20) + "\"");
        for (int i = 0; i < 5; i++) {
            given.add(shared.frames(large.last(1), false, false, ALLOCATOR));
        }
        assertEquals(1, given.stream().filter(frames -> frames.refCnt() == 2).count());
        // An old one that is asked for in another form isn't let go of while that is made.
        List<Slice> first = large.last(1);
        given.add(shared.frames(first, false, false, ALLOCATOR));
        given.add(shared.frames(stream.last(1), false, false, ALLOCATOR));
        given.add(shared.frames(first, false, true, ALLOCATOR));
        given.forEach(ByteBuf::release);
    }

    @Test
    @Tag("R18")
    void compressedMessagesInflateToThePlainOnesWhateverCameBefore() throws DataFormatException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        FakeStream all = new FakeStream("all", 1).withNumbers(50, 300);
        for (int size : List.of(1, 40, 4_000, 4_096, 5_000, 70_000, 1 << 20)) {
            byte[] noise = new byte[size];
            random.nextBytes(noise);
            all.with("\"" + Base64.getEncoder().encodeToString(noise) + "\"", "\"" + "é".repeat(size / 2) + "\"");
        }
        for (boolean batch : List.of(false, true)) {
            List<Slice> list = all.last(64);
            ByteBuf plain = shared.frames(list, batch, false, ALLOCATOR);
            ByteBuf compressed = shared.frames(list, batch, true, ALLOCATOR);
            assertTrue(compressed.readableBytes() < plain.readableBytes() * 0.7, "seed " + seed);
            List<String> expected = messages(plain, new Inflater(true));
            assertEquals(expected, messages(compressed, new Inflater(true)), "seed " + seed);
            plain.release();
            compressed.release();
        }
    }

    /** As a client reads them, with one inflater for all messages. */
    private static List<String> messages(ByteBuf frames, Inflater inflater) throws DataFormatException {
        List<String> messages = new ArrayList<>();
        while (frames.isReadable()) {
            boolean compressed = (frames.getByte(frames.readerIndex()) & 0x40) != 0;
            byte[] payload = new byte[WebSocketFrames.readTextHead(frames)];
            frames.readBytes(payload);
            messages.add(new String(compressed ? inflate(payload, inflater) : payload, StandardCharsets.UTF_8));
        }
        inflater.end();
        return messages;
    }

    private static byte[] inflate(byte[] payload, Inflater inflater) throws DataFormatException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] piece = new byte[64 << 10];
        for (byte[] part : List.of(payload, new byte[] {0, 0, (byte) 0xff, (byte) 0xff})) {
            inflater.setInput(part);
            while (!inflater.needsInput()) {
                out.write(piece, 0, inflater.inflate(piece));
            }
        }
        return out.toByteArray();
    }
}
