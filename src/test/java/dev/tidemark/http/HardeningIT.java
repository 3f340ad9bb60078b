package dev.tidemark.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Problem;
import dev.tidemark.event.Problem.Kind;
import dev.tidemark.ingest.AppendResult;
import io.vertx.core.Promise;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One client can't hurt another: bounds that hold whatever clients do. */
@Tag("R53")
class HardeningIT {
    private static final int BODIES_MAX = 300 << 10;
    private static final int CONNECTIONS_MAX = 20;

    private final EdgeFixture edge = new EdgeFixture(options());

    private static HttpOptions options() {
        HttpOptions usual = EdgeFixture.options(EdgeFixture.SMALL, EdgeFixture.SHORT);
        return new HttpOptions(
                usual.host(),
                0,
                usual.hosts(),
                usual.allowedOrigins(),
                usual.limits(),
                usual.requestLineBytesMax(),
                usual.headerBytesMax(),
                BODIES_MAX,
                CONNECTIONS_MAX,
                64 << 10,
                usual.clientMessageBytesMax(),
                usual.webSocketCompression(),
                usual.timeouts());
    }

    @AfterEach
    void close() {
        edge.close();
    }

    private static String post(int length) {
        return EdgeFixture.head("POST /v1/streams/s/events", "Content-Length: " + length);
    }

    private void awaitNothingHeld() {
        Awaitility.await()
                .atMost(5, TimeUnit.SECONDS)
                .until(() -> edge.edge.bodies().held() == 0);
    }

    @Test
    void bodiesOfAllClientsTogetherAreBounded() throws Exception {
        List<RawClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < 3; i++) {
                RawClient client = edge.raw();
                clients.add(client);
                client.send(post(200_000)).send(new byte[140_000]);
            }
            List<Integer> statuses = new ArrayList<>();
            for (RawClient client : clients) {
                client.socket.setSoTimeout(400);
                try {
                    statuses.add(client.answer().status());
                } catch (java.net.SocketTimeoutException e) {
                    statuses.add(0);
                }
            }
            assertEquals(List.of(0, 0, 503), statuses);
        } finally {
            for (RawClient client : clients) {
                client.close();
            }
        }
        awaitNothingHeld();
        assertEquals(201, edge.raw(post(1) + "1").status());
    }

    @Test
    void whatClientsLeaveBehindIsGivenBack() throws Exception {
        try (RawClient client = edge.raw()) {
            client.send(post(200_000)).send(new byte[100_000]);
            Awaitility.await().until(() -> edge.edge.bodies().held() == 100_000);
        }
        awaitNothingHeld();
        Promise<AppendResult> pending = Promise.promise();
        edge.ingest.answer = r -> pending.future();
        try (RawClient client = edge.raw()) {
            client.send(post(1_000)).send(new byte[1_000]);
            Awaitility.await().until(() -> edge.ingest.requests.size() == 1);
            assertEquals(1_000, edge.edge.bodies().held());
        }
        pending.complete(FakeIngest.stored(edge.reads.stream("s").with("1"), 1, false, "live", true));
        awaitNothingHeld();
    }

    @Test
    void answersMayComeFromAnyThread() throws Exception {
        BlockingQueue<Thread> others = new LinkedBlockingQueue<>();
        edge.ingest.answer = r -> {
            Promise<AppendResult> promise = Promise.promise();
            var result = FakeIngest.stored(edge.reads.stream("s").with("1"), 1, false, "live", true);
            Thread thread = new Thread(() -> promise.complete(result));
            others.add(thread);
            thread.start();
            return promise.future();
        };
        assertEquals(201, edge.raw(post(1) + "1").status());
        others.take().join();
        awaitNothingHeld();
    }

    @Test
    void moreConnectionsThanAllowedAreClosedAtOnceAndTheOthersLive() throws Exception {
        edge.reads.stream("s").with("1");
        List<RawClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < CONNECTIONS_MAX; i++) {
                RawClient client = edge.raw();
                clients.add(client);
                client.send(EdgeFixture.head("GET /v1/streams/s/tail"));
                assertEquals(200, client.answer().status());
            }
            try (RawClient tooMany = edge.raw()) {
                tooMany.send(EdgeFixture.head("GET /health/live"));
                assertTrue(tooMany.isClosedByServer());
            } catch (SocketException e) {
                assertFalse(e.toString().isEmpty());
            }
            clients.get(3).send(EdgeFixture.head("GET /v1/streams/s/tail"));
            assertEquals(200, clients.get(3).answer().status());
        } finally {
            for (RawClient client : clients) {
                client.close();
            }
        }
        Awaitility.await().until(() -> {
            try {
                return edge.get("/health/live").status() == 200;
            } catch (IOException e) {
                return false;
            }
        });
    }

    @Test
    void aPageThatFailsInTheMiddleEndsEarlyAndSaysSo() throws Exception {
        String[] payloads = new String[100];
        Arrays.fill(payloads, "\"" + "y".repeat(60_000) + "\"");
        edge.reads.stream("s").with(payloads);
        edge.reads.failure = new Problem(Kind.UNAVAILABLE, "away");
        edge.reads.failAfterPages = 1;
        JsonObject page = EdgeFixture.json(edge.get("/v1/streams/s/events"));
        assertEquals(10, page.getJsonArray("events").size());
        assertFalse(page.getBoolean("complete"));
        assertEquals(edge.reads.stream("s").cursor(9).toString(), page.getString("next"));
    }

    @Test
    @Tag("R12")
    void aClientThatTakesNothingOfItsAnswerIsCutOff() throws Exception {
        String[] payloads = new String[2_000];
        Arrays.fill(payloads, "\"" + "y".repeat(60_000) + "\"");
        edge.reads.stream("s").with(payloads);
        for (String target : List.of("/v1/streams/s/events", "/v1/streams/s/tail?n=2000")) {
            try (RawClient client = edge.raw()) {
                client.send(EdgeFixture.head("GET " + target, "Accept: application/x-ndjson"));
                Thread.sleep(EdgeFixture.SHORT.stallMs() + 1_000);
                int got = client.in.readAllBytes().length;
                assertTrue(got < 2_000 * 60_000, "got " + got);
            } catch (SocketException e) {
                assertTrue(e.toString().contains("reset"), e.toString());
            }
        }
    }

    @Test
    void rubbishOnTheWireHurtsNobody() throws Exception {
        edge.reads.stream("s").with("1");
        long seed = System.nanoTime();
        Random random = new Random(seed);
        String good =
                EdgeFixture.head("POST /v1/streams/s/events?ack=live", "Content-Length: 7", "Expect: 100-continue")
                        + "{\"a\":1}"
                        + EdgeFixture.head("GET /v1/streams/s/events?limit=1", "Accept: application/x-ndjson");
        for (int round = 0; round < 400; round++) {
            byte[] bytes = good.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
            for (int k = random.nextInt(6); k >= 0; k--) {
                bytes[random.nextInt(bytes.length)] =
                        (byte) (random.nextBoolean() ? random.nextInt(256) : "\r\n :%/".charAt(random.nextInt(6)));
            }
            try (RawClient client = edge.raw()) {
                client.send(bytes);
                client.socket.shutdownOutput();
                client.socket.setSoTimeout(5_000);
                String all = new String(client.in.readAllBytes(), java.nio.charset.StandardCharsets.ISO_8859_1);
                assertFalse(all.contains("HTTP/1.1 500") || all.contains("Exception"), "seed " + seed + "\n" + all);
            } catch (SocketException e) {
                assertFalse(e.toString().contains("refused"), "seed " + seed);
            }
        }
        assertEquals(200, edge.get("/v1/streams/s/tail").status());
        awaitNothingHeld();
    }

    @Test
    void answersThatEndTheirConnectionArriveWholeHoweverLongTheyTake() throws Exception {
        String[] payloads = new String[1_000];
        Arrays.fill(payloads, "\"" + "y".repeat(60_000) + "\"");
        edge.reads.stream("s").with(payloads);
        String old = "GET /v1/streams/s/events HTTP/1.0\r\nAccept: application/x-ndjson\r\n\r\n";
        String withBody =
                EdgeFixture.head("GET /v1/streams/s/events", "Accept: application/x-ndjson", "Content-Length: 300000");
        for (String request : List.of(old, withBody)) {
            try (RawClient client = edge.raw()) {
                client.send(request).send(new byte[request.equals(old) ? 0 : 300_000]);
                assertTrue(client.in.readNBytes(100_000).length == 100_000);
                Thread.sleep(EdgeFixture.SHORT.lingerMs() + EdgeFixture.SHORT.closeMs() + 500);
                int got = 100_000 + client.in.readAllBytes().length;
                assertTrue(got > 60_000_000, "got " + got);
            }
        }
    }
}
