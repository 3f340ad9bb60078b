package dev.tidemark.http;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/** A WebSocket client that sends exactly the frames it is told and answers nothing by itself. */
public final class RawWebSocket implements AutoCloseable {
    public static final int CONTINUATION = 0;
    public static final int TEXT = 1;
    public static final int BINARY = 2;
    public static final int CLOSE = 8;
    public static final int PING = 9;
    public static final int PONG = 10;
    /** Added to an opcode: the payload is compressed. */
    public static final int COMPRESSED = 0x40;

    public final RawClient raw;
    private final DataInputStream in;
    private @Nullable Inflater inflater;

    public RawWebSocket(int port, String target, String... headers) throws IOException {
        this(new RawClient(port));
        raw.send(handshake(port, target, headers));
    }

    /** On a connection that the handshake was sent on. */
    public RawWebSocket(RawClient raw) {
        this.raw = raw;
        in = new DataInputStream(raw.in);
    }

    public static String handshake(int port, String target, String... headers) {
        StringBuilder request = new StringBuilder("GET " + target + " HTTP/1.1\r\nHost: localhost:" + port + "\r\n");
        request.append("Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n");
        request.append("Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n");
        for (String header : headers) {
            request.append(header).append("\r\n");
        }
        return request.append("\r\n").toString();
    }

    /** Takes compressed messages. */
    public void inflates() {
        inflater = new Inflater(true);
    }

    /** A payload as permessage-deflate has it. */
    public static byte[] deflated(byte[] payload) {
        Deflater deflater = new Deflater(Deflater.DEFAULT_COMPRESSION, true);
        deflater.setInput(payload);
        byte[] out = new byte[payload.length + 64];
        int length = deflater.deflate(out, 0, out.length, Deflater.SYNC_FLUSH);
        deflater.end();
        return Arrays.copyOf(out, length - 4);
    }

    private static byte[] inflated(Inflater inflater, byte[] payload) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] piece = new byte[8 << 10];
        try {
            for (byte[] part : List.of(payload, new byte[] {0, 0, (byte) 0xff, (byte) 0xff})) {
                inflater.setInput(part);
                while (!inflater.needsInput()) {
                    out.write(piece, 0, inflater.inflate(piece));
                }
            }
        } catch (DataFormatException e) {
            throw new IOException(e);
        }
        return out.toByteArray();
    }

    /** The answer to the handshake. */
    public RawWebSocket open() throws IOException {
        RawClient.Answer answer = raw.answer(true);
        if (answer.status() != 101) {
            throw new IOException("no upgrade: " + answer.status() + " " + answer.text());
        }
        return this;
    }

    public RawWebSocket send(String text) throws IOException {
        return frame(true, TEXT, text.getBytes(StandardCharsets.UTF_8));
    }

    public RawWebSocket frame(boolean last, int opcode, byte[] payload) throws IOException {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        frame.write((last ? 0x80 : 0) | opcode);
        if (payload.length < 126) {
            frame.write(0x80 | payload.length);
        } else if (payload.length < 65_536) {
            frame.write(0x80 | 126);
            frame.write(payload.length >> 8);
            frame.write(payload.length);
        } else {
            frame.write(0x80 | 127);
            for (int shift = 56; shift >= 0; shift -= 8) {
                frame.write((int) ((long) payload.length >> shift));
            }
        }
        byte[] mask = {1, 2, 3, 4};
        frame.write(mask);
        for (int i = 0; i < payload.length; i++) {
            frame.write(payload[i] ^ mask[i % 4]);
        }
        raw.send(frame.toByteArray());
        return this;
    }

    /** One frame from the server. */
    public record Frame(int opcode, boolean last, Buffer payload, boolean compressed) {
        public String text() {
            return payload.toString();
        }

        public JsonObject json() {
            return new JsonObject(payload);
        }

        public int closeCode() {
            return payload.getUnsignedShort(0);
        }
    }

    public Frame next() throws IOException {
        int head = in.readUnsignedByte();
        int second = in.readUnsignedByte();
        long length = second & 0x7f;
        Inflater inflates = inflater;
        boolean compressed = (head & COMPRESSED) != 0;
        if ((second & 0x80) != 0 || (head & 0x30) != 0 || (compressed && inflates == null)) {
            throw new IOException("a server's frame is neither masked nor extended");
        }
        if (length == 126) {
            length = in.readUnsignedShort();
        } else if (length == 127) {
            length = in.readLong();
        }
        byte[] payload = in.readNBytes((int) length);
        if (payload.length < length) {
            throw new EOFException("cut inside a frame");
        }
        byte[] plain = compressed && inflates != null ? inflated(inflates, payload) : payload;
        return new Frame(head & 0xf, (head & 0x80) != 0, Buffer.buffer(plain), compressed);
    }

    /** The next text frame, as JSON; pings and pongs are passed over. */
    public JsonObject message() throws IOException {
        while (true) {
            Frame frame = next();
            if (frame.opcode() == TEXT) {
                return frame.json();
            }
            if (frame.opcode() == CLOSE) {
                throw new IOException("closed with " + frame.closeCode());
            }
        }
    }

    /** The code of the close frame, whatever comes before it. */
    public int closeCode() throws IOException {
        while (true) {
            Frame frame = next();
            if (frame.opcode() == CLOSE) {
                return frame.closeCode();
            }
        }
    }

    @Override
    public void close() throws IOException {
        raw.close();
    }
}
