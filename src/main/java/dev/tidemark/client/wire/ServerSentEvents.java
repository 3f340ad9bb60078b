package dev.tidemark.client.wire;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Messages of an event stream, as the WHATWG's HTML standard has it: a line is a field, an empty line ends a message, one that the stream
 * ends in doesn't count. Lines end at LF or CRLF. {@code id}, {@code retry} and comments are passed over. One thread.
 */
public final class ServerSentEvents {
    /** Type of a message that names none. */
    public static final String UNNAMED = "message";

    private final LineReader lines;
    private final int messageBytesMax;

    /** One message. The data belong to who takes it. */
    @SuppressWarnings("ArrayRecordComponent") // nobody compares messages
    public record Message(String type, byte[] data) {}

    /** @param messageBytesMax a message with longer data is an {@link IOException} */
    public ServerSentEvents(InputStream in, int messageBytesMax) {
        lines = new LineReader(in, messageBytesMax);
        this.messageBytesMax = messageBytesMax;
    }

    /** The next message, or null at the end. Waits for it. */
    public @Nullable Message next() throws IOException {
        String type = UNNAMED;
        byte[] data = null;
        for (byte[] line = lines.next(); line != null; line = lines.next()) {
            if (line.length == 0) {
                if (data != null) {
                    return new Message(type, data);
                }
                type = UNNAMED;
                continue;
            }
            int colon = colon(line);
            if (isField(line, colon, "data")) {
                data = data == null ? value(line, colon) : joined(data, value(line, colon));
            } else if (isField(line, colon, "event")) {
                String named = new String(value(line, colon), StandardCharsets.UTF_8);
                type = named.isEmpty() ? UNNAMED : named;
            }
        }
        return null;
    }

    /** Where the field's name ends. */
    private static int colon(byte[] line) {
        int at = 0;
        while (at < line.length && line[at] != ':') {
            at++;
        }
        return at;
    }

    private static boolean isField(byte[] line, int colon, String name) {
        byte[] expected = name.getBytes(StandardCharsets.US_ASCII);
        return Arrays.equals(line, 0, colon, expected, 0, expected.length);
    }

    /** Behind the colon and one space. */
    private static byte[] value(byte[] line, int colon) {
        int from = Math.min(colon + 1, line.length);
        return Arrays.copyOfRange(line, from < line.length && line[from] == ' ' ? from + 1 : from, line.length);
    }

    private byte[] joined(byte[] data, byte[] more) throws IOException {
        if (data.length + 1L + more.length > messageBytesMax) {
            throw new IOException("a message is longer than " + messageBytesMax + " bytes");
        }
        ByteArrayOutputStream both = new ByteArrayOutputStream(data.length + 1 + more.length);
        both.writeBytes(data);
        both.write('\n');
        both.writeBytes(more);
        return both.toByteArray();
    }
}
