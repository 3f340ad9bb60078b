package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Redis's memory runs out although the windows of streams would keep everything, and nothing would be folded for an hour. */
@Tag("R10")
@Tag("failure-5")
class RedisMemoryIT {
    private static final Map<String, String> TIGHT =
            Map.of("TIDEMARK_REDIS_MAXMEMORY", "16MiB", "TIDEMARK_FOLD_MAX_LAG", "1h");
    private static final int STREAMS = 3;
    private static final int EVENT_BYTES = 10_000;
    private static final int BATCH = 20;

    @TempDir
    Path dir;

    private ServerProcess server;

    @AfterEach
    void close() {
        if (server != null) {
            server.close();
            server.assertCleanLog();
        }
    }

    private static List<String> batch(int from) {
        List<String> lines = new ArrayList<>();
        for (int i = from; i < from + BATCH; i++) {
            lines.add("{\"n\":" + i + ",\"pad\":\"" + "x".repeat(EVENT_BYTES) + "\"}");
        }
        return lines;
    }

    private long usedBytes() {
        try (PlainRedis redis = PlainRedis.ofChild(server.data())) {
            return redis.text("INFO", "memory")
                    .lines()
                    .filter(line -> line.startsWith("used_memory:"))
                    .mapToLong(line -> Long.parseLong(
                            line.substring("used_memory:".length()).trim()))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private String ready() {
        return server.api().get("/health/ready").text();
    }

    /** Appends, again and again while it is refused for now; how often it was. */
    private int append(String stream, int from) {
        int refused = 0;
        while (true) {
            Api.Answer answer = server.api().append(stream, batch(from));
            if (answer.status() == 201) {
                return refused;
            }
            assertEquals(503, answer.status(), answer::text);
            assertTrue(answer.response().headers().firstValue("Retry-After").isPresent(), "no Retry-After");
            assertTrue(answer.json().getBoolean("retryable"), answer::text);
            assertEquals("no", answer.json().getString("stored"), answer::text);
            refused++;
            assertTrue(refused < 300, "it doesn't heal: " + answer.text() + ready());
            pause();
        }
    }

    private static void pause() {
        try {
            Thread.sleep(100);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Test
    void moreThanRedisHoldsIsFoldedAndTrimmedEarlyAndAppendsGoOnByThemselves() {
        server = ServerProcess.start(dir.resolve("data"), TIGHT);
        int batches = 100;
        int refused = 0;
        boolean warned = false;
        for (int b = 0; b < batches; b++) {
            for (int s = 0; s < STREAMS; s++) {
                refused += append("memory-" + s, b * BATCH);
            }
            warned |= ready().contains("Redis is too full");
        }
        assertTrue(warned, "health never said that Redis is too full");
        System.out.println("60 MB through a Redis of 16 MiB: " + refused + " requests were refused for a while");
        for (int s = 0; s < STREAMS; s++) {
            List<String> payloads = server.api().payloads(Api.stream("memory-" + s) + "/events");
            assertEquals(batches * BATCH, payloads.size());
            for (int i = 0; i < payloads.size(); i++) {
                assertTrue(payloads.get(i).startsWith("{\"n\":" + i + ","), "event " + i);
            }
        }
        Awaitility.await("it has healed")
                .atMost(Duration.ofSeconds(20))
                .until(() -> !ready().contains("Redis is too full"));
        assertTrue(usedBytes() < 16 << 20);
    }

    @Test
    void aLimitPutBelowWhatIsUsedRefusesUntilItIsRaisedAndLosesNothing() {
        server = ServerProcess.start(dir.resolve("data"), Map.of("TIDEMARK_FOLD_MAX_LAG", "1h"));
        assertEquals(0, append("limit", 0));
        try (PlainRedis redis = PlainRedis.ofChild(server.data())) {
            redis.call("CONFIG", "SET", "maxmemory", "1");
            Api.Answer answer = server.api().append("limit", batch(BATCH));
            assertEquals(503, answer.status(), answer::text);
            assertTrue(answer.text().contains("OOM"), answer::text);
            assertTrue(answer.response().headers().firstValue("Retry-After").isPresent());
            String key = redis.texts("KEYS", "tidemark:{limit#0/*}:live").get(0);
            Awaitility.await("what could be folded is folded and trimmed")
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> redis.text("XLEN", key).equals("0"));
            assertEquals(
                    BATCH,
                    server.api().payloads(Api.stream("limit") + "/events").size());
            assertTrue(ready().contains("Redis is too full"), ready());
            redis.call("CONFIG", "SET", "maxmemory", "1073741824");
        }
        Awaitility.await("appends succeed again")
                .atMost(Duration.ofSeconds(3))
                .until(() -> server.api().append("limit", batch(BATCH)).status() == 201);
        assertEquals(
                2 * BATCH,
                server.api().payloads(Api.stream("limit") + "/events").size());
    }
}
