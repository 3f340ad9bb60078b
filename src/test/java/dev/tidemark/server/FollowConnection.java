package dev.tidemark.server;

import dev.tidemark.http.RawWebSocket;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * One connection of a follower, message by message, as the thread that reads it wants them: a WebSocket frame by frame, or an event
 * stream by the JDK, with nothing of our client in it.
 */
abstract class FollowConnection implements AutoCloseable {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final int WAIT_SECONDS = 30;

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

    private static final class Socket extends FollowConnection {
        private final RawWebSocket socket;

        private Socket(RawWebSocket socket) {
            this.socket = socket;
        }

        static @Nullable FollowConnection connect(String url, String stream, String query) {
            try {
                int port = URI.create(url).getPort();
                RawWebSocket socket = new RawWebSocket(port, Api.stream(stream) + "/subscribe?" + query);
                socket.raw.socket.setSoTimeout(WAIT_SECONDS * 1_000);
                return new Socket(socket.open());
            } catch (IOException e) {
                return null;
            }
        }

        @Override
        @Nullable
        Message next() {
            StringBuilder text = new StringBuilder();
            try {
                while (true) {
                    RawWebSocket.Frame frame = socket.next();
                    switch (frame.opcode()) {
                        case RawWebSocket.PING ->
                            socket.frame(
                                    true, RawWebSocket.PONG, frame.payload().getBytes());
                        case RawWebSocket.CLOSE -> {
                            return new Message("closed " + frame.closeCode(), "", "");
                        }
                        default -> text.append(frame.text());
                    }
                    boolean isText = frame.opcode() == RawWebSocket.TEXT || frame.opcode() == RawWebSocket.CONTINUATION;
                    if (isText && frame.last()) {
                        String json = text.toString();
                        return new Message(member(json, "type"), member(json, "cursor"), json);
                    }
                }
            } catch (SocketTimeoutException e) {
                throw new AssertionError("nothing came for " + WAIT_SECONDS + " s", e);
            } catch (IOException e) {
                return null;
            }
        }

        @Override
        public void close() {
            try {
                socket.close();
            } catch (IOException e) {
                throw new IllegalStateException(e);
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
