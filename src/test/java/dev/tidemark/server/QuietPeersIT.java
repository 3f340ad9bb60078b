package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Connections on which nothing happens for long, and peers that are gone. {@code -Dtidemark.quiet=full} takes nginx and the server with
 * their defaults, for five minutes; the build takes shorter times in the same proportion.
 */
@Tag("R38")
@Tag("failure-10")
class QuietPeersIT {
    private static final boolean FULL = "full".equals(System.getProperty("tidemark.quiet"));
    private static final int PING_SECONDS = FULL ? 20 : 2;
    /** API.md: a ping every 20 s, and 20 s to answer it. And some for a machine that does other things. */
    private static final int GONE_SECONDS_MAX = 2 * PING_SECONDS + 5;

    @TempDir
    Path dir;

    private ServerProcess start() {
        return ServerProcess.start(dir, Map.of("TIDEMARK_HTTP_WEBSOCKET_PING", PING_SECONDS + "s"));
    }

    @Test
    void idleSubscriptionsStayUpBehindNginx() throws Exception {
        // By default: nginx cuts after 60 s of silence, a heartbeat comes after 15 s, and 5 minutes pass.
        String timeouts = FULL ? "" : "proxy_read_timeout 4s;";
        String query = FULL ? "" : "heartbeat=1";
        int seconds = FULL ? 300 : 14;
        try (ServerProcess server = ServerProcess.start(dir);
                Nginx nginx = new Nginx(dir, server.url(), timeouts)) {
            Api api = server.api();
            assertEquals(201, api.put("s", "{}").status());
            // Without heartbeats in time nginx does cut: else this would show nothing.
            try (Crowd crowd = new Crowd(nginx.url().toString());
                    EventStream events = new EventStream(nginx.url(), "s", query);
                    EventStream mute = new EventStream(nginx.url(), "s", "heartbeat=60")) {
                Crowd.Member socket = crowd.join("s", query, Crowd.Pace.FAST);
                for (int second = 0; second < seconds; second++) {
                    Waiting.ms(1_000);
                    assertFalse(socket.gone() || events.ended(), "cut after " + second + " s: " + socket);
                }
                assertTrue(socket.heartbeats() >= seconds / (FULL ? 16 : 2), socket::toString);
                assertTrue(FULL || mute.ended(), "nginx cuts what is silent");
                assertEquals(201, api.append("s", List.of(Crowd.payload(0))).status());
                crowd.await("the event", 10, List.of(socket), member -> member.last() == 0);
                assertEquals(1, events.awaitEvents(1).size());
            }
            server.assertCleanLog();
        }
    }

    /** Passes everything on, until told to swallow it, in both directions, without closing anything. */
    private static final class SwallowingProxy extends TcpProxy {
        private final int target;
        private volatile boolean swallows;

        SwallowingProxy(int target) throws IOException {
            this.target = target;
            start();
        }

        @Override
        int target() {
            return target;
        }

        @Override
        void serve(Socket client, Socket server) throws IOException {
            run(() -> pass(client, server));
            pass(server, client);
        }

        private void pass(Socket from, Socket to) throws IOException {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            byte[] piece = new byte[16 << 10];
            for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
                if (!swallows) {
                    out.write(piece, 0, count);
                }
            }
            from.close();
            to.close();
        }
    }

    @Test
    void aPeerThatIsGoneIsClosedWithinTheBoundWhileEventsFlow() throws Exception {
        try (ServerProcess server = start();
                SwallowingProxy proxy =
                        new SwallowingProxy(URI.create(server.url()).getPort());
                Crowd direct = new Crowd(server.url());
                Crowd behind = new Crowd("http://127.0.0.1:" + proxy.port())) {
            Api api = server.api();
            assertEquals(201, api.put("s", "{}").status());
            Crowd.Member alive = direct.join("s", "", Crowd.Pace.FAST);
            Crowd.Member gone = behind.join("s", "", Crowd.Pace.FAST);
            direct.await("hello", 10, List.of(alive), Crowd.Member::greeted);
            behind.await("hello", 10, List.of(gone), Crowd.Member::greeted);
            long number = 0;
            assertEquals(2, subscribers(api));
            // It answers pings, and so it stays.
            for (int i = 0; i < 10 * (2 * PING_SECONDS + 3); i++) {
                assertEquals(
                        201, api.append("s", List.of(Crowd.payload(number++))).status());
                Waiting.ms(100);
            }
            assertEquals(2, subscribers(api));
            proxy.swallows = true;
            long goneNs = System.nanoTime();
            while (subscribers(api) == 2) {
                assertTrue(System.nanoTime() - goneNs < GONE_SECONDS_MAX * 1_000_000_000L, "still served");
                assertEquals(
                        201, api.append("s", List.of(Crowd.payload(number++))).status());
                Waiting.ms(100);
            }
            System.out.printf(
                    "with a ping every %d s: gone and closed after %.1f s%n",
                    PING_SECONDS, (System.nanoTime() - goneNs) / 1e9);
            long last = number - 1;
            direct.await("all events", 10, List.of(alive), member -> member.last() == last);
            assertEquals(number, alive.events(), alive::toString);
            assertEquals(0, alive.wrong(), alive::toString);
            server.assertCleanLog();
        }
    }

    private static int subscribers(Api api) {
        return (int) CrowdIT.figure(api.get("/metrics").text(), "tidemark_subscribers");
    }
}
