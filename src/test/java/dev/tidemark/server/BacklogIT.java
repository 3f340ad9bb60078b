package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * More unfolded events than memory holds, because the archive can't be written. {@code -Dtidemark.backlog=full} is the size that the
 * design names: 2 GB under a heap of 512 MB; the build takes 320 MB under 192 MB.
 */
class BacklogIT {
    private static final boolean FULL = "full".equals(System.getProperty("tidemark.backlog"));
    private static final String HEAP = FULL ? "-Xmx512m" : "-Xmx192m";
    private static final long BACKLOG_BYTES = FULL ? 2L << 30 : 320L << 20;
    private static final int EVENT_BYTES = 32 << 10;
    private static final int BATCH = 16;
    private static final int STREAMS = 4;
    private static final int AT_A_TIME = 8;
    private static final Map<String, String> ENVIRONMENT =
            Map.of("TIDEMARK_REDIS_MAXMEMORY", FULL ? "4GiB" : "1GiB", "TIDEMARK_REDIS_FSYNC", "no");

    @TempDir
    Path dir;

    /** Numbers of the acknowledged batches, by stream, and of those that may be there or not. */
    private final Map<Integer, List<Integer>> stored = new HashMap<>();

    private final Map<Integer, Set<Integer>> unknown = new HashMap<>();
    private int refused;

    private static ServerProcess start(Path data) {
        ProcessBuilder builder = new ProcessBuilder(
                ServerProcess.java(),
                HEAP,
                "-XX:+ExitOnOutOfMemoryError",
                "-jar",
                ServerProcess.jar(),
                "serve",
                "--port",
                "0",
                "--data",
                data.toString());
        builder.environment().putAll(ENVIRONMENT);
        ServerProcess server = ServerProcess.of(data, builder);
        server.awaitReady();
        return server;
    }

    private static String name(int stream) {
        return "backlog-" + stream;
    }

    private record Asked(int stream, int batch, CompletableFuture<Api.Answer> answer) {}

    private void take(Asked asked) {
        Api.Answer answer = asked.answer.join();
        if (answer.status() == 201) {
            stored.computeIfAbsent(asked.stream, s -> new ArrayList<>()).add(asked.batch);
            return;
        }
        assertEquals(503, answer.status(), answer.text());
        JsonObject problem = answer.json();
        assertTrue(problem.getBoolean("retryable"), answer.text());
        refused++;
        if (!"no".equals(problem.getString("stored"))) {
            // Redis was silent for a second: the batch is there as a whole, or not at all.
            unknown.computeIfAbsent(asked.stream, s -> new TreeSet<>()).add(asked.batch);
        }
    }

    private void appendAll(Api api) {
        String filler = "x".repeat(EVENT_BYTES);
        Deque<Asked> underWay = new ArrayDeque<>();
        long batches = BACKLOG_BYTES / EVENT_BYTES / BATCH;
        for (int batch = 0; batch < batches; batch++) {
            int stream = batch % STREAMS;
            StringBuilder body = new StringBuilder();
            for (int i = 0; i < BATCH; i++) {
                body.append("{\"b\":").append(batch).append(",\"i\":").append(i).append(",\"f\":\"");
                body.append(filler).append("\"}\n");
            }
            underWay.add(new Asked(
                    stream,
                    batch,
                    api.later(api.request(Api.stream(name(stream)) + "/events")
                            .header("Content-Type", "application/x-ndjson")
                            .POST(java.net.http.HttpRequest.BodyPublishers.ofString(body.toString())))));
            if (underWay.size() >= AT_A_TIME) {
                take(underWay.remove());
            }
        }
        underWay.forEach(this::take);
    }

    /** Every stream has exactly the batches that were acknowledged, each event once. */
    private void assertAllThere(Api api) {
        for (int stream = 0; stream < STREAMS; stream++) {
            Map<Integer, Integer> seen = new HashMap<>();
            String path = Api.stream(name(stream)) + "/events?limit=200";
            String next = null;
            do {
                JsonObject page =
                        api.get(next == null ? path : path + "&after=" + next).json();
                assertEquals(
                        0,
                        page.getJsonArray("gaps").size(),
                        () -> page.getJsonArray("gaps").encode());
                for (Object event : page.getJsonArray("events")) {
                    JsonObject data = ((JsonObject) event).getJsonObject("data");
                    int mask = seen.merge(data.getInteger("b"), 1 << data.getInteger("i"), Integer::sum);
                    assertTrue(mask < 1 << BATCH, "an event is there twice");
                }
                next = page.getString("next");
            } while (next != null);
            Set<Integer> acknowledged = new TreeSet<>(stored.getOrDefault(stream, List.of()));
            assertTrue(seen.keySet().containsAll(acknowledged), "something acknowledged is lost");
            Set<Integer> more = new TreeSet<>(seen.keySet());
            more.removeAll(acknowledged);
            assertTrue(unknown.getOrDefault(stream, Set.of()).containsAll(more), () -> more + " were refused");
            seen.values().forEach(mask -> assertEquals((1 << BATCH) - 1, mask));
        }
    }

    @Test
    @Tag("R28")
    @Tag("T8")
    void aBacklogLargerThanTheHeapIsTakenOrRefusedAndAllThereOnceTheArchiveCanBeWrittenAgain() throws Exception {
        Path data = dir.resolve("data");
        Path archive = data.resolve("archive");
        Path away = data.resolve("archive-away");
        try (ServerProcess server = start(data)) {
            Api api = server.api();
            for (int stream = 0; stream < STREAMS; stream++) {
                assertEquals(
                        201, api.put(name(stream), "{\"live_max_events\":10}").status());
            }
            Files.move(archive, away);
            Files.writeString(archive, "in the way");
            long start = System.nanoTime();
            appendAll(api);
            System.out.printf(
                    "backlog of %d MiB under %s: %d batches stored, %d refused, %d ms%n",
                    BACKLOG_BYTES >> 20,
                    HEAP,
                    stored.values().stream().mapToInt(List::size).sum(),
                    refused,
                    (System.nanoTime() - start) / 1_000_000);
            assertTrue(stored.values().stream().mapToInt(List::size).sum() * 2L * BATCH * EVENT_BYTES > BACKLOG_BYTES);
            for (int stream = 0; stream < STREAMS; stream++) {
                assertEquals("", api.watermark(name(stream)));
                assertEquals(
                        10, api.events(Api.stream(name(stream)) + "/tail?n=10").size());
            }
            Files.delete(archive);
            Files.move(away, archive);
            Awaitility.await("all is folded")
                    .pollInterval(Duration.ofMillis(250))
                    .atMost(Duration.ofMinutes(3))
                    .until(() -> isFolded(api));
            System.out.printf("folded after %d ms%n", (System.nanoTime() - start) / 1_000_000);
            assertAllThere(api);
            assertTrue(server.process().isAlive());
            assertTrue(server.log().stream().noneMatch(line -> line.contains("OutOfMemory")));
        }
    }

    private static boolean isFolded(Api api) {
        for (int stream = 0; stream < STREAMS; stream++) {
            JsonObject seam = api.seam(name(stream));
            if (seam.getString("watermark") == null
                    || !seam.getString("watermark").equals(seam.getString("tail"))) {
                return false;
            }
        }
        return true;
    }
}
