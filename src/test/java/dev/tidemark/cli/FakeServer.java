package dev.tidemark.cli;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A server on a free port of loopback that answers as a test says. */
public final class FakeServer implements AutoCloseable {
    /**
     * What came in.
     *
     * @param producer id, epoch and seq of a producer; empty if there is none
     */
    public record Request(
            String method,
            String uri,
            @Nullable String contentType,
            @Nullable String token,
            String producer,
            String body) {
        public List<String> lines() {
            return body.lines().toList();
        }
    }

    /**
     * What goes out.
     *
     * @param cut end the connection in the middle of the body
     */
    public record Answer(int status, String contentType, String body, Map<String, String> headers, boolean cut) {
        public static Answer json(int status, String body) {
            return new Answer(status, "application/json", body, Map.of(), false);
        }

        public static Answer problem(int status, String members) {
            String body = "{\"status\":" + status + "," + members + "}";
            return new Answer(status, "application/problem+json", body, Map.of(), false);
        }

        public static Answer lines(String... lines) {
            String body = String.join("\n", lines) + "\n";
            return new Answer(200, "application/x-ndjson", body, Map.of(), false);
        }

        public Answer cutOff() {
            return new Answer(status, contentType, body, headers, true);
        }

        /** Nothing comes back: the connection is closed when the request is there. */
        public static Answer none() {
            return new Answer(0, "", "", Map.of(), true);
        }

        /** Nothing comes back and the connection stays open, as behind a network that lost its way. */
        public static Answer silence() {
            return new Answer(0, "", "", Map.of(), false);
        }
    }

    /** An event stream that the client holds open; used on the server's event loop. */
    public static final class EventStream {
        private final HttpServerResponse response;

        private EventStream(HttpServerResponse response) {
            this.response = response.setChunked(true).putHeader("Content-Type", "text/event-stream; charset=utf-8");
        }

        /** Sends a message of a type; one without type is an event. */
        public void send(String type, String json) {
            write((type.isEmpty() ? "" : "event: " + type + "\n") + "data: " + json + "\n\n");
        }

        /** Sends these characters. */
        public void write(String text) {
            var unused = response.write(text);
        }

        /** Ends it, as a server does that wants to. */
        public void end() {
            var unused = response.end();
        }

        /** Ends it without a word, in the middle of the answer. */
        public void cut() {
            var unused = response.reset();
        }

        /** Whether what is sent now would wait here. */
        public boolean isFull() {
            return response.writeQueueFull();
        }

        public void onDrained(Runnable then) {
            response.drainHandler(v -> then.run());
        }

        /** When the client has closed the connection. */
        public void onClosed(Runnable then) {
            response.closeHandler(v -> then.run());
        }

        private boolean isOpen() {
            return !response.ended() && !response.closed();
        }
    }

    private final Vertx vertx = Vertx.vertx();
    private final List<Request> requests = new CopyOnWriteArrayList<>();
    private final List<EventStream> streams = new CopyOnWriteArrayList<>();
    private final List<HttpConnection> connections = new CopyOnWriteArrayList<>();
    private final int port;
    private HttpServer server;
    private volatile Function<Request, Answer> answers = request -> Answer.json(500, "{}");
    private volatile @Nullable Answer refusal;
    private volatile Consumer<EventStream> onStream = stream -> {};

    public FakeServer() {
        server = listen(0);
        port = server.actualPort();
    }

    private HttpServer listen(int wanted) {
        HttpServerOptions options = new HttpServerOptions().setHost("127.0.0.1").setPort(wanted);
        HttpServer fresh = vertx.createHttpServer(options)
                .connectionHandler(connections::add)
                .requestHandler(this::answer);
        return done(fresh.listen());
    }

    private static <T> T done(io.vertx.core.Future<T> future) {
        try {
            return future.await(10, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new IllegalStateException(e);
        }
    }

    public String url() {
        return "http://127.0.0.1:" + port;
    }

    public void answer(Function<Request, Answer> with) {
        answers = with;
    }

    /** From now on who wants an event stream gets this answer instead. */
    public void refuseStreams(Answer with) {
        refusal = with;
    }

    /** What is done with each event stream that a client opens; its head goes out with what is sent first. */
    public void onStream(Consumer<EventStream> with) {
        refusal = null;
        onStream = with;
    }

    public List<Request> requests() {
        return requests;
    }

    /** Closes the port and all connections, as a stopping server does; event streams get an error first. */
    public void stop() {
        for (EventStream stream : streams) {
            if (stream.isOpen()) {
                stream.send(
                        "error",
                        "{\"type\":\"error\",\"title\":\"Unavailable\",\"status\":503,\"detail\":\"stopping\",\"retryable\":true}");
                stream.end();
            }
        }
        streams.clear();
        done(server.close());
    }

    /** Ends all connections, in the middle of their answers. */
    public void endConnections() {
        connections.forEach(connection -> connection.close().onComplete(closed -> {}));
        connections.clear();
    }

    public void startAgain() {
        server = listen(port);
    }

    private static String producer(HttpServerRequest request) {
        return request.headers().contains("Producer-Id")
                ? request.getHeader("Producer-Id") + " " + request.getHeader("Producer-Epoch") + " "
                        + request.getHeader("Producer-Seq")
                : "";
    }

    private void answer(HttpServerRequest request) {
        request.body().onSuccess(body -> {
            Request seen = new Request(
                    request.method().name(),
                    request.uri(),
                    request.getHeader("Content-Type"),
                    request.getHeader("Authorization"),
                    producer(request),
                    body.toString());
            requests.add(seen);
            Answer refused = refusal;
            boolean follows = "text/event-stream".equals(request.getHeader("Accept"));
            if (follows && refused == null) {
                EventStream stream = new EventStream(request.response());
                streams.add(stream);
                onStream.accept(stream);
                return;
            }
            Answer answer = follows && refused != null ? refused : answers.apply(seen);
            if (answer.status() == 0) {
                if (answer.cut()) {
                    request.connection().close();
                }
                return;
            }
            HttpServerResponse response = request.response().setStatusCode(answer.status());
            answer.headers().forEach(response::putHeader);
            response.putHeader("Content-Type", answer.contentType());
            if (answer.cut()) {
                response.setChunked(true);
                response.write(Buffer.buffer(answer.body()))
                        .onComplete(written -> request.connection().close());
            } else {
                response.end(answer.body());
            }
        });
    }

    @Override
    public void close() {
        done(vertx.close());
    }
}
