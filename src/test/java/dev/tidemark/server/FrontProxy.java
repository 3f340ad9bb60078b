package dev.tidemark.server;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * A proxy whose port stays while the server behind it comes and goes. Fault model: a connection is cut after so many bytes to the
 * client as the test draws for it, wherever in a frame, line or head that is; bytes before the cut arrive. On demand it answers 502 to
 * everything, as a front server does whose back is away.
 */
final class FrontProxy extends TcpProxy {
    private final Supplier<String> server;
    private final HttpServer away;
    private final AtomicInteger cuts = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private volatile IntSupplier bytesUntilCut = () -> Integer.MAX_VALUE;
    private volatile boolean badGateway;

    /** @param server URL of the server as it runs now */
    FrontProxy(Supplier<String> server) throws IOException {
        this.server = server;
        away = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        away.createContext("/", exchange -> {
            refused.incrementAndGet();
            // Or a client would go on asking on this connection.
            exchange.getResponseHeaders().set("Connection", "close");
            exchange.sendResponseHeaders(502, -1);
            exchange.close();
        });
        away.start();
        start();
    }

    String url() {
        return "http://" + authority();
    }

    String authority() {
        return "127.0.0.1:" + port();
    }

    /** From now on each new connection is cut after as many bytes as are drawn for it. */
    void cutAfter(IntSupplier bytes) {
        bytesUntilCut = bytes;
    }

    /** Whether new connections get 502. */
    void badGateway(boolean on) {
        badGateway = on;
    }

    /** Connections that were cut so far. */
    int cuts() {
        return cuts.get();
    }

    /** Requests that got 502 so far. */
    int refused() {
        return refused.get();
    }

    @Override
    int target() {
        return badGateway
                ? away.getAddress().getPort()
                : URI.create(server.get()).getPort();
    }

    @Override
    void serve(Socket client, Socket server) throws IOException {
        int left = bytesUntilCut.getAsInt();
        run(() -> {
            try (server) {
                client.getInputStream().transferTo(server.getOutputStream());
            }
        });
        InputStream from = server.getInputStream();
        byte[] buffer = new byte[16 << 10];
        for (int length = from.read(buffer); length >= 0; length = from.read(buffer)) {
            client.getOutputStream().write(buffer, 0, Math.min(left, length));
            left -= length;
            if (left <= 0) {
                cuts.incrementAndGet();
                return;
            }
        }
    }

    @Override
    public void close() {
        super.close();
        away.stop(0);
    }
}
