package dev.tidemark.server;

import dev.tidemark.event.Clock;
import dev.tidemark.http.Health;
import dev.tidemark.http.HttpEdge;
import dev.tidemark.http.HttpOptions;
import dev.tidemark.ingest.StreamIngest;
import dev.tidemark.read.StreamReads;
import dev.tidemark.retention.RetentionVerticle;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The HTTP edges of a server, one a processor, all on one port. {@link Assembly} owns it and deploys them last; {@link ServerStop} ends
 * them first. Any thread.
 */
final class Edges {
    /** Request bodies of one event loop may take this part of the heap. */
    private static final int BODIES_HEAP_PART = 16;

    private final Vertx vertx;
    private final Configuration configuration;
    private final Clock clock;
    private final List<HttpEdge> edges = new CopyOnWriteArrayList<>();

    Edges(Vertx vertx, Configuration configuration, Clock clock) {
        this.vertx = vertx;
        this.configuration = configuration;
        this.clock = clock;
    }

    /** The port they listen on; 0 before they do. */
    int port() {
        return edges.isEmpty() ? 0 : edges.get(0).port();
    }

    boolean isEmpty() {
        return edges.isEmpty();
    }

    /** They may still come. */
    List<HttpEdge> view() {
        return Collections.unmodifiableList(edges);
    }

    Future<Void> deploy(StreamIngest ingest, StreamReads reader, RetentionVerticle retention, Health health) {
        HttpOptions options = httpOptions();
        List<Future<String>> deployments = new ArrayList<>();
        for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
            HttpEdge edge = new HttpEdge(ingest, reader, retention, health, options, clock);
            edges.add(edge);
            deployments.add(vertx.deployVerticle(edge, new DeploymentOptions()));
        }
        return Future.all(deployments).mapEmpty();
    }

    private HttpOptions httpOptions() {
        HttpOptions built = HttpOptions.DEFAULT;
        Configuration.Http http = configuration.http();
        HttpOptions.Timeouts timeouts = built.timeouts();
        return new HttpOptions(
                http.host(),
                http.port(),
                http.hosts(),
                http.allowedOrigins(),
                configuration.limits(),
                built.requestLineBytesMax(),
                http.headerBytesMax(),
                Math.max(
                        Math.min(built.bodiesBytesMax(), Runtime.getRuntime().maxMemory() / BODIES_HEAP_PART),
                        configuration.limits().bodyBytesMax()),
                built.connectionsMax(),
                configuration.subscriberBufferBytes(),
                built.clientMessageBytesMax(),
                http.webSocketCompression(),
                new HttpOptions.Timeouts(
                        http.idleTimeoutMs(),
                        http.bodyTimeoutMs(),
                        timeouts.lingerMs(),
                        timeouts.heartbeatMs(),
                        http.webSocketPingMs(),
                        http.webSocketPingMs(),
                        timeouts.closeMs()));
    }

    /** Ends those that were deployed; completes when each has ended, or failed to. There must be some. */
    Future<Void> undeploy() {
        List<Future<Void>> ended = edges.stream()
                .map(HttpEdge::deploymentID)
                .map(id -> id == null ? Future.<Void>succeededFuture() : vertx.undeploy(id))
                .toList();
        return Future.join(ended).mapEmpty();
    }
}
