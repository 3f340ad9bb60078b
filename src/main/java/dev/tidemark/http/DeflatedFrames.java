package dev.tidemark.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.zip.Deflater;

/**
 * Turns WebSocket text frames into messages of permessage-deflate (RFC 7692), each for itself: nothing in one refers to the one before,
 * so that all clients can be sent the same bytes, whatever they were sent until then. One event loop owns it.
 */
final class DeflatedFrames {
    /** Below it a message hardly gets smaller. */
    private static final int PAYLOAD_BYTES_MIN = 64;
    /** What a flush ends with, and a message leaves out: an empty block. */
    private static final int TAIL_BYTES = 4;

    private final Deflater deflater = new Deflater(Deflater.BEST_SPEED, true);
    private byte[] in = new byte[4 << 10];
    private byte[] out = new byte[in.length + TAIL_BYTES];

    /** @param frames final text frames; released */
    ByteBuf of(ByteBuf frames, ByteBufAllocator allocator) {
        ByteBuf deflated = allocator.directBuffer(frames.readableBytes() / 2 + 64);
        while (frames.isReadable()) {
            int start = frames.readerIndex();
            int length = WebSocketFrames.readTextHead(frames);
            int from = frames.readerIndex();
            frames.readerIndex(from + length);
            int compressed = length < PAYLOAD_BYTES_MIN ? length : deflate(frames, from, length);
            if (compressed < length) {
                WebSocketFrames.writeCompressedTextHead(deflated, compressed);
                deflated.writeBytes(out, 0, compressed);
            } else {
                deflated.writeBytes(frames, start, from + length - start);
            }
        }
        frames.release();
        return deflated;
    }

    /** @return bytes in {@link #out}; at least {@code length} if that is no gain */
    private int deflate(ByteBuf frames, int from, int length) {
        if (in.length < length) {
            in = new byte[length];
            out = new byte[length + TAIL_BYTES];
        }
        frames.getBytes(from, in, 0, length);
        deflater.reset();
        deflater.setInput(in, 0, length);
        int compressed = deflater.deflate(out, 0, length + TAIL_BYTES, Deflater.SYNC_FLUSH);
        return compressed == length + TAIL_BYTES ? length : compressed - TAIL_BYTES;
    }

    void close() {
        deflater.end();
    }
}
