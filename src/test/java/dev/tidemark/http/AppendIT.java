package dev.tidemark.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Problem;
import dev.tidemark.event.StreamName;
import dev.tidemark.ingest.AppendRequest;
import dev.tidemark.ingest.AppendResult;
import dev.tidemark.ingest.ProducerHeaders;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Appends over HTTP: answers, bodies, and the manners of HTTP. */
class AppendIT {
    private final EdgeFixture edge = new EdgeFixture(EdgeFixture.options(EdgeFixture.SMALL, EdgeFixture.SHORT));

    @AfterEach
    void close() {
        edge.close();
    }

    private static String post(String headers, String body) {
        return "POST /v1/streams/s/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + headers
                + "\r\n" + body;
    }

    private static String sized(String body) {
        return post("Content-Length: " + body.length() + "\r\n", body);
    }

    @Test
    void answersWithTheFieldsOfTheContractInTheirOrder() throws Exception {
        var answer = edge.raw(sized("{\"a\":1}"));
        assertEquals(201, answer.status());
        FakeStream stream = edge.reads.stream("s");
        String id = FakeStream.eventId(0);
        assertEquals(
                "{\"stream\":\"s\",\"count\":1,\"first\":\"" + id + "\",\"last\":\"" + id + "\",\"cursor\":\""
                        + stream.end() + "\",\"duplicate\":false,\"ack\":\"live\"}",
                answer.text());
        assertEquals("application/json", answer.header("content-type"));
    }

    @Test
    void listsIdsWhenAsked() throws Exception {
        edge.ingest.answer = r -> Future.succeededFuture(
                FakeIngest.stored(edge.reads.stream("s").withNumbers(3, 3), 3, false, "live", true));
        var answer = edge.raw(
                "POST /v1/streams/s/events?ids=true HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n1");
        assertEquals(3, EdgeFixture.json(answer).getJsonArray("ids").size());
        assertEquals(
                FakeStream.eventId(1),
                EdgeFixture.json(answer).getJsonArray("ids").getString(1));
    }

    @Test
    void duplicateIs200AndAnUnfinishedArchivedAckIs202() throws Exception {
        FakeStream stream = edge.reads.stream("s").with("1");
        edge.ingest.answer = r -> Future.succeededFuture(FakeIngest.stored(stream, 1, true, "live", true));
        assertEquals(200, edge.raw(sized("1")).status());
        edge.ingest.answer = r -> Future.succeededFuture(FakeIngest.stored(stream, 1, false, "live", false));
        var late = edge.raw(
                "POST /v1/streams/s/events?ack=archived HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n1");
        assertEquals(202, late.status());
        assertEquals("live", EdgeFixture.json(late).getString("ack"));
        assertTrue(edge.ingest.requests.get(1).archived());
    }

    @Test
    @Tag("R52")
    void handsOnHeadersAndCompressedBytesAsTheyCame() throws Exception {
        byte[] body = new byte[3_000];
        new Random(52).nextBytes(body);
        try (RawClient raw = edge.raw()) {
            raw.send(String.join(
                    "\r\n",
                    "POST /v1/streams/a%2Fb/events HTTP/1.1",
                    "Host: localhost",
                    "Content-Type: Text/Plain",
                    "Content-Encoding: gzip",
                    "Content-Encoding: br",
                    "Event-Time: 1764440000123",
                    "Content-Length: 3000",
                    "",
                    ""));
            assertEquals(201, raw.send(body).answer().status());
        }
        AppendRequest request = edge.ingest.requests.get(0);
        assertEquals("a/b", request.stream());
        assertEquals("Text/Plain", request.contentType());
        assertEquals("gzip, br", request.contentEncoding());
        assertEquals("1764440000123", request.eventTime());
        assertArrayEquals(body, request.body().getBytes());
    }

    @Test
    @Tag("R20")
    void passesBodiesByteForByteWhateverTheirLineEnds() throws Exception {
        String body = "{\"a\":1}\r\n\r\n{\"a\":2}\n\n{\"a\":3}";
        assertEquals(201, edge.raw(sized(body)).status());
        assertEquals(body, edge.ingest.requests.get(0).body().toString());
        assertEquals("application/json", edge.ingest.requests.get(0).contentType());
    }

    @Test
    @Tag("R20")
    void anEmptyBodyReachesIngestAndIsRefusedThere() throws Exception {
        var answer = edge.raw(post("Content-Length: 0\r\n", ""));
        assertEquals(400, answer.status());
        assertEquals(400, edge.raw(post("", "")).status());
        assertNull(edge.ingest.requests.get(0).eventTime());
        assertEquals(2, edge.ingest.requests.size());
    }

    @Test
    @Tag("R19")
    void aRefusedBatchSaysWhichLineAndThatNothingWasStored() throws Exception {
        edge.ingest.answer = r -> Future.failedFuture(new Problem(Problem.Kind.BAD_BODY, "line 4 isn't JSON")
                .with("line", 4)
                .with("column", 7)
                .with("stored", "no"));
        var answer = edge.raw(sized("x"));
        assertEquals(400, answer.status());
        assertEquals("application/problem+json", answer.header("content-type"));
        JsonObject problem = EdgeFixture.json(answer);
        assertEquals(
                List.of("type", "title", "status", "detail", "retryable", "line", "column", "stored"),
                List.copyOf(problem.fieldNames()));
        assertEquals(4, problem.getInteger("line"));
        assertEquals("no", problem.getString("stored"));
    }

    @Test
    void unavailableSaysWhenToRetry() throws Exception {
        edge.ingest.answer =
                r -> Future.failedFuture(Problem.unavailable(Problem.Stored.UNKNOWN, "Redis doesn't answer"));
        var answer = edge.raw(sized("1"));
        assertEquals(503, answer.status());
        assertEquals("1", answer.header("retry-after"));
        assertEquals("unknown", EdgeFixture.json(answer).getString("stored"));
        assertTrue(EdgeFixture.json(answer).getBoolean("retryable"));
    }

    @Test
    void aDefectIs500WithoutAnythingFromInside() throws Exception {
        edge.ingest.answer = r -> {
            throw new IllegalStateException("secret at dev.tidemark.Secret");
        };
        var thrown = edge.raw(sized("1"));
        assertEquals(500, thrown.status());
        assertTrue(!thrown.text().contains("ecret") && !thrown.text().contains("Exception"), thrown.text());
        edge.ingest.answer = r -> Future.failedFuture(new RuntimeException("secret"));
        assertEquals(500, edge.raw(sized("1")).status());
    }

    // ---- R53: manners

    @Test
    @Tag("R53")
    void expectContinueIsAnsweredAtOnce() throws Exception {
        try (RawClient raw = edge.raw()) {
            raw.send(post("Content-Length: 7\r\nExpect: 100-continue\r\n", ""));
            assertEquals(100, raw.answer().status());
            assertEquals(201, raw.send("{\"a\":1}").answer().status());
            assertEquals(201, raw.send(sized("2")).answer().status());
        }
    }

    @Test
    @Tag("R53")
    void expectContinueOfTooMuchIs413AtOnceAndEndsTheConnection() throws Exception {
        try (RawClient raw = edge.raw()) {
            raw.send(post("Content-Length: 300000\r\nExpect: 100-continue\r\n", ""));
            var answer = raw.answer();
            assertEquals(413, answer.status());
            assertEquals("limits.body_bytes", EdgeFixture.json(answer).getString("limit"));
            assertEquals("close", answer.header("connection"));
            assertTrue(raw.isClosedByServer());
        }
        assertTrue(edge.ingest.requests.isEmpty());
    }

    @Test
    @Tag("R53")
    void anotherExpectationIs417() throws Exception {
        assertEquals(
                417,
                edge.raw(post("Content-Length: 7\r\nExpect: 200-maybe\r\n", "")).status());
    }

    @Test
    @Tag("R53")
    void tooMuchIs413AsSoonAsTheLengthSaysSo() throws Exception {
        try (RawClient raw = edge.raw()) {
            raw.send(post("Content-Length: 10000000\r\n", "{"));
            assertEquals(413, raw.answer().status());
        }
    }

    @Test
    @Tag("R53")
    void chunkedTooMuchIs413AsSoonAsItHasCome() throws Exception {
        try (RawClient raw = edge.raw()) {
            raw.send(post("Transfer-Encoding: chunked\r\n", ""));
            String chunk = "8000\r\n" + "x".repeat(0x8000) + "\r\n";
            for (int i = 0; i < 9; i++) {
                raw.send(chunk);
            }
            assertEquals(413, raw.answer().status());
            assertTrue(raw.isClosedByServer());
        }
        assertTrue(edge.ingest.requests.isEmpty());
    }

    @Test
    @Tag("R53")
    void aLargeUploadThatIsRefusedStillGetsToSeeTheAnswer() throws Exception {
        try (RawClient raw = edge.raw()) {
            raw.send(post("Content-Length: 4000000\r\n", ""));
            raw.send(new byte[4_000_000]);
            assertEquals(413, raw.answer().status());
        }
    }

    @Test
    @Tag("R53")
    void exactlyTheLimitIsTaken() throws Exception {
        int max = EdgeFixture.SMALL.bodyBytesMax();
        assertEquals(201, edge.raw(sized("x".repeat(max))).status());
        assertEquals(413, edge.raw(sized("x".repeat(max + 1))).status());
        assertEquals(max, edge.ingest.requests.get(0).body().length());
    }

    @Test
    @Tag("R53")
    void bothLengthsAreOneRequestAndNeverTwo() throws Exception {
        try (RawClient raw = edge.raw()) {
            String body = "7\r\n{\"a\":1}\r\n0\r\n\r\n";
            raw.send(post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", body));
            int status = raw.answer().status();
            assertTrue(status == 201 || status == 400, "status " + status);
            raw.socket.setSoTimeout(700);
            try {
                assertTrue(raw.in.read() < 0);
            } catch (java.net.SocketTimeoutException e) {
                // Still open, and silent: no second answer.
            }
        }
        assertTrue(edge.ingest.requests.size() <= 1);
    }

    @Test
    @Tag("R53")
    void oddTransferCodingsAndLengthsAreRefused() throws Exception {
        assertEquals(
                501,
                edge.raw(post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"))
                        .status());
        assertEquals(400, edge.raw(post("Content-Length: -5\r\n", "")).status());
        assertEquals(400, edge.raw(post("Content-Length: abc\r\n", "")).status());
        assertEquals(
                400,
                edge.raw(post("Content-Length: 1\r\nContent-Length: 2\r\n", "12"))
                        .status());
        assertTrue(edge.ingest.requests.isEmpty());
    }

    @Test
    @Tag("R53")
    void aBrokenChunkEndsTheConnectionAndStoresNothing() throws Exception {
        try (RawClient raw = edge.raw()) {
            raw.send(post("Transfer-Encoding: chunked\r\n", "7\r\n{\"a\":1}\r\nzz\r\n"));
            assertEquals(400, raw.answer().status());
            assertTrue(raw.isClosedByServer());
        }
        assertTrue(edge.ingest.requests.isEmpty());
    }

    @Test
    @Tag("R53")
    void aSlowBodyIsEndedWithinTheBound() throws Exception {
        long begun = System.nanoTime();
        try (RawClient raw = edge.raw()) {
            raw.send(post("Content-Length: 100\r\n", "{"));
            assertEquals(408, raw.answer().status());
            assertTrue(raw.isClosedByServer());
        }
        assertTrue(System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(5));
        assertTrue(edge.ingest.requests.isEmpty());
    }

    @Test
    @Tag("R53")
    void aSlowHeadIsEndedWithinTheBound() throws Exception {
        try (RawClient raw = edge.raw()) {
            raw.send("POST /v1/streams/s/events HTTP/1.1\r\nHost: loc");
            assertTrue(raw.isClosedByServer());
        }
    }

    @Test
    @Tag("R53")
    void endlessControlCharactersAreEndedWithinTheBound() throws Exception {
        try (RawClient raw = edge.raw()) {
            raw.send(new byte[100_000]);
            raw.send("\r\n".repeat(50_000));
            assertTrue(raw.in.readAllBytes().length < 1_000);
        } catch (java.net.SocketException e) {
            assertTrue(e.toString().contains("reset") || e.toString().contains("pipe"), e.toString());
        }
    }

    @Test
    @Tag("R53")
    void pipelinedAppendsAreStoredAndAnsweredInOrder() throws Exception {
        edge.ingest.answer = this::later;
        try (RawClient raw = edge.raw()) {
            StringBuilder all = new StringBuilder();
            for (int i = 0; i < 20; i++) {
                all.append(sized("{\"n\":" + i + "}"));
            }
            raw.send(all.toString());
            for (int i = 0; i < 20; i++) {
                assertEquals(FakeStream.eventId(i), new JsonObject(raw.answer().text()).getString("first"));
            }
        }
        for (int i = 0; i < 20; i++) {
            assertEquals("{\"n\":" + i + "}", edge.ingest.requests.get(i).body().toString());
        }
    }

    /** Stores at once and answers after a random while. */
    private Future<dev.tidemark.ingest.AppendResult> later(AppendRequest request) {
        FakeStream stream = edge.reads.stream(request.stream());
        stream.add("application/json", request.body().getBytes());
        var result = FakeIngest.stored(stream, 1, false, "live", true);
        Promise<dev.tidemark.ingest.AppendResult> promise = Promise.promise();
        edge.vertx.setTimer(1 + stream.count() * 7L % 5, id -> promise.complete(result));
        return promise.future();
    }

    @Test
    @Tag("R53")
    void longUrlsAndHeadersHaveTheirOwnStatus() throws Exception {
        var url = edge.get("/v1/streams/" + "x".repeat(5_000) + "/tail");
        assertEquals(414, url.status());
        assertEquals("application/problem+json", url.header("content-type"));
        var headers = edge.get("/v1/streams/s/tail", "X-Much: " + "y".repeat(9_000));
        assertEquals(431, headers.status());
        assertEquals(431, EdgeFixture.json(headers).getInteger("status"));
        assertEquals(400, edge.raw("rubbish\r\n\r\n").status());
        assertEquals(501, edge.raw("GET / HTTP/3.7\r\nHost: localhost\r\n\r\n").status());
    }

    @Test
    @Tag("R53")
    void theConnectionGoesOnAfterRefusalsWithSmallBodies() throws Exception {
        try (RawClient raw = edge.raw()) {
            raw.send("POST /v1/streams/s/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello");
            assertEquals(404, raw.answer().status());
            raw.send(
                    "POST /v1/streams/s/events?ack=never HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello");
            assertEquals(400, raw.answer().status());
            raw.send("PATCH /v1/streams/s/events HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
            var last = raw.answer();
            assertEquals(405, last.status());
            assertEquals("GET, HEAD, POST, OPTIONS", last.header("allow"));
        }
        try (RawClient raw = edge.raw()) {
            raw.send("POST /v1/streams/s/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello");
            assertEquals(404, raw.answer().status());
            assertEquals(201, raw.send(sized("1")).answer().status());
        }
    }

    @Test
    @Tag("R28")
    void handsOnTheHeadersOfProducersAndTellsConnectionsApart() throws Exception {
        String headers = "Producer-Id: p 1\r\nProducer-Epoch: 2\r\nProducer-Seq: 3\r\nContent-Length: 1\r\n";
        try (RawClient raw = edge.raw()) {
            assertEquals(201, raw.send(post(headers, "1")).answer().status());
            assertEquals(201, raw.send(sized("2")).answer().status());
        }
        edge.raw(post("idempotency-key: k\r\nContent-Length: 1\r\n", "3"));
        List<AppendRequest> requests = edge.ingest.requests;
        assertEquals(new ProducerHeaders("p 1", "2", "3", null), requests.get(0).producer());
        assertEquals(ProducerHeaders.NONE, requests.get(1).producer());
        assertEquals(new ProducerHeaders(null, null, null, "k"), requests.get(2).producer());
        assertEquals(requests.get(0).connection(), requests.get(1).connection());
        assertNotEquals(requests.get(0).connection(), requests.get(2).connection());
    }

    @Test
    @Tag("R28")
    void aHeaderOfProducersThatIsGivenTwiceIsRefused() throws Exception {
        for (String header : List.of("Producer-Id", "Producer-Epoch", "Producer-Seq", "Idempotency-Key")) {
            String twice = header + ": 1\r\n" + header + ": 1\r\nContent-Length: 1\r\n";
            assertEquals(400, edge.raw(post(twice, "1")).status(), header);
        }
        assertTrue(edge.ingest.requests.isEmpty());
    }

    @Test
    @Tag("R28")
    void refusalsOfProducersHaveTheStatusOfTheContract() throws Exception {
        Map<Problem.Kind, Integer> statuses = Map.of(
                Problem.Kind.PRODUCER_FENCED, 403,
                Problem.Kind.SEQ_GAP, 409,
                Problem.Kind.SEQ_EXPIRED, 409,
                Problem.Kind.BODY_CHANGED, 409,
                Problem.Kind.TOO_MANY_KEYS, 429);
        for (Map.Entry<Problem.Kind, Integer> expected : statuses.entrySet()) {
            edge.ingest.answer = r -> Future.failedFuture(new Problem(expected.getKey(), "so it is"));
            var answer = edge.raw(sized("1"));
            assertEquals(expected.getValue(), answer.status());
            String type = "urn:tidemark:problem:" + expected.getKey().name().toLowerCase(Locale.ROOT);
            assertEquals(type, EdgeFixture.json(answer).getString("type"));
            assertEquals(expected.getValue() == 429, EdgeFixture.json(answer).getBoolean("retryable"));
            assertEquals(
                    expected.getValue() == 429, !answer.header("retry-after").isEmpty());
        }
    }

    @Test
    @Tag("R28")
    void aGapSaysWhatIsExpectedInTheProblemAndInAHeader() throws Exception {
        edge.ingest.answer =
                r -> Future.failedFuture(new Problem(Problem.Kind.SEQ_GAP, "a gap").with("expected_seq", 17L));
        var answer = edge.raw(sized("1"));
        assertEquals("17", answer.header("producer-expected-seq"));
        assertEquals(17, EdgeFixture.json(answer).getInteger("expected_seq"));
    }

    @Test
    @Tag("R28")
    void aDuplicateWhoseIdsAreNotAllRememberedListsNone() throws Exception {
        FakeStream stream = edge.reads.stream("s").withNumbers(3, 3);
        AppendResult all = FakeIngest.stored(stream, 3, true, "live", true);
        edge.ingest.answer = r -> Future.succeededFuture(new AppendResult(
                all.stream(), List.of(all.ids().get(0), all.ids().get(2)), 3, all.cursor(), true, "live", true));
        var answer = EdgeFixture.json(edge.raw(
                "POST /v1/streams/s/events?ids=true HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n1"));
        assertEquals(3, answer.getInteger("count"));
        assertEquals(FakeStream.eventId(2), answer.getString("last"));
        assertFalse(answer.containsKey("ids"));
    }

    @Test
    void repeatedHeadersThatMustBeOneAreRefused() throws Exception {
        assertEquals(
                400,
                edge.raw(post("Content-Type: text/plain\r\nContent-Length: 1\r\n", "1"))
                        .status());
        assertEquals(
                400,
                edge.raw(post("Event-Time: 1\r\nEvent-Time: 2\r\nContent-Length: 1\r\n", "1"))
                        .status());
    }

    @Test
    void realClientsAppend() throws Exception {
        var answer = edge.post("/v1/streams/" + "caf%C3%A9" + "/events", "application/json", "{\"é\":\"ü\"}");
        assertEquals(201, answer.statusCode());
        assertEquals("café", edge.ingest.requests.get(0).stream());
        assertArrayEquals(
                "{\"é\":\"ü\"}".getBytes(StandardCharsets.UTF_8),
                edge.ingest.requests.get(0).body().getBytes());
        assertEquals(new StreamName("café"), edge.reads.stream("café").id.name());
    }
}
