package dev.tidemark.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Last N and ranges across the seam: exact, whatever is in memory, in the live log, in the archive, or on its way there. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class RangesIT {
    private static final int ALL = 1_100;
    private static final int LIVE = 100;

    @RegisterExtension
    static final RunningServer SERVER = new RunningServer(Map.of());

    private static List<String> numbered(int from, int count) {
        return IntStream.range(from, from + count).mapToObj(String::valueOf).toList();
    }

    private static Api api() {
        return SERVER.api();
    }

    @BeforeAll
    static void aStreamWithThousandArchivedAndHundredLive() {
        assertEquals(
                201,
                api().put("border", "{\"live_max_events\":" + LIVE + ",\"tail_capacity\":30,\"chunk_max_events\":10}")
                        .status());
        assertEquals(201, api().append("border", numbered(0, ALL)).status());
        assertEquals(200, api().fold("border").status());
        await().atMost(Duration.ofSeconds(20)).until(() -> api().seam("border").getInteger("live_events") == LIVE);
    }

    // ---- last N

    @Test
    @Order(1)
    @Tag("R15")
    @Tag("T2")
    void tailsAcrossTheBorderAreExact() {
        assertTails("border", ALL);
    }

    private static void assertTails(String stream, int available) {
        for (int n : new int[] {0, 1, 29, 31, 99, 100, 101, 500, 1_000, 1_100, 1_101, 5_000, 10_000}) {
            int given = Math.min(n, available);
            assertEquals(
                    numbered(available - given, given), api().payloads(Api.stream(stream) + "/tail?n=" + n), "n=" + n);
        }
    }

    @Test
    @Order(2)
    @Tag("R15")
    void tailsDuringFoldsAreExact() throws Exception {
        assertEquals(
                201,
                api().put("folding", "{\"live_max_events\":10,\"tail_capacity\":20,\"chunk_max_events\":10}")
                        .status());
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> {
            for (int i = 0; i < 60; i++) {
                assertEquals(201, api().append("folding", numbered(i * 20, 20)).status());
                assertEquals(200, api().fold("folding").status());
            }
            over.set(true);
        });
        int looks = 0;
        while (!over.get() && !writer.isDone()) {
            for (int n : new int[] {5, 50, 2_000}) {
                assertNewest(n, api().payloads("/v1/streams/folding/tail?n=" + n));
                looks++;
            }
        }
        writer.get();
        assertTrue(looks > 10, looks + " looks");
        assertTails("folding", 1_200);
    }

    /** The numbers are consecutive, and as many as asked for, or all since 0. */
    private static void assertNewest(int n, List<String> tail) {
        if (tail.isEmpty()) {
            return;
        }
        int last = Integer.parseInt(tail.get(tail.size() - 1));
        assertEquals(Math.min(n, last + 1), tail.size());
        assertEquals(numbered(last + 1 - tail.size(), tail.size()), tail);
    }

    @Test
    @Order(3)
    @Tag("R46")
    void theNumberOfATailIsCheckedAndNamed() {
        assertEquals(numbered(ALL - 10, 10), api().payloads("/v1/streams/border/tail"));
        assertEquals(List.of(), api().payloads("/v1/streams/border/tail?n=0"));
        assertEquals(numbered(ALL - 1, 1), api().payloads("/v1/streams/border/tail?n=1"));
        assertEquals(numbered(0, ALL), api().payloads("/v1/streams/border/tail?n=10000"));
        for (String n :
                List.of("-5", "abc", "", "1.5", "1e3", "+1", "%201", "10001", "99999999999999999999", "0x10", "١")) {
            String encoded = n.equals("١") ? "%D9%A1" : n;
            Api.Answer answer = api().get("/v1/streams/border/tail?n=" + encoded);
            assertEquals(400, answer.status(), "n=" + n);
            assertEquals("n", answer.json().getString("parameter"), answer.text());
        }
        assertEquals(400, api().get("/v1/streams/border/tail?n=1&n=2").status());
        assertEquals(400, api().get("/v1/streams/border/tail?m=1").status());
    }

    // ---- ranges

    @Test
    @Order(4)
    @Tag("F7")
    void everyStartAndEndGivesExactlyWhatLiesBetweenInBothDirections() {
        List<String> ids = Api.ids(api().events("/v1/streams/border/events"));
        assertEquals(ALL, ids.size());
        int[] places = {0, 1, 500, ALL - LIVE - 1, ALL - LIVE, ALL - LIVE + 1, ALL - 31, ALL - 2, ALL - 1};
        for (int after : places) {
            for (int before : places) {
                if (after < before) {
                    String query = "?after=" + ids.get(after) + "&before=" + ids.get(before);
                    List<String> expected = numbered(after + 1, before - after - 1);
                    assertEquals(expected, api().payloads("/v1/streams/border/events" + query), query);
                    List<String> descending =
                            new ArrayList<>(api().payloads("/v1/streams/border/events" + query + "&order=desc"));
                    Collections.reverse(descending);
                    assertEquals(expected, descending, query);
                }
            }
        }
    }

    @Test
    @Order(4)
    @Tag("F7")
    void pagesJoinWithoutGapOrRepeatInBothDirections() {
        for (String order : List.of("asc", "desc")) {
            for (int limit : new int[] {7, 99, 1_000}) {
                List<String> paged = new ArrayList<>();
                String next = "";
                while (next != null) {
                    String bound = next.isEmpty() ? "" : (order.equals("asc") ? "&after=" : "&before=") + next;
                    JsonObject page = api().get("/v1/streams/border/events?order=" + order + "&limit=" + limit + bound)
                            .json();
                    for (Object event : page.getJsonArray("events")) {
                        paged.add(String.valueOf(((JsonObject) event).getValue("data")));
                    }
                    assertEquals(new JsonArray(), page.getJsonArray("gaps"));
                    next = page.getString("next");
                }
                if (order.equals("desc")) {
                    Collections.reverse(paged);
                }
                assertEquals(numbered(0, ALL), paged, order + " " + limit);
            }
        }
    }

    @Test
    @Order(4)
    @Tag("F12")
    void aMillisecondWindowHasItsFirstAndNotItsLast() throws InterruptedException {
        for (int i = 0; i < 30; i++) {
            assertEquals(201, api().append("clock", List.of("1", "2", "3")).status());
            Thread.sleep(2);
        }
        for (int round = 0; round < 2; round++) {
            List<JsonObject> all = api().events("/v1/streams/clock/events");
            assertEquals(90, all.size());
            for (int i = 0; i < all.size(); i += 17) {
                long at = all.get(i).getLong("at");
                assertWindow(all, at, at + 1);
                assertWindow(all, at - 1, at);
                assertWindow(all, at, at + 5);
            }
            assertWindow(all, all.get(0).getLong("at"), all.get(89).getLong("at"));
            assertWindow(all, all.get(0).getLong("at"), all.get(89).getLong("at") + 1);
            assertEquals(200, api().fold("clock").status());
        }
    }

    private static void assertWindow(List<JsonObject> all, long from, long to) {
        List<JsonObject> expected = all.stream()
                .filter(event -> event.getLong("at") >= from && event.getLong("at") < to)
                .toList();
        assertEquals(expected, api().events("/v1/streams/clock/events?from=" + from + "&to=" + to));
        String text = "from=" + Instant.ofEpochMilli(from) + "&to=" + Instant.ofEpochMilli(to);
        assertEquals(expected, api().events("/v1/streams/clock/events?" + text));
        List<JsonObject> descending =
                new ArrayList<>(api().events("/v1/streams/clock/events?order=desc&from=" + from + "&to=" + to));
        Collections.reverse(descending);
        assertEquals(expected, descending);
    }

    @Test
    @Order(5)
    @Tag("T17")
    void timeRangesGiveEachEventOnceWhileTheStreamIsWrittenAndFolded() throws Exception {
        assertEquals(
                201,
                api().put("times", "{\"live_max_events\":200,\"tail_capacity\":50,\"chunk_max_events\":40}")
                        .status());
        List<JsonObject> known = Collections.synchronizedList(new ArrayList<>());
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> {
            for (int i = 0; !over.get(); i++) {
                Api.Answer answer = api().append("times", numbered(i * 20, 20));
                assertEquals(201, answer.status(), answer.text());
                known.add(answer.json().put("n", (i + 1) * 20));
                if (i % 7 == 0) {
                    assertEquals(200, api().fold("times").status());
                }
            }
        });
        long began = System.currentTimeMillis();
        int rounds = 0;
        while (System.currentTimeMillis() < began + 4_000 && !writer.isDone()) {
            if (known.size() > 10) {
                rounds++;
                long now = System.currentTimeMillis();
                int stored = known.get(known.size() - 1).getInteger("n");
                assertConsecutive(0, stored, "from=" + (began - 1_000));
                long middle = began + (now - began) / 2;
                List<JsonObject> before = api().events("/v1/streams/times/events?from=0&to=" + middle);
                List<JsonObject> behind = api().events("/v1/streams/times/events?from=" + middle + "&to=" + now);
                List<JsonObject> joined = new ArrayList<>(before);
                joined.addAll(behind);
                assertEquals(numbered(0, joined.size()), data(joined), "both halves");
                assertTrue(before.stream().allMatch(event -> event.getLong("at") < middle));
                assertTrue(
                        behind.stream().allMatch(event -> event.getLong("at") >= middle && event.getLong("at") < now));
                assertEquals(before, api().events("/v1/streams/times/events?from=0&to=" + middle), "a range behind us");
            }
        }
        over.set(true);
        writer.get();
        assertTrue(rounds > 3, rounds + " rounds");
        List<JsonObject> hot = api().events("/v1/streams/times/events?from=" + began);
        SERVER.stopAndRestart();
        assertEquals(hot, api().events("/v1/streams/times/events?from=" + began), "cold");
    }

    private static void assertConsecutive(int first, int stored, String query) {
        List<String> numbers = data(api().events("/v1/streams/times/events?" + query));
        assertTrue(numbers.size() >= stored - first, numbers.size() + " of " + stored);
        assertEquals(numbered(first, numbers.size()), numbers);
    }

    private static List<String> data(List<JsonObject> events) {
        return events.stream()
                .map(event -> String.valueOf(event.getValue("data")))
                .toList();
    }

    @Test
    @Order(6)
    @Tag("F13")
    void idsThatAreNoneAreRefused() {
        for (String id : List.of(
                "EVT",
                "EVT000xY9Wvvc",
                "EVT000xY9Wvvcdd",
                "USR000xY9Wvvcd",
                "evt000xY9Wvvcd",
                "EVT000xY9Wvv-d",
                "EVTAzL8n0Y58m8",
                "EVTzzzzzzzzzzz",
                "1704117200000-1620567",
                "5")) {
            for (String path : List.of("/events/" + id, "/events?after=" + id, "/events?before=" + id)) {
                Api.Answer answer = api().get("/v1/streams/border" + path);
                assertEquals(400, answer.status(), path + ": " + answer.text());
            }
        }
        assertEquals(404, api().get("/v1/streams/border/events/EVT000xY9Wvvcd").status());
        assertEquals(
                416, api().get("/v1/streams/border/events?after=EVTAzL8n0Y58m7").status());
    }

    @Test
    @Order(6)
    void invertedRangesAreRefusedAndEmptyOnesAnsweredAtOnce() {
        List<String> ids = Api.ids(api().events("/v1/streams/border/events?limit=3"));
        assertEquals(
                400,
                api().get("/v1/streams/border/events?after=" + ids.get(2) + "&before=" + ids.get(0))
                        .status());
        assertEquals(
                400, api().get("/v1/streams/border/events?from=2000&to=1000").status());
        assertEquals(
                List.of(), api().events("/v1/streams/border/events?after=" + ids.get(0) + "&before=" + ids.get(1)));
        assertEquals(List.of(), api().events("/v1/streams/border/events?from=1000&to=1000"));
        assertEquals(List.of(), api().events("/v1/streams/border/events?from=2100-01-01T00:00:00Z"));
    }

    @Test
    @Order(8)
    @Tag("R15")
    void tailsAreExactAfterAKillToo() {
        SERVER.killAndRestart();
        assertTails("border", ALL);
        assertTails("folding", 1_200);
    }

    @Test
    @Order(9)
    @Tag("R15")
    @Tag("F10")
    void aStreamThatIsOnlyInTheArchiveHasItsTailThere() {
        assertEquals(
                200,
                api().put("border", "{\"live_max_age\":\"1s\",\"chunk_duration\":\"100ms\"}")
                        .status());
        await().atMost(Duration.ofSeconds(20)).until(() -> api().seam("border").getInteger("live_events") == 0);
        assertTails("border", ALL);
        SERVER.stopAndRestart();
        assertTails("border", ALL);
        assertEquals(201, api().append("border", numbered(ALL, 1)).status());
        assertTails("border", ALL + 1);
    }
}
