package dev.tidemark.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A stream over four keepers, as one stream. */
class StripesIT {
    @RegisterExtension
    static final RunningServer SERVER = new RunningServer(Map.of());

    @TempDir
    Path folder;

    private static Api api() {
        return SERVER.api();
    }

    private static double payloadsMoved() {
        return api().get("/metrics")
                .text()
                .lines()
                .filter(line -> line.startsWith("tidemark_tail_payloads_moved_total"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.indexOf(' '))))
                .sum();
    }

    private static List<String> ids(String path) {
        return Api.ids(api().get(path).json().getJsonArray("events").stream()
                .map(JsonObject.class::cast)
                .toList());
    }

    @Test
    @Tag("T3")
    @Tag("R15")
    void tailsOfFourStripesAreTheLastOfAFullReadAndMoveOnlyTheWinners() {
        assertEquals(
                201,
                api().put("four", "{\"stripes\":4,\"live_max_events\":3000}").status());
        assertEquals(409, api().put("four", "{\"stripes\":2}").status());
        List<String> lines = Sample.lines(Sample.flights(folder));
        List<CompletableFuture<Void>> writers = new ArrayList<>();
        for (int w = 0; w < 4; w++) {
            List<String> part = lines.subList(w * lines.size() / 4, (w + 1) * lines.size() / 4);
            Api connection = new Api(SERVER.url());
            writers.add(CompletableFuture.runAsync(() -> {
                for (int i = 0; i < part.size(); i += 100) {
                    Api.Answer answer = connection.append("four", part.subList(i, Math.min(part.size(), i + 100)));
                    assertEquals(201, answer.status(), answer.text());
                }
            }));
        }
        writers.forEach(CompletableFuture::join);
        try (PlainRedis redis = SERVER.redis()) {
            long used = IntStream.range(0, 4)
                    .filter(s ->
                            !redis.texts("KEYS", "tidemark:{four#" + s + "/*").isEmpty())
                    .count();
            assertEquals(4, used);
        }
        await().atMost(Duration.ofSeconds(10))
                .untilAsserted(() -> assertEquals(
                        lines.size(),
                        api().events("/v1/streams/four/events?view=sealed").size()));
        checkTails(lines.size(), true);
        assertEquals(200, api().fold("four").status());
        JsonObject seam = api().seam("four");
        assertEquals(lines.size(), seam.getInteger("archived_events"));
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertTrue(api().seam("four").getInteger("live_events") <= 3_100));
        checkTails(lines.size(), true);
        SERVER.killAndRestart();
        checkTails(lines.size(), false);
    }

    private static void checkTails(int count, boolean inMemory) {
        List<String> all = Api.ids(api().events("/v1/streams/four/events"));
        assertEquals(count, all.size());
        Api.assertRising(all);
        for (int n : new int[] {0, 1, 10, 1_000, 10_000}) {
            double before = payloadsMoved();
            assertEquals(all.subList(count - n, count), ids("/v1/streams/four/tail?n=" + n), "n " + n);
            if (inMemory) {
                assertEquals(n, payloadsMoved() - before, "payloads moved for n " + n);
            }
            assertEquals(all.subList(count - n, count), ids("/v1/streams/four/tail?view=sealed&n=" + n), "n " + n);
        }
    }

    @Test
    @Tag("R16")
    void fiftyWritersOfAStreamWithFourStripesKeepTheirOrderAndTheFinalOrderIsTheOneAfterTheFold() {
        assertEquals(201, api().put("writers", "{\"stripes\":4}").status());
        List<CompletableFuture<Void>> writers = new ArrayList<>();
        try (Follower sealed = Follower.of(SERVER.url(), "writers", "after=earliest&view=sealed");
                Follower live = Follower.of(SERVER.url(), "writers", "after=earliest")) {
            for (int w = 0; w < 50; w++) {
                int writer = w;
                writers.add(CompletableFuture.runAsync(() -> {
                    Api connection = new Api(SERVER.url());
                    for (int i = 0; i < 200; i++) {
                        Api.Answer answer =
                                connection.append("writers", List.of("{\"w\":" + writer + ",\"i\":" + i + "}"));
                        assertEquals(201, answer.status(), answer.text());
                    }
                }));
            }
            writers.forEach(CompletableFuture::join);
            List<JsonObject> inOrder = sealed.awaitEvents(10_000);
            Api.assertRising(Api.ids(inOrder));
            perWriterOrderIsKept(inOrder);
            perWriterOrderIsKept(live.awaitEvents(10_000));
            assertEquals(200, api().fold("writers").status());
            List<JsonObject> folded = api().events("/v1/streams/writers/events");
            assertEquals(Api.ids(inOrder), Api.ids(folded));
            assertEquals(10_000, live.events().size());
        }
    }

    private static void perWriterOrderIsKept(List<JsonObject> events) {
        Map<Integer, Integer> next = new HashMap<>();
        for (JsonObject event : events) {
            JsonObject data = event.getJsonObject("data");
            int expected = next.getOrDefault(data.getInteger("w"), 0);
            assertEquals(expected, data.getInteger("i"), "writer " + data.getInteger("w"));
            next.put(data.getInteger("w"), expected + 1);
        }
    }

    private static Api.Answer once(String key, String body) {
        return api().send(api().request("/v1/streams/keys/events")
                .header("Content-Type", "application/json")
                .header("Idempotency-Key", key)
                .POST(java.net.http.HttpRequest.BodyPublishers.ofString(body)));
    }

    @Test
    @Tag("R28")
    void theCursorOfAnAppendHidesNothingOfOthersAlsoWhenItIsRepeated() {
        assertEquals(201, api().put("keys", "{\"stripes\":4}").status());
        Api.Answer first = once("first", "0");
        for (int i = 1; i <= 6; i++) {
            assertEquals(201, once("other" + i, Integer.toString(i)).status());
        }
        Api.Answer again = once("first", "0");
        assertTrue(again.json().getBoolean("duplicate"));
        for (Api.Answer answer : List.of(first, again)) {
            List<String> behind = api().payloads(
                            "/v1/streams/keys/events?after=" + answer.json().getString("cursor"));
            assertTrue(behind.containsAll(List.of("1", "2", "3", "4", "5", "6")), behind.toString());
        }
    }

    @Test
    void idsAreNotImportedIntoSeveralStripes() {
        assertEquals(201, api().put("imports", "{\"stripes\":2}").status());
        Api.Answer refused = api().send(api().request("/v1/streams/imports/events")
                .header("Content-Type", "application/vnd.tidemark.events+ndjson")
                .POST(java.net.http.HttpRequest.BodyPublishers.ofString("{\"id\":\"EVT000xY9Wvvcd\",\"data\":1}")));
        assertEquals(400, refused.status(), refused.text());
        assertTrue(refused.json().getString("detail").contains("stripes"), refused.text());
    }
}
