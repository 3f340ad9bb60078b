package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.http.RawClient;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What pages of other sites get to see: nothing, unless the configuration names them. */
@Tag("R51")
class OtherPagesIT {
    private static final String ALLOWED = "https://app.example.org";

    @RegisterExtension
    static final RunningServer SERVER = new RunningServer(Map.of(
            "TIDEMARK_HTTP_ALLOWED_ORIGINS",
            ALLOWED + ",http://other.example:8080",
            "TIDEMARK_HTTP_HOSTS",
            "log.example.org"));

    private static final String UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";

    private static int port() {
        return URI.create(SERVER.url()).getPort();
    }

    private static RawClient.Answer ask(String line, String host, String headers) throws IOException {
        try (RawClient client = new RawClient(port())) {
            return client.send(line + " HTTP/1.1\r\nHost: " + host + "\r\n" + headers + "\r\n")
                    .answer();
        }
    }

    private static int webSocket(String host, String origin) throws IOException {
        return ask("GET /v1/streams/s/subscribe", host, UPGRADE + origin).status();
    }

    /** Ours as written in the address bar, and the ones that the configuration names. */
    private static List<String> welcome() {
        return List.of(
                "http://localhost:" + port(),
                "HTTP://LOCALHOST:" + port(),
                ALLOWED,
                ALLOWED + ":443",
                "http://other.example:8080");
    }

    private static List<String> foreign() {
        return List.of(
                "null",
                "https://evil.example",
                // The allowed name as prefix, as suffix, in another scheme, on another port, in another place.
                ALLOWED + ".evil.example",
                "https://evil-app.example.org",
                "https://evilapp.example.org",
                "https://app.example.org.",
                "http://app.example.org",
                ALLOWED + ":8443",
                "http://other.example",
                "http://other.example:80808",
                "https://evil.example/" + ALLOWED,
                ALLOWED + "@evil.example",
                // Ours on another port or scheme.
                "http://localhost",
                "http://localhost:1",
                "https://localhost:" + port(),
                "http://localhost.evil.example:" + port(),
                "http://127.0.0.1:" + port());
    }

    @Test
    void webSocketsAreOpenedForToolsOurOwnPagesAndThoseNamed() throws IOException {
        assertEquals(101, webSocket("localhost:" + port(), ""), "tools send no Origin");
        for (String origin : welcome()) {
            assertEquals(101, webSocket("localhost:" + port(), "Origin: " + origin + "\r\n"), origin);
        }
        for (String origin : foreign()) {
            assertEquals(403, webSocket("localhost:" + port(), "Origin: " + origin + "\r\n"), origin);
        }
    }

    @Test
    void plainRequestsAndEventStreamsAreHeldToTheSame() throws IOException {
        assertTrue(List.of(200, 201).contains(SERVER.api().put("s", "{}").status()));
        String host = "localhost:" + port();
        for (String origin : foreign()) {
            String header = "Origin: " + origin + "\r\n";
            assertEquals(403, ask("GET /v1/streams", host, header).status(), origin);
            assertEquals(
                    403,
                    ask("GET /v1/streams/s/events", host, header + "Accept: text/event-stream\r\n")
                            .status());
            RawClient.Answer append = ask("POST /v1/streams/s/events", host, header + "Content-Length: 0\r\n");
            assertEquals(403, append.status(), origin);
            assertEquals("", append.header("access-control-allow-origin"));
        }
        for (String origin : welcome()) {
            RawClient.Answer answer = ask("GET /v1/streams", host, "Origin: " + origin + "\r\n");
            assertEquals(200, answer.status(), origin);
        }
        RawClient.Answer allowed = ask("GET /v1/streams", host, "Origin: " + ALLOWED + "\r\n");
        assertEquals(ALLOWED, allowed.header("access-control-allow-origin"));
        assertEquals("Origin", allowed.header("vary"));
    }

    @Test
    void preflightsAreAnsweredForThoseNamedOnly() throws IOException {
        String asks = "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n";
        String host = "localhost:" + port();
        RawClient.Answer allowed = ask("OPTIONS /v1/streams/s/events", host, "Origin: " + ALLOWED + "\r\n" + asks);
        assertEquals(204, allowed.status());
        assertEquals(ALLOWED, allowed.header("access-control-allow-origin"));
        assertTrue(allowed.header("access-control-allow-methods").contains("POST"));
        for (String origin : foreign()) {
            RawClient.Answer refused = ask("OPTIONS /v1/streams/s/events", host, "Origin: " + origin + "\r\n" + asks);
            assertEquals(403, refused.status(), origin);
            assertEquals("", refused.header("access-control-allow-origin"));
        }
    }

    @Test
    void namesThatOthersLetPointHereAreRefusedOnWebSocketToo() throws IOException {
        for (String host :
                List.of("evil.example", "localhost.evil.example:" + port(), "log.example.org.evil.example")) {
            assertEquals(403, webSocket(host, ""), host);
            assertEquals(403, webSocket(host, "Origin: http://" + host + "\r\n"), "its own page: " + host);
            assertEquals(403, ask("GET /health/live", host, "").status(), host);
        }
        assertEquals(101, webSocket("log.example.org", "Origin: http://log.example.org\r\n"));
    }
}
