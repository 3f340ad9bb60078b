package dev.tidemark.loadtest.driver;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Replies of Redis (RESP2), nested ones too. */
public final class RespAnswers implements Answers {
    private static final int LINE_BYTES_MAX = 4 << 10;
    private static final int CRLF_BYTES = 2;

    private final byte[] line = new byte[LINE_BYTES_MAX];
    private int lineLength;
    /** Bytes of a bulk string, with its line end, that are still to come. */
    private long left;
    /** Items that the reply still consists of; 1 before it has begun. */
    private long items = 1;

    @Override
    public int completed(ByteBuffer bytes) throws IOException {
        int completed = 0;
        while (bytes.hasRemaining()) {
            if (left > 0 ? skip(bytes) : line(bytes)) {
                items--;
            }
            if (items == 0) {
                completed++;
                items = 1;
            }
        }
        return completed;
    }

    private boolean skip(ByteBuffer bytes) {
        int skipped = (int) Math.min(left, bytes.remaining());
        ByteBuffer unused = bytes.position(bytes.position() + skipped);
        left -= skipped;
        return left == 0;
    }

    /** Whether an item has ended. */
    private boolean line(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            byte next = bytes.get();
            if (next == '\n') {
                boolean ended = endLine();
                lineLength = 0;
                return ended;
            }
            if (lineLength == LINE_BYTES_MAX) {
                throw new IOException("a reply's line is longer than " + LINE_BYTES_MAX + " bytes");
            }
            line[lineLength++] = next;
        }
        return false;
    }

    private boolean endLine() throws IOException {
        return switch (lineLength == 0 ? 0 : line[0]) {
            case '+', ':' -> true;
            case '$' -> {
                long length = number();
                left = length < 0 ? 0 : length + CRLF_BYTES;
                yield length < 0;
            }
            case '*' -> {
                items += Math.max(0, number());
                yield true;
            }
            default ->
                throw new IOException("Redis says " + new String(line, 0, lineLength, StandardCharsets.UTF_8).trim());
        };
    }

    private long number() {
        boolean negative = lineLength > 1 && line[1] == '-';
        long number = 0;
        for (int i = negative ? 2 : 1; i < lineLength && line[i] != '\r'; i++) {
            number = number * 10 + line[i] - '0';
        }
        return negative ? -number : number;
    }
}
