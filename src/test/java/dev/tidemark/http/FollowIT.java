package dev.tidemark.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Problem.Kind;
import dev.tidemark.event.Slice;
import dev.tidemark.http.FakeReads.FakeSubscription;
import dev.tidemark.read.SubscribeRequest;
import dev.tidemark.read.SubscribeRequest.Slow;
import dev.tidemark.read.View;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Following over WebSocket and as an event stream. */
class FollowIT {
    private final EdgeFixture edge = new EdgeFixture(EdgeFixture.options(
            EdgeFixture.SMALL,
            new HttpOptions.Timeouts(2_000, 700, 500, 15_000, 20_000, 20_000, 1_000),
            List.of(),
            List.of(),
            64 << 10));

    @AfterEach
    void close() {
        edge.close();
    }

    private RawWebSocket follow(String query) throws Exception {
        return new RawWebSocket(edge.port, "/v1/streams/s/subscribe" + query).open();
    }

    /** Subscribed and greeted. */
    private FakeSubscription greet(RawWebSocket socket) throws Exception {
        return greet(socket, edge);
    }

    private static FakeSubscription greet(RawWebSocket socket, EdgeFixture edge) throws Exception {
        FakeSubscription subscription = edge.subscription();
        subscription.hello();
        assertEquals("hello", socket.message().getString("type"));
        return subscription;
    }

    @Test
    void everyMessageHasTheFieldsOfTheContract() throws Exception {
        FakeStream stream = edge.reads.stream("s")
                .with("{\"a\":\n1}", "2")
                .add("text/plain", "x\ny".getBytes(StandardCharsets.UTF_8));
        try (RawWebSocket socket = follow("")) {
            FakeSubscription subscription = edge.subscription();
            subscription.hello();
            JsonObject hello = socket.message();
            assertEquals(
                    List.of("type", "stream", "generation", "session", "cursor", "seam"),
                    List.copyOf(hello.fieldNames()));
            assertEquals(stream.end().toString(), hello.getString("cursor"));
            subscription.play(s -> s.events(stream.last(3)));
            RawWebSocket.Frame first = socket.next();
            assertTrue(first.last());
            assertTrue(first.text().startsWith("{\"type\":\"event\",\"id\":\"" + FakeStream.eventId(0)), first.text());
            assertTrue(first.text().endsWith(",\"data\":{\"a\":\n1}}"), first.text());
            assertEquals(2, socket.message().getInteger("data"));
            assertEquals("x\ny", socket.message().getString("text"));
            subscription.play(s -> s.caughtUp(stream.end()));
            assertEquals(
                    new JsonObject()
                            .put("type", "caught_up")
                            .put("cursor", stream.end().toString()),
                    socket.message());
            subscription.play(s -> s.fellBehind(stream.end()));
            assertEquals("fell_behind", socket.message().getString("type"));
            subscription.play(s ->
                    s.gap(new Gap(Position.ZERO, FakeStream.position(1), Gap.Reason.SKIPPED), FakeStream.position(2)));
            JsonObject gap = socket.message();
            assertEquals(List.of("type", "from", "to", "reason", "earliest"), List.copyOf(gap.fieldNames()));
            assertNull(gap.getString("from"));
            assertEquals("skipped", gap.getString("reason"));
            assertEquals(FakeStream.eventId(2), gap.getString("earliest"));
        }
    }

    @Test
    void parametersReachTheSubscription() throws Exception {
        edge.reads.stream("s");
        Map<String, SubscribeRequest> expected = Map.of(
                "", new SubscribeRequest("latest", -1, View.LIVE, false, Slow.ARCHIVE),
                "?after=earliest", new SubscribeRequest("earliest", -1, View.LIVE, false, Slow.ARCHIVE),
                "?tail=0&view=sealed", new SubscribeRequest(null, 0, View.SEALED, false, Slow.ARCHIVE),
                "?after=X&on_gap=close&slow=skip&heartbeat=60",
                        new SubscribeRequest("X", -1, View.LIVE, true, Slow.SKIP),
                "?slow=close&batch=false", new SubscribeRequest("latest", -1, View.LIVE, false, Slow.CLOSE));
        for (var entry : expected.entrySet()) {
            try (RawWebSocket socket = follow(entry.getKey())) {
                assertEquals(entry.getValue(), edge.subscription().request, entry.getKey());
                assertFalse(socket.raw.socket.isClosed());
            }
        }
    }

    @Test
    @Tag("R46")
    void badParametersAreSaidOnTheSocketWithTheirCode() throws Exception {
        edge.reads.stream("s");
        for (String bad : List.of(
                "?tail=-1",
                "?tail=x",
                "?tail=10001",
                "?after=",
                "?after=a&tail=1",
                "?batch=1",
                "?slow=drop",
                "?heartbeat=0",
                "?heartbeat=61",
                "?on_gap=",
                "?view=x",
                "?unknown=1",
                "?tail=1&tail=2",
                "?after=%ff")) {
            try (RawWebSocket socket = follow(bad)) {
                JsonObject error = socket.message();
                assertEquals("error", error.getString("type"), bad);
                assertEquals(400, error.getInteger("status"), bad);
                assertTrue(error.containsKey("parameter"), bad);
                assertEquals(4500, socket.closeCode(), bad);
            }
        }
        assertTrue(edge.reads.subscriptions.isEmpty());
    }

    @Test
    @Tag("R42")
    void badNamesAreSaidOnTheSocketToo() throws Exception {
        for (String bad : List.of("..", "%2e", "a%00b", "%ff", "", "x".repeat(201))) {
            try (RawWebSocket socket = new RawWebSocket(edge.port, "/v1/streams/" + bad + "/subscribe").open()) {
                assertEquals("error", socket.message().getString("type"), bad);
                assertEquals(4500, socket.closeCode(), bad);
            }
        }
        try (RawWebSocket socket = new RawWebSocket(edge.port, "/v1/streams/100%/subscribe")) {
            assertEquals(400, socket.raw.answer().status());
        }
    }

    @Test
    void everyProblemHasItsCloseCodeAndACursorToResumeWith() throws Exception {
        FakeStream stream = edge.reads.stream("s").with("1");
        Map<Kind, Integer> codes = Map.of(
                Kind.UNAVAILABLE, 4000,
                Kind.OVERLOADED, 4001,
                Kind.BAD_REQUEST, 4500,
                Kind.POSITION_AHEAD, 4500,
                Kind.NOT_FOUND, 4504,
                Kind.EXPIRED, 4510,
                Kind.GENERATION_CHANGED, 4510);
        for (var entry : codes.entrySet()) {
            try (RawWebSocket socket = follow("")) {
                FakeSubscription subscription = greet(socket);
                subscription.play(s -> s.closed(new Problem(entry.getKey(), "over"), stream.end()));
                JsonObject error = socket.message();
                assertEquals("error", error.getString("type"));
                assertEquals(stream.end().toString(), error.getString("cursor"));
                assertEquals(
                        entry.getValue(), socket.closeCode(), entry.getKey().name());
            }
        }
        try (RawWebSocket socket = new RawWebSocket(edge.port, "/v1/streams/none/subscribe").open()) {
            assertNull(socket.message().getString("cursor"));
            assertEquals(4504, socket.closeCode());
        }
    }

    @Test
    @Tag("R18")
    void eventsOfAnySizeArriveByteForByte() throws Exception {
        FakeStream stream = edge.reads.stream("s");
        List<Integer> sizes = List.of(1, 60, 125, 126, 60_000, 65_500, 70_000, 300_000, 1 << 20);
        for (int size : sizes) {
            stream.with("\"" + "é".repeat(size / 2) + "\"");
        }
        try (RawWebSocket socket = follow("")) {
            FakeSubscription subscription = greet(socket);
            subscription.play(s -> s.events(stream.last(sizes.size())));
            for (int size : sizes) {
                assertEquals("é".repeat(size / 2), socket.message().getString("data"));
            }
        }
        try (RawWebSocket socket = follow("?batch=true")) {
            FakeSubscription subscription = greet(socket);
            subscription.play(s -> s.events(stream.last(sizes.size())));
            int seen = 0;
            while (seen < sizes.size()) {
                JsonObject batch = socket.message();
                assertEquals("events", batch.getString("type"));
                for (Object event : batch.getJsonArray("events")) {
                    assertEquals("é".repeat(sizes.get(seen++) / 2), ((JsonObject) event).getString("data"));
                }
            }
        }
    }

    @Test
    void aBatchHasSeveralEventsAFrame() throws Exception {
        FakeStream stream = edge.reads.stream("s").withNumbers(1_000, 64);
        try (RawWebSocket socket = follow("?batch=true")) {
            FakeSubscription subscription = greet(socket);
            subscription.play(s -> s.events(stream.last(1_000)));
            int seen = 0;
            int frames = 0;
            while (seen < 1_000) {
                RawWebSocket.Frame frame = socket.next();
                frames++;
                assertTrue(frame.payload().length() <= 40 << 10);
                for (Object event : frame.json().getJsonArray("events")) {
                    assertEquals(
                            ++seen, ((JsonObject) event).getJsonObject("data").getInteger("n"));
                }
            }
            assertTrue(frames < 10, "frames " + frames);
        }
    }

    @Test
    void followersOfTheSameListShareItsBytes() throws Exception {
        FakeStream stream = edge.reads.stream("s").withNumbers(50, 10);
        try (RawWebSocket one = follow("");
                RawWebSocket two = follow("");
                RawWebSocket three = follow("?batch=true")) {
            List<FakeSubscription> all = List.of(edge.subscription(), edge.subscription(), edge.subscription());
            List<Slice> first = stream.last(30);
            List<Slice> second = stream.last(20);
            for (FakeSubscription subscription : all) {
                subscription.hello();
                subscription.play(s -> s.events(first));
                subscription.play(s -> s.events(second));
                subscription.play(s -> s.events(first));
            }
            for (RawWebSocket socket : List.of(one, two)) {
                assertEquals("hello", socket.message().getString("type"));
                for (int start : List.of(21, 31, 21)) {
                    for (int n = start; n <= 50; n++) {
                        assertEquals(n, socket.message().getJsonObject("data").getInteger("n"));
                    }
                }
            }
            assertEquals("hello", three.message().getString("type"));
            assertEquals(30, three.message().getJsonArray("events").size());
            assertEquals(20, three.message().getJsonArray("events").size());
        }
    }

    @Test
    void pauseAndResumeReachTheSubscription() throws Exception {
        edge.reads.stream("s");
        try (RawWebSocket socket = follow("")) {
            FakeSubscription subscription = greet(socket);
            socket.send("{\"type\":\"pause\"}").send(" {\"type\" : \"resume\", \"x\":[1]}");
            assertEquals("pause", subscription.calls.poll(5, TimeUnit.SECONDS));
            assertEquals("resume", subscription.calls.poll(5, TimeUnit.SECONDS));
        }
    }

    // ---- R39: rubbish

    @Test
    @Tag("R39")
    void whatIsNotUnderstoodIsAnsweredOnThatSocketAndItStays() throws Exception {
        FakeStream stream = edge.reads.stream("s").with("1");
        try (RawWebSocket socket = follow("");
                RawWebSocket other = follow("")) {
            FakeSubscription subscription = greet(socket);
            FakeSubscription quiet = greet(other);
            for (String rubbish : List.of(
                    "]",
                    "null",
                    "\"x\"",
                    "",
                    "{}",
                    "[]",
                    "{\"type\":1}",
                    "{\"type\":\"subscribe\"}",
                    "true",
                    "{\"type\":\"pause\"} x",
                    "[".repeat(20_000),
                    "{\"type\":null}",
                    "\u0000")) {
                socket.send(rubbish);
                JsonObject error = socket.message();
                assertEquals("error", error.getString("type"), rubbish);
                assertEquals(400, error.getInteger("status"), rubbish);
                assertFalse(error.encode().contains("Exception"), rubbish);
            }
            subscription.play(s -> s.events(stream.last(1)));
            assertEquals("event", socket.message().getString("type"));
            quiet.play(s -> s.events(stream.last(1)));
            assertEquals("event", other.message().getString("type"));
        }
    }

    @Test
    @Tag("R39")
    void fragmentsWithAPingBetweenAreOneMessage() throws Exception {
        edge.reads.stream("s");
        try (RawWebSocket socket = follow("")) {
            FakeSubscription subscription = greet(socket);
            socket.frame(false, RawWebSocket.TEXT, "{\"type\":".getBytes(StandardCharsets.UTF_8))
                    .frame(true, RawWebSocket.PING, "hi".getBytes(StandardCharsets.UTF_8))
                    .frame(false, RawWebSocket.CONTINUATION, new byte[0])
                    .frame(true, RawWebSocket.CONTINUATION, "\"pause\"}".getBytes(StandardCharsets.UTF_8));
            assertEquals("pause", subscription.calls.poll(5, TimeUnit.SECONDS));
            RawWebSocket.Frame pong = socket.next();
            assertEquals(RawWebSocket.PONG, pong.opcode());
            assertEquals("hi", pong.text());
        }
    }

    @Test
    @Tag("R39")
    void whatCanNotBeTakenClosesThatSocketWithItsCode() throws Exception {
        FakeStream stream = edge.reads.stream("s").with("1");
        try (RawWebSocket other = follow("")) {
            FakeSubscription quiet = greet(other);
            byte[] big = new byte[50_000];
            Arrays.fill(big, (byte) 'x');
            assertEquals(1003, codeAfter(s -> s.frame(true, RawWebSocket.BINARY, new byte[] {1, 2})));
            assertEquals(1007, codeAfter(s -> s.frame(true, RawWebSocket.TEXT, new byte[] {'"', (byte) 0xff, '"'})));
            assertEquals(1009, codeAfter(s -> s.frame(true, RawWebSocket.TEXT, new byte[1 << 20])));
            assertEquals(
                    1009,
                    codeAfter(s -> s.frame(false, RawWebSocket.TEXT, big).frame(true, RawWebSocket.CONTINUATION, big)));
            assertEquals(1002, codeAfter(s -> s.frame(true, RawWebSocket.CONTINUATION, big)));
            assertEquals(1002, codeAfter(s -> s.frame(true, 5, big)));
            assertEquals(1002, codeAfter(s -> s.raw.send(new byte[] {(byte) 0x81, 1, 'x'})));
            quiet.play(s -> s.events(stream.last(1)));
            assertEquals("event", other.message().getString("type"));
        }
    }

    private interface Sends {
        Object to(RawWebSocket socket) throws Exception;
    }

    private int codeAfter(Sends sends) throws Exception {
        try (RawWebSocket socket = follow("")) {
            FakeSubscription subscription = greet(socket);
            var unused = sends.to(socket);
            int code = socket.closeCode();
            assertEquals("close", subscription.calls.poll(5, TimeUnit.SECONDS));
            return code;
        } catch (java.io.IOException e) {
            return -1;
        }
    }

    @Test
    @Tag("R39")
    void aFloodOfRubbishIsEnded() throws Exception {
        edge.reads.stream("s");
        assertEquals(1008, codeAfter(s -> {
            for (int i = 0; i < 200; i++) {
                s.send("rubbish");
            }
            return s;
        }));
    }

    @Test
    void aClientThatClosesOrLeavesEndsItsSubscription() throws Exception {
        edge.reads.stream("s");
        try (RawWebSocket socket = follow("")) {
            FakeSubscription subscription = greet(socket);
            socket.frame(true, RawWebSocket.CLOSE, new byte[] {3, (byte) 0xe8});
            assertEquals(1000, socket.closeCode());
            assertTrue(socket.raw.isClosedByServer());
            assertEquals("close", subscription.calls.poll(5, TimeUnit.SECONDS));
        }
        RawWebSocket socket = follow("");
        FakeSubscription subscription = greet(socket);
        socket.close();
        assertEquals("close", subscription.calls.poll(5, TimeUnit.SECONDS));
    }

    // ---- slow and silent

    @Test
    @Tag("R12")
    void aSlowFollowerIsNotWritableUntilItHasTakenEnough() throws Exception {
        FakeStream stream = edge.reads.stream("s").with("\"" + "x".repeat(60_000) + "\"");
        try (RawWebSocket socket = follow("")) {
            FakeSubscription subscription = greet(socket);
            int written = fill(subscription, stream);
            assertTrue(written > 1 && written < 2_000, "written " + written);
            for (int i = 0; i < written; i++) {
                assertEquals("event", socket.message().getString("type"));
            }
            assertEquals("drained", subscription.calls.poll(5, TimeUnit.SECONDS));
        }
    }

    /** Writes one event after the other until the follower isn't writable; says how many. */
    private static int fill(FakeSubscription subscription, FakeStream stream) throws Exception {
        CompletableFuture<Integer> written = new CompletableFuture<>();
        subscription.play(s -> {
            int count = 0;
            while (s.writable() && count < 2_000) {
                s.events(stream.last(1));
                count++;
            }
            written.complete(count);
        });
        return written.get(10, TimeUnit.SECONDS);
    }

    @Test
    void silenceIsFilledWithHeartbeats() throws Exception {
        FakeStream stream = edge.reads.stream("s").with("1");
        try (RawWebSocket socket = follow("?heartbeat=1")) {
            FakeSubscription subscription = greet(socket);
            long begun = System.nanoTime();
            JsonObject heartbeat = socket.message();
            long afterMs = (System.nanoTime() - begun) / 1_000_000;
            assertEquals(List.of("type", "cursor", "seam", "live"), List.copyOf(heartbeat.fieldNames()));
            assertEquals("heartbeat", heartbeat.getString("type"));
            assertEquals(stream.end().toString(), heartbeat.getString("cursor"));
            assertEquals("ok", heartbeat.getString("live"));
            assertTrue(afterMs > 700 && afterMs < 2_000, "after " + afterMs + " ms");
            assertTrue(subscription.calls.isEmpty());
        }
    }

    @Test
    @Tag("R38")
    void aPeerThatDoesNotAnswerPingsIsClosedAndOneThatDoesIsNot() throws Exception {
        try (EdgeFixture quick = new EdgeFixture(EdgeFixture.options(EdgeFixture.SMALL, EdgeFixture.SHORT))) {
            quick.reads.stream("s");
            RawWebSocket dead = new RawWebSocket(quick.port, "/v1/streams/s/subscribe").open();
            FakeSubscription subscription = quick.subscription();
            long begun = System.nanoTime();
            while (dead.raw.in.read() >= 0) {
                assertTrue(System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(5));
            }
            assertEquals("close", subscription.calls.poll(5, TimeUnit.SECONDS));
            dead.close();
            RawWebSocket alive = new RawWebSocket(quick.port, "/v1/streams/s/subscribe").open();
            FakeSubscription kept = quick.subscription();
            for (int pings = 0; pings < 5; ) {
                RawWebSocket.Frame frame = alive.next();
                if (frame.opcode() == RawWebSocket.PING) {
                    pings++;
                    alive.frame(true, RawWebSocket.PONG, frame.payload().getBytes());
                }
            }
            assertTrue(kept.calls.isEmpty());
            alive.close();
        }
    }

    @Test
    @Tag("R38")
    void aSlowReaderIsAliveAsLongAsItTakesSomething() throws Exception {
        try (EdgeFixture quick = new EdgeFixture(EdgeFixture.options(EdgeFixture.SMALL, EdgeFixture.SHORT))) {
            FakeStream stream = quick.reads.stream("s").with("\"" + "x".repeat(60_000) + "\"");
            RawWebSocket slow = new RawWebSocket(quick.port, "/v1/streams/s/subscribe").open();
            FakeSubscription subscription = quick.subscription();
            subscription.hello();
            int written = fill(subscription, stream);
            long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(2_500);
            long read = 0;
            while (System.nanoTime() < until) {
                read += slow.raw.in.readNBytes(30_000).length;
                if ("drained".equals(subscription.calls.poll(50, TimeUnit.MILLISECONDS))) {
                    written += fill(subscription, stream);
                }
            }
            assertTrue(written > 10 && read > 500_000, written + " written, " + read + " bytes read");
            assertFalse(subscription.calls.contains("close"));
            // Now it takes nothing any more.
            Awaitility.await().atMost(10, TimeUnit.SECONDS).until(() -> subscription.calls.contains("close"));
            slow.close();
        }
    }

    @Test
    @Tag("R12")
    void whoTakesItsEventsSlowlyStillGetsToSeeWhyItIsClosed() throws Exception {
        FakeStream stream = edge.reads.stream("s").with("\"" + "x".repeat(60_000) + "\"");
        try (RawWebSocket socket = follow("")) {
            FakeSubscription subscription = greet(socket);
            fill(subscription, stream);
            subscription.play(s -> s.closed(new Problem(Kind.OVERLOADED, "too slow"), stream.end()));
            // Longer than the second that a client has which takes nothing.
            long begun = System.nanoTime();
            JsonObject message = socket.message();
            while (message.getString("type").equals("event")) {
                Thread.sleep(400);
                message = socket.message();
            }
            assertTrue(System.nanoTime() - begun > TimeUnit.MILLISECONDS.toNanos(1_200));
            assertEquals(stream.end().toString(), message.getString("cursor"));
            assertEquals(4001, socket.closeCode());
        }
    }

    @Test
    @Tag("R12")
    void whoTakesNothingIsClosedWithinABound() throws Exception {
        FakeStream stream = edge.reads.stream("s").with("\"" + "x".repeat(60_000) + "\"");
        try (RawWebSocket socket = follow("")) {
            FakeSubscription subscription = greet(socket);
            fill(subscription, stream);
            assertTrue(edge.edge.followFigures().events() > 1);
            Awaitility.await().until(() -> edge.edge.followFigures().waitingBytes() > 60_000);
            subscription.play(s -> s.closed(new Problem(Kind.OVERLOADED, "too slow"), stream.end()));
            Awaitility.await()
                    .atMost(5, TimeUnit.SECONDS)
                    .until(() -> edge.edge.followFigures().waitingBytes() == 0);
        }
    }

    // ---- stop

    @Test
    void stoppingTellsFollowersWhereToResumeWithinABound() throws Exception {
        FakeStream stream = edge.reads.stream("s").with("1");
        RawWebSocket socket = follow("");
        greet(socket);
        RawWebSocket deaf = follow("");
        greet(deaf);
        RawClient events = edge.raw();
        events.send("GET /v1/streams/s/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
        edge.subscription().hello();
        assertEquals("HTTP/1.1 200 OK", events.line());
        Thread stopper = new Thread(edge::stop);
        long begun = System.nanoTime();
        stopper.start();
        JsonObject error = socket.message();
        assertEquals("error", error.getString("type"));
        assertEquals(stream.end().toString(), error.getString("cursor"));
        assertTrue(error.getBoolean("retryable"));
        assertTrue(error.getInteger("retry_after_ms") >= 500);
        RawWebSocket.Frame close = socket.next();
        assertEquals(4000, close.closeCode());
        socket.frame(true, RawWebSocket.CLOSE, close.payload().getBytes());
        assertTrue(socket.raw.isClosedByServer());
        String rest = new String(events.in.readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(rest.contains("event: error") && rest.contains("id: " + stream.end()), rest);
        stopper.join(5_000);
        assertFalse(stopper.isAlive());
        assertTrue(System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(5));
        deaf.close();
    }

    @Test
    @Tag("R50")
    void whoComesWhileItStopsIsToldToComeAgainAtATimeOfItsOwn() throws Exception {
        edge.reads.stream("s").with("1");
        // It doesn't answer its close frame, and keeps the server waiting.
        RawWebSocket deaf = follow("");
        greet(deaf);
        List<RawClient> waiting = List.of(edge.raw(), edge.raw(), edge.raw(), edge.raw(), edge.raw());
        for (RawClient client : waiting) {
            client.send(EdgeFixture.head("GET /health/live"));
            assertEquals(200, client.answer().status());
        }
        Thread stopper = new Thread(edge::stop);
        stopper.start();
        assertEquals("error", deaf.message().getString("type"));
        waiting.get(0).send(RawWebSocket.handshake(edge.port, "/v1/streams/s/subscribe"));
        try (RawWebSocket late = new RawWebSocket(waiting.get(0)).open()) {
            JsonObject error = late.message();
            assertEquals(503, error.getInteger("status"));
            assertTrue(error.getBoolean("retryable"));
            int hintMs = error.getInteger("retry_after_ms");
            assertTrue(hintMs >= 500 && hintMs <= 5_000, "hint " + hintMs);
            assertEquals(4000, late.closeCode());
        }
        waiting.get(1).send(EdgeFixture.head("GET /v1/streams/s/events", "Accept: text/event-stream"));
        RawClient.Answer events = waiting.get(1).answer();
        assertEquals(200, events.status(), "a browser never comes again after anything else");
        assertTrue(Pattern.matches("(?s).*event: error\ndata: .*\nretry: [0-9]+\n\n", events.text()), events.text());
        waiting.get(2).send(EdgeFixture.head("POST /v1/streams/s/events", "Content-Length: 1") + "1");
        assertEquals(503, waiting.get(2).answer().status());
        waiting.get(3).send(EdgeFixture.head("GET /health/live"));
        assertEquals(200, waiting.get(3).answer().status());
        waiting.get(4).send(EdgeFixture.head("GET /v1/streams/s/subscribe", "Origin: http://evil.example"));
        assertEquals(403, waiting.get(4).answer().status());
        for (RawClient client : waiting) {
            client.close();
        }
        deaf.close();
        stopper.join(5_000);
        assertFalse(stopper.isAlive());
    }

    // ---- handshakes

    @Test
    void aPlainRequestIsToldToUpgrade() throws Exception {
        var answer = edge.get("/v1/streams/s/subscribe");
        assertEquals(426, answer.status());
        assertEquals("websocket", answer.header("upgrade"));
        assertEquals("application/problem+json", answer.header("content-type"));
        assertEquals(
                405,
                edge.ask("POST", "/v1/streams/s/subscribe", "Content-Length: 0").status());
        assertEquals(
                426,
                edge.get(
                                "/v1/streams/s/subscribe",
                                "Connection: Upgrade",
                                "Upgrade: websocket",
                                "Sec-WebSocket-Version: 8",
                                "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==")
                        .status());
        assertEquals(
                426,
                edge.get(
                                "/v1/streams/s/subscribe",
                                "Connection: Upgrade",
                                "Upgrade: websocket",
                                "Sec-WebSocket-Version: 13",
                                "Sec-WebSocket-Key: short")
                        .status());
        assertEquals(
                404,
                edge.get("/v1/nothing", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13")
                        .status());
    }

    @Test
    void theSubprotocolIsChosenWhenOffered() throws Exception {
        edge.reads.stream("s");
        try (RawWebSocket socket = new RawWebSocket(
                edge.port,
                "/v1/streams/s/subscribe",
                "Sec-WebSocket-Protocol: other, tidemark.v1",
                "Sec-WebSocket-Extensions: permessage-deflate")) {
            var answer = socket.raw.answer();
            assertEquals(101, answer.status());
            assertEquals("tidemark.v1", answer.header("sec-websocket-protocol"));
            assertEquals("", answer.header("sec-websocket-extensions"));
        }
    }

    @Test
    void compressionIsForClientsThatOfferItOnceItIsSwitchedOn() throws Exception {
        HttpOptions usual = EdgeFixture.options(EdgeFixture.SMALL, EdgeFixture.SHORT);
        try (EdgeFixture compressing = new EdgeFixture(usual.compressing())) {
            FakeStream stream = compressing.reads.stream("s").withNumbers(100, 2_000);
            List<String> offers = List.of(
                    "", "permessage-deflate; client_max_window_bits", "permessage-deflate; server_max_window_bits=9");
            for (String offer : offers) {
                boolean taken = offer.equals(offers.get(1));
                try (RawWebSocket socket = new RawWebSocket(
                        compressing.port,
                        "/v1/streams/s/subscribe",
                        "Sec-WebSocket-Extensions: " + (offer.isEmpty() ? "x-unknown" : offer))) {
                    String extensions = socket.raw.answer().header("sec-websocket-extensions");
                    assertEquals(taken, extensions.startsWith("permessage-deflate"), offer);
                    socket.inflates();
                    FakeSubscription subscription = greet(socket, compressing);
                    subscription.play(s -> s.events(stream.last(100)));
                    subscription.play(s -> s.events(stream.last(3)));
                    for (int n = 1; n <= 103; n++) {
                        RawWebSocket.Frame frame = socket.next();
                        assertEquals(
                                n <= 100 ? n : n - 3,
                                frame.json().getJsonObject("data").getInteger("n"));
                        assertEquals(taken, frame.compressed());
                    }
                    socket.send("{\"type\":\"pause\"}");
                    assertEquals("pause", subscription.calls.poll(5, TimeUnit.SECONDS));
                    if (taken) {
                        byte[] bomb = RawWebSocket.deflated("x".repeat(1 << 20).getBytes(StandardCharsets.UTF_8));
                        assertTrue(bomb.length < 10_000);
                        socket.frame(true, RawWebSocket.TEXT | RawWebSocket.COMPRESSED, bomb);
                        assertEquals(1009, socket.closeCode());
                    }
                }
            }
        }
    }

    @Test
    @Tag("R18")
    void theJdksClientFollows() throws Exception {
        FakeStream stream = edge.reads.stream("s").with("\"" + "é".repeat(150_000) + "\"");
        BlockingQueue<String> messages = new LinkedBlockingQueue<>();
        WebSocket socket = edge.client
                .newWebSocketBuilder()
                .subprotocols("tidemark.v1")
                .buildAsync(
                        URI.create("ws://127.0.0.1:" + edge.port + "/v1/streams/s/subscribe?tail=1"),
                        new WebSocket.Listener() {
                            private final StringBuilder text = new StringBuilder();

                            @Override
                            public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
                                text.append(data);
                                if (last) {
                                    messages.add(text.toString());
                                    text.setLength(0);
                                }
                                from.request(1);
                                return CompletableFuture.completedFuture(null);
                            }

                            @Override
                            public CompletionStage<?> onClose(WebSocket from, int code, String reason) {
                                messages.add("closed " + code);
                                return CompletableFuture.completedFuture(null);
                            }
                        })
                .get(10, TimeUnit.SECONDS);
        FakeSubscription subscription = edge.subscription();
        subscription.hello();
        subscription.play(s -> s.events(stream.last(1)));
        assertTrue(messages.poll(10, TimeUnit.SECONDS).contains("hello"));
        assertEquals("é".repeat(150_000), new JsonObject(messages.poll(10, TimeUnit.SECONDS)).getString("data"));
        subscription.play(s -> s.closed(new Problem(Kind.NOT_FOUND, "deleted"), stream.end()));
        assertTrue(messages.poll(10, TimeUnit.SECONDS).contains("error"));
        assertEquals("closed 4504", messages.poll(10, TimeUnit.SECONDS));
        socket.abort();
    }

    // ---- event streams

    @Test
    void anEventStreamCarriesTheSameMessages() throws Exception {
        FakeStream stream = edge.reads.stream("s").with("{\"a\":\r\n1}");
        try (RawClient raw = edge.raw()) {
            raw.send(EdgeFixture.head(
                    "GET /v1/streams/s/events?heartbeat=1&after=earliest",
                    "Accept: text/event-stream",
                    "Connection: close"));
            FakeSubscription subscription = edge.subscription();
            assertEquals("earliest", subscription.request.after());
            subscription.hello();
            subscription.play(s -> s.events(stream.last(1)));
            subscription.play(s -> s.caughtUp(stream.end()));
            Thread.sleep(1_800);
            subscription.play(s -> s.closed(new Problem(Kind.UNAVAILABLE, "later"), stream.end()));
            var answer = raw.answer();
            assertEquals(200, answer.status());
            assertEquals("text/event-stream", answer.header("content-type"));
            assertEquals("no", answer.header("x-accel-buffering"));
            List<String> blocks = List.of(answer.text().split("\n\n", -1));
            String cursor = stream.end().toString();
            assertEquals("retry: 2000", blocks.get(0));
            assertTrue(blocks.get(1).startsWith("event: hello\nid: " + cursor + "\ndata: {\"type\":\"hello\""));
            assertTrue(blocks.get(2).startsWith("id: " + cursor + "\ndata: {\"id\":\""), blocks.get(2));
            assertTrue(blocks.get(2).endsWith("\"data\":{\"a\":  1}}"), blocks.get(2));
            assertTrue(blocks.get(3).startsWith("event: caught_up\n"), blocks.get(3));
            assertTrue(blocks.get(4).startsWith(": keep-alive\nevent: heartbeat\nid: " + cursor), blocks.get(4));
            assertTrue(blocks.get(5).startsWith("event: error\nid: " + cursor), blocks.get(5));
            assertTrue(Pattern.matches("(?s).*\nretry: [0-9]{3,4}", blocks.get(5)), blocks.get(5));
        }
    }

    @Test
    void anEventStreamResumesWithWhatTheBrowserSends() throws Exception {
        edge.reads.stream("s");
        String target = "GET /v1/streams/s/events?after=earliest&last_event_id=Q";
        String accept = "Accept: text/event-stream, */*;q=0.1";
        try (RawClient raw = edge.raw()) {
            raw.send(EdgeFixture.head(target, accept, "Last-Event-ID: H"));
            assertEquals("H", edge.subscription().request.after());
        }
        try (RawClient raw = edge.raw()) {
            raw.send(EdgeFixture.head(target, accept));
            FakeSubscription subscription = edge.subscription();
            assertEquals("Q", subscription.request.after());
            subscription.hello();
            raw.socket.close();
            assertEquals("close", subscription.calls.poll(5, TimeUnit.SECONDS));
        }
    }

    @Test
    void anEventStreamThatCanNotStartIsAProblemWithItsStatus() throws Exception {
        edge.reads.stream("s");
        String accept = "Accept: text/event-stream";
        assertEquals(404, edge.get("/v1/streams/none/events", accept).status());
        assertEquals(400, edge.get("/v1/streams/s/events?batch=true", accept).status());
        assertEquals(400, edge.get("/v1/streams/s/events?limit=5", accept).status());
    }
}
