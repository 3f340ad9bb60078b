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
import io.vertx.core.http.ServerWebSocket;
import java.time.Duration;
import java.util.List;
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

    private static void send(ServerWebSocket socket, String json) {
        var unused = socket.writeTextMessage(json);
    }

    private static void hello(ServerWebSocket socket, String cursor) {
        send(socket, "{\"type\":\"hello\",\"stream\":\"s\",\"cursor\":\"" + cursor + "\"}");
    }

    private static String event(int i) {
        return "{\"id\":\"EVT" + i + "\",\"cursor\":\"c" + i + "\",\"at\":1,\"data\":" + i + "}";
    }

    private static void events(ServerWebSocket socket, int... numbers) {
        StringBuilder json = new StringBuilder("{\"type\":\"events\",\"events\":[");
        for (int i = 0; i < numbers.length; i++) {
            json.append(i == 0 ? "" : ",").append(event(numbers[i]));
        }
        send(socket, json.append("]}").toString());
    }

    private List<String> uris() {
        return server.requests().stream().map(FakeServer.Request::uri).toList();
    }

    @Test
    void itGoesOnBehindTheLastEventAfterWhateverBreaksIt() {
        AtomicInteger connections = new AtomicInteger();
        server.onSocket(socket -> {
            switch (connections.incrementAndGet()) {
                case 1 -> {
                    hello(socket, "c0");
                    events(socket, 1, 2);
                    var unused = socket.close((short) 4000, "stopping");
                }
                case 2 -> {
                    hello(socket, "c2");
                    send(socket, "{\"type\":\"caught_up\",\"cursor\":\"c2\"}");
                    send(socket, "{\"type\":\"gap\",\"from\":\"EVT3\",\"to\":\"EVT3\",\"reason\":\"lost\"}");
                    events(socket, 4);
                    send(socket, "{\"type\":\"heartbeat\",\"cursor\":\"c5\"}");
                    send(socket, "{\"type\":\"sealed\",\"through\":\"EVT4\"}");
                }
                default -> {
                    hello(socket, "c5");
                    events(socket, 6);
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
        String more = "&view=sealed&batch=true&heartbeat=15";
        assertEquals(
                List.of(
                        "/v1/streams/s/subscribe?tail=7" + more,
                        "/v1/streams/s/subscribe?after=c2" + more,
                        "/v1/streams/s/subscribe?after=c5" + more),
                uris());
        assertEquals(
                List.of("tidemark-subscription s"),
                told.threads.stream().distinct().toList());
    }

    @Test
    void whatComesBehindAFullWindowIsNotFetched() throws InterruptedException {
        String large = "\"" + "x".repeat(100_000) + "\"";
        AtomicInteger sent = new AtomicInteger();
        server.onSocket(socket -> {
            hello(socket, "c0");
            pour(socket, large, sent);
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
            // 16 fetched ahead, and what sockets and the fake server's own queue hold.
            assertTrue(
                    sent.get() < 250, sent + " messages of 100 kB were taken from a server whose reader stood still");
            hold.countDown();
            await().until(() -> taken.get() == 1_000);
            assertEquals("c1000", subscription.cursor());
        }
    }

    /** 1,000 events, as fast as the client takes them. */
    private static void pour(ServerWebSocket socket, String payload, AtomicInteger sent) {
        while (sent.get() < 1_000) {
            if (socket.writeQueueFull()) {
                socket.drainHandler(v -> pour(socket, payload, sent));
                return;
            }
            int i = sent.incrementAndGet();
            send(
                    socket,
                    "{\"type\":\"event\","
                            + event(i).substring(1).replaceFirst("\"data\":.*", "\"data\":" + payload + "}"));
        }
    }

    @Test
    void aStreamThatIsGoneEndsIt() {
        server.onSocket(socket -> {
            send(
                    socket,
                    "{\"type\":\"error\",\"problem\":\"urn:tidemark:problem:not_found\",\"status\":404,\"detail\":\"none\"}");
            var unused = socket.close((short) 4504, "none");
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

    @Test
    void aRefusedHandshakeEndsItAndAServerInTroubleDoesNot() {
        server.refuseSockets(503);
        Subscription subscription = client.subscribe("s", Follow.latest(), told);
        await().until(() -> told.calls.size() >= 2);
        assertFalse(subscription.done().isDone());
        server.refuseSockets(401);
        assertThrows(ExecutionException.class, () -> subscription.done().get(20, TimeUnit.SECONDS));
        assertEquals("ended 401", told.calls.get(told.calls.size() - 1));
    }

    @Test
    void itWaitsForAServerThatIsNotThereYet() {
        server.stop(1001);
        try (Subscription subscription = client.subscribe("s", Follow.latest(), told)) {
            await().until(() -> told.calls.size() >= 2);
            assertEquals("", subscription.cursor());
            server.onSocket(socket -> {
                hello(socket, "c0");
                events(socket, 1);
            });
            server.startAgain();
            await().until(() -> told.calls.contains("EVT1"));
        }
    }

    @Test
    void whatTheSubscriberThrowsEndsItBeforeThatEvent() {
        server.onSocket(socket -> {
            hello(socket, "c0");
            events(socket, 1, 2, 3);
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
        server.onSocket(socket -> {
            hello(socket, "c0");
            send(
                    socket,
                    "{\"type\":\"gap\",\"from\":\"EVT1\",\"to\":\"EVT3\",\"reason\":\"expired\",\"earliest\":\"EVT4\"}");
            events(socket, 4);
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
        server.onSocket(socket -> {
            connections.incrementAndGet();
            hello(socket, "c0");
        });
        try (Subscription subscription = client.subscribe("s", Follow.latest().heartbeatSeconds(1), told)) {
            await().atMost(Duration.ofSeconds(20)).until(() -> connections.get() == 2);
            assertNotNull(subscription.cursor());
        }
        assertEquals("disconnected", told.calls.get(0));
    }

    @Test
    void closeReturnsAfterTheLastCallAndNothingFollows() throws Exception {
        server.onSocket(socket -> {
            hello(socket, "c0");
            events(socket, 1, 2, 3);
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
        server.onSocket(socket -> {
            hello(socket, "c0");
            events(socket, 1, 2);
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
