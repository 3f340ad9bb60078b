package dev.tidemark.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Other web pages and names that lead here. */
@Tag("R51")
class OriginIT {
    private final EdgeFixture edge = new EdgeFixture(EdgeFixture.options(
            EdgeFixture.SMALL,
            HttpOptions.Timeouts.DEFAULT,
            List.of("log.example.org", "tide.example.org:9000"),
            List.of("https://app.example.org", "http://other.example:8080"),
            1 << 20));

    @AfterEach
    void close() {
        edge.close();
    }

    private int statusWithHost(String version, String... hostLines) throws Exception {
        StringBuilder request = new StringBuilder("GET /health/live HTTP/" + version + "\r\n");
        for (String host : hostLines) {
            request.append(host).append("\r\n");
        }
        return edge.raw(request.append("\r\n").toString()).status();
    }

    @Test
    void hostsThatAreOursAreAnswered() throws Exception {
        for (String host : List.of(
                "localhost",
                "localhost:" + edge.port,
                "LOCALHOST:1",
                "127.0.0.1",
                "127.0.0.1:99",
                "127.1.2.3",
                "[::1]",
                "[::1]:8440",
                "log.example.org",
                "LOG.example.org:77",
                "tide.example.org:9000")) {
            assertEquals(200, statusWithHost("1.1", "Host: " + host), host);
        }
        assertEquals(200, statusWithHost("1.0"));
    }

    @Test
    void otherHostsAreRefused() throws Exception {
        for (String host : List.of(
                "evil.example",
                "localhost.evil.example",
                "evil-localhost",
                "log.example.org.evil.example",
                "xlog.example.org",
                "tide.example.org",
                "tide.example.org:9001",
                "127.0.0.1.evil.example",
                "128.0.0.1",
                "127.0.0.256",
                "127.0.0",
                "[::2]",
                "0.0.0.0",
                "10.0.0.1",
                "localhost.")) {
            assertEquals(403, statusWithHost("1.1", "Host: " + host), host);
        }
        for (String host :
                List.of("", "a b", "localhost:x", "localhost:99999", "user@localhost", "[::1", "[]", "a/b")) {
            assertEquals(400, statusWithHost("1.1", "Host: " + host), host);
        }
        assertEquals(400, statusWithHost("1.1"));
        assertEquals(400, statusWithHost("1.1", "Host: localhost", "Host: localhost"));
        assertEquals(403, statusWithHost("1.0", "Host: evil.example"));
    }

    private int statusWithOrigin(String method, String origin) throws Exception {
        return edge.ask(method, "/v1/streams", "Origin: " + origin).status();
    }

    @Test
    void foreignOriginsAreRefusedOnEveryMethod() throws Exception {
        for (String origin : List.of(
                "null",
                "http://evil.example",
                "https://localhost",
                "http://localhost:3000",
                "http://127.0.0.1",
                "https://app.example.org.evil.example",
                "https://xapp.example.org",
                "http://app.example.org",
                "https://app.example.org:444",
                "http://other.example",
                "https://app.example.org/",
                "",
                "localhost",
                "https://app.example.org@evil.example",
                "https://evil.example/https://app.example.org",
                "https://app.example.org https://app.example.org",
                "file://")) {
            for (String method : List.of("GET", "POST", "PUT", "DELETE", "OPTIONS", "TRACE")) {
                assertEquals(403, statusWithOrigin(method, origin), method + " " + origin);
            }
        }
        assertEquals(
                400,
                edge.get("/v1/streams", "Origin: https://app.example.org", "Origin: https://app.example.org")
                        .status());
    }

    @Test
    void ownAndAllowedOriginsAndNoneAreAnswered() throws Exception {
        assertEquals(200, statusWithOrigin("GET", "http://localhost"));
        assertEquals(200, edge.get("/v1/streams").status());
        var own = edge.raw("GET /v1/streams HTTP/1.1\r\nHost: 127.0.0.1:" + edge.port + "\r\nOrigin: http://127.0.0.1:"
                + edge.port + "\r\n\r\n");
        assertEquals(200, own.status());
        assertEquals("", own.header("access-control-allow-origin"));
        for (String origin :
                List.of("https://app.example.org", "https://APP.example.org:443", "http://other.example:8080")) {
            var answer = edge.get("/v1/streams", "Origin: " + origin);
            assertEquals(200, answer.status(), origin);
            assertEquals(origin, answer.header("access-control-allow-origin"));
            assertEquals("Origin", answer.header("vary"));
        }
        var refused = edge.get("/v1/streams/none", "Origin: https://app.example.org");
        assertEquals(404, refused.status());
        assertEquals("https://app.example.org", refused.header("access-control-allow-origin"));
    }

    @Test
    void preflightsOfAllowedOriginsAreAnswered() throws Exception {
        var allowed = edge.ask(
                "OPTIONS",
                "/v1/streams/s/events",
                "Origin: https://app.example.org",
                "Access-Control-Request-Method: POST",
                "Access-Control-Request-Headers: content-type, event-time");
        assertEquals(204, allowed.status());
        assertEquals("https://app.example.org", allowed.header("access-control-allow-origin"));
        assertTrue(allowed.header("access-control-allow-methods").contains("POST"));
        assertTrue(allowed.header("access-control-allow-headers").contains("Event-Time"));
        var foreign = edge.ask(
                "OPTIONS", "/v1/streams", "Origin: https://evil.example", "Access-Control-Request-Method: GET");
        assertEquals(403, foreign.status());
        assertEquals("", foreign.header("access-control-allow-origin"));
    }

    @Test
    void webSocketsOfForeignPagesAreRefusedBeforeTheUpgrade() throws Exception {
        edge.reads.stream("s");
        for (String origin : List.of("null", "http://evil.example", "http://localhost:1")) {
            try (RawWebSocket socket = new RawWebSocket(edge.port, "/v1/streams/s/subscribe", "Origin: " + origin)) {
                assertEquals(403, socket.raw.answer().status());
            }
        }
        for (String origin : List.of("http://localhost:" + edge.port, "https://app.example.org")) {
            try (RawWebSocket socket = new RawWebSocket(edge.port, "/v1/streams/s/subscribe", "Origin: " + origin)) {
                assertEquals(101, socket.raw.answer().status());
            }
        }
        try (RawClient raw = edge.raw()) {
            raw.send(String.join(
                    "\r\n",
                    "GET /v1/streams/s/subscribe HTTP/1.1",
                    "Host: evil.example",
                    "Connection: Upgrade",
                    "Upgrade: websocket",
                    "Sec-WebSocket-Version: 13",
                    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
                    "",
                    ""));
            assertEquals(403, raw.answer().status());
        }
    }
}
