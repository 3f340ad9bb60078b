package dev.tidemark.server;

import dev.tidemark.http.RawClient;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A reader of an event stream (Server-Sent Events) as it stands on the wire. Keeps every block. */
final class EventStream implements AutoCloseable {
    private final RawClient raw;

    /** Guarded by itself. */
    private final List<Block> blocks = new ArrayList<>();

    private volatile boolean ended;

    /**
     * One message.
     *
     * @param id cursor; null if it has none
     * @param event type; null for events
     * @param data one line of JSON; null if it has none
     * @param lines all its lines
     */
    record Block(
            @Nullable String id,
            @Nullable String event,
            @Nullable String data,
            List<String> lines) {}

    EventStream(URI url, String stream, String query, String... headers) throws IOException {
        raw = new RawClient(url.getPort());
        StringBuilder request = new StringBuilder("GET " + Api.stream(stream) + "/events?" + query
                + " HTTP/1.1\r\nHost: " + url.getAuthority() + "\r\nAccept: text/event-stream\r\n");
        for (String header : headers) {
            request.append(header).append("\r\n");
        }
        raw.send(request.append("\r\n").toString());
        raw.socket.setSoTimeout(0);
        String status = raw.line();
        if (!status.startsWith("HTTP/1.1 200")) {
            throw new IOException(status);
        }
        boolean chunked = false;
        for (String line = raw.line(); !line.isEmpty(); line = raw.line()) {
            chunked |= line.equalsIgnoreCase("transfer-encoding: chunked");
        }
        boolean pieces = chunked;
        Thread thread = new Thread(() -> read(pieces), "event-stream");
        thread.setDaemon(true);
        thread.start();
    }

    private void read(boolean chunked) {
        StringBuilder text = new StringBuilder();
        try {
            while (true) {
                byte[] piece;
                if (chunked) {
                    int size = Integer.parseInt(raw.line(), 16);
                    piece = raw.in.readNBytes(size);
                    var unused = raw.line();
                    if (size == 0) {
                        break;
                    }
                } else {
                    int first = raw.in.read();
                    if (first < 0) {
                        break;
                    }
                    piece = new byte[] {(byte) first};
                }
                // The payloads of these tests are ASCII.
                text.append(new String(piece, java.nio.charset.StandardCharsets.ISO_8859_1));
                take(text);
            }
        } catch (IOException closed) {
            text.setLength(0);
        }
        ended = true;
        synchronized (blocks) {
            blocks.notifyAll();
        }
    }

    private void take(StringBuilder text) {
        for (int end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
            Block block = block(text.substring(0, end));
            text.delete(0, end + 2);
            synchronized (blocks) {
                blocks.add(block);
                blocks.notifyAll();
            }
        }
    }

    private static Block block(String text) {
        List<String> lines = List.of(text.split("\n", -1));
        return new Block(field(lines, "id: "), field(lines, "event: "), field(lines, "data: "), lines);
    }

    private static @Nullable String field(List<String> lines, String name) {
        return lines.stream()
                .filter(line -> line.startsWith(name))
                .map(line -> line.substring(name.length()))
                .findFirst()
                .orElse(null);
    }

    /** Whether the server, or what is between, has ended it. */
    boolean ended() {
        return ended;
    }

    List<Block> blocks() {
        synchronized (blocks) {
            return List.copyOf(blocks);
        }
    }

    /** Events that came. */
    List<Block> events() {
        return blocks().stream()
                .filter(block -> block.event() == null && block.data() != null)
                .toList();
    }

    /** Waits for so many events. */
    List<Block> awaitEvents(int count) {
        long untilNs = System.nanoTime() + 30_000_000_000L;
        while (events().size() < count) {
            if (ended || System.nanoTime() > untilNs) {
                throw new AssertionError(events().size() + " of " + count + " events, ended " + ended);
            }
            Waiting.ms(10);
        }
        return events();
    }

    /** Waits for a message of a type. */
    Block await(String type) {
        long untilNs = System.nanoTime() + 30_000_000_000L;
        while (true) {
            for (Block block : blocks()) {
                if (type.equals(block.event())) {
                    return block;
                }
            }
            if (ended || System.nanoTime() > untilNs) {
                throw new AssertionError("no " + type + " in " + blocks());
            }
            Waiting.ms(10);
        }
    }

    @Override
    public void close() throws IOException {
        raw.close();
    }
}
