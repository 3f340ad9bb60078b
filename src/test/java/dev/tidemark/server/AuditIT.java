package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.EventId;
import dev.tidemark.event.Position;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Audits of the built jar on a real Redis and real files. Fault model: kill -9; others remove entries, forge entries that look exactly
 * like ours, or take a roll file away.
 */
@Tag("T18")
class AuditIT {
    private static final String STREAM = "flights/ü";
    private static final Map<String, String> LAZY = Map.of("TIDEMARK_FOLD_MAX_LAG", "1h");
    private static final Map<String, String> EAGER = Map.of("TIDEMARK_FOLD_MAX_LAG", "200ms");

    @TempDir
    Path dir;

    private ServerProcess server;

    private void start(Map<String, String> environment) {
        server = ServerProcess.start(dir.resolve("data"), environment);
    }

    @AfterEach
    void close() {
        if (server != null) {
            server.close();
        }
    }

    private Api api() {
        return server.api();
    }

    private void append(int from, int to) {
        List<String> lines =
                IntStream.rangeClosed(from, to).mapToObj(String::valueOf).toList();
        Api.Answer answer = api().append(STREAM, lines);
        assertEquals(201, answer.status(), answer::text);
    }

    private void fold() {
        Api.Answer answer = api().fold(STREAM);
        assertEquals(200, answer.status(), answer::text);
    }

    private JsonObject audit() {
        Api.Answer answer = api().get(Api.stream(STREAM) + "/audit");
        assertEquals(200, answer.status(), answer::text);
        return answer.json();
    }

    /** The only stripe. */
    private JsonObject sum() {
        JsonArray stripes = audit().getJsonArray("stripes");
        assertEquals(1, stripes.size());
        return stripes.getJsonObject(0);
    }

    private static JsonObject sum(int appended, int archived, int live, int lost, int mismatches) {
        return new JsonObject()
                .put("stripe", 0)
                .put("appended", appended)
                .put("archived", archived)
                .put("live", live)
                .put("lost", lost)
                .put("void", 0)
                .put("pending", 0)
                .put("mismatches", mismatches);
    }

    private double mismatchesMetric() {
        return api().get("/metrics")
                .text()
                .lines()
                .filter(line -> line.startsWith("tidemark_audit_mismatches "))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.indexOf(' ') + 1)))
                .findFirst()
                .orElseThrow();
    }

    private static void eventually(String what, Callable<Boolean> condition) {
        Awaitility.await(what)
                .pollInterval(Duration.ofMillis(100))
                .atMost(Duration.ofSeconds(30))
                .until(condition);
    }

    private void assertHealthWarns() {
        Api.Answer ready = api().get("/health/ready");
        assertEquals(200, ready.status(), ready::text);
        assertTrue(ready.text().contains("aren't accounted for"), ready::text);
        assertTrue(ready.text().contains(STREAM), ready::text);
    }

    @Test
    void sumsAreRightWhileAppendsFoldsAndTrimsRunAndAfterAKill() {
        start(EAGER);
        assertEquals(201, api().put(STREAM, "{\"live_max_events\":50}").status());
        int appended = 0;
        for (int round = 0; round < 60; round++) {
            append(appended + 1, appended + 97);
            appended += 97;
            JsonObject audit = audit();
            assertEquals(0, audit.getLong("mismatches"), audit::encode);
            if (round % 20 == 19) {
                server.kill();
                start(EAGER);
                JsonObject again = audit();
                assertEquals(0, again.getLong("mismatches"), again::encode);
            }
        }
        fold();
        // A kill may leave an ordinal for what might be lost; nothing was.
        JsonObject sum = sum();
        assertEquals(appended, sum.getInteger("archived"), sum::encode);
        assertEquals(0, sum.getInteger("live"), sum::encode);
        assertEquals(0, sum.getInteger("lost"), sum::encode);
        assertEquals(0, mismatchesMetric());
    }

    @Test
    void aLossThatOthersCausedIsNoMismatchOnceItIsAnnounced() {
        start(LAZY);
        append(1, 10);
        server.kill();
        try (PlainRedis redis = PlainRedis.ofChild(dir.resolve("data"))) {
            String key = key(redis);
            redis.call("XDEL", key, entries(redis, key).get(3));
            start(LAZY);
            // What a dead process left is folded in the background.
            eventually("announced", () -> sum(10, 9, 0, 1, 0).equals(sum()));
            eventually("told", () -> mismatchesMetric() == 0);
            // Memory has what is removed now: it is folded from there.
            append(11, 20);
            redis.call("XDEL", key, entries(redis, key).get(15));
            fold();
            assertEquals(sum(20, 19, 0, 1, 0), sum());
        }
    }

    private static String key(PlainRedis redis) {
        return redis.texts("KEYS", "tidemark:{*#0/*}:live").get(0);
    }

    private static List<String> entries(PlainRedis redis, String key) {
        List<String> ids = new ArrayList<>();
        var matcher =
                java.util.regex.Pattern.compile("\\b\\d{13}-\\d+\\b").matcher(redis.text("XRANGE", key, "-", "+"));
        while (matcher.find()) {
            ids.add(matcher.group());
        }
        return ids;
    }

    @Test
    void aForgedEntryIsFoundInTheBackgroundAndGoneWithItsGeneration() {
        start(LAZY);
        append(1, 10);
        String generation = audit().getString("generation");
        try (PlainRedis redis = PlainRedis.ofChild(dir.resolve("data"))) {
            String key = key(redis);
            String last = entries(redis, key).get(9);
            int dash = last.indexOf('-');
            String next = last.substring(0, dash + 1) + (Long.parseLong(last.substring(dash + 1)) + 1);
            redis.call("XADD", key, next, "n", "4", "data", "\"forged\"");
            append(11, 11);
            eventually("found", () -> mismatchesMetric() > 0);
            assertHealthWarns();
        }
        assertEquals(204, api().delete(STREAM).status());
        append(1, 3);
        JsonObject audit = audit();
        assertNotEquals(generation, audit.getString("generation"));
        assertEquals(sum(3, 0, 3, 0, 0), sum());
        eventually("forgotten", () -> mismatchesMetric() == 0);
    }

    @Test
    void aFileThatIsTakenFromTheMiddleOfAnArchiveIsMissed() throws IOException {
        start(LAZY);
        assertEquals(
                201,
                api().put(STREAM, "{\"roll\":\"hourly\",\"live_max_events\":1}").status());
        long hourMs = 3_600_000;
        long first = System.currentTimeMillis() / hourMs * hourMs - 6 * hourMs;
        StringBuilder lines = new StringBuilder();
        for (int n = 0; n < 400; n++) {
            Position id = new Position(first + n / 100 * hourMs + n % 100, 0);
            lines.append("{\"id\":\"")
                    .append(EventId.of(id))
                    .append("\",\"data\":")
                    .append(n)
                    .append("}\n");
        }
        byte[] body = lines.toString().getBytes(StandardCharsets.UTF_8);
        Api.Answer answer = api().append(STREAM, "application/vnd.tidemark.events+ndjson", body);
        assertEquals(201, answer.status(), answer::text);
        fold();
        assertEquals(sum(400, 400, 0, 0, 0), sum());
        var unused = server.terminate();
        Files.delete(rollFiles().get(1));
        start(LAZY);
        JsonObject audit = audit();
        assertEquals(100, audit.getLong("archive_missing"), audit::encode);
        assertEquals(100, audit.getLong("mismatches"), audit::encode);
        eventually("found", () -> mismatchesMetric() == 100);
        assertHealthWarns();
    }

    private List<Path> rollFiles() throws IOException {
        try (Stream<Path> all = Files.walk(dir.resolve("data/archive"))) {
            return all.filter(path -> path.toString().endsWith(".cq4")).sorted().toList();
        }
    }

    @Test
    void sumsOfAStripedStreamWithAWindowAreRightThroughKills() {
        start(EAGER);
        assertEquals(
                201,
                api().put(STREAM, "{\"stripes\":3,\"acceptance_window\":\"1s\",\"live_max_events\":60}")
                        .status());
        int appended = 0;
        for (int round = 0; round < 60; round++) {
            for (int key = 0; key < 3; key++) {
                byte[] body = ("{\"n\":" + appended++ + "}").getBytes(StandardCharsets.UTF_8);
                Api.Answer answer = api().send(api().request(Api.stream(STREAM) + "/events")
                        .header("Content-Type", "application/json")
                        .header("Idempotency-Key", "k" + appended)
                        .header("Event-Time", Long.toString(System.currentTimeMillis() - round % 13 * 100))
                        .POST(java.net.http.HttpRequest.BodyPublishers.ofByteArray(body)));
                assertEquals(201, answer.status(), answer::text);
            }
            JsonObject audit = audit();
            assertEquals(0, audit.getLong("mismatches"), audit::encode);
            if (round == 30) {
                server.kill();
                start(EAGER);
            }
        }
        int all = appended;
        eventually("folded", () -> total(audit(), "archived") == all);
        JsonObject last = audit();
        assertEquals(0, last.getLong("mismatches"), last::encode);
        assertEquals(0, total(last, "live"), last::encode);
    }

    private static long total(JsonObject audit, String term) {
        JsonArray stripes = audit.getJsonArray("stripes");
        return IntStream.range(0, stripes.size())
                .mapToLong(i -> stripes.getJsonObject(i).getLong(term))
                .sum();
    }
}
