package dev.tidemark.server;

import dev.tidemark.archive.StreamRecord;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.function.BooleanSupplier;

/**
 * The first reads of a process load and compile much: a few streams are read, by the way that clients take, before one of them has to
 * wait for that.
 */
final class WarmUp {
    private static final int STREAMS = 6;
    private static final long MS_MAX = 700;

    private final HttpClient client;
    private final String host;
    private final int port;
    private final Deque<StreamRecord> left;
    private final BooleanSupplier stopping;

    private WarmUp(HttpClient client, String host, int port, Deque<StreamRecord> left, BooleanSupplier stopping) {
        this.client = client;
        this.host = host;
        this.port = port;
        this.left = left;
        this.stopping = stopping;
    }

    /** Reads some of the streams from the server that listens there; completes soon, whatever comes of it. */
    static Future<Void> run(
            Vertx vertx, String host, int port, Collection<StreamRecord> streams, BooleanSupplier stopping) {
        Deque<StreamRecord> some =
                new ArrayDeque<>(streams.stream().limit(STREAMS).toList());
        HttpClient client = vertx.createHttpClient();
        WarmUp warmUp = new WarmUp(client, host, port, some, stopping);
        return Future.any(warmUp.next(), vertx.timer(MS_MAX))
                .eventually(client::close)
                .mapEmpty();
    }

    private Future<?> next() {
        StreamRecord stream = left.poll();
        if (stream == null || stopping.getAsBoolean()) {
            return Future.succeededFuture();
        }
        String name = URLEncoder.encode(stream.id().name().value(), StandardCharsets.UTF_8)
                .replace("+", "%20");
        return client.request(HttpMethod.GET, port, host, "/v1/streams/" + name + "/tail")
                .compose(HttpClientRequest::send)
                .compose(HttpClientResponse::body)
                .transform(read -> next());
    }
}
