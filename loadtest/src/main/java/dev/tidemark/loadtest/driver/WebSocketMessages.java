package dev.tidemark.loadtest.driver;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * What comes over a WebSocket, from the answer to the upgrade on: counts a sequence of bytes that each message has once, in whatever
 * frames the messages come. Pings aren't answered: a run is shorter than what a server waits for that. One thread.
 */
final class WebSocketMessages implements Answers {
    private static final int HEADER_BYTES_MIN = 2;
    private static final int CLOSE = 8;
    private static final int QUOTED_BYTES_MAX = 1_000;

    private final Occurrences messages;
    private final Occurrences greeting;
    private boolean upgraded;
    private boolean greeted;
    private final ByteArrayOutputStream head = new ByteArrayOutputStream();
    private int headEnd;
    private final byte[] frameHeader = new byte[10];
    private int headerLength;
    /** Bytes of the frame that are still to come. */
    private long left;

    private int opcode;

    /**
     * @param message each message has it once
     * @param hop so many bytes after it hold no other
     * @param greeting with it the server says that the subscription is there
     */
    WebSocketMessages(String message, int hop, String greeting) {
        this.messages = new Occurrences(message, hop);
        this.greeting = new Occurrences(greeting, 0);
    }

    /** Whether the server has answered the upgrade. */
    boolean isUpgraded() {
        return upgraded;
    }

    /** Whether the subscription is there. */
    boolean isGreeted() {
        return greeted;
    }

    @Override
    public int completed(ByteBuffer bytes) throws IOException {
        int completed = 0;
        while (bytes.hasRemaining()) {
            if (!upgraded) {
                upgrade(bytes.get());
            } else if (left == 0) {
                header(bytes.get());
            } else {
                completed += payload(bytes);
            }
        }
        return completed;
    }

    private void upgrade(byte next) throws IOException {
        head.write(next);
        headEnd = next == '\n' ? headEnd + 1 : next == '\r' ? headEnd : 0;
        if (headEnd == 2) {
            String text = head.toString(StandardCharsets.ISO_8859_1);
            if (!text.startsWith("HTTP/1.1 101")) {
                throw new IOException("no WebSocket: " + text);
            }
            upgraded = true;
        }
    }

    /** Servers don't mask: two bytes, then none, two or eight of a longer length. */
    private void header(byte next) {
        frameHeader[headerLength++] = next;
        int shortLength = headerLength > 1 ? frameHeader[1] & 0x7f : 0;
        int needed = HEADER_BYTES_MIN + (shortLength == 126 ? 2 : shortLength == 127 ? 8 : 0);
        if (headerLength < HEADER_BYTES_MIN || headerLength < needed) {
            return;
        }
        left = needed == HEADER_BYTES_MIN ? shortLength : 0;
        for (int i = HEADER_BYTES_MIN; i < needed; i++) {
            left = (left << 8) | (frameHeader[i] & 0xff);
        }
        opcode = frameHeader[0] & 0xf;
        headerLength = 0;
    }

    private int payload(ByteBuffer bytes) throws IOException {
        int length = (int) Math.min(left, bytes.remaining());
        left -= length;
        if (opcode == CLOSE) {
            byte[] reason = new byte[Math.min(length, QUOTED_BYTES_MAX)];
            ByteBuffer unused = bytes.get(reason);
            throw new IOException("the server closed the WebSocket: " + new String(reason, StandardCharsets.UTF_8));
        }
        if (!greeted) {
            greeted = greeting.in(bytes.duplicate(), length) > 0;
        }
        return messages.in(bytes, length);
    }
}
