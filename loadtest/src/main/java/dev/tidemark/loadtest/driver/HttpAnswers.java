package dev.tidemark.loadtest.driver;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Answers of HTTP/1.1 with {@code Content-Length} or in chunks; none without either has a body. Bodies are skipped, except of an
 * answer with another status than the one that is expected: then its start is in the error.
 */
public final class HttpAnswers implements Answers {
    private static final int HEAD_BYTES_MAX = 64 << 10;
    private static final int QUOTED_BYTES_MAX = 1_000;
    /** Bytes of {@code HTTP/1.1 200}. */
    private static final int STATUS_AT = 9;

    private enum State {
        HEAD,
        BODY,
        CHUNK_SIZE,
        CHUNK,
        CHUNK_END,
        TRAILER
    }

    private final int expectedStatus;
    private final byte[] head = new byte[HEAD_BYTES_MAX];
    private int headLength;
    private State state = State.HEAD;
    /** Bytes of the body, or of the chunk, that are still to come. */
    private long left;

    private long chunkSize;
    private boolean inExtension;
    private int lineLength;

    private final @Nullable Occurrences counting;
    private long counted;
    private long bodyBytes;

    /** @param expectedStatus any other is an error */
    public HttpAnswers(int expectedStatus) {
        this.expectedStatus = expectedStatus;
        this.counting = null;
    }

    /**
     * Counts something in the bodies.
     *
     * @param expectedStatus any other is an error
     * @param counted a sequence of bytes
     * @param hop so many bytes after it hold no other
     */
    public HttpAnswers(int expectedStatus, String counted, int hop) {
        this.expectedStatus = expectedStatus;
        this.counting = new Occurrences(counted, hop);
    }

    /** How often what is counted was in the bodies so far. */
    public long counted() {
        return counted;
    }

    /** Bytes of bodies so far. */
    public long bodyBytes() {
        return bodyBytes;
    }

    @Override
    public int completed(ByteBuffer bytes) throws IOException {
        int completed = 0;
        while (bytes.hasRemaining()) {
            if (step(bytes)) {
                completed++;
                state = State.HEAD;
                headLength = 0;
            }
        }
        return completed;
    }

    /** Goes on by a byte or more; whether an answer has ended. */
    private boolean step(ByteBuffer bytes) throws IOException {
        return switch (state) {
            case HEAD -> head(bytes);
            case BODY -> skip(bytes);
            case CHUNK_SIZE -> chunkSize(bytes.get());
            case CHUNK -> {
                if (skip(bytes)) {
                    state = State.CHUNK_END;
                }
                yield false;
            }
            case CHUNK_END -> {
                if (bytes.get() == '\n') {
                    beginChunk();
                }
                yield false;
            }
            case TRAILER -> trailer(bytes.get());
        };
    }

    private boolean skip(ByteBuffer bytes) {
        int skipped = (int) Math.min(left, bytes.remaining());
        if (counting == null) {
            ByteBuffer unused = bytes.position(bytes.position() + skipped);
        } else {
            counted += counting.in(bytes, skipped);
        }
        bodyBytes += skipped;
        left -= skipped;
        return left == 0;
    }

    private boolean head(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            byte next = bytes.get();
            if (headLength == HEAD_BYTES_MAX) {
                throw new IOException("an answer's head is longer than " + HEAD_BYTES_MAX + " bytes");
            }
            head[headLength++] = next;
            if (next == '\n' && headLength >= 4 && head[headLength - 3] == '\n') {
                return endHead(bytes);
            }
        }
        return false;
    }

    private boolean endHead(ByteBuffer bytes) throws IOException {
        if (status() != expectedStatus) {
            throw new IOException(
                    "status " + status() + " instead of " + expectedStatus + ": " + text() + quoted(bytes));
        }
        if (header("transfer-encoding:").toLowerCase(Locale.ROOT).contains("chunked")) {
            beginChunk();
            return false;
        }
        String length = header("content-length:");
        left = length.isEmpty() ? 0 : Long.parseLong(length);
        state = State.BODY;
        return left == 0;
    }

    private int status() throws IOException {
        if (headLength < STATUS_AT + 3 || head[0] != 'H' || head[4] != '/') {
            throw new IOException("no answer of HTTP: " + text());
        }
        return (head[STATUS_AT] - '0') * 100 + (head[STATUS_AT + 1] - '0') * 10 + head[STATUS_AT + 2] - '0';
    }

    private String text() {
        return new String(head, 0, headLength, StandardCharsets.ISO_8859_1);
    }

    private static String quoted(ByteBuffer bytes) {
        byte[] quoted = new byte[Math.min(QUOTED_BYTES_MAX, bytes.remaining())];
        ByteBuffer unused = bytes.get(quoted);
        return new String(quoted, StandardCharsets.UTF_8);
    }

    /**
     * Value of a header, empty if there is none.
     *
     * @param name in lower case, with its colon
     */
    private String header(String name) {
        int lineStart = 0;
        for (int i = 0; i < headLength; i++) {
            if (head[i] == '\n') {
                if (startsWith(lineStart, name)) {
                    int from = lineStart + name.length();
                    return new String(head, from, i - from, StandardCharsets.ISO_8859_1).trim();
                }
                lineStart = i + 1;
            }
        }
        return "";
    }

    private boolean startsWith(int at, String name) {
        for (int i = 0; i < name.length(); i++) {
            if (at + i >= headLength || lower(head[at + i]) != name.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    private static int lower(byte b) {
        return b >= 'A' && b <= 'Z' ? b + ('a' - 'A') : b;
    }

    private void beginChunk() {
        state = State.CHUNK_SIZE;
        chunkSize = 0;
        inExtension = false;
    }

    private boolean chunkSize(byte next) throws IOException {
        if (next == '\n') {
            left = chunkSize;
            lineLength = 0;
            state = left == 0 ? State.TRAILER : State.CHUNK;
        } else if (next == ';') {
            inExtension = true;
        } else if (!inExtension && next != '\r' && next != ' ') {
            int digit = Character.digit(next, 16);
            if (digit < 0) {
                throw new IOException("a chunk's size has the byte " + next);
            }
            chunkSize = chunkSize * 16 + digit;
        }
        return false;
    }

    /** An empty line ends the trailer, and the answer. */
    private boolean trailer(byte next) {
        if (next == '\n') {
            boolean empty = lineLength == 0;
            lineLength = 0;
            return empty;
        }
        lineLength += next == '\r' ? 0 : 1;
        return false;
    }
}
