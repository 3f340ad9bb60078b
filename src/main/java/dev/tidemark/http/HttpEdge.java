package dev.tidemark.http;

import dev.tidemark.event.Clock;
import dev.tidemark.event.Problem;
import dev.tidemark.ingest.Ingest;
import dev.tidemark.read.Reads;
import dev.tidemark.retention.FoldRequests;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketServerExtensionHandler;
import io.netty.handler.codec.http.websocketx.extensions.compression.PerMessageDeflateServerExtensionHandshaker;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.impl.HttpServerConnection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.zip.Deflater;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP edge: one verticle an event loop, all on the same port. It checks where a request comes from and goes to, watches deadlines,
 * and hands requests to {@link Routes}. Whatever it holds belongs to its event loop.
 */
public final class HttpEdge extends VerticleBase {
    private static final int MAX_WINDOW_SIZE = PerMessageDeflateServerExtensionHandshaker.MAX_WINDOW_SIZE;
    private static final Logger LOG = LoggerFactory.getLogger(HttpEdge.class);
    private static final long TICK_MS = 100;
    /** Ticks after the last client has left: figures of what was open become zero meanwhile. */
    private static final int QUIET_TICKS_MAX = 20;

    private static final long NOT_TICKING = -1;
    /** Pieces of a body as they come from the decoder. */
    private static final int BODY_PIECE_BYTES = 64 << 10;

    private static final RequestTarget NOWHERE = new RequestTarget("/", List.of(), null, null);
    private final HttpOptions options;
    private final Clock clock;
    private final Admission admission;
    private final Body.Budget bodies;
    private final FollowRoutes follow;
    private final Routes routes;
    private final IdentityHashMap<HttpConnection, Peer> peers = new IdentityHashMap<>();

    private @Nullable HttpServer server;
    private boolean stopping;
    private long ticks = NOT_TICKING;
    private int quietTicks;

    /**
     * An edge for one event loop; the ports may be shared by several.
     *
     * @throws IllegalArgumentException naming an option that is wrong
     */
    public HttpEdge(Ingest ingest, Reads reads, FoldRequests folds, Health health, HttpOptions options, Clock clock) {
        this.options = options;
        this.clock = clock;
        admission = new Admission(new OriginCheck(options.host(), options.hosts(), options.allowedOrigins()));
        bodies = new Body.Budget(options.bodiesBytesMax());
        follow = new FollowRoutes(reads, options, clock);
        routes = new Routes(
                new AppendRoute(ingest, options.limits()),
                new TailRoute(reads, options.limits()),
                new ReadRoute(reads, options.limits()),
                new StreamRoutes(ingest, reads, folds),
                new HealthRoutes(health),
                follow,
                new VerifyRoute(reads, clock),
                new AuditRoute(reads));
    }

    HttpOptions options() {
        return options;
    }

    Body.Budget bodies() {
        return bodies;
    }

    /** What its followers were given. Any thread. */
    public FollowFigures followFigures() {
        return follow.figures();
    }

    /** The port it listens on, once started. */
    public int port() {
        return server == null ? 0 : server.actualPort();
    }

    @Override
    public Future<?> start() {
        HttpServer starting = vertx.createHttpServer(serverOptions());
        server = starting;
        starting.connectionHandler(this::connected);
        starting.requestHandler(this::handle);
        starting.invalidRequestHandler(this::handleInvalid);
        starting.exceptionHandler(e -> LOG.debug("a connection failed before its first request", e));
        return starting.listen();
    }

    private HttpServerOptions serverOptions() {
        return new HttpServerOptions()
                .setHost(options.host())
                // A negative port is a free one that all edges of this Vert.x share.
                .setPort(options.port() == 0 ? -1 : options.port())
                .setAcceptBacklog(1_024)
                .setTcpKeepAlive(true)
                .setTcpNoDelay(true)
                .setStrictThreadMode(true)
                .setHttp2ClearTextEnabled(false)
                .setHandle100ContinueAutomatically(false)
                .setDecompressionSupported(false)
                .setCompressionSupported(false)
                .setMaxInitialLineLength(options.requestLineBytesMax())
                .setMaxHeaderSize(options.headerBytesMax())
                .setMaxChunkSize(BODY_PIECE_BYTES)
                .setWebSocketSubProtocols(List.of("tidemark.v1"))
                .setPerMessageWebSocketCompressionSupported(options.webSocketCompression())
                .setPerFrameWebSocketCompressionSupported(false)
                .setMaxWebSocketFrameSize(options.clientMessageBytesMax())
                .setMaxWebSocketMessageSize(options.clientMessageBytesMax())
                // We cut off ourselves who doesn't close; this is only a net under that.
                .setWebSocketClosingTimeout((int) (1 + options.timeouts().closeMsMax() / 1_000));
    }

    // ---- connections

    private void connected(HttpConnection connection) {
        if (peers.size() + follow.openSockets() >= options.connectionsMax()) {
            connection.close();
            return;
        }
        if (options.webSocketCompression()) {
            offerCompression(connection);
        }
        peers.put(connection, new Peer(connection, options.timeouts(), clock));
        quietTicks = 0;
        if (ticks == NOT_TICKING) {
            ticks = vertx.setPeriodic(TICK_MS, id -> tick());
        }
        connection.closeHandler(v -> peers.remove(connection));
        connection.exceptionHandler(HttpEdge::connectionFailed);
    }

    /** That clients go away is nothing to tell; that there is no memory for one is. */
    private static void connectionFailed(Throwable cause) {
        if (cause instanceof Error) {
            LOG.error("a connection failed", cause);
        } else {
            LOG.debug("a connection failed", cause);
        }
    }

    /** As Vert.x would have done, but with a bound for what a message of a client may become. */
    private void offerCompression(HttpConnection connection) {
        var handshaker = new PerMessageDeflateServerExtensionHandshaker(
                Deflater.BEST_SPEED, false, MAX_WINDOW_SIZE, true, true, options.clientMessageBytesMax());
        ((HttpServerConnection) connection)
                .channelHandlerContext()
                .pipeline()
                .replace(
                        WebSocketServerExtensionHandler.class,
                        "webSocketExtensionHandler",
                        new WebSocketServerExtensionHandler(handshaker));
    }

    /** It isn't an HTTP connection any more. */
    void forget(Peer peer) {
        peers.remove(peer.connection());
    }

    private void tick() {
        long nowNs = clock.monotonicNs();
        for (Peer peer : List.copyOf(peers.values())) {
            peer.tick(nowNs);
        }
        follow.tick(nowNs);
        // An edge without clients isn't woken.
        boolean quiet = peers.isEmpty() && follow.openSockets() == 0;
        quietTicks = quiet ? quietTicks + 1 : 0;
        if (quietTicks > QUIET_TICKS_MAX) {
            vertx.cancelTimer(ticks);
            ticks = NOT_TICKING;
        }
    }

    // ---- requests

    private void handle(HttpServerRequest request) {
        Peer peer = peers.get(request.connection());
        if (peer == null || peer.ending()) {
            return;
        }
        RequestTarget target = NOWHERE;
        Problem wrong = null;
        try {
            target = RequestTarget.parse(request.uri());
        } catch (Problem e) {
            wrong = e;
        }
        Exchange exchange = begin(peer, request, target);
        if (wrong != null) {
            exchange.refuse(wrong);
        } else {
            exchange.guard(() -> {
                if (stopping && !routes.answersWhileStopping(exchange)) {
                    exchange.refuseAndClose(ProblemJson.of(
                            Problem.unavailable(Problem.Stored.NO, "the server is stopping; nothing was stored")));
                } else if (admission.admits(exchange)) {
                    routes.handle(exchange);
                }
            });
        }
    }

    private Exchange begin(Peer peer, HttpServerRequest request, RequestTarget target) {
        Exchange exchange = new Exchange(this, peer, request, target, clock.monotonicNs());
        peer.begin(exchange);
        return exchange;
    }

    /** What the decoder couldn't make a request of. Vert.x closes the connection after the answer. */
    private void handleInvalid(HttpServerRequest request) {
        Peer peer = peers.get(request.connection());
        if (peer == null || peer.ending()) {
            return;
        }
        Exchange exchange = begin(peer, request, NOWHERE);
        Throwable cause = request.decoderResult().cause();
        ProblemJson problem;
        if (cause instanceof TooLongHttpLineException) {
            problem = ProblemJson.of(
                    Refusal.URL_TOO_LONG,
                    "the request line is longer than " + options.requestLineBytesMax() + " bytes");
        } else if (cause instanceof TooLongHttpHeaderException) {
            problem = ProblemJson.of(
                    Refusal.HEADERS_TOO_LARGE, "the headers are larger than " + options.headerBytesMax() + " bytes");
        } else {
            problem = ProblemJson.of(Refusal.MALFORMED, "this isn't a request of HTTP/1.1");
        }
        exchange.response().putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
        exchange.refuse(problem);
    }

    // ---- the end

    /**
     * Takes no new request, tells followers where to resume, waits for the answers under way, and closes: within the close timeout.
     */
    @Override
    public Future<?> stop() {
        stopping = true;
        follow.stop();
        Promise<Void> quiet = Promise.promise();
        awaitQuiet(quiet, clock.monotonicNs() + options.timeouts().closeMs() * 1_000_000);
        return quiet.future().eventually(() -> {
            follow.kill();
            return server == null ? Future.succeededFuture() : server.close();
        });
    }

    private void awaitQuiet(Promise<Void> quiet, long untilNs) {
        boolean busy = follow.openSockets() > 0 || peers.values().stream().anyMatch(Peer::busy);
        if (!busy || clock.monotonicNs() - untilNs >= 0) {
            quiet.complete();
        } else {
            vertx.setTimer(10, id -> awaitQuiet(quiet, untilNs));
        }
    }
}
