package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Four producers send 50,000 events through a proxy that loses answers and delivers requests late, and the server is killed five times
 * meanwhile: each event is stored once, and each producer's in their order.
 */
@Tag("R28")
@Tag("T13")
class ExactlyOnceIT {
    private static final long SEED = Long.getLong("tidemark.seed", System.nanoTime());
    private static final String STREAM = "orders";
    private static final int PRODUCERS = 4;
    private static final int EVENTS = 50_000;
    private static final int BATCH = 20;
    private static final int KILLS = 5;

    private final List<AutoCloseable> toClose = new ArrayList<>();

    @TempDir
    Path data;

    private ServerProcess server(LossyProxy proxy) {
        ServerProcess server = ServerProcess.start(data, Map.of("TIDEMARK_FOLD_MAX_LAG", "200ms"));
        toClose.add(0, server);
        proxy.target(URI.create(server.url()).getPort());
        return server;
    }

    @AfterEach
    void closeAll() throws Exception {
        ServerProcess.closeAll(toClose);
    }

    @Test
    void everyEventIsStoredOnceThroughLostAnswersLateBytesAndKills() throws Exception {
        System.out.println("ExactlyOnceIT: -Dtidemark.seed=" + SEED);
        LossyProxy proxy = new LossyProxy(SEED);
        toClose.add(proxy);
        ServerProcess server = server(proxy);
        assertEquals(
                201,
                server.api()
                        .put(STREAM, "{\"live_max_events\":1000,\"chunk_duration\":\"50ms\"}")
                        .status());
        AtomicLong acknowledged = new AtomicLong();
        ExecutorService threads = Executors.newFixedThreadPool(PRODUCERS);
        toClose.add(0, threads::shutdownNow);
        List<ProducerClient> clients = new ArrayList<>();
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int p = 0; p < PRODUCERS; p++) {
            ProducerClient client = new ProducerClient("producer-" + p, STREAM, proxy::port);
            int number = p;
            clients.add(client);
            ends.add(CompletableFuture.runAsync(() -> send(client, number, acknowledged), threads));
        }
        for (int kill = 1; kill <= KILLS; kill++) {
            long from = (long) EVENTS * kill / (KILLS + 1);
            while (acknowledged.get() < from && ends.stream().noneMatch(CompletableFuture::isDone)) {
                Thread.sleep(1);
            }
            server.kill();
            server = server(proxy);
        }
        for (CompletableFuture<Void> end : ends) {
            end.get(120, TimeUnit.SECONDS);
        }
        assertStoredOnce(server.api());
        int retries = clients.stream().mapToInt(ProducerClient::retries).sum();
        int duplicates = clients.stream().mapToInt(ProducerClient::duplicates).sum();
        System.out.println("answers dropped " + proxy.dropped() + ", requests delayed " + proxy.delayed() + ", retries "
                + retries + ", duplicates answered " + duplicates);
        assertTrue(proxy.dropped() > 200 && proxy.delayed() > 40 && duplicates > 150);
    }

    @Test
    void aFileThatIsAppendedWhileTheServerIsKilledIsStoredOnce() throws Exception {
        System.out.println("ExactlyOnceIT: -Dtidemark.seed=" + SEED);
        LossyProxy proxy = new LossyProxy(SEED);
        toClose.add(proxy);
        ServerProcess server = server(proxy);
        List<String> lines =
                IntStream.range(0, 100_000).mapToObj(Integer::toString).toList();
        Path file = Files.write(data.resolveSibling(data.getFileName() + ".ndjson"), lines);
        CompletableFuture<Command> command = CompletableFuture.supplyAsync(
                () -> Command.against("http://127.0.0.1:" + proxy.port(), "append", STREAM, file.toString()));
        for (int kill = 1; kill <= 2; kill++) {
            awaitEvents(server.api(), kill * 30_000, command);
            server.kill();
            server = server(proxy);
        }
        Command done = command.get(120, TimeUnit.SECONDS);
        Files.delete(file);
        assertEquals(0, done.exit(), done.err());
        assertEquals(lines, server.api().payloads(Api.stream(STREAM) + "/events"));
        assertTrue(proxy.dropped() > 5);
    }

    private static void awaitEvents(Api api, int count, CompletableFuture<Command> command) throws Exception {
        while (!command.isDone()) {
            Api.Answer tail = api.get(Api.stream(STREAM) + "/tail?n=1");
            if (tail.status() == 200 && tail.json().getJsonArray("events").size() == 1) {
                JsonObject newest = tail.json().getJsonArray("events").getJsonObject(0);
                if (newest.getInteger("data") >= count) {
                    return;
                }
            }
            Thread.sleep(5);
        }
    }

    private static void send(ProducerClient client, int producer, AtomicLong acknowledged) {
        int batches = EVENTS / PRODUCERS / BATCH;
        try {
            for (int batch = 0; batch < batches; batch++) {
                StringBuilder body = new StringBuilder();
                for (int i = 0; i < BATCH; i++) {
                    body.append("{\"p\":")
                            .append(producer)
                            .append(",\"n\":")
                            .append(batch * BATCH + i)
                            .append("}\n");
                }
                client.send(batch, body.toString());
                acknowledged.addAndGet(BATCH);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            client.drop();
        }
    }

    private static void assertStoredOnce(Api api) {
        List<String> payloads = api.payloads(Api.stream(STREAM) + "/events");
        Map<Integer, Integer> next = new HashMap<>();
        for (String payload : payloads) {
            int comma = payload.indexOf(',');
            int producer = Integer.parseInt(payload.substring(5, comma));
            int number = Integer.parseInt(payload.substring(payload.lastIndexOf(':') + 1, payload.length() - 1));
            assertEquals(next.getOrDefault(producer, 0), number, "of producer " + producer);
            next.put(producer, number + 1);
        }
        assertEquals(EVENTS, payloads.size());
    }
}
