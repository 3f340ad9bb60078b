package dev.tidemark.server;

import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A WebSocket subscriber that nobody here wrote the protocol of: the JDK's. Keeps every message in the order of arrival. */
public final class Follower implements AutoCloseable {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    /** Guarded by itself. */
    private final List<JsonObject> messages = new ArrayList<>();

    /** When each of them came; guarded as they are. */
    private final List<Long> arrivalsNs = new ArrayList<>();

    private final WebSocket socket;
    private volatile int closeCode;
    private volatile @Nullable Throwable failure;

    private Follower(String url, String path) {
        socket = CLIENT.newWebSocketBuilder()
                .connectTimeout(Duration.ofSeconds(30))
                .buildAsync(URI.create(url.replaceFirst("^http", "ws") + path), new Inbox())
                .join();
    }

    /** Follows a stream; {@code query} such as {@code after=earliest}. */
    public static Follower of(String url, String stream, String query) {
        return new Follower(url, Api.stream(stream) + "/subscribe?" + query);
    }

    private final class Inbox implements WebSocket.Listener {
        private final StringBuilder text = new StringBuilder();

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
            text.append(data);
            if (last) {
                JsonObject message = new JsonObject(text.toString());
                text.setLength(0);
                synchronized (messages) {
                    messages.add(message);
                    arrivalsNs.add(System.nanoTime());
                    messages.notifyAll();
                }
            }
            from.request(1);
            return null;
        }

        @Override
        public @Nullable CompletionStage<?> onClose(WebSocket from, int code, String reason) {
            ended(code, null);
            return null;
        }

        @Override
        public void onError(WebSocket from, Throwable error) {
            ended(-1, error);
        }

        private void ended(int code, @Nullable Throwable error) {
            synchronized (messages) {
                closeCode = code;
                failure = error;
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
                            + closeCode + ", " + failure + ", last "
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
        socket.abort();
    }
}
