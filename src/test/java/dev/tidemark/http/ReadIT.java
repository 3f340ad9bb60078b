package dev.tidemark.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Problem.Kind;
import dev.tidemark.read.ReadRequest;
import dev.tidemark.read.View;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tails, ranges and single events over HTTP. */
class ReadIT {
    private static final String NDJSON = "Accept: application/x-ndjson";

    private final EdgeFixture edge = new EdgeFixture();

    @AfterEach
    void close() {
        edge.close();
    }

    private static List<Integer> numbers(JsonArray events) {
        return events.stream()
                .map(e -> ((JsonObject) e).getJsonObject("data").getInteger("n"))
                .toList();
    }

    private static List<String> lines(RawClient.Answer answer) {
        return answer.text().lines().toList();
    }

    private static JsonObject last(List<String> lines) {
        return new JsonObject(lines.get(lines.size() - 1));
    }

    // ---- tail

    @Test
    @Tag("T1")
    void tailGivesTheLastOldestFirstWithTheirBytes() throws Exception {
        edge.reads.stream("s").with("{\"a\" :\t1}", "[\n 1,\r\n 2 ]", "\"\\u00e9 é\"", "1.0e+2");
        var answer = edge.get("/v1/streams/s/tail?n=3");
        assertEquals(200, answer.status());
        String text = answer.text();
        assertTrue(text.startsWith("{\"stream\":\"s\",\"events\":[{\"id\":\"" + FakeStream.eventId(1)), text);
        assertTrue(text.contains("\"data\":[\n 1,\r\n 2 ]},{"), text);
        assertTrue(text.contains("\"data\":\"\\u00e9 é\"},{"), text);
        assertTrue(text.contains("\"data\":1.0e+2}],\"complete\":true,\"cursor\":\""), text);
        JsonObject json = EdgeFixture.json(answer);
        assertEquals(List.of("stream", "events", "complete", "cursor", "seam"), List.copyOf(json.fieldNames()));
        assertEquals(edge.reads.stream("s").end().toString(), json.getString("cursor"));
        assertEquals(FakeStream.eventId(3), json.getJsonObject("seam").getString("tail"));
        assertNull(json.getJsonObject("seam").getString("watermark"));
        assertEquals(String.valueOf(answer.body().length()), answer.header("content-length"));
    }

    @Test
    @Tag("R46")
    void tailsNumberIsPlainDigitsOrRefusedByName() throws Exception {
        edge.reads.stream("s").withNumbers(25, 4);
        Map<String, Integer> good =
                Map.of("", 10, "?n=0", 0, "?n=1", 1, "?n=250", 25, "?n=007", 7, "?n=10000", 25, "?", 10, "?&n=3&", 3);
        for (var entry : good.entrySet()) {
            var answer = edge.get("/v1/streams/s/tail" + entry.getKey());
            assertEquals(200, answer.status(), entry.getKey());
            JsonArray events = EdgeFixture.json(answer).getJsonArray("events");
            assertEquals(entry.getValue(), events.size(), entry.getKey());
            assertTrue(EdgeFixture.json(answer).getBoolean("complete"));
        }
        List<String> bad = List.of(
                "n=-5",
                "n=abc",
                "n=",
                "n",
                "n=1.0",
                "n=+1",
                "n=%2B1",
                "n=0x10",
                "n=10001",
                "n=99999999999999999999",
                "n=1&n=2",
                "n=%D9%A1",
                "n=1%20",
                "n=%31%00",
                "n=1e2",
                "n=%",
                "n=%zz");
        for (String query : bad) {
            var answer = edge.get("/v1/streams/s/tail?" + query);
            assertEquals(400, answer.status(), query);
            assertEquals("n", EdgeFixture.json(answer).getString("parameter"), query);
        }
        assertEquals("N", EdgeFixture.json(edge.get("/v1/streams/s/tail?N=1")).getString("parameter"));
        assertEquals(
                "view",
                EdgeFixture.json(edge.get("/v1/streams/s/tail?view=all")).getString("parameter"));
    }

    @Test
    void tailOfAnEmptyStreamIsEmptyAndOfNoStreamIs404() throws Exception {
        var stream = edge.reads.stream("empty");
        JsonObject empty = EdgeFixture.json(edge.get("/v1/streams/empty/tail"));
        assertEquals(0, empty.getJsonArray("events").size());
        assertEquals(stream.end().toString(), empty.getString("cursor"));
        var none = edge.get("/v1/streams/none/tail");
        assertEquals(404, none.status());
        assertEquals("urn:tidemark:problem:not_found", EdgeFixture.json(none).getString("type"));
    }

    @Test
    void tailAsLinesEndsWithACursorUnlessToldNotTo() throws Exception {
        edge.reads.stream("s").with("{\"a\":\n1}", "2");
        edge.reads.tailComplete = false;
        List<String> lines = lines(edge.get("/v1/streams/s/tail", NDJSON));
        assertEquals(3, lines.size());
        assertTrue(lines.get(0).endsWith("\"data\":{\"a\": 1}}"), lines.get(0));
        assertEquals("end", last(lines).getString("type"));
        assertEquals(false, last(lines).getBoolean("complete"));
        var bare =
                edge.get("/v1/streams/s/tail?control=false", "Accept: text/html, application/jsonl;q=0.5, */*;q=0.1");
        assertEquals(2, lines(bare).size());
        assertEquals("application/x-ndjson", bare.header("content-type"));
    }

    @Test
    void aTailFarLargerThanTheSocketsBuffersArrivesWhole() throws Exception {
        String big = "\"" + "x".repeat(60_000) + "\"";
        String[] payloads = new String[200];
        Arrays.fill(payloads, big);
        edge.reads.stream("s").with(payloads);
        for (String accept : List.of("Accept: application/json", NDJSON)) {
            try (RawClient raw = edge.raw()) {
                raw.send("GET /v1/streams/s/tail?n=200 HTTP/1.1\r\nHost: localhost\r\n" + accept + "\r\n\r\n");
                Thread.sleep(200);
                String text = raw.answer().text();
                assertEquals(200, text.split("\"data\"", -1).length - 1);
                assertTrue(text.length() > 200 * 60_000);
                raw.send("GET /v1/streams/s/tail?n=0 HTTP/1.1\r\nHost: localhost\r\n\r\n");
                assertEquals(200, raw.answer().status());
            }
        }
        var head = edge.ask("HEAD", "/v1/streams/s/tail?n=200");
        assertTrue(Long.parseLong(head.header("content-length")) > 12_000_000);
    }

    // ---- ranges

    @Test
    void aRangeIsAPageWithWhereToGoOn() throws Exception {
        edge.reads.stream("s").withNumbers(35, 7);
        var answer = edge.get("/v1/streams/s/events?limit=25");
        JsonObject page = EdgeFixture.json(answer);
        assertEquals(List.of("events", "next", "complete", "gaps", "seam"), List.copyOf(page.fieldNames()));
        assertEquals(25, page.getJsonArray("events").size());
        assertEquals(edge.reads.stream("s").cursor(24).toString(), page.getString("next"));
        JsonObject all = EdgeFixture.json(edge.get("/v1/streams/s/events"));
        assertEquals(35, numbers(all.getJsonArray("events")).get(34));
        assertTrue(all.containsKey("next"));
        assertNull(all.getString("next"));
        JsonObject down = EdgeFixture.json(edge.get("/v1/streams/s/events?order=desc&limit=12"));
        assertEquals(List.of(35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24), numbers(down.getJsonArray("events")));
    }

    @Test
    void aPageEndsWhenItIsLargeAndSaysWhereToGoOn() throws Exception {
        String[] payloads = new String[60];
        Arrays.fill(payloads, "\"" + "y".repeat(60_000) + "\"");
        edge.reads.stream("s").with(payloads);
        JsonObject page = EdgeFixture.json(edge.get("/v1/streams/s/events"));
        int count = page.getJsonArray("events").size();
        assertTrue(count >= 17 && count < 60, "events " + count);
        assertEquals(edge.reads.stream("s").cursor(count - 1).toString(), page.getString("next"));
        assertTrue(page.getBoolean("complete"));
    }

    @Test
    void gapsAreListedAndStandInLineWhereTheyAre() throws Exception {
        edge.reads.stream("s").withNumbers(3, 3);
        edge.reads.gaps = List.of(
                new Gap(FakeStream.position(0), FakeStream.position(0).next(), Gap.Reason.LOST),
                new Gap(FakeStream.position(2), Position.MAX, Gap.Reason.DAMAGED));
        JsonArray gaps = EdgeFixture.json(edge.get("/v1/streams/s/events")).getJsonArray("gaps");
        assertEquals(2, gaps.size());
        assertEquals("lost", gaps.getJsonObject(0).getString("reason"));
        assertEquals(FakeStream.eventId(0), gaps.getJsonObject(0).getString("from"));
        List<String> lines = lines(edge.get("/v1/streams/s/events", NDJSON));
        assertEquals(6, lines.size());
        assertEquals("gap", new JsonObject(lines.get(1)).getString("type"));
        assertEquals("gap", new JsonObject(lines.get(4)).getString("type"));
        edge.reads.gaps = List.of(edge.reads.gaps.get(1), edge.reads.gaps.get(0));
        List<String> down = lines(edge.get("/v1/streams/s/events?order=desc", NDJSON));
        // Newest first: the gap above the last event, events 3 and 2, the gap above event 1, event 1.
        assertEquals(
                List.of("gap", "event", "event", "gap", "event", "end"),
                down.stream()
                        .map(l -> new JsonObject(l).getString("type", "event"))
                        .toList());
        assertEquals(
                3, lines(edge.get("/v1/streams/s/events?control=false", NDJSON)).size());
    }

    @Test
    void linesOfALongRangeArriveWholeAndEndWithACursor() throws Exception {
        edge.reads.stream("s").withNumbers(5_000, 100);
        List<String> lines = lines(edge.get("/v1/streams/s/events", NDJSON));
        assertEquals(5_001, lines.size());
        for (int i = 0; i < 5_000; i++) {
            assertEquals(
                    i + 1, new JsonObject(lines.get(i)).getJsonObject("data").getInteger("n"));
        }
        assertEquals(
                new JsonObject()
                        .put("type", "end")
                        .put("cursor", edge.reads.stream("s").end().toString())
                        .put("complete", true),
                last(lines));
    }

    @Test
    void aClientThatLeavesStopsTheWork() throws Exception {
        String[] payloads = new String[2_000];
        Arrays.fill(payloads, "\"" + "z".repeat(60_000) + "\"");
        edge.reads.stream("s").with(payloads);
        RawClient raw = edge.raw();
        raw.send("GET /v1/streams/s/events HTTP/1.1\r\nHost: localhost\r\n" + NDJSON + "\r\n\r\n");
        assertTrue(raw.in.readNBytes(100_000).length == 100_000);
        Thread.sleep(500);
        int whileSlow = edge.reads.pages.get();
        assertTrue(whileSlow < 60, "a slow client is waited for, pages " + whileSlow);
        raw.close();
        Thread.sleep(300);
        int afterwards = edge.reads.pages.get();
        Thread.sleep(300);
        assertEquals(afterwards, edge.reads.pages.get());
        assertTrue(afterwards < 100, "pages " + afterwards);
    }

    @Test
    void aFailureBeforeTheFirstPageIsAProblem() throws Exception {
        edge.reads.stream("s").withNumbers(3, 3);
        edge.reads.failure = new Problem(Kind.EXPIRED, "gone").with("earliest", FakeStream.eventId(1));
        var answer = edge.get("/v1/streams/s/events?after=" + FakeStream.eventId(0));
        assertEquals(410, answer.status());
        assertEquals(FakeStream.eventId(1), EdgeFixture.json(answer).getString("earliest"));
        edge.reads.failure = new Problem(Kind.POSITION_AHEAD, "ahead").with("cursor", "c");
        assertEquals(416, edge.get("/v1/streams/s/events", NDJSON).status());
    }

    @Test
    void aFailureInTheMiddleCutsLinesAndEndsAPage() throws Exception {
        edge.reads.stream("s").withNumbers(100, 10);
        edge.reads.failure = new Problem(Kind.UNAVAILABLE, "away");
        edge.reads.failAfterPages = 3;
        try (RawClient raw = edge.raw()) {
            raw.send("GET /v1/streams/s/events HTTP/1.1\r\nHost: localhost\r\n" + NDJSON + "\r\n\r\n");
            String all = new String(raw.in.readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(all.contains("\"type\":\"error\""), all);
            assertTrue(!all.contains("\"type\":\"end\"") && !all.endsWith("0\r\n\r\n"), all);
        }
        edge.reads.pages.set(0);
        assertEquals(503, edge.get("/v1/streams/s/events").status());
    }

    @Test
    @Tag("F12")
    void timesAreMillisecondsHoweverTheyAreWritten() throws Exception {
        edge.reads.stream("s").withNumbers(1, 1);
        Map<String, Long> written = Map.of(
                "1764440000123", 1_764_440_000_123L,
                "2025-11-29T18:13:20.123Z", 1_764_440_000_123L,
                "2025-11-29t18:13:20.1230z", 1_764_440_000_123L,
                "2025-11-29T20:13:20.123+02:00", 1_764_440_000_123L,
                "2025-11-29T20:13:20.123%2B02:00", 1_764_440_000_123L,
                "2025-11-29T18:13:20.1230001Z", 1_764_440_000_124L,
                "1969-01-01T00:00:00Z", 0L,
                "-5", 0L);
        for (var entry : written.entrySet()) {
            assertEquals(
                    200, edge.get("/v1/streams/s/events?from=" + entry.getKey()).status(), entry.getKey());
            ReadRequest request = edge.reads.scans.take();
            assertEquals(entry.getValue(), request.fromMs(), entry.getKey());
            assertNull(request.toMs());
        }
        for (String bad : List.of(
                "now",
                "2025-11-29",
                "2025-11-29T18:13Z",
                "2025-11-29T18:13:20",
                "2025-13-29T18:13:20Z",
                "1e12",
                "1.5",
                "",
                "99999999999999999",
                "2025-02-30T00:00:00Z",
                "2025-11-29T18:13:20+0200")) {
            var answer = edge.get("/v1/streams/s/events?to=" + bad);
            assertEquals(400, answer.status(), bad);
            assertEquals("to", EdgeFixture.json(answer).getString("parameter"), bad);
        }
    }

    @Test
    void everyParameterReachesTheReadOrIsRefusedByName() throws Exception {
        edge.reads.stream("s").withNumbers(1, 1);
        assertEquals(
                200,
                edge.get("/v1/streams/s/events?after=A&before=B&limit=7&order=desc&view=sealed&on_gap=continue")
                        .status());
        assertEquals(new ReadRequest("A", "B", null, null, 7, true, View.SEALED, true), edge.reads.scans.take());
        assertEquals(200, edge.get("/v1/streams/s/events").status());
        assertEquals(new ReadRequest(null, null, null, null, 1_000, false, View.LIVE, false), edge.reads.scans.take());
        assertEquals(200, edge.get("/v1/streams/s/events", NDJSON).status());
        assertEquals(Long.MAX_VALUE, edge.reads.scans.take().limit());
        for (String bad : List.of(
                "limit=0",
                "limit=10001",
                "limit=x",
                "order=up",
                "view=",
                "on_gap=fail2",
                "control=yes",
                "after=",
                "frm=1",
                "limit=1&limit=1",
                "cursor=x",
                "%FF=1")) {
            var answer = edge.get("/v1/streams/s/events?" + bad);
            assertEquals(400, answer.status(), bad);
            assertNotNull(EdgeFixture.json(answer).getString("parameter"), bad);
        }
        assertEquals(200, edge.get("/v1/streams/s/events?limit=10001", NDJSON).status());
    }

    // ---- one event

    @Test
    @Tag("T1")
    void oneEventComesWithItsExactBytesAndType() throws Exception {
        byte[] bytes = new byte[2_000];
        new Random(1).nextBytes(bytes);
        FakeStream stream = edge.reads.stream("s").with("{ \"a\" :\r\n1 }");
        stream.add("image/png", bytes).add("text/html", "<script>alert(1)</script>".getBytes(StandardCharsets.UTF_8));
        assertEquals(
                "{ \"a\" :\r\n1 }",
                edge.get("/v1/streams/s/events/" + FakeStream.eventId(0)).text());
        var image = edge.get("/v1/streams/s/events/" + FakeStream.eventId(1));
        assertArrayEquals(bytes, image.body().getBytes());
        assertEquals("image/png", image.header("content-type"));
        var html = edge.get("/v1/streams/s/events/" + FakeStream.eventId(2));
        assertEquals("nosniff", html.header("x-content-type-options"));
        assertEquals("default-src 'none'; sandbox", html.header("content-security-policy"));
        assertEquals(
                404, edge.get("/v1/streams/s/events/" + FakeStream.eventId(3)).status());
        for (String bad : List.of("EVT", "EVTzzzzzzzzzzz", "x", "%45VT", "", "EVT0KHTOWnGLuC0")) {
            assertEquals(400, edge.get("/v1/streams/s/events/" + bad).status(), bad);
        }
    }

    // ---- HEAD and old clients

    @Test
    void headAnswersAsGetWithoutABody() throws Exception {
        edge.reads.stream("s").withNumbers(12, 5);
        for (String target : List.of(
                "/",
                "/health/live",
                "/v1/streams",
                "/v1/streams/s",
                "/v1/streams/s/tail?n=3",
                "/v1/streams/s/seam",
                "/v1/streams/s/events/" + FakeStream.eventId(1))) {
            try (RawClient raw = edge.raw()) {
                String rest = " " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
                raw.send("HEAD" + rest + "GET" + rest);
                var head = raw.answer(false);
                var get = raw.answer();
                assertEquals(get.status(), head.status(), target);
                assertEquals(get.header("content-length"), head.header("content-length"), target);
                assertEquals(get.header("content-type"), head.header("content-type"), target);
            }
        }
        try (RawClient raw = edge.raw()) {
            raw.send("HEAD /v1/streams/s/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
            assertEquals(200, raw.answer(false).status());
            raw.send("HEAD /v1/streams/none/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
            assertEquals(404, raw.answer(false).status());
        }
    }

    @Test
    void http10ClientsGetUnchunkedAnswersAndTheEnd() throws Exception {
        edge.reads.stream("s").withNumbers(500, 50);
        try (RawClient raw = edge.raw()) {
            raw.send(
                    "GET /v1/streams/s/events HTTP/1.0\r\nAccept: application/x-ndjson\r\nConnection: keep-alive\r\n\r\n");
            var answer = raw.answer();
            assertEquals("", answer.header("transfer-encoding"));
            assertEquals(501, lines(answer).size());
        }
        try (RawClient raw = edge.raw()) {
            raw.send("GET /v1/streams/s/tail?n=1 HTTP/1.0\r\n\r\n");
            assertEquals(200, raw.answer().status());
            assertTrue(raw.isClosedByServer());
        }
    }

    @Test
    void idleConnectionsAreClosedAndBusyOnesAreNot() throws Exception {
        try (EdgeFixture shortLived = new EdgeFixture(EdgeFixture.options(EdgeFixture.SMALL, EdgeFixture.SHORT));
                RawClient raw = shortLived.raw()) {
            shortLived.reads.stream("s").withNumbers(1, 1);
            raw.send("GET /v1/streams/s/tail HTTP/1.1\r\nHost: localhost\r\n\r\n");
            assertEquals(200, raw.answer().status());
            Awaitility.await().untilAsserted(() -> assertTrue(raw.isClosedByServer()));
        }
    }
}
