package dev.tidemark.client.wire;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Lines of a byte stream. A line ends at LF, CRLF or the end of the stream; its end is no part of it. One thread. */
public final class LineReader {
    private static final int FIRST_BUFFER_BYTES = 64 << 10;

    private final InputStream in;
    private final int lineBytesMax;
    private byte[] buffer = new byte[FIRST_BUFFER_BYTES];
    private int from;
    private int to;
    private int scanned;
    private boolean ended;
    private long number;
    private long bytesRead;

    /** @param lineBytesMax a longer line is an {@link IOException} */
    public LineReader(InputStream in, int lineBytesMax) {
        this.in = in;
        this.lineBytesMax = lineBytesMax;
    }

    /** The next line, or null at the end. Waits for it. */
    public byte @Nullable [] next() throws IOException {
        int lineFeed = lineFeed();
        while (lineFeed < 0 && !ended) {
            fill();
            lineFeed = lineFeed();
        }
        if (lineFeed < 0 && from == to) {
            return null;
        }
        int end = lineFeed < 0 ? to : lineFeed;
        int textEnd = end > from && buffer[end - 1] == '\r' ? end - 1 : end;
        byte[] line = Arrays.copyOfRange(buffer, from, textEnd);
        from = lineFeed < 0 ? to : end + 1;
        scanned = from;
        number++;
        return line;
    }

    /** Number of the line that {@link #next} gave last, from 1. */
    public long number() {
        return number;
    }

    /** Bytes taken from the stream so far. */
    public long bytesRead() {
        return bytesRead;
    }

    /** Whether {@link #next} can answer without waiting for a sender that has paused. */
    public boolean ready() throws IOException {
        while (lineFeed() < 0 && !ended) {
            if (in.available() <= 0) {
                return false;
            }
            fill();
        }
        return true;
    }

    private int lineFeed() {
        while (scanned < to) {
            if (buffer[scanned] == '\n') {
                return scanned;
            }
            scanned++;
        }
        return -1;
    }

    private void fill() throws IOException {
        if (to - from > lineBytesMax) {
            throw new IOException("line " + (number + 1) + " is longer than " + lineBytesMax + " bytes");
        }
        if (from > 0) {
            System.arraycopy(buffer, from, buffer, 0, to - from);
            scanned -= from;
            to -= from;
            from = 0;
        }
        if (to == buffer.length) {
            buffer = Arrays.copyOf(buffer, buffer.length * 2);
        }
        int count = in.read(buffer, to, buffer.length - to);
        if (count < 0) {
            ended = true;
        } else {
            to += count;
            bytesRead += count;
        }
    }
}
