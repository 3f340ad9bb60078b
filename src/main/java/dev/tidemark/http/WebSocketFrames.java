package dev.tidemark.http;

import io.netty.buffer.ByteBuf;

/**
 * The head of a frame from server to client (RFC 6455, section 5.2): final, not masked.
 *
 * <pre>
 *  0x81 | length below 126
 *  0x81 | 126 | length, 2 bytes
 *  0x81 | 127 | length, 8 bytes
 * </pre>
 */
final class WebSocketFrames {
    static final int HEAD_MAX = 10;

    private static final int FINAL_TEXT = 0x81;
    private static final int COMPRESSED = 0x40;
    private static final int SHORT_MAX = 125;
    private static final int TWO_BYTES = 126;
    private static final int EIGHT_BYTES = 127;
    private static final int TWO_BYTES_MAX = 0xffff;

    private WebSocketFrames() {}

    /** Bytes of a frame with that many bytes of payload. */
    static long bytes(int payloadLength) {
        return (payloadLength <= SHORT_MAX ? 2L : payloadLength <= TWO_BYTES_MAX ? 4L : HEAD_MAX) + payloadLength;
    }

    /** Writes the head of a text frame. */
    static void writeTextHead(ByteBuf out, int payloadLength) {
        writeHead(out, FINAL_TEXT, payloadLength);
    }

    /** Writes the head of a text frame whose payload is compressed (RFC 7692). */
    static void writeCompressedTextHead(ByteBuf out, int payloadLength) {
        writeHead(out, FINAL_TEXT | COMPRESSED, payloadLength);
    }

    /** Reads over a head that {@link #writeTextHead} wrote; gives the length of the payload behind it. */
    static int readTextHead(ByteBuf in) {
        in.skipBytes(1);
        int length = in.readUnsignedByte();
        return length <= SHORT_MAX
                ? length
                : length == TWO_BYTES ? in.readUnsignedShort() : Math.toIntExact(in.readLong());
    }

    private static void writeHead(ByteBuf out, int first, int payloadLength) {
        out.writeByte(first);
        if (payloadLength <= SHORT_MAX) {
            out.writeByte(payloadLength);
        } else if (payloadLength <= TWO_BYTES_MAX) {
            out.writeByte(TWO_BYTES);
            out.writeShort(payloadLength);
        } else {
            out.writeByte(EIGHT_BYTES);
            out.writeLong(payloadLength);
        }
    }
}
