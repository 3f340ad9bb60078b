package dev.tidemark.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One connection of a follower, message by message, as the thread that reads it wants them: WebSocket or event stream, by the JDK, with
 * nothing of our client in it.
 */
abstract class FollowConnection implements AutoCloseable {
    static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final long WAIT_SECONDS = 30;

    /**
     * What came.
     *
     * @param type of the message; {@code event} for events
     * @param cursor that it carries; empty if none
     * @param json the message, or the event
     */
    record Message(String type, String cursor, String json) {}

    /** How to follow. */
    enum Kind {
        WEB_SOCKET,
        EVENT_STREAM
    }

    /**
     * Connects.
     *
     * @param query such as {@code after=earliest}
     * @return null if the connection broke before it stood
     */
    static @Nullable FollowConnection open(Kind kind, String url, String stream, String query)
            throws InterruptedException {
        return kind == Kind.WEB_SOCKET ? Socket.connect(url, stream, query) : Lines.connect(url, stream, query);
    }

    /** The next message; null when the connection has ended, whole or in the middle of a message. Waits for it. */
    abstract @Nullable Message next() throws InterruptedException;

    @Override
    public abstract void close();

    private static String member(String json, String name) {
        String key = "\"" + name + "\":\"";
        int from = json.indexOf(key);
        return from < 0 ? "" : json.substring(from + key.length(), json.indexOf('"', from + key.length()));
    }

    private static final class Socket extends FollowConnection implements WebSocket.Listener {
        private static final Message END = new Message("", "", "");

        private final BlockingQueue<Message> inbox = new ArrayBlockingQueue<>(4);
        private final StringBuilder text = new StringBuilder();
        private @Nullable WebSocket socket;
        private int received;

        static @Nullable FollowConnection connect(String url, String stream, String query) {
            Socket line = new Socket();
            URI uri = URI.create(url.replaceFirst("^http", "ws") + Api.stream(stream) + "/subscribe?" + query);
            try {
                line.socket = CLIENT.newWebSocketBuilder()
                        .connectTimeout(Duration.ofSeconds(WAIT_SECONDS))
                        .buildAsync(uri, line)
                        .join();
                return line;
            } catch (CompletionException e) {
                return null;
            }
        }

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
            text.append(data);
            if (last) {
                String json = text.toString();
                text.setLength(0);
                inbox.add(new Message(member(json, "type"), member(json, "cursor"), json));
            } else {
                from.request(1);
            }
            return null;
        }

        @Override
        public @Nullable CompletionStage<?> onClose(WebSocket from, int code, String reason) {
            inbox.add(code == 1006 ? END : new Message("closed " + code, "", reason));
            inbox.add(END);
            return null;
        }

        @Override
        public void onError(WebSocket from, Throwable error) {
            inbox.add(END);
        }

        @Override
        @Nullable
        Message next() throws InterruptedException {
            Message message = null;
            for (int tenths = 0; message == null && tenths < WAIT_SECONDS * 10; tenths++) {
                message = inbox.poll(100, TimeUnit.MILLISECONDS);
                if (message == null && socket != null) {
                    ping(socket);
                }
            }
            if (message == null) {
                throw new AssertionError("nothing came for " + WAIT_SECONDS + " s; before it " + received
                        + " messages and " + text.length() + " characters of one, " + socket);
            }
            if (message == END) {
                return null;
            }
            received++;
            if (socket != null) {
                socket.request(1);
            }
            return message;
        }

        /** The JDK sometimes doesn't tell the end of a connection that comes right behind data; a ping then fails. */
        private void ping(WebSocket open) {
            open.sendPing(ByteBuffer.allocate(0)).whenComplete((sent, failure) -> {
                if (failure instanceof IOException) {
                    boolean unused = inbox.offer(END);
                }
            });
        }

        @Override
        public void close() {
            if (socket != null) {
                socket.abort();
            }
        }
    }

    private static final class Lines extends FollowConnection {
        private final InputStream in;
        private final BufferedReader lines;

        private Lines(InputStream in) {
            this.in = in;
            lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
        }

        static @Nullable FollowConnection connect(String url, String stream, String query) throws InterruptedException {
            HttpRequest request = HttpRequest.newBuilder(URI.create(url + Api.stream(stream) + "/events?" + query))
                    .version(HttpClient.Version.HTTP_1_1)
                    .header("Accept", "text/event-stream")
                    .build();
            try {
                HttpResponse<InputStream> response = CLIENT.send(request, HttpResponse.BodyHandlers.ofInputStream());
                if (response.statusCode() != 200) {
                    throw new AssertionError(response.statusCode() + " "
                            + new String(response.body().readAllBytes(), StandardCharsets.UTF_8));
                }
                return new Lines(response.body());
            } catch (IOException e) {
                return null;
            }
        }

        /** Counts only with the empty line at its end, as the specification has it. */
        @Override
        @Nullable
        Message next() {
            String type = "event";
            String cursor = "";
            StringBuilder data = new StringBuilder();
            try {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (line.startsWith("event: ")) {
                        type = line.substring(7);
                    } else if (line.startsWith("id: ")) {
                        cursor = line.substring(4);
                    } else if (line.startsWith("data: ")) {
                        data.append(line, 6, line.length());
                    } else if (line.isEmpty() && !data.isEmpty()) {
                        return new Message(type, cursor, data.toString());
                    }
                }
                return null;
            } catch (IOException e) {
                return null;
            }
        }

        @Override
        public void close() {
            try {
                in.close();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
