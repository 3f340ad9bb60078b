package dev.tidemark.server;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.ClientWebSocket;
import io.vertx.core.http.WebSocketClient;
import io.vertx.core.http.WebSocketClientOptions;
import io.vertx.core.http.WebSocketConnectOptions;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A WebSocket by Vert.x's client. The JDK's own (17) isn't of use here: it sometimes loses bytes that the server sends right behind the
 * handshake.
 */
final class VertxWebSocket implements AutoCloseable {
    /** The connection broke without a close frame. */
    static final int BROKEN = 1006;

    private static final int MESSAGE_BYTES_MAX = 64 << 20;
    private static final int CONNECT_SECONDS = 30;

    private static final WebSocketClient CLIENT = Vertx.vertx(new VertxOptions().setUseDaemonThread(true))
            .createWebSocketClient(new WebSocketClientOptions()
                    .setMaxFrameSize(MESSAGE_BYTES_MAX)
                    .setMaxMessageSize(MESSAGE_BYTES_MAX)
                    .setMaxConnections(10_000)
                    .setConnectTimeout(CONNECT_SECONDS * 1_000));

    private final ClientWebSocket socket = CLIENT.webSocket();

    /** Is told on one thread, one call after the other. */
    interface Listener {
        void message(String text);

        /** The last call. */
        void closed(int code, String reason);
    }

    private VertxWebSocket(Listener listener) {
        socket.textMessageHandler(listener::message);
        socket.exceptionHandler(failure -> {
            // the connection is closed then, which is told
        });
        socket.closeHandler(v -> {
            Short code = socket.closeStatusCode();
            String reason = socket.closeReason();
            listener.closed(code == null ? BROKEN : code, reason == null ? "" : reason);
        });
    }

    /**
     * Connects to a path of a server. Waits for it.
     *
     * @throws IOException if it can't be, or the server doesn't want it
     */
    static VertxWebSocket open(String url, String path, Listener listener) throws IOException {
        URI server = URI.create(url);
        VertxWebSocket opened = new VertxWebSocket(listener);
        try {
            var unused = opened.socket
                    .connect(new WebSocketConnectOptions()
                            .setHost(server.getHost())
                            .setPort(server.getPort())
                            .setURI(path)
                            .setAllowOriginHeader(false))
                    .await(CONNECT_SECONDS, TimeUnit.SECONDS);
            return opened;
        } catch (TimeoutException e) {
            throw new IOException(e);
        } catch (Exception e) { // await throws what failed, whatever it is
            throw new IOException(e);
        }
    }

    /** Ends it; returns at once. */
    @Override
    public void close() {
        socket.close().onComplete(closed -> {});
    }
}
