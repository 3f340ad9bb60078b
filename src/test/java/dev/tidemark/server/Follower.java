package dev.tidemark.server;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** A WebSocket subscriber that nobody here wrote the protocol of: Vert.x's. Keeps every message in the order of arrival. */
public final class Follower implements AutoCloseable {
    /** Guarded by itself. */
    private final List<JsonObject> messages = new ArrayList<>();

    /** When each of them came; guarded as they are. */
    private final List<Long> arrivalsNs = new ArrayList<>();

    private final VertxWebSocket socket;
    private volatile int closeCode;
    private volatile String closeReason = "";

    private Follower(String url, String path) {
        try {
            socket = VertxWebSocket.open(url, path, new Inbox());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Follows a stream; {@code query} such as {@code after=earliest}. */
    public static Follower of(String url, String stream, String query) {
        return new Follower(url, Api.stream(stream) + "/subscribe?" + query);
    }

    private final class Inbox implements VertxWebSocket.Listener {
        @Override
        public void message(String text) {
            JsonObject message = new JsonObject(text);
            synchronized (messages) {
                messages.add(message);
                arrivalsNs.add(System.nanoTime());
                messages.notifyAll();
            }
        }

        @Override
        public void closed(int code, String reason) {
            synchronized (messages) {
                closeCode = code;
                closeReason = reason;
                messages.notifyAll();
            }
        }
    }

    /** What came so far. */
    public List<JsonObject> messages() {
        synchronized (messages) {
            return List.copyOf(messages);
        }
    }

    /** Messages of one type that came so far. */
    public List<JsonObject> messages(String type) {
        return messages().stream()
                .filter(message -> type.equals(message.getString("type")))
                .toList();
    }

    public List<JsonObject> events() {
        return messages("event");
    }

    /** When the last of some events came, {@link System#nanoTime}. */
    public long arrivalNsOf(Predicate<JsonObject> events) {
        synchronized (messages) {
            for (int i = messages.size() - 1; i >= 0; i--) {
                JsonObject message = messages.get(i);
                if ("event".equals(message.getString("type")) && events.test(message)) {
                    return arrivalsNs.get(i);
                }
            }
        }
        throw new IllegalStateException("none of these events came");
    }

    public List<String> ids() {
        return events().stream().map(event -> event.getString("id")).toList();
    }

    /** Waits until so many events came; gives all that came by then. */
    public List<JsonObject> awaitEvents(int count) {
        await("event number " + count, all -> count(all) >= count);
        return events();
    }

    private static long count(List<JsonObject> all) {
        return all.stream()
                .filter(message -> "event".equals(message.getString("type")))
                .count();
    }

    /** Waits for the first message of a type. */
    public JsonObject await(String type) {
        await(type, all -> all.stream().anyMatch(message -> type.equals(message.getString("type"))));
        return messages(type).get(0);
    }

    private void await(String what, Predicate<List<JsonObject>> there) {
        long until = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        synchronized (messages) {
            while (!there.test(messages)) {
                if (closeCode != 0 || System.nanoTime() > until) {
                    throw new IllegalStateException("no " + what + ": " + messages.size() + " messages, close code "
                            + closeCode + " " + closeReason + ", last "
                            + (messages.isEmpty() ? "none" : messages.get(messages.size() - 1)));
                }
                pause();
            }
        }
    }

    /** Waits until the server has closed; gives its code. */
    public int awaitClose() {
        long until = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        synchronized (messages) {
            while (closeCode == 0) {
                if (System.nanoTime() > until) {
                    throw new IllegalStateException("not closed after " + messages);
                }
                pause();
            }
        }
        return closeCode;
    }

    private void pause() {
        try {
            messages.wait(200);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Bytes of a text field. */
    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        socket.close();
    }
}
