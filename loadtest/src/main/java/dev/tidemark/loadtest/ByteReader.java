package dev.tidemark.loadtest;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** Reads lines and counted bytes of a socket through one buffer. One thread. */
final class ByteReader {
    private final InputStream in;
    private final byte[] buffer = new byte[64 << 10];
    private int at;
    private int limit;

    ByteReader(InputStream in) {
        this.in = in;
    }

    private byte next() throws IOException {
        if (at == limit) {
            limit = in.read(buffer);
            at = 0;
            if (limit < 0) {
                limit = 0;
                throw new EOFException("the connection was closed");
            }
        }
        return buffer[at++];
    }

    /** A line without its CRLF. */
    String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (byte b = next(); b != '\n'; b = next()) {
            if (b != '\r') {
                line.append((char) (b & 0xff));
            }
        }
        return line.toString();
    }

    byte[] bytes(int count) throws IOException {
        byte[] bytes = new byte[count];
        int filled = 0;
        while (filled < count) {
            bytes[filled++] = next();
            int more = Math.min(count - filled, limit - at);
            System.arraycopy(buffer, at, bytes, filled, more);
            at += more;
            filled += more;
        }
        return bytes;
    }

    String text(int count) throws IOException {
        return new String(bytes(count), StandardCharsets.UTF_8);
    }
}
