package dev.tidemark.client;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.cli.FakeServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a subscription makes of a server that stops, closes, refuses, is silent, or sends more than can be taken. */
@Tag("client")
@Timeout(60)
class SubscriptionIT {
    private final FakeServer server = new FakeServer();
    private final TidemarkClient client = TidemarkClient.at(server.url());
    private final Told told = new Told();

    /** Writes down what it is told. */
    private static class Told implements Subscriber {
        final List<String> calls = new CopyOnWriteArrayList<>();
        final List<String> threads = new CopyOnWriteArrayList<>();

        void call(String what) {
            calls.add(what);
            threads.add(Thread.currentThread().getName());
        }

        @Override
        public void event(Event event) throws Exception {
            call(event.id());
        }

        @Override
        public void gap(Gap gap) {
            call("gap " + gap.reason());
        }

        @Override
        public void caughtUp(String cursor) {
            call("caught up " + cursor);
        }

        @Override
        public void sealed(String through) {
            call("sealed " + through);
        }

        @Override
        public void disconnected(TidemarkException why, Duration retryIn) {
            call("disconnected");
        }

        @Override
        public void ended(@Nullable TidemarkException why) {
            call("ended " + (why == null ? "" : why.status()));
        }
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private static void hello(FakeServer.EventStream stream, String cursor) {
        stream.send("hello", "{\"type\":\"hello\",\"stream\":\"s\",\"cursor\":\"" + cursor + "\"}");
    }

    private static String event(int i, String data) {
        return "{\"id\":\"EVT" + i + "\",\"cursor\":\"c" + i + "\",\"at\":1,\"data\":" + data + "}";
    }

    private static void events(FakeServer.EventStream stream, int... numbers) {
        for (int i : numbers) {
            stream.send("", event(i, String.valueOf(i)));
        }
    }

    private static void error(FakeServer.EventStream stream, String members) {
        stream.send("error", "{\"type\":\"error\"," + members + "}");
        stream.end();
    }

    private List<String> uris() {
        return server.requests().stream().map(FakeServer.Request::uri).toList();
    }

    @Test
    void itGoesOnBehindTheLastEventAfterWhateverBreaksIt() {
        AtomicInteger connections = new AtomicInteger();
        server.onStream(stream -> {
            switch (connections.incrementAndGet()) {
                case 1 -> {
                    hello(stream, "c0");
                    events(stream, 1, 2);
                    error(stream, "\"status\":503,\"detail\":\"stopping\",\"retryable\":true");
                }
                case 2 -> {
                    hello(stream, "c2");
                    stream.send("caught_up", "{\"type\":\"caught_up\",\"cursor\":\"c2\"}");
                    stream.send("gap", "{\"type\":\"gap\",\"from\":\"EVT3\",\"to\":\"EVT3\",\"reason\":\"lost\"}");
                    events(stream, 4);
                    stream.send("heartbeat", "{\"type\":\"heartbeat\",\"cursor\":\"c5\"}");
                    stream.send("sealed", "{\"type\":\"sealed\",\"through\":\"EVT4\"}");
                }
                default -> {
                    hello(stream, "c5");
                    events(stream, 6);
                }
            }
        });
        try (Subscription subscription = client.subscribe("s", Follow.tail(7).view(View.SEALED), told)) {
            await().until(() -> told.calls.contains("sealed EVT4"));
            server.endConnections();
            await().until(() -> told.calls.contains("EVT6"));
            assertEquals("c6", subscription.cursor());
        }
        assertEquals(
                List.of(
                        "EVT1",
                        "EVT2",
                        "disconnected",
                        "caught up c2",
                        "gap lost",
                        "EVT4",
                        "sealed EVT4",
                        "disconnected",
                        "EVT6",
                        "ended "),
                told.calls);
        String more = "&view=sealed&heartbeat=15";
        assertEquals(
                List.of(
                        "/v1/streams/s/events?tail=7" + more,
                        "/v1/streams/s/events?after=c2" + more,
                        "/v1/streams/s/events?after=c5" + more),
                uris());
        assertEquals(
                List.of("tidemark-subscription s"),
                told.threads.stream().distinct().toList());
    }

    @Test
    void whatComesBehindAFullWindowIsNotFetched() throws InterruptedException {
        String large = "\"" + "x".repeat(100_000) + "\"";
        AtomicInteger sent = new AtomicInteger();
        server.onStream(stream -> {
            hello(stream, "c0");
            pour(stream, large, sent);
        });
        CountDownLatch hold = new CountDownLatch(1);
        AtomicInteger taken = new AtomicInteger();
        Subscriber slow = event -> {
            hold.await();
            taken.incrementAndGet();
        };
        try (Subscription subscription = client.subscribe("s", Follow.earliest(), slow)) {
            await().pollInterval(Duration.ofMillis(300)).until(() -> {
                int before = sent.get();
                TimeUnit.MILLISECONDS.sleep(250);
                return before > 0 && sent.get() == before;
            });
            // Little fetched ahead, and what sockets and the fake server's own queue hold.
            assertTrue(
                    sent.get() < 250, sent + " messages of 100 kB were taken from a server whose reader stood still");
            hold.countDown();
            await().until(() -> taken.get() == 1_000);
            assertEquals("c1000", subscription.cursor());
        }
    }

    /** 1,000 events, as fast as the client takes them. */
    private static void pour(FakeServer.EventStream stream, String payload, AtomicInteger sent) {
        while (sent.get() < 1_000) {
            if (stream.isFull()) {
                stream.onDrained(() -> pour(stream, payload, sent));
                return;
            }
            stream.send("", event(sent.incrementAndGet(), payload));
        }
    }

    @Test
    void aStreamThatIsGoneEndsIt() {
        server.onStream(stream -> {
            error(
                    stream,
                    "\"problem\":\"urn:tidemark:problem:not_found\",\"status\":404,\"detail\":\"none\",\"retryable\":false");
        });
        Subscription subscription = client.subscribe("s", Follow.latest(), told);
        ExecutionException end =
                assertThrows(ExecutionException.class, () -> subscription.done().get(10, TimeUnit.SECONDS));
        TidemarkException why = assertInstanceOf(TidemarkException.class, end.getCause());
        assertEquals(404, why.status());
        assertEquals("urn:tidemark:problem:not_found", why.type());
        assertEquals(List.of("ended 404"), told.calls);
        assertEquals(1, server.requests().size(), "it didn't come back");
    }

    private static TidemarkException endOf(Subscription subscription) {
        ExecutionException end =
                assertThrows(ExecutionException.class, () -> subscription.done().get(20, TimeUnit.SECONDS));
        return assertInstanceOf(TidemarkException.class, end.getCause());
    }

    @Test
    void aRefusalEndsItAndAServerInTroubleDoesNot() {
        Waits told = new Waits();
        server.refuseStreams(FakeServer.Answer.json(503, "busy"));
        Subscription subscription = client.subscribe("s", Follow.latest(), told);
        for (int passing : List.of(503, 408, 429, 500)) {
            server.refuseStreams(FakeServer.Answer.json(passing, "busy"));
            await().until(() -> told.reasons.stream().anyMatch(why -> why.status() == passing));
            assertFalse(subscription.done().isDone(), passing + " may pass");
        }
        server.refuseStreams(
                FakeServer.Answer.problem(
                        410,
                        "\"type\":\"urn:tidemark:problem:expired\",\"title\":\"Position expired\",\"detail\":\"gone\",\"earliest\":\"EVT9\""));
        TidemarkException why = endOf(subscription);
        assertEquals("urn:tidemark:problem:expired", why.type());
        assertEquals("gone", why.detail());
        assertEquals("EVT9", why.field("earliest"));
        assertEquals("ended 410", told.calls.get(told.calls.size() - 1));
    }

    /** Writes down how long it will be left waiting. */
    private static final class Waits extends Told {
        final List<Duration> waits = new CopyOnWriteArrayList<>();
        final List<TidemarkException> reasons = new CopyOnWriteArrayList<>();

        @Override
        public void disconnected(TidemarkException why, Duration retryIn) {
            super.disconnected(why, retryIn);
            reasons.add(why);
            waits.add(retryIn);
        }
    }

    @Test
    void itComesBackNoSoonerThanTheServerWants() {
        Waits waits = new Waits();
        server.onStream(stream -> error(stream, "\"status\":503,\"retryable\":true,\"retry_after_ms\":700"));
        try (Subscription subscription = client.subscribe("s", Follow.latest(), waits)) {
            await().until(() -> waits.waits.size() == 1);
            server.refuseStreams(
                    new FakeServer.Answer(429, "text/plain", "slow down", Map.of("Retry-After", "1"), false));
            await().until(() -> waits.waits.size() == 2);
            assertFalse(subscription.done().isDone());
        }
        assertTrue(waits.waits.get(0).toMillis() >= 700, waits.waits::toString);
        assertTrue(waits.waits.get(1).toMillis() >= 1_000, waits.waits::toString);
    }

    @Test
    void anAnswerThatEndsWithoutAWordIsAskedForAgain() {
        AtomicInteger connections = new AtomicInteger();
        server.onStream(stream -> {
            hello(stream, "c0");
            switch (connections.incrementAndGet()) {
                case 1 -> {
                    events(stream, 1);
                    stream.end();
                }
                case 2 -> {
                    // What isn't finished doesn't count, though all of its line is here.
                    stream.write("data: " + event(2, "2") + "\n");
                    stream.cut();
                }
                default -> events(stream, 2);
            }
        });
        Waits waits = new Waits();
        try (Subscription subscription = client.subscribe("s", Follow.earliest(), waits)) {
            await().until(() -> "c2".equals(subscription.cursor()));
        }
        assertEquals(List.of("EVT1", "disconnected", "disconnected", "EVT2", "ended "), waits.calls);
        assertEquals(
                List.of(TidemarkException.CONNECTION_LOST, TidemarkException.CONNECTION_LOST),
                waits.reasons.stream().map(TidemarkException::type).toList());
    }

    @Test
    void anErrorInTheServerItselfIsNoReasonToStayAway() {
        AtomicInteger connections = new AtomicInteger();
        server.onStream(stream -> {
            hello(stream, "c0");
            if (connections.incrementAndGet() == 1) {
                error(stream, "\"status\":500,\"detail\":\"its log says why\",\"retryable\":false");
            } else {
                events(stream, 1);
            }
        });
        try (Subscription subscription = client.subscribe("s", Follow.latest(), told)) {
            await().until(() -> told.calls.contains("EVT1"));
            assertFalse(subscription.done().isDone());
        }
    }

    private static final FakeServer.Answer SIGN_IN =
            new FakeServer.Answer(200, "text/html", "<html>sign in</html>", Map.of(), false);

    @Test
    void aWrongAddressIsSeenAtOnce() {
        server.refuseStreams(SIGN_IN);
        TidemarkException why = endOf(client.subscribe("s", Follow.latest(), told));
        assertEquals(TidemarkException.NOT_UNDERSTOOD, why.type());
        assertTrue(why.detail().contains("text/html"), why.detail());
        assertEquals(1, server.requests().size());
    }

    @Test
    void aNetworksSignInPageIsWaitedFor() {
        server.onStream(stream -> {
            hello(stream, "c0");
            events(stream, 1);
            server.refuseStreams(SIGN_IN);
            stream.end();
        });
        Waits waits = new Waits();
        try (Subscription subscription = client.subscribe("s", Follow.latest(), waits)) {
            await().until(() -> waits.reasons.size() >= 3);
            server.onStream(stream -> {
                hello(stream, "c1");
                events(stream, 2);
            });
            await().until(() -> waits.calls.contains("EVT2"));
            assertEquals(TidemarkException.NOT_UNDERSTOOD, waits.reasons.get(1).type());
            assertFalse(subscription.done().isDone());
        }
    }

    @Test
    void closingEndsTheConnectionToo() throws Exception {
        CountDownLatch gone = new CountDownLatch(1);
        server.onStream(stream -> {
            stream.onClosed(gone::countDown);
            hello(stream, "c0");
            pour(stream, "\"" + "x".repeat(100_000) + "\"", new AtomicInteger());
        });
        CountDownLatch hold = new CountDownLatch(1);
        Told slow = new Told() {
            @Override
            public void event(Event event) throws Exception {
                super.event(event);
                hold.await();
            }
        };
        Subscription subscription = client.subscribe("s", Follow.latest(), slow);
        await().until(() -> !slow.calls.isEmpty());
        Thread closer = new Thread(subscription::close);
        closer.start();
        assertTrue(gone.await(10, TimeUnit.SECONDS), "the server wasn't told while the subscriber was busy");
        hold.countDown();
        closer.join();
        assertEquals(List.of("EVT1", "ended "), slow.calls);
    }

    @Test
    void itWaitsForAServerThatIsNotThereYet() {
        server.stop();
        try (Subscription subscription = client.subscribe("s", Follow.latest(), told)) {
            await().until(() -> told.calls.size() >= 2);
            assertEquals("", subscription.cursor());
            server.onStream(stream -> {
                hello(stream, "c0");
                events(stream, 1);
            });
            server.startAgain();
            await().until(() -> told.calls.contains("EVT1"));
        }
    }

    @Test
    void whatTheSubscriberThrowsEndsItBeforeThatEvent() {
        server.onStream(stream -> {
            hello(stream, "c0");
            events(stream, 1, 2, 3);
        });
        Exception mine = new Exception("can't take it");
        Told failing = new Told() {
            @Override
            public void event(Event event) throws Exception {
                super.event(event);
                if (event.id().equals("EVT2")) {
                    throw mine;
                }
            }
        };
        Subscription subscription = client.subscribe("s", Follow.latest(), failing);
        ExecutionException end =
                assertThrows(ExecutionException.class, () -> subscription.done().get(10, TimeUnit.SECONDS));
        TidemarkException why = assertInstanceOf(TidemarkException.class, end.getCause());
        assertEquals(TidemarkException.SUBSCRIBER_FAILED, why.type());
        assertEquals(mine, why.getCause());
        assertEquals(List.of("EVT1", "EVT2", "ended 0"), failing.calls);
        assertEquals("c1", subscription.cursor(), "event 2 isn't behind it");
    }

    @Test
    void whoTakesNoGapsIsNotLedOverOne() {
        server.onStream(stream -> {
            hello(stream, "c0");
            stream.send(
                    "gap",
                    "{\"type\":\"gap\",\"from\":\"EVT1\",\"to\":\"EVT3\",\"reason\":\"expired\",\"earliest\":\"EVT4\"}");
            events(stream, 4);
        });
        List<String> seen = new CopyOnWriteArrayList<>();
        Subscription subscription = client.subscribe("s", Follow.after("c0"), event -> seen.add(event.id()));
        ExecutionException end =
                assertThrows(ExecutionException.class, () -> subscription.done().get(10, TimeUnit.SECONDS));
        assertEquals(
                TidemarkException.GAP,
                assertInstanceOf(TidemarkException.class, end.getCause()).type());
        assertEquals(List.of(), seen);
    }

    @Test
    void aConnectionThatIsSilentForTooLongIsMadeAgain() {
        AtomicInteger connections = new AtomicInteger();
        server.onStream(stream -> {
            connections.incrementAndGet();
            hello(stream, "c0");
        });
        try (Subscription subscription = client.subscribe("s", Follow.latest().heartbeatSeconds(1), told)) {
            await().atMost(Duration.ofSeconds(20)).until(() -> connections.get() == 2);
            assertNotNull(subscription.cursor());
        }
        assertEquals("disconnected", told.calls.get(0));
    }

    @Test
    void closeReturnsAfterTheLastCallAndNothingFollows() throws Exception {
        server.onStream(stream -> {
            hello(stream, "c0");
            events(stream, 1, 2, 3);
        });
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch hold = new CountDownLatch(1);
        Told slow = new Told() {
            @Override
            public void event(Event event) throws Exception {
                super.event(event);
                inside.countDown();
                hold.await();
            }
        };
        Subscription subscription = client.subscribe("s", Follow.latest(), slow);
        inside.await();
        Thread closer = new Thread(subscription::close);
        closer.start();
        closer.join(200);
        assertTrue(closer.isAlive(), "the call under way hasn't returned");
        hold.countDown();
        closer.join();
        assertEquals(List.of("EVT1", "ended "), slow.calls);
        assertNull(subscription.done().get(1, TimeUnit.SECONDS));
        subscription.close();
    }

    @Test
    void itCanBeClosedFromWithin() throws Exception {
        server.onStream(stream -> {
            hello(stream, "c0");
            events(stream, 1, 2);
        });
        Subscription[] own = new Subscription[1];
        CountDownLatch known = new CountDownLatch(1);
        AtomicInteger seen = new AtomicInteger();
        own[0] = client.subscribe("s", Follow.latest(), event -> {
            known.await();
            seen.incrementAndGet();
            own[0].close();
        });
        known.countDown();
        assertNull(own[0].done().get(10, TimeUnit.SECONDS));
        assertEquals(1, seen.get());
        assertEquals("c1", own[0].cursor());
    }
}
