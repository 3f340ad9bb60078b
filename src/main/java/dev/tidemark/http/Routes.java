package dev.tidemark.http;

import dev.tidemark.event.EventId;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Problem.Kind;
import dev.tidemark.event.StreamName;
import io.vertx.core.http.HttpMethod;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Leads an exchange to what its path and method ask for. Paths match raw; a name is decoded once, here. */
final class Routes {
    private static final String METHODS = "GET, HEAD, PUT, POST, DELETE, OPTIONS";
    private static final String HOME_TEXT = """
            Tidemark: event streams that never lose their past.

              POST /v1/streams/{stream}/events      append
              GET  /v1/streams/{stream}/tail?n=10   the last N
              GET  /v1/streams/{stream}/events      read a range (JSON, or NDJSON by Accept)
              GET  /v1/streams/{stream}/subscribe   follow (WebSocket; or SSE on /events by Accept)
              GET  /v1/streams                      list
              GET  /health/ready                    how the server is
              GET  /metrics                         figures for Prometheus
            """;

    private final AppendRoute append;
    private final TailRoute tail;
    private final ReadRoute read;
    private final StreamRoutes streams;
    private final HealthRoutes health;
    private final FollowRoutes follow;
    private final VerifyRoute verify;
    private final AuditRoute audit;

    Routes(
            AppendRoute append,
            TailRoute tail,
            ReadRoute read,
            StreamRoutes streams,
            HealthRoutes health,
            FollowRoutes follow,
            VerifyRoute verify,
            AuditRoute audit) {
        this.append = append;
        this.tail = tail;
        this.read = read;
        this.streams = streams;
        this.health = health;
        this.follow = follow;
        this.verify = verify;
        this.audit = audit;
    }

    /** Host and origin have been checked. */
    void handle(Exchange exchange) {
        List<String> segments = exchange.target().segments();
        Resource resource = Resource.of(segments);
        HttpMethod method = exchange.method();
        if (method.equals(HttpMethod.OPTIONS) && exchange.target().path().equals("*")) {
            allow(exchange, METHODS);
        } else if (resource == null) {
            throw notFound(exchange);
        } else if (method.equals(HttpMethod.OPTIONS)) {
            allow(exchange, resource.allowed());
        } else if (!resource.allows(method)) {
            exchange.response().putHeader("allow", resource.allowed());
            throw new Problem(
                    Kind.METHOD_NOT_ALLOWED,
                    "method " + Problem.quote(method.name()) + " isn't allowed here; allowed are "
                            + resource.allowed());
        } else if (resource == Resource.SUBSCRIBE) {
            follow.webSocket(exchange, segments.get(Resource.NAME_SEGMENT));
        } else if (resource.ofStream()) {
            ofStream(exchange, resource, name(segments));
        } else {
            ofServer(exchange, resource);
        }
    }

    /** What can be said while the server stops, without touching a stream: how it is, and to followers that they shall come again. */
    boolean answersWhileStopping(Exchange exchange) {
        Resource resource = Resource.of(exchange.target().segments());
        if (resource == null || !exchange.method().equals(HttpMethod.GET)) {
            return false;
        }
        return switch (resource) {
            case LIVE, READY, METRICS, SUBSCRIBE -> true;
            case EVENTS -> Accept.of(exchange.header("accept")) == Accept.EVENT_STREAM;
            default -> false;
        };
    }

    private void ofServer(Exchange exchange, Resource resource) {
        switch (resource) {
            case HOME -> health.text(exchange, HOME_TEXT);
            case LIVE -> health.live(exchange);
            case READY -> health.ready(exchange);
            case METRICS -> health.metrics(exchange);
            default -> streams.list(exchange);
        }
    }

    private void ofStream(Exchange exchange, Resource resource, StreamName name) {
        switch (resource) {
            case EVENTS -> events(exchange, name);
            case TAIL -> tail.handle(exchange, name);
            case EVENT -> read.event(exchange, name, id(exchange.target().segments()));
            case SEAM -> streams.seam(exchange, name);
            case FOLD -> streams.fold(exchange, name);
            case AUDIT -> audit.handle(exchange, name);
            case VERIFY -> verify.handle(exchange, name);
            default -> stream(exchange, name);
        }
    }

    private void events(Exchange exchange, StreamName name) {
        if (exchange.method().equals(HttpMethod.POST)) {
            append.handle(exchange, name);
            return;
        }
        Accept form = Accept.of(exchange.header("accept"));
        if (form == Accept.EVENT_STREAM && !exchange.isHead()) {
            follow.serverSentEvents(exchange, name);
        } else {
            read.range(exchange, name, form);
        }
    }

    private void stream(Exchange exchange, StreamName name) {
        if (exchange.method().equals(HttpMethod.PUT)) {
            streams.put(exchange, name);
        } else if (exchange.method().equals(HttpMethod.DELETE)) {
            streams.delete(exchange, name);
        } else {
            streams.show(exchange, name);
        }
    }

    private static void allow(Exchange exchange, String methods) {
        exchange.response().putHeader("allow", methods);
        exchange.empty(204);
    }

    private static StreamName name(List<String> segments) {
        return new StreamName(RequestTarget.decode(segments.get(Resource.NAME_SEGMENT), "stream", false));
    }

    private static EventId id(List<String> segments) {
        return EventId.parse(RequestTarget.decode(segments.get(Resource.ID_SEGMENT), "id", false));
    }

    /** A bad name is said before a bad rest of the path, so that it is a bad request wherever it is used. */
    private static Problem notFound(Exchange exchange) {
        List<String> segments = exchange.target().segments();
        @Nullable StreamName name = Resource.belowStream(segments) ? name(segments) : null;
        return Problem.notFound(
                "there is nothing at " + Problem.quote(exchange.target().path())
                        + (name == null ? "" : "; a '/' in a stream's name is written %2F"));
    }
}
