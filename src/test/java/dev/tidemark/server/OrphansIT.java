package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonObject;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Events that a killed server left in Redis, in streams that nobody opens after its restart; and acknowledgements by the archive. */
class OrphansIT {
    private static final int STREAMS = 60;
    private static final Map<String, String> LAZY = Map.of("TIDEMARK_FOLD_MAX_LAG", "1h");

    @TempDir
    Path dir;

    private static String name(int i) {
        return "orphan-" + i;
    }

    private static List<String> numbers(int from, int to) {
        return IntStream.rangeClosed(from, to).mapToObj(String::valueOf).toList();
    }

    /** W as its copy in Redis says, without opening the stream. */
    private static String copiedSeam(PlainRedis redis, String stream) {
        Object copy = redis.call("GET", "tidemark:{" + stream + "}:archived");
        return copy == null
                ? ""
                : redis.text("GET", "tidemark:{" + stream + "}:archived").split(" ")[0];
    }

    @Test
    @Tag("T11")
    @Tag("R28")
    void whatAKilledServerLeftIsFoldedInTheBackgroundThoughNobodyOpensItsStreams() throws Exception {
        Path data = dir.resolve("data");
        List<String> last = new ArrayList<>();
        try (ServerProcess server = ServerProcess.start(data, LAZY)) {
            Api api = server.api();
            for (int i = 0; i < STREAMS; i++) {
                assertEquals(201, api.append(name(i), numbers(1, 10)).status());
                if (i % 2 == 0) {
                    assertEquals(200, api.fold(name(i)).status());
                }
                // Of the even streams only those that can be divided by four have something left.
                boolean left = i % 2 == 1 || i % 4 == 0;
                Api.Answer more = left ? api.append(name(i), numbers(11, 15)) : null;
                last.add(more == null ? api.watermark(name(i)) : more.json().getString("last"));
            }
            server.kill();
            server.assertCleanLog();
        }
        try (ServerProcess server = ServerProcess.start(data, LAZY);
                PlainRedis redis = PlainRedis.ofChild(data)) {
            Awaitility.await("all is folded")
                    .pollInterval(Duration.ofMillis(100))
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> IntStream.range(0, STREAMS)
                            .allMatch(i -> copiedSeam(redis, name(i)).equals(last.get(i))));
            for (int i = 0; i < STREAMS; i++) {
                int events = i % 2 == 1 || i % 4 == 0 ? 15 : 10;
                assertEquals(numbers(1, events), server.api().payloads(Api.stream(name(i)) + "/events"), name(i));
            }
            assertEquals(ServerProcess.TERMINATED, server.terminate());
            server.assertCleanLog();
        }
    }

    @Test
    @Tag("T10")
    void anIdleStreamIsTrimmedByAgeAfterARestartAndStillAnswersFromTheArchive() {
        Path data = dir.resolve("data");
        try (ServerProcess server = ServerProcess.start(data, LAZY)) {
            Api api = server.api();
            String settings = "{\"live_max_age\":\"6s\"}";
            assertEquals(201, api.put("idle", settings).status());
            assertEquals(201, api.append("idle", numbers(1, 10)).status());
            assertEquals(200, api.fold("idle").status());
            assertEquals(ServerProcess.TERMINATED, server.terminate());
            server.assertCleanLog();
        }
        Map<String, String> soonIdle = Map.of("TIDEMARK_FOLD_MAX_LAG", "1h", "TIDEMARK_MEMORY_IDLE_AFTER", "1s");
        try (ServerProcess server = ServerProcess.start(data, soonIdle);
                PlainRedis redis = PlainRedis.ofChild(data)) {
            String key = redis.texts("KEYS", "tidemark:{idle#*").get(0);
            Awaitility.await("trimmed by age")
                    .pollInterval(Duration.ofMillis(100))
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> redis.text("XLEN", key).equals("0"));
            assertEquals(numbers(1, 10), server.api().payloads(Api.stream("idle") + "/tail?n=100"));
            assertEquals(201, server.api().append("idle", numbers(11, 11)).status());
            assertEquals(numbers(1, 11), server.api().payloads(Api.stream("idle") + "/tail?n=100"));
            assertEquals(ServerProcess.TERMINATED, server.terminate());
            server.assertCleanLog();
        }
    }

    @Test
    void manyAcknowledgementsByTheArchiveShareTheirFolds() {
        try (ServerProcess server = ServerProcess.start(dir.resolve("data"), LAZY)) {
            Api api = server.api();
            List<CompletableFuture<Api.Answer>> asked = new ArrayList<>();
            long start = System.nanoTime();
            for (int i = 0; i < 500; i++) {
                asked.add(api.later(api.request(Api.stream("acked") + "/events?ack=archived")
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString(String.valueOf(i)))));
            }
            String highest = "";
            for (CompletableFuture<Api.Answer> answer : asked) {
                JsonObject told = answer.join().json();
                assertEquals(201, answer.join().status(), told::encode);
                assertEquals("archived", told.getString("ack"));
                String last = told.getString("last");
                highest = last.compareTo(highest) > 0 ? last : highest;
            }
            long ms = (System.nanoTime() - start) / 1_000_000;
            assertTrue(ms < 10_000, "500 of them took " + ms + " ms");
            assertFalse(api.watermark("acked").compareTo(highest) < 0);
            assertEquals(
                    500,
                    api.payloads(Api.stream("acked") + "/events").stream()
                            .distinct()
                            .count());
            assertEquals(ServerProcess.TERMINATED, server.terminate());
            server.assertCleanLog();
        }
    }
}
