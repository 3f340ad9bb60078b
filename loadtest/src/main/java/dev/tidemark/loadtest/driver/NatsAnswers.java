package dev.tidemark.loadtest.driver;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Messages in the text protocol of NATS, such as the acknowledgements of JetStream, which may not say no. */
public final class NatsAnswers implements Answers {
    private static final int LINE_BYTES_MAX = 64 << 10;
    private static final int CRLF_BYTES = 2;
    /** How much of a message is looked at for an error. */
    private static final int LOOKED_AT_BYTES = 12;

    private static final List<String> QUIET = List.of("INFO ", "+OK", "PING", "PONG");

    private final byte[] line = new byte[LINE_BYTES_MAX];
    private final byte[] start = new byte[LOOKED_AT_BYTES];
    private int lineLength;
    private int startLength;
    /** Bytes of a message, with its line end, that are still to come. */
    private int left;

    @Override
    public int completed(ByteBuffer bytes) throws IOException {
        int completed = 0;
        while (bytes.hasRemaining()) {
            if (left == 0) {
                line(bytes);
            } else if (message(bytes)) {
                completed++;
            }
        }
        return completed;
    }

    private void line(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            byte next = bytes.get();
            if (next == '\n') {
                endLine();
                lineLength = 0;
                return;
            }
            if (lineLength == LINE_BYTES_MAX) {
                throw new IOException("a line of NATS is longer than " + LINE_BYTES_MAX + " bytes");
            }
            line[lineLength++] = next;
        }
    }

    /** {@code MSG subject sid [reply] size}. */
    private void endLine() throws IOException {
        if (lineLength > 4 && line[0] == 'M' && line[1] == 'S' && line[2] == 'G') {
            int size = 0;
            int end = line[lineLength - 1] == '\r' ? lineLength - 1 : lineLength;
            int from = end;
            while (line[from - 1] != ' ') {
                from--;
            }
            for (int i = from; i < end; i++) {
                size = size * 10 + line[i] - '0';
            }
            left = size + CRLF_BYTES;
            startLength = 0;
            return;
        }
        String text = new String(line, 0, lineLength, StandardCharsets.UTF_8);
        if (QUIET.stream().noneMatch(text::startsWith)) {
            throw new IOException("NATS says " + text.trim());
        }
    }

    /** Whether the message has ended. */
    private boolean message(ByteBuffer bytes) throws IOException {
        int more = Math.min(left, bytes.remaining());
        int kept = Math.min(more, LOOKED_AT_BYTES - startLength);
        ByteBuffer unused = bytes.get(start, startLength, kept);
        startLength += kept;
        ByteBuffer unusedToo = bytes.position(bytes.position() + more - kept);
        left -= more;
        if (left == 0 && new String(start, 0, startLength, StandardCharsets.UTF_8).contains("error")) {
            throw new IOException("JetStream refused a message");
        }
        return left == 0;
    }
}
