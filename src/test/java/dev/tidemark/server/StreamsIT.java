package dev.tidemark.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonObject;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Streams come, change and go: settings are merged, and what is deleted leaves nothing and doesn't come back. */
class StreamsIT {
    @RegisterExtension
    static final RunningServer SERVER = new RunningServer(Map.of());

    private static Api api() {
        return SERVER.api();
    }

    private static JsonObject settings(String stream) {
        return api().get(Api.stream(stream)).json().getJsonObject("settings");
    }

    // ---- settings

    @Test
    void settingsAreMergedAndResetAndSurviveARestart() {
        Api.Answer created = api().put("merged", "{\"live_max_events\":500,\"chunk_duration\":\"200ms\"}");
        assertEquals(201, created.status());
        assertEquals(500, created.json().getJsonObject("settings").getInteger("live_max_events"));
        assertEquals("1h", settings("merged").getString("live_max_age"));
        assertEquals(200, api().put("merged", "{\"live_max_age\":\"10m\"}").status());
        assertEquals(500, settings("merged").getInteger("live_max_events"));
        assertEquals("10m", settings("merged").getString("live_max_age"));
        assertEquals("200ms", settings("merged").getString("chunk_duration"));
        assertEquals(200, api().put("merged", "{\"live_max_events\":null}").status());
        assertEquals(100_000, settings("merged").getInteger("live_max_events"));
        assertEquals(200, api().put("merged", "{}").status());
        String generation = api().get("/v1/streams/merged").json().getString("generation");
        JsonObject before = settings("merged");
        SERVER.killAndRestart();
        assertEquals(before, settings("merged"));
        assertEquals(generation, api().get("/v1/streams/merged").json().getString("generation"));
    }

    @Test
    void whatCanNotBeSetIsRefusedAndNothingOfIt() {
        assertEquals(
                201,
                api().put("fixed", "{\"roll\":\"hourly\",\"live_max_events\":7}")
                        .status());
        JsonObject before = settings("fixed");
        for (String bad : List.of(
                "{\"live_max_event\":5}",
                "{\"live_max_events\":5,\"bogus\":1}",
                "{\"live_max_events\":0}",
                "{\"live_max_events\":-1}",
                "{\"live_max_events\":1.5}",
                "{\"live_max_events\":true}",
                "{\"live_max_events\":[]}",
                "{\"live_max_age\":\"1 hour\"}",
                "{\"live_max_age\":3600}",
                "{\"live_max_bytes\":\"1MB\"}",
                "{\"late\":\"perhaps\"}",
                "{\"live_max_age\":\"100ms\",\"chunk_duration\":\"1s\"}",
                "{\"archive_max_age\":\"1m\",\"live_max_age\":\"1h\"}",
                "[]",
                "null",
                "{\"live_max_events\":5",
                "{} {}")) {
            for (String stream : List.of("fixed", "never-made")) {
                Api.Answer answer = api().put(stream, bad);
                assertEquals(400, answer.status(), bad + ": " + answer.text());
            }
        }
        Api.Answer roll = api().put("fixed", "{\"live_max_events\":8,\"roll\":\"daily\"}");
        assertEquals(409, roll.status());
        assertTrue(roll.json().getString("detail").contains("roll"), roll.text());
        assertEquals(409, api().put("fixed", "{\"roll\":null}").status());
        assertEquals(
                200, api().put("fixed", "{\"roll\":\"hourly\",\"stripes\":1}").status());
        assertEquals(before, settings("fixed"));
        assertEquals(404, api().get("/v1/streams/never-made").status());
    }

    @Test
    void theListIsPagedAndItsParametersAreChecked() {
        for (int i = 0; i < 25; i++) {
            assertEquals(201, api().put("page-" + (char) ('a' + i), "{}").status());
        }
        List<String> names = new ArrayList<>();
        String after = "page-";
        while (after != null) {
            JsonObject page = api().get("/v1/streams?limit=10&after=" + after).json();
            assertTrue(page.getJsonArray("streams").size() <= 10);
            page.getJsonArray("streams").forEach(one -> names.add(((JsonObject) one).getString("stream")));
            after = page.getString("next");
        }
        assertEquals(
                IntStream.range(0, 25).mapToObj(i -> "page-" + (char) ('a' + i)).toList(),
                names.stream().filter(name -> name.startsWith("page-")).toList());
        assertNull(api().get("/v1/streams?after=zzz").json().getString("next"));
        for (String bad : List.of("limit=0", "limit=-1", "limit=1001", "limit=x", "limit=", "page=2")) {
            assertEquals(400, api().get("/v1/streams?" + bad).status(), bad);
        }
    }

    // ---- deletion

    private static List<String> leftovers(String stream) {
        List<String> left = new ArrayList<>(SERVER.files().stream()
                .filter(file -> file.startsWith("archive/" + stream))
                .toList());
        try (PlainRedis redis = SERVER.redis()) {
            left.addAll(redis.texts("KEYS", "tidemark:{" + stream + "*"));
            left.addAll(redis.texts("HKEYS", "tidemark:streams").stream()
                    .filter(name -> name.startsWith(stream))
                    .toList());
        }
        return left;
    }

    /** What Redis couldn't take is removed later. */
    private static void awaitNoLeftovers(String stream) {
        await().atMost(Duration.ofSeconds(20))
                .ignoreExceptionsInstanceOf(UncheckedIOException.class)
                .untilAsserted(() -> assertEquals(List.of(), leftovers(stream)));
    }

    @Test
    void aDeletedStreamLeavesNothing() {
        Api api = api();
        for (int i = 0; i < 5; i++) {
            assertEquals(201, api.append("leaves", List.of("1", "2", "3")).status());
            if (i % 2 == 0) {
                assertEquals(200, api.fold("leaves").status());
            }
            assertFalse(leftovers("leaves").isEmpty());
            assertEquals(204, api.delete("leaves").status());
            assertEquals(List.of(), leftovers("leaves"), "round " + i);
            assertEquals(404, api.delete("leaves").status());
            for (String path : List.of("", "/tail", "/events", "/seam", "/events/EVT000xY9Wvvcd")) {
                assertEquals(404, api.get("/v1/streams/leaves" + path).status(), path);
            }
            assertEquals(404, api.fold("leaves").status());
        }
        SERVER.stopAndRestart();
        assertEquals(404, api().get("/v1/streams/leaves").status());
        assertEquals(List.of(), leftovers("leaves"));
    }

    @Test
    void cursorsOfADeletedStreamAreToldSo() {
        Api api = api();
        JsonObject old = api.append("again", List.of("\"old\"", "\"old\"")).json();
        String oldCursor = old.getString("cursor");
        String oldGeneration = api.seam("again").getString("generation");
        assertEquals(200, api.fold("again").status());
        assertEquals(204, api.delete("again").status());
        JsonObject fresh = api.append("again", List.of("\"new\"")).json();
        assertNotEquals(oldGeneration, api.seam("again").getString("generation"));
        assertEquals(List.of("\"new\""), api.payloads("/v1/streams/again/events"));
        assertEquals(
                404,
                api.get("/v1/streams/again/events/" + old.getString("first")).status());
        for (String query : List.of("after=" + oldCursor, "before=" + oldCursor)) {
            Api.Answer gone = api.get("/v1/streams/again/events?" + query);
            assertEquals(410, gone.status(), gone.text());
            assertTrue(gone.json().getString("type").contains("generation_changed"), gone.text());
        }
        try (Follower follower = Follower.of(SERVER.url(), "again", "on_gap=close&after=" + oldCursor)) {
            assertEquals(4510, follower.awaitClose());
        }
        try (Follower follower = Follower.of(SERVER.url(), "again", "after=" + oldCursor)) {
            assertEquals(fresh.getString("last"), follower.awaitEvents(1).get(0).getString("id"));
            assertEquals("reset", follower.await("gap").getString("reason"));
        }
        Api.Answer fromStart = api.get("/v1/streams/again/events?after=" + old.getString("last"));
        assertEquals(List.of("new"), payloads(fromStart));
    }

    private static List<String> payloads(Api.Answer page) {
        return page.json().getJsonArray("events").stream()
                .map(event -> ((JsonObject) event).getString("data"))
                .toList();
    }

    @Test
    void subscribersOfADeletedStreamAreToldAndClosed() {
        assertEquals(201, api().append("followed", List.of("1")).status());
        try (Follower idle = Follower.of(SERVER.url(), "followed", "after=latest");
                Follower caughtUp = Follower.of(SERVER.url(), "followed", "after=earliest")) {
            idle.await("hello");
            caughtUp.await("caught_up");
            assertEquals(204, api().delete("followed").status());
            assertEquals(4504, idle.awaitClose());
            assertEquals(4504, caughtUp.awaitClose());
            assertEquals(404, idle.await("error").getInteger("status"));
        }
    }

    @Test
    void aStormOfCreationsAppendsReadsAndDeletionsLeavesNothing() {
        long seed = System.nanoTime();
        Set<String> refusals = ConcurrentHashMap.newKeySet();
        long until = System.nanoTime() + 5_000_000_000L;
        List<CompletableFuture<Void>> threads = new ArrayList<>();
        for (int t = 0; t < 8; t++) {
            Random random = new Random(seed + t);
            threads.add(CompletableFuture.runAsync(() -> {
                while (System.nanoTime() < until) {
                    storm(random, refusals);
                }
            }));
        }
        threads.forEach(CompletableFuture::join);
        assertEquals(Set.of(), refusals, "seed " + seed);
        for (int i = 0; i < 3; i++) {
            String stream = "storm-" + i;
            assertEquals(201, api().append(stream, List.of("7", "8", "9")).status());
            List<String> tail = api().payloads(Api.stream(stream) + "/tail?n=3");
            assertEquals(List.of("7", "8", "9"), tail, "seed " + seed);
            assertEquals(204, api().delete(stream).status());
        }
        awaitNoLeftovers("storm-");
        SERVER.killAndRestart();
        assertEquals(List.of(), leftovers("storm-"));
        assertEquals(404, api().get("/v1/streams/storm-0").status());
    }

    private static void storm(Random random, Set<String> refusals) {
        String stream = "storm-" + random.nextInt(3);
        String path = Api.stream(stream);
        switch (random.nextInt(9)) {
            case 0 -> {
                Api.Answer answer = api().put(stream, "{\"live_max_events\":3}");
                // 404: deleted before it could be shown.
                if (answer.status() != 404) {
                    expect(refusals, "put", answer, 200, 201);
                }
            }
            case 1, 2, 3 -> expect(refusals, "append", api().append(stream, List.of("1", "2", "3", "4")), 201, 404);
            case 4 -> expect(refusals, "fold", api().fold(stream), 200, 404);
            case 5 -> expect(refusals, "tail", api().get(path + "/tail?n=100"), 200, 404);
            case 6 -> expect(refusals, "read", api().get(path + "/events"), 200, 404);
            case 7 -> expect(refusals, "seam", api().get(path + "/seam"), 200, 404);
            default -> expect(refusals, "delete", api().delete(stream), 204, 404);
        }
    }

    private static void expect(Set<String> refusals, String what, Api.Answer answer, int good, int alsoGood) {
        if (answer.status() != good && answer.status() != alsoGood) {
            refusals.add(what + " " + answer.status() + " " + answer.text());
        }
    }

    @Test
    void aRefusedOrLostCreationLeavesNothingThatDisturbsTheNext() {
        SERVER.process().killRedis();
        List<Api.Answer> answers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            answers.add(api().append("fragile", List.of(String.valueOf(i))));
        }
        await().atMost(Duration.ofSeconds(30))
                .until(() -> api().append("fragile", List.of("5")).status() == 201);
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            if (answers.get(i).status() == 201) {
                expected.add(String.valueOf(i));
            } else {
                assertEquals(503, answers.get(i).status(), answers.get(i).text());
            }
        }
        expected.add("5");
        List<String> stored = new ArrayList<>(api().payloads("/v1/streams/fragile/events"));
        for (String one : expected) {
            assertTrue(stored.contains(one), stored + " lacks " + one);
        }
        await().atMost(Duration.ofSeconds(20))
                .until(() -> SERVER.files().stream()
                                .filter(file -> file.matches("archive/fragile/[^/]+"))
                                .count()
                        == 1);
        String generation = api().seam("fragile").getString("generation");
        SERVER.killAndRestart();
        assertEquals(generation, api().seam("fragile").getString("generation"));
        assertEquals(stored, api().payloads("/v1/streams/fragile/events"));
        assertEquals(204, api().delete("fragile").status());
        assertEquals(List.of(), leftovers("fragile"));
    }

    @Test
    void aDeletionWhileRedisIsAwayIsFinishedWhenItIsBack() {
        for (int i = 0; i < 3; i++) {
            String stream = "away-" + i;
            assertEquals(201, api().append(stream, List.of("1")).status());
            assertEquals(200, api().fold(stream).status());
        }
        SERVER.process().killRedis();
        for (int i = 0; i < 3; i++) {
            int status = api().delete("away-" + i).status();
            assertTrue(status == 204 || status == 503, "status " + status);
            if (status == 503) {
                String stream = "away-" + i;
                await().atMost(Duration.ofSeconds(30)).until(() -> {
                    int again = api().delete(stream).status();
                    return again == 204 || again == 404;
                });
            }
        }
        awaitNoLeftovers("away-");
        SERVER.stopAndRestart();
        assertEquals(List.of(), leftovers("away-"));
    }
}
