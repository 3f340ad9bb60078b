package dev.tidemark.http;

import dev.tidemark.event.Clock;
import dev.tidemark.event.Limits;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.retention.FoldRequests;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A real server with fakes behind it. A blocked event loop fails {@link #close}. */
final class EdgeFixture implements AutoCloseable {
    static final Limits SMALL = new Limits(64 << 10, 256 << 10, 1_000, 1 << 20);
    /** Deadlines short enough to wait for. */
    static final HttpOptions.Timeouts SHORT = new HttpOptions.Timeouts(2_000, 700, 500, 1_000, 400, 400, 1_000);

    final FakeReads reads = new FakeReads();
    final FakeIngest ingest = new FakeIngest(reads);
    final List<String> blocked = new CopyOnWriteArrayList<>();
    volatile List<Health.Check> checks = new ArrayList<>();
    final HttpClient client = HttpClient.newHttpClient();
    final Vertx vertx;
    final int port;
    final HttpEdge edge;
    private final String deployment;

    final FoldRequests folds = name -> reads.streams.containsKey(name.value())
            ? Future.succeededFuture(
                    reads.stream(name.value()).count() == 0
                            ? Position.ZERO
                            : reads.stream(name.value()).end().position())
            : Future.failedFuture(Problem.noStream(name));

    EdgeFixture() {
        this(options(SMALL, HttpOptions.Timeouts.DEFAULT));
    }

    EdgeFixture(HttpOptions options) {
        vertx = Vertx.vertx(new VertxOptions()
                .setEventLoopPoolSize(2)
                .setBlockedThreadCheckInterval(100)
                .setMaxEventLoopExecuteTime(1_500)
                .setMaxEventLoopExecuteTimeUnit(TimeUnit.MILLISECONDS)
                .setWarningExceptionTime(1_500)
                .setWarningExceptionTimeUnit(TimeUnit.MILLISECONDS));
        ((VertxInternal) vertx)
                .blockedThreadChecker()
                .setThreadBlockedHandler(event ->
                        blocked.add(event.thread().getName() + " for " + event.duration() / 1_000_000 + " ms"));
        edge = new HttpEdge(ingest, reads, folds, () -> checks, options, Clock.system());
        deployment = await(vertx.deployVerticle(edge));
        port = edge.port();
    }

    static HttpOptions options(Limits limits, HttpOptions.Timeouts timeouts) {
        return options(limits, timeouts, List.of(), List.of(), 1 << 20);
    }

    static HttpOptions options(
            Limits limits,
            HttpOptions.Timeouts timeouts,
            List<String> hosts,
            List<String> origins,
            int subscriberBufferBytes) {
        return new HttpOptions(
                "127.0.0.1",
                0,
                hosts,
                origins,
                limits,
                4096,
                8192,
                64L << 20,
                1_000,
                subscriberBufferBytes,
                64 << 10,
                false,
                timeouts);
    }

    static <T> T await(Future<T> future) {
        try {
            return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    RawClient raw() throws IOException {
        return new RawClient(port);
    }

    /** Sends one raw request on a connection of its own. */
    RawClient.Answer raw(String request) throws IOException {
        try (RawClient raw = raw()) {
            return raw.send(request).answer(!request.startsWith("HEAD"));
        }
    }

    /** A raw request without body. */
    RawClient.Answer ask(String method, String target, String... headers) throws IOException {
        return raw(head(method + " " + target, headers));
    }

    /** The head of a request without body. */
    static String head(String methodAndTarget, String... headers) {
        StringBuilder request = new StringBuilder(methodAndTarget + " HTTP/1.1\r\nHost: localhost\r\n");
        for (String header : headers) {
            request.append(header).append("\r\n");
        }
        return request.append("\r\n").toString();
    }

    RawClient.Answer get(String target, String... headers) throws IOException {
        return ask("GET", target, headers);
    }

    HttpResponse<String> post(String target, String contentType, String body) throws Exception {
        return client.send(
                HttpRequest.newBuilder(uri(target))
                        .header("Content-Type", contentType)
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
    }

    URI uri(String target) {
        return URI.create("http://127.0.0.1:" + port + target);
    }

    static JsonObject json(RawClient.Answer answer) {
        return new JsonObject(answer.text());
    }

    void stop() {
        await(vertx.undeploy(deployment));
    }

    FakeReads.FakeSubscription subscription() throws InterruptedException {
        FakeReads.@Nullable FakeSubscription subscription = reads.subscriptions.poll(10, TimeUnit.SECONDS);
        if (subscription == null) {
            throw new AssertionError("nobody subscribed");
        }
        return subscription;
    }

    @Override
    public void close() {
        await(vertx.close());
        if (!blocked.isEmpty()) {
            throw new AssertionError("an event loop was blocked: " + blocked);
        }
    }
}
