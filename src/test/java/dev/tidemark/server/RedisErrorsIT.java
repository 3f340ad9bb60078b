package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.livelog.RedisProcess;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Redis answers, but with an error: what clients of a real server see, and that nothing is decided by it. */
@Tag("R40")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RedisErrorsIT {
    private static final Map<String, String> SMALL = Map.of(
            "TIDEMARK_FOLD_MAX_LAG", "200ms",
            "TIDEMARK_STREAMS_DEFAULTS_LIVE_MAX_EVENTS", "1000",
            "TIDEMARK_STREAMS_DEFAULTS_TAIL_CAPACITY", "100",
            "TIDEMARK_STREAMS_DEFAULTS_CHUNK_MAX_EVENTS", "50");
    private static final Duration BACK_MAX = Duration.ofSeconds(5);

    @TempDir
    static Path dir;

    private RedisProcess redis;
    private ErrorProxy proxy;
    private ServerProcess server;

    @BeforeAll
    void start() throws Exception {
        redis = RedisProcess.start();
        proxy = new ErrorProxy(redis.port());
        server = ServerProcess.start(dir.resolve("data"), SMALL, "--redis", "redis://127.0.0.1:" + proxy.port());
    }

    @AfterAll
    void stop() throws Exception {
        // Its log isn't looked at: a Redis that refuses for good is an error.
        server.close();
        proxy.close();
        redis.close();
    }

    private static List<String> numbers(int from, int to) {
        return IntStream.rangeClosed(from, to).mapToObj(String::valueOf).toList();
    }

    private Api.Answer append(String stream, int from, int to) {
        return server.api().append(stream, numbers(from, to));
    }

    /** Appends until it succeeds. */
    private void appendInTheEnd(String stream, int from, int to) {
        Awaitility.await("appends succeed again")
                .pollInterval(Duration.ofMillis(50))
                .atMost(BACK_MAX)
                .until(() -> append(stream, from, to).status() == 201);
    }

    private void foldAll(String stream, String last) {
        Awaitility.await("folded")
                .pollInterval(Duration.ofMillis(50))
                .atMost(Duration.ofSeconds(30))
                .until(() -> server.api().watermark(stream).equals(last));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    READONLY You can't write against a read only replica.                 | 503
                    LOADING Redis is loading the dataset in memory                        | 503
                    MISCONF Redis is configured to save RDB snapshots, but it can't       | 503
                    BUSY Redis is busy running a script.                                  | 503
                    OOM command not allowed when used memory > 'maxmemory'.               | 503
                    MASTERDOWN Link with MASTER is down and replica-serve-stale-data      | 503
                    CLUSTERDOWN Hash slot not served                                      | 503
                    TRYAGAIN Multiple keys request during rehashing of slot               | 503
                    NOAUTH Authentication required.                                       | 503 500
                    NOPERM this user has no permissions to run the 'xadd' command         | 500
                    WRONGTYPE Operation against a key holding the wrong kind of value     | 500
                    MOVED 3999 127.0.0.1:6381                                             | 500
                    CROSSSLOT Keys in request don't hash to the same slot                 | 500
                    """)
    void anErrorIsNamedNeverDataAndNothingIsDecidedByIt(String error, String statuses) {
        String stream = error.split(" ")[0].toLowerCase(java.util.Locale.ROOT);
        Api api = server.api();
        appendInTheEnd(stream, 1, 300);
        assertEquals(201, append(stream, 301, 600).status());
        String last = api.events(Api.stream(stream) + "/tail?n=1").get(0).getString("id");
        foldAll(stream, last);
        JsonObject unfolded = append(stream, 601, 650).json();
        try (Follower follower = Follower.of(server.url(), stream, "tail=1")) {
            follower.awaitEvents(1);
            String before;
            proxy.answer(error);
            try {
                before = api.watermark(stream);
                assertRefused(stream, error, statuses);
                // Memory and archive still answer, whole; nothing of it is taken for the end.
                assertEquals(numbers(641, 650), api.payloads(Api.stream(stream) + "/tail?n=10"));
                Api.Answer read = api.ndjson(Api.stream(stream) + "/events");
                assertTrue(read.status() == 200 || read.status() == 503, read::text);
                assertFalse(
                        read.status() == 200
                                && read.text().contains("\"complete\":true")
                                && !read.text().contains(unfolded.getString("last")),
                        "an error was taken for the end of the stream");
                assertFalse(read.text().contains("\"type\":\"gap\""), read::text);
                assertTrue(api.watermark(stream).compareTo(before) >= 0);
            } finally {
                proxy.answer(null);
            }
            appendInTheEnd(stream, 651, 660);
            follower.awaitEvents(11);
            assertEquals(List.of(), follower.messages("gap"));
        }
        List<String> all = api.payloads(Api.stream(stream) + "/events");
        assertEquals(numbers(1, 650), all.subList(0, 650));
        assertEquals(numbers(651, 660), all.subList(all.size() - 10, all.size()));
        assertEquals(200, api.fold(stream).status());
        assertEquals(all, api.payloads(Api.stream(stream) + "/events"));
    }

    private void assertRefused(String stream, String error, String statuses) {
        String code = error.split(" ")[0];
        for (int i = 0; i < 3; i++) {
            long sentNs = System.nanoTime();
            Api.Answer refused = append(stream, 9_000, 9_001);
            double tookMs = (System.nanoTime() - sentNs) / 1e6;
            assertTrue(tookMs < 2_000, "a refusal took " + tookMs + " ms");
            assertTrue(
                    statuses.contains(String.valueOf(refused.status())), () -> refused.status() + " " + refused.text());
            JsonObject problem = refused.json();
            boolean retryable = refused.status() == 503;
            assertEquals(retryable, problem.getBoolean("retryable"), problem::encode);
            assertEquals(
                    retryable,
                    refused.response().headers().firstValue("Retry-After").isPresent(),
                    problem::encode);
            assertEquals("no", problem.getString("stored"), problem::encode);
            // The first may find the connection just given up, before Redis was asked again.
            assertTrue(i == 0 || problem.getString("detail").contains(code), problem::encode);
        }
        Api.Answer created = append(stream + "-new", 1, 1);
        assertTrue(created.status() == 503 || created.status() == 500, created::text);
    }

    @Test
    void aStringUnderTheStreamsKeyIsRefusedByNameUntilItIsGoneAndLosesNothing() {
        Api api = server.api();
        String stream = "string";
        assertEquals(201, append(stream, 1, 10).status());
        assertEquals(200, api.fold(stream).status());
        assertEquals(201, append(stream, 11, 20).status());
        String key = redis.ask("KEYS", "tidemark:{" + stream + "#0/*}:live").get(0);
        redis.ask("DEL", key);
        redis.ask("SET", key, "a string");
        for (int i = 0; i < 3; i++) {
            Api.Answer refused = append(stream, 21, 21);
            assertEquals(500, refused.status(), refused::text);
            assertTrue(refused.text().contains("WRONGTYPE"), refused::text);
        }
        assertEquals(numbers(1, 20), api.payloads(Api.stream(stream) + "/events"));
        assertEquals(List.of("a string"), redis.ask("GET", key));
        redis.ask("DEL", key);
        appendInTheEnd(stream, 21, 30);
        assertEquals(200, api.fold(stream).status());
        assertEquals(numbers(1, 30), api.payloads(Api.stream(stream) + "/events"));
    }

    @Test
    void aReplicaRefusesUntilItIsAMasterAgain() {
        String stream = "replica";
        assertEquals(201, append(stream, 1, 10).status());
        redis.ask("REPLICAOF", "127.0.0.1", "1");
        try {
            for (int i = 0; i < 3; i++) {
                Api.Answer refused = append(stream, 11, 11);
                assertEquals(503, refused.status(), refused::text);
                assertTrue(
                        refused.response().headers().firstValue("Retry-After").isPresent());
            }
            assertEquals(numbers(1, 10), server.api().payloads(Api.stream(stream) + "/events"));
        } finally {
            redis.ask("REPLICAOF", "NO", "ONE");
        }
        appendInTheEnd(stream, 11, 20);
        assertEquals(200, server.api().fold(stream).status());
        assertEquals(numbers(1, 20), server.api().payloads(Api.stream(stream) + "/events"));
    }
}
