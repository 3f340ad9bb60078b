package dev.tidemark.http;

import dev.tidemark.event.Clock;
import dev.tidemark.event.Problem;
import dev.tidemark.event.StreamName;
import dev.tidemark.read.Reads;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.ServerWebSocket;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Following a stream over WebSocket or as an event stream: starts sessions and keeps those of this event loop. */
final class FollowRoutes {
    private static final int KEY_BYTES = 16;

    private final Reads reads;
    private final HttpOptions options;
    private final Clock clock;
    private final FollowFigures figures = new FollowFigures();
    private final SharedEncoding shared = new SharedEncoding(figures);
    private final Turns<FollowSession> sessions = new Turns<>();
    private final Turns<WebSocketOutput> sockets = new Turns<>();
    private long waitingBytes;
    private boolean stopping;

    FollowRoutes(Reads reads, HttpOptions options, Clock clock) {
        this.reads = reads;
        this.options = options;
        this.clock = clock;
    }

    // ---- WebSocket

    /** Upgrades first: whatever is wrong with the request is said on the WebSocket, because browsers can't see anything else. */
    void webSocket(Exchange exchange, String rawName) {
        String missing = whatTheUpgradeLacks(exchange);
        if (missing != null) {
            exchange.response().putHeader("upgrade", "websocket");
            exchange.response().putHeader("sec-websocket-version", "13");
            exchange.refuse(ProblemJson.of(Refusal.UPGRADE_REQUIRED, missing));
            return;
        }
        checkTarget(exchange);
        exchange.request().toWebSocket().onComplete(upgraded -> {
            if (upgraded.succeeded()) {
                exchange.upgraded();
                opened(exchange, upgraded.result(), rawName);
            } else {
                exchange.cut();
            }
        });
    }

    private static @Nullable String whatTheUpgradeLacks(Exchange exchange) {
        String connection = String.join(",", exchange.request().headers().getAll("connection"));
        String upgrade = exchange.header("upgrade");
        boolean asked = exchange.method().equals(HttpMethod.GET)
                && exchange.request().version() == HttpVersion.HTTP_1_1
                && upgrade != null
                && upgrade.trim().equalsIgnoreCase("websocket")
                && List.of(connection.toLowerCase(Locale.ROOT).split("\\s*,\\s*", -1))
                        .contains("upgrade");
        if (!asked) {
            return "this is a WebSocket; for a stream over plain HTTP use …/events with Accept: text/event-stream";
        }
        if (!"13".equals(exchange.header("sec-websocket-version"))) {
            return "the WebSocket version must be 13";
        }
        return isKey(exchange.header("sec-websocket-key")) ? null : "Sec-WebSocket-Key must be 16 bytes in base64";
    }

    /** Vert.x's handshake parses the target strictly and would answer in its own words. */
    private static void checkTarget(Exchange exchange) {
        try {
            var unused = new URI(exchange.request().uri());
        } catch (URISyntaxException e) {
            throw Problem.badRequest("the request target isn't a URI; percent-encode what doesn't belong in one")
                    .causedBy(e);
        }
    }

    private static boolean isKey(@Nullable String key) {
        try {
            return key != null && Base64.getDecoder().decode(key.trim()).length == KEY_BYTES;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private void opened(Exchange exchange, ServerWebSocket socket, String rawName) {
        FollowParameters parameters = null;
        StreamName name = null;
        Problem wrong = null;
        try {
            name = new StreamName(RequestTarget.decode(rawName, "stream", false));
            parameters = FollowParameters.ofWebSocket(
                    exchange.target().query(), options.timeouts().heartbeatMs());
        } catch (Problem e) {
            wrong = e;
        }
        boolean batch = parameters != null && parameters.batch();
        WebSocketOutput output = new WebSocketOutput(socket, shared, batch, options, clock);
        sockets.add(output);
        if (name == null || parameters == null) {
            socket.closeHandler(v -> sockets.remove(output));
            output.fail(ProblemJson.of(wrong == null ? Problem.badRequest("malformed") : wrong), null);
            return;
        }
        FollowSession session = new FollowSession(output, parameters, figures, sessions::remove);
        sessions.add(session);
        socket.closeHandler(v -> {
            sockets.remove(output);
            session.gone();
        });
        output.onDrained(session::drained);
        new ClientMessages(output, session, options.clientMessageBytesMax()).listenTo(socket);
        start(session, name);
    }

    // ---- event stream

    void serverSentEvents(Exchange exchange, StreamName name) {
        FollowParameters parameters = FollowParameters.ofEventStream(
                exchange.target().query(),
                exchange.onlyHeader("Last-Event-ID"),
                options.timeouts().heartbeatMs());
        EventStreamOutput output = new EventStreamOutput(exchange, shared, clock);
        FollowSession session = new FollowSession(output, parameters, figures, sessions::remove);
        sessions.add(session);
        exchange.onAbandoned(session::gone);
        output.onDrained(session::drained);
        start(session, name);
    }

    private void start(FollowSession session, StreamName name) {
        if (stopping) {
            session.refuse();
            return;
        }
        try {
            session.start(reads, name);
        } catch (RuntimeException e) {
            session.fail(e, null);
        }
    }

    // ---- all of them

    /** WebSockets that are open or closing. */
    int openSockets() {
        return sockets.size();
    }

    FollowFigures figures() {
        return figures;
    }

    void tick(long nowNs) {
        // What was encoded is for those who asked in the same moment; nothing that memory may want is held on to.
        shared.clear();
        for (WebSocketOutput socket : sockets.next()) {
            waitingBytes += socket.waitingBytes();
            socket.tick(nowNs);
        }
        if (sockets.roundIsOver()) {
            figures.waiting(waitingBytes);
            waitingBytes = 0;
        }
        for (FollowSession session : sessions.next()) {
            session.tick(nowNs);
        }
    }

    /** Tells every follower where to resume, and closes. */
    void stop() {
        stopping = true;
        for (FollowSession session : sessions.all()) {
            session.stop();
        }
    }

    /** Ends what is still there. */
    void kill() {
        for (WebSocketOutput socket : sockets.all()) {
            socket.kill();
        }
        shared.close();
    }
}
