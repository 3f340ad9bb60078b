package dev.tidemark.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Finding;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Streams, names, paths, methods, health. */
class StreamsIT {
    private final EdgeFixture edge = new EdgeFixture();

    @AfterEach
    void close() {
        edge.close();
    }

    private RawClient.Answer put(String target, String body, String... headers) throws Exception {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        List<String> all = new ArrayList<>(List.of(headers));
        all.add("Content-Length: " + bytes.length);
        try (RawClient raw = edge.raw()) {
            raw.send(EdgeFixture.head("PUT " + target, all.toArray(new String[0])))
                    .send(bytes);
            return raw.answer();
        }
    }

    // ---- streams

    @Test
    void putCreatesThenMergesAndGetShows() throws Exception {
        var created = put("/v1/streams/s", "{\"live_max_events\":1000,\"live_max_age\":\"2h\",\"roll\":null}");
        assertEquals(201, created.status());
        JsonObject json = EdgeFixture.json(created);
        assertEquals(List.of("stream", "generation", "created", "settings", "seam"), List.copyOf(json.fieldNames()));
        assertEquals("1h", json.getJsonObject("settings").getString("live_max_age"));
        assertEquals(1000, edge.ingest.lastSettings.get("live_max_events"));
        assertTrue(edge.ingest.lastSettings.containsKey("roll"));
        assertNull(edge.ingest.lastSettings.get("roll"));
        assertEquals(200, put("/v1/streams/s", "").status());
        assertEquals(200, edge.get("/v1/streams/s").status());
        assertEquals(404, edge.get("/v1/streams/none").status());
    }

    @Test
    void settingsThatAreNoneAreRefused() throws Exception {
        for (String bad : List.of(
                "[]",
                "1",
                "null",
                "{",
                "{}x",
                "{\"live_max_events\":1.5}",
                "{\"late\":true}",
                "{\"a\":{}}",
                "{\"a\":[1]}",
                "{\"nope\":1}",
                "{\"live_max_events\":99999999999999999999}",
                "[".repeat(10_000))) {
            var answer = put("/v1/streams/s", bad);
            assertEquals(400, answer.status(), bad);
            assertEquals("application/problem+json", answer.header("content-type"));
            assertTrue(!answer.text().contains("Exception"), answer.text());
        }
        assertEquals(
                415, put("/v1/streams/s", "a=b", "Content-Type: text/plain").status());
        assertEquals(415, put("/v1/streams/s", "{}", "Content-Encoding: gzip").status());
        assertEquals(
                413,
                put("/v1/streams/s", "{\"a\":\"" + "x".repeat(70_000) + "\"}").status());
        assertEquals(400, put("/v1/streams/s?stripes=2", "{}").status());
    }

    @Test
    void deleteForgetsTheStream() throws Exception {
        edge.reads.stream("s");
        var deleted = edge.ask("DELETE", "/v1/streams/s");
        assertEquals(204, deleted.status());
        assertEquals("", deleted.header("content-length"));
        assertEquals(404, edge.ask("DELETE", "/v1/streams/s").status());
    }

    @Test
    void theListIsPagedInTheOrderOfNames() throws Exception {
        for (int i = 0; i < 7; i++) {
            edge.reads.stream("n" + i).withNumbers(i, 2);
        }
        List<String> seen = new ArrayList<>();
        String after = "";
        do {
            JsonObject page = EdgeFixture.json(edge.get("/v1/streams?limit=3" + after));
            JsonArray streams = page.getJsonArray("streams");
            assertTrue(streams.size() <= 3);
            streams.forEach(s -> seen.add(((JsonObject) s).getString("stream")));
            String next = page.getString("next");
            after = next == null ? "" : "&after=" + next;
        } while (!after.isEmpty());
        assertEquals(List.of("n0", "n1", "n2", "n3", "n4", "n5", "n6"), seen);
        JsonObject last = EdgeFixture.json(edge.get("/v1/streams?after=n5"))
                .getJsonArray("streams")
                .getJsonObject(0);
        assertEquals(6, last.getInteger("live_events"));
        assertEquals(FakeStream.eventId(5), last.getString("tail"));
        for (String bad : List.of("limit=0", "limit=1001", "limit=x", "after=", "offset=1")) {
            assertEquals(400, edge.get("/v1/streams?" + bad).status(), bad);
        }
    }

    @Test
    void aStreamWhoseSeamCanNotBeToldIsListedAllTheSame() throws Exception {
        edge.reads.stream("s");
        edge.reads.failure = new Problem(Problem.Kind.UNAVAILABLE, "archive is away");
        JsonObject listed = EdgeFixture.json(edge.get("/v1/streams"))
                .getJsonArray("streams")
                .getJsonObject(0);
        assertEquals("archive is away", listed.getString("unavailable"));
    }

    @Test
    void seamAndFoldSpeakInIds() throws Exception {
        edge.reads.stream("s").withNumbers(3, 3);
        JsonObject seam = EdgeFixture.json(edge.get("/v1/streams/s/seam"));
        assertEquals(
                List.of(
                        "earliest",
                        "watermark",
                        "first_live",
                        "frontier",
                        "tail",
                        "live_events",
                        "archived_events",
                        "live_bytes",
                        "archive_bytes",
                        "fold_lag_ms",
                        "last_fold",
                        "over_retained",
                        "generation"),
                List.copyOf(seam.fieldNames()));
        assertNull(seam.getString("watermark"));
        assertEquals(FakeStream.eventId(0), seam.getString("earliest"));
        assertTrue(seam.getString("frontier").compareTo(FakeStream.eventId(499)) > 0);
        assertTrue(seam.getString("frontier").compareTo(FakeStream.eventId(500)) < 0);
        assertEquals("none", seam.getJsonObject("last_fold").getString("outcome"));
        assertNull(seam.getJsonObject("last_fold").getLong("at"));
        var folded = edge.ask("POST", "/v1/streams/s/fold", "Content-Length: 0");
        assertEquals(
                new JsonObject().put("stream", "s").put("watermark", FakeStream.eventId(2)), EdgeFixture.json(folded));
        edge.reads.stream("empty");
        assertNull(EdgeFixture.json(edge.ask("POST", "/v1/streams/empty/fold")).getString("watermark"));
        assertEquals(404, edge.ask("POST", "/v1/streams/none/fold").status());
    }

    // ---- R42: names

    @Test
    @Tag("R42")
    void legalNamesRoundTripThroughEveryEndpoint() throws Exception {
        Map<String, String> encoded = Map.ofEntries(
                Map.entry("a+b", "a+b"),
                Map.entry("a b", "a%20b"),
                Map.entry("a%2Fb", "a%252Fb"),
                Map.entry("a/b", "a%2Fb"),
                Map.entry("../../x", "%2e%2e%2F..%2fx"),
                Map.entry("%2e", "%252e"),
                Map.entry("café", "caf%C3%A9"),
                Map.entry("日本", "%E6%97%A5%E6%9C%AC"),
                Map.entry("a;b=c&d", "a;b=c&d"),
                Map.entry("a?b#c", "a%3Fb%23c"),
                Map.entry("...", "..."),
                Map.entry("\"q\\", "%22q%5C"),
                Map.entry("x".repeat(200), "x".repeat(200)),
                Map.entry("é".repeat(100), "%c3%a9".repeat(100)),
                Map.entry("events", "events"),
                Map.entry("{%}#*[", "%7B%25%7D%23%2A%5B"));
        for (var entry : encoded.entrySet()) {
            String name = entry.getKey();
            String base = "/v1/streams/" + entry.getValue();
            assertEquals(201, put(base, "{}").status(), name);
            assertEquals(name, EdgeFixture.json(edge.get(base)).getString("stream"));
            var stored = edge.raw(EdgeFixture.head("POST " + base + "/events", "Content-Length: 1") + "1");
            assertEquals(name, EdgeFixture.json(stored).getString("stream"));
            assertEquals(name, EdgeFixture.json(edge.get(base + "/tail")).getString("stream"));
            assertEquals(200, edge.get(base + "/events").status(), name);
            assertEquals(
                    200, edge.get(base + "/events/" + FakeStream.eventId(0)).status(), name);
            assertEquals(200, edge.get(base + "/seam").status(), name);
            assertEquals(
                    name, EdgeFixture.json(edge.ask("POST", base + "/fold")).getString("stream"));
            try (RawWebSocket socket = new RawWebSocket(edge.port, base + "/subscribe").open()) {
                edge.subscription().hello();
                assertEquals(name, socket.message().getString("stream"));
            }
        }
        List<String> listed = EdgeFixture.json(edge.get("/v1/streams?limit=1000")).getJsonArray("streams").stream()
                .map(s -> ((JsonObject) s).getString("stream"))
                .sorted()
                .toList();
        assertEquals(encoded.keySet().stream().sorted().toList(), listed);
        for (String name : encoded.keySet()) {
            assertEquals(
                    204, edge.ask("DELETE", "/v1/streams/" + encoded.get(name)).status());
        }
        assertTrue(edge.reads.streams.isEmpty());
    }

    @Test
    @Tag("R42")
    void rawBytesThatAreUtf8AreTheSameName() throws Exception {
        try (RawClient raw = edge.raw()) {
            raw.send(EdgeFixture.head("PUT /v1/streams/café/tail".replace("/tail", ""))
                    .getBytes(StandardCharsets.UTF_8));
            assertEquals("café", EdgeFixture.json(raw.answer()).getString("stream"));
        }
    }

    @Test
    @Tag("R42")
    void allOtherNamesAreRefusedAtFirstUse() throws Exception {
        List<String> bad = List.of(
                "..",
                ".",
                "%2e%2e",
                "%2E",
                "a%00b",
                "a%0D%0Ab",
                "%0a",
                "%7f",
                "%c2%85",
                "",
                "x".repeat(201),
                "%c3%a9".repeat(101),
                "a%",
                "a%2",
                "a%zz",
                "%ff",
                "%c0%ae",
                "%ed%a0%80",
                "e%CC%81",
                "a%%20",
                "%u0041");
        for (String name : bad) {
            String base = "/v1/streams/" + name;
            for (String target : List.of(base, base + "/tail", base + "/events", base + "/seam", base + "/nothing")) {
                var answer = edge.get(target);
                assertEquals(400, answer.status(), target);
                assertEquals("stream", EdgeFixture.json(answer).getString("parameter"), target);
            }
            assertEquals(400, put(base, "{}").status(), name);
            assertEquals(
                    400,
                    edge.raw(EdgeFixture.head("POST " + base + "/events", "Content-Length: 1") + "1")
                            .status(),
                    name);
            assertEquals(400, edge.ask("DELETE", base).status(), name);
        }
        assertTrue(edge.reads.streams.isEmpty());
        assertTrue(edge.ingest.requests.isEmpty());
    }

    @Test
    @Tag("R42")
    void pathsMatchByteForByte() throws Exception {
        edge.reads.stream("s").with("1");
        Map<String, Integer> statuses = Map.ofEntries(
                Map.entry("/v1/streams/s", 200),
                Map.entry("/v1/streams/s?", 200),
                Map.entry("/v1/streams/s/", 404),
                Map.entry("/v1/streams/s/tail/", 404),
                Map.entry("/v1/streams/s//tail", 404),
                Map.entry("//v1/streams/s", 404),
                Map.entry("/v1//streams/s", 404),
                Map.entry("/v1/streams//s", 400),
                Map.entry("/v1/streams/s/x/../tail", 404),
                Map.entry("/v1/x/../streams/s", 404),
                Map.entry("/v1/streams/../../x/tail", 400),
                Map.entry("/V1/streams/s", 404),
                Map.entry("/v1/streams/s/%74ail", 404),
                Map.entry("/v1/%73treams/s", 404),
                Map.entry("/v1/streams/", 400),
                Map.entry("/v1/streams", 200),
                Map.entry("/v1/", 404),
                Map.entry("/v1", 404),
                Map.entry("/", 200),
                Map.entry("//", 404),
                Map.entry("/health", 404),
                Map.entry("/health/live/", 404),
                Map.entry("/v1/streams/s#x", 400),
                Map.entry("v1/streams/s", 400),
                Map.entry("http://localhost/v1/streams/s", 200),
                Map.entry("HTTP://LOCALHOST:1/v1/streams/s", 200),
                Map.entry("http://localhost?x", 200),
                Map.entry("http://evil.example/v1/streams/s", 403),
                Map.entry("ftp://localhost/v1/streams/s", 400),
                Map.entry("*", 404));
        for (var entry : statuses.entrySet()) {
            var answer = edge.get(entry.getKey());
            assertEquals(entry.getValue(), answer.status(), entry.getKey());
            if (answer.status() >= 400) {
                assertEquals("application/problem+json", answer.header("content-type"), entry.getKey());
                assertEquals(entry.getValue(), EdgeFixture.json(answer).getInteger("status"));
            }
        }
    }

    // ---- methods

    @Test
    void oddMethodsAreRefusedWithWhatIsAllowed() throws Exception {
        edge.reads.stream("s").with("1");
        for (String method : List.of("TRACE", "PATCH", "FOO", "get", "DELETE", "PROPFIND", "PUT")) {
            var answer = edge.ask(method, "/v1/streams/s/tail");
            assertEquals(405, answer.status(), method);
            assertEquals("GET, HEAD, OPTIONS", answer.header("allow"), method);
        }
        var options = edge.ask("OPTIONS", "/v1/streams/s/events");
        assertEquals(204, options.status());
        assertEquals("GET, HEAD, POST, OPTIONS", options.header("allow"));
        assertEquals(204, edge.ask("OPTIONS", "*").status());
        assertEquals(400, edge.ask("CONNECT", "localhost:80").status());
        assertEquals(404, edge.ask("OPTIONS", "/nothing").status());
    }

    @Test
    void aGetWithABodyIsAnsweredAndTheConnectionGoesOn() throws Exception {
        edge.reads.stream("s").with("1");
        try (RawClient raw = edge.raw()) {
            for (int i = 0; i < 3; i++) {
                raw.send(EdgeFixture.head("GET /v1/streams/s/tail", "Content-Length: 5") + "hello");
                assertEquals(200, raw.answer().status());
            }
            raw.send(EdgeFixture.head("GET /v1/streams/s/tail", "Content-Length: 5000000"));
            var last = raw.answer();
            assertEquals(200, last.status());
            assertEquals("close", last.header("connection"));
            assertTrue(raw.isClosedByServer());
        }
    }

    @Test
    void manyPipelinedReadsAreAnsweredInOrder() throws Exception {
        edge.reads.stream("s").withNumbers(50, 7);
        try (RawClient raw = edge.raw()) {
            StringBuilder all = new StringBuilder();
            for (int n = 0; n < 50; n++) {
                all.append(EdgeFixture.head("GET /v1/streams/s/tail?n=" + n));
            }
            raw.send(all.toString());
            for (int n = 0; n < 50; n++) {
                assertEquals(
                        n, EdgeFixture.json(raw.answer()).getJsonArray("events").size());
            }
        }
    }

    // ---- health

    @Test
    void healthNamesItsChecksAndSaysWhetherTheServerIsReady() throws Exception {
        edge.checks = List.of(
                new Health.Check("redis", Health.Status.OK, "", 5),
                new Health.Check("fold", Health.Status.WARNING, "it \"lags\"", 6));
        var ready = edge.get("/health/ready");
        assertEquals(200, ready.status());
        assertEquals("warning", EdgeFixture.json(ready).getString("status"));
        edge.checks = List.of(new Health.Check("disk", Health.Status.FAILING, "full", 7));
        var failing = edge.get("/health/ready");
        assertEquals(503, failing.status());
        assertEquals(
                new JsonObject().put("status", "failing").put("detail", "full").put("since", 7),
                EdgeFixture.json(failing).getJsonObject("checks").getJsonObject("disk"));
        assertEquals(200, edge.get("/health/live").status());
        assertEquals(405, edge.ask("POST", "/health/live").status());
    }

    @Test
    void theHomePageNamesTheApi() throws Exception {
        var home = edge.get("/");
        assertTrue(home.text().contains("/v1/streams"));
        assertEquals("text/plain; charset=utf-8", home.header("content-type"));
    }

    @Test
    void aCheckAnswersInLinesWithAnEndThatSaysWhetherAllIsGood() throws Exception {
        edge.reads.stream("s");
        var good = edge.ask("POST", "/v1/streams/s/verify");
        assertEquals(200, good.status());
        assertEquals("application/x-ndjson", good.header("content-type"));
        assertEquals(
                new JsonObject()
                        .put("type", "end")
                        .put("good", true)
                        .put("findings", 0)
                        .put("files", 2)
                        .put("bytes", 300)
                        .put("bytes_total", 400)
                        .put("events", 50)
                        .put("compared", 7)
                        .putNull("first")
                        .put("last", FakeStream.eventId(2)),
                new JsonObject(good.text().strip()));

        edge.reads.findings = List.of(
                new Finding(Finding.Kind.NOTE, "a.cq4", 3, FakeStream.position(1), "a \"note\""),
                new Finding(Finding.Kind.MISSING, "", Finding.NONE, Position.ZERO, "all of it"));
        List<String> lines =
                edge.ask("POST", "/v1/streams/s/verify").text().lines().toList();
        assertEquals(3, lines.size(), () -> "" + lines);
        assertEquals(
                "{\"type\":\"finding\",\"kind\":\"note\",\"damage\":false,\"file\":\"a.cq4\",\"excerpt\":3,\"event\":\""
                        + FakeStream.eventId(1) + "\",\"detail\":\"a \\\"note\\\"\"}",
                lines.get(0));
        assertEquals(
                "{\"type\":\"finding\",\"kind\":\"missing\",\"damage\":true,\"file\":null,\"excerpt\":null,\"event\":null,"
                        + "\"detail\":\"all of it\"}",
                lines.get(1));
        assertEquals(1, new JsonObject(lines.get(2)).getInteger("findings"));
        assertEquals(false, new JsonObject(lines.get(2)).getBoolean("good"));

        edge.reads.stream("broken");
        assertEquals(500, edge.ask("POST", "/v1/streams/broken/verify").status());
        assertEquals(404, edge.ask("POST", "/v1/streams/none/verify").status());
        assertEquals(400, edge.ask("POST", "/v1/streams/s/verify?x=1").status());
        assertEquals(405, edge.ask("GET", "/v1/streams/s/verify").status());
    }
}
