package dev.tidemark.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What stays in the live log, what goes, and what others can see of it. */
class RetentionIT {
    @RegisterExtension
    static final RunningServer SERVER = new RunningServer(Map.of("TIDEMARK_FOLD_MAX_LAG", "1s"));

    private static Api api() {
        return SERVER.api();
    }

    private static void create(String stream, String settings) {
        Api.Answer answer = api().put(stream, settings);
        assertEquals(201, answer.status(), answer.text());
    }

    private static List<String> numbered(int from, int count) {
        return IntStream.range(from, from + count).mapToObj(String::valueOf).toList();
    }

    private static void append(String stream, List<String> lines) {
        Api.Answer answer = api().append(stream, lines);
        assertEquals(201, answer.status(), answer.text());
    }

    private static void eventually(Callable<Boolean> condition) {
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(50))
                .until(condition);
    }

    private static int live(String stream) {
        return api().seam(stream).getInteger("live_events");
    }

    private static String liveKey(String stream) {
        return "tidemark:{" + stream + "#0/" + api().seam(stream).getString("generation") + "}:live";
    }

    private static void assertAllOnce(String stream, List<String> expected) {
        assertEquals(expected, api().payloads(Api.stream(stream) + "/events"));
        assertEquals(expected, api().payloads(Api.stream(stream) + "/tail?n=10000"));
    }

    // ---- count

    @Test
    @Tag("R27")
    @Tag("F10")
    void aTrimLeavesExactlyTheWindow() {
        create("exact", "{\"live_max_events\":101}");
        append("exact", numbered(0, 250));
        assertEquals(200, api().fold("exact").status());
        eventually(() -> live("exact") == 101);
        try (PlainRedis redis = SERVER.redis()) {
            assertEquals("101", redis.text("XLEN", liveKey("exact")));
        }
        JsonObject seam = api().seam("exact");
        List<String> ids = Api.ids(api().events("/v1/streams/exact/events"));
        assertEquals(ids.get(149), seam.getString("first_live"));
        assertEquals(ids.get(249), seam.getString("watermark"));
        assertEquals(ids.get(0), seam.getString("earliest"));
        assertAllOnce("exact", numbered(0, 250));
    }

    @Test
    @Tag("R27")
    void entriesLargerThanRedisNodesAreTrimmedToTheWindowToo() {
        create("nodes", "{\"live_max_events\":10}");
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            lines.add("\"" + String.format("%05d", i).repeat(2_000) + "\"");
        }
        append("nodes", lines);
        eventually(() -> live("nodes") == 10);
        assertEquals(lines, api().payloads("/v1/streams/nodes/events"));
        assertEquals(lines.subList(250, 300), api().payloads("/v1/streams/nodes/tail?n=50"));
    }

    @Test
    @Tag("R27")
    void theBoundIsMetAfterABacklogAndTheSeamTellsWhatIsLive() {
        create("backlog", "{\"live_max_events\":\"none\",\"live_max_age\":\"none\"}");
        for (int i = 0; i < 4; i++) {
            append("backlog", numbered(i * 5_000, 5_000));
        }
        eventually(() -> api().seam("backlog").getInteger("archived_events") == 20_000);
        assertEquals(20_000, live("backlog"));
        assertEquals(200, api().put("backlog", "{\"live_max_events\":1000}").status());
        eventually(() -> live("backlog") == 1_000);
        JsonObject seam = api().seam("backlog");
        assertEquals(0, seam.getInteger("over_retained"));
        assertEquals(0, seam.getInteger("fold_lag_ms"));
        assertEquals("ok", seam.getJsonObject("last_fold").getString("outcome"));
        assertAllNumbers("backlog", 20_000);
    }

    @Test
    @Tag("R27")
    void aBacklogOfAnEarlierProcessIsTrimmedToTheBoundToo() {
        create("earlier", "{\"live_max_events\":\"none\",\"live_max_age\":\"none\"}");
        append("earlier", numbered(0, 5_000));
        assertEquals(200, api().fold("earlier").status());
        SERVER.killAndRestart();
        assertEquals(200, api().put("earlier", "{\"live_max_events\":70}").status());
        eventually(() -> live("earlier") == 70);
        assertAllNumbers("earlier", 5_000);
    }

    private static void assertAllNumbers(String stream, int count) {
        assertEquals(numbered(0, count), api().payloads(Api.stream(stream) + "/events"));
    }

    @Test
    @Tag("R27")
    void beforeTheFoldTheSeamTellsWhatIsUnfolded() {
        create("unfolded", "{\"chunk_duration\":\"1h\",\"live_max_age\":\"2h\"}");
        append("unfolded", numbered(0, 500));
        JsonObject seam = api().seam("unfolded");
        assertEquals(500, seam.getInteger("live_events"));
        assertEquals(0, seam.getInteger("archived_events"));
        assertNull(seam.getString("watermark"));
        assertTrue(seam.getLong("live_bytes") > 0, seam.encode());
        assertEquals(seam.getString("frontier"), seam.getString("tail"));
        eventually(() -> api().seam("unfolded").getLong("fold_lag_ms") > 50);
        assertEquals(200, api().fold("unfolded").status());
        seam = api().seam("unfolded");
        assertEquals(500, seam.getInteger("live_events"));
        assertEquals(500, seam.getInteger("archived_events"));
        assertEquals(0, seam.getLong("fold_lag_ms"));
    }

    // ---- age and bytes

    @Test
    @Tag("F10")
    void whatIsOldLeavesTheLiveLogAlsoWhenNothingComesAnyMore() {
        create("age", "{\"live_max_age\":\"1500ms\",\"chunk_duration\":\"100ms\"}");
        append("age", numbered(0, 300));
        eventually(() -> live("age") == 0);
        assertAllOnce("age", numbered(0, 300));
        append("age", numbered(300, 1));
        assertEquals(1, live("age"));
        assertAllOnce("age", numbered(0, 301));
        JsonObject seam = api().seam("age");
        assertEquals(seam.getString("tail"), seam.getString("first_live"));
        eventually(() -> live("age") == 0);
        assertAllOnce("age", numbered(0, 301));
    }

    @Test
    @Tag("F10")
    void theBytesOfTheLiveLogHaveABound() {
        create("bytes", "{\"live_max_bytes\":\"64KiB\",\"chunk_max_events\":20}");
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            lines.add("\"" + String.format("%04d", i).repeat(250) + "\"");
        }
        append("bytes", lines);
        assertEquals(200, api().fold("bytes").status());
        eventually(() -> live("bytes") <= 64);
        assertTrue(live("bytes") >= 30, live("bytes") + " are live: far fewer than the window allows");
        assertEquals(lines, api().payloads("/v1/streams/bytes/events"));
    }

    @Test
    @Tag("F10")
    void aBoundOfBytesHoldsForWhatAnEarlierProcessLeftAndWhenNothingComes() {
        create("bytes-later", "{\"chunk_max_events\":50}");
        append("bytes-later", numbered(100_000, 3_000));
        assertEquals(200, api().fold("bytes-later").status());
        SERVER.killAndRestart();
        eventually(() -> live("bytes-later") == 3_000);
        assertEquals(
                200, api().put("bytes-later", "{\"live_max_bytes\":\"6KiB\"}").status());
        eventually(() -> live("bytes-later") <= 1_024);
        assertTrue(live("bytes-later") >= 500, live("bytes-later") + " are live");
        assertEquals(numbered(100_000, 3_000), api().payloads("/v1/streams/bytes-later/events"));
    }

    @Test
    @Tag("F10")
    void theNarrowestWindowDecides() {
        create("narrow", "{\"live_max_events\":500,\"live_max_bytes\":\"1KiB\",\"chunk_max_events\":10}");
        append("narrow", numbered(1_000, 1_000));
        assertEquals(200, api().fold("narrow").status());
        eventually(() -> live("narrow") <= 256);
        assertEquals(numbered(1_000, 1_000), api().payloads("/v1/streams/narrow/events"));
    }

    // ---- what others see

    @Test
    @Tag("F8")
    void anyRedisClientFindsTheSeamAndWhatLiesBehindIt() {
        create("seam", "{\"live_max_events\":40}");
        append("seam", numbered(0, 100));
        assertEquals(200, api().fold("seam").status());
        append("seam", numbered(100, 20));
        String watermark = api().watermark("seam");
        try (PlainRedis redis = SERVER.redis()) {
            eventually(() -> redis.text("GET", "tidemark:{seam}:archived").startsWith(watermark + " "));
            String[] copy = redis.text("GET", "tidemark:{seam}:archived").split(" ");
            assertEquals(3, copy.length);
            assertEquals(api().seam("seam").getString("generation"), copy[2]);
            Object behind = redis.call("XRANGE", liveKey("seam"), "(" + copy[1], "+");
            assertEquals(20, ((List<?>) behind).size(), String.valueOf(behind));
            assertTrue(String.valueOf(behind).contains("data, 119"), String.valueOf(behind));
        }
    }

    @Test
    @Tag("F9")
    void streamsShareNeitherWatermarkNorFile() {
        create("one", "{\"chunk_duration\":\"1h\",\"live_max_age\":\"2h\"}");
        create("two", "{\"chunk_duration\":\"1h\",\"live_max_age\":\"2h\"}");
        for (int i = 0; i < 50; i++) {
            append("one", List.of("\"one\""));
            append("two", List.of("\"two\""));
        }
        assertEquals(200, api().fold("one").status());
        assertEquals(api().seam("one").getString("tail"), api().watermark("one"));
        assertEquals("", api().watermark("two"));
        assertTrue(archived("one") > 0);
        assertEquals(0, archived("two"));
        assertEquals(200, api().fold("two").status());
        assertEquals(api().seam("two").getString("tail"), api().watermark("two"));
        assertEquals(50, api().payloads("/v1/streams/one/events").size());
        assertTrue(api().payloads("/v1/streams/one/events").stream().allMatch("\"one\""::equals));
        assertTrue(api().payloads("/v1/streams/two/events").stream().allMatch("\"two\""::equals));
        assertEquals(1, archived("one"));
        assertEquals(1, archived("two"));
    }

    private static long archived(String stream) {
        return SERVER.files().stream()
                .filter(file -> file.startsWith("archive/" + stream + "/") && file.endsWith(".cq4"))
                .count();
    }
}
