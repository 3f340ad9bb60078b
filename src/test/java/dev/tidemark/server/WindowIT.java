package dev.tidemark.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Streams with an acceptance window, as their writers and readers see them. */
class WindowIT {
    private static final String ENVELOPES = "application/vnd.tidemark.events+ndjson";
    /** Milliseconds into which the week is squeezed. */
    private static final long SPAN_MS = Long.getLong("tidemark.span", 6_000);

    @RegisterExtension
    static final RunningServer SERVER = new RunningServer(Map.of());

    @TempDir
    Path folder;

    private static Api api() {
        return SERVER.api();
    }

    private static Api.Answer append(String stream, String type, String body, String... more) {
        HttpRequest.Builder request = api().request(Api.stream(stream) + "/events" + (more.length > 0 ? more[0] : ""))
                .header("Content-Type", type)
                .POST(HttpRequest.BodyPublishers.ofString(body));
        if (more.length > 1) {
            request.header("Event-Time", more[1]);
        }
        return api().send(request);
    }

    private static String envelope(long time, Object data) {
        return new JsonObject().put("time", time).put("data", data).encode();
    }

    /** The quakes with their week squeezed into some seconds that end now. */
    private List<JsonObject> quakes() {
        List<JsonObject> quakes = Sample.lines(Sample.quakes(folder)).stream()
                .map(JsonObject::new)
                .toList();
        long first =
                quakes.stream().mapToLong(quake -> quake.getLong("time")).min().orElseThrow();
        long last =
                quakes.stream().mapToLong(quake -> quake.getLong("time")).max().orElseThrow();
        long now = System.currentTimeMillis();
        List<JsonObject> squeezed = new ArrayList<>();
        for (JsonObject quake : quakes) {
            long into = (quake.getLong("time") - first) * SPAN_MS / (last - first);
            squeezed.add(quake.copy().put("time", now - SPAN_MS + into));
        }
        return squeezed;
    }

    /** Four writers send in the order of the file, one after the other taking the next few. */
    private static void sendByFourWriters(String stream, List<JsonObject> quakes) {
        Object turn = new Object();
        int[] next = {0};
        List<CompletableFuture<Void>> writers = new ArrayList<>();
        for (int w = 0; w < 4; w++) {
            writers.add(CompletableFuture.runAsync(() -> {
                while (true) {
                    List<JsonObject> taken;
                    synchronized (turn) {
                        taken = quakes.subList(next[0], Math.min(quakes.size(), next[0] + 7));
                        next[0] += taken.size();
                    }
                    if (taken.isEmpty()) {
                        return;
                    }
                    String body = taken.stream().map(JsonObject::encode).collect(Collectors.joining("\n"));
                    Api.Answer answer = append(stream, ENVELOPES, body);
                    assertEquals(201, answer.status(), answer.text());
                }
            }));
        }
        writers.forEach(CompletableFuture::join);
    }

    private static List<JsonObject> sealed(String stream) {
        return api().events(Api.stream(stream) + "/events?view=sealed");
    }

    private static Set<String> quakeIds(List<JsonObject> events) {
        Set<String> ids = new HashSet<>();
        events.forEach(
                event -> assertTrue(ids.add(event.getJsonObject("data").getString("id") + event.getLong("time"))));
        return ids;
    }

    private static Set<String> sentIds(List<JsonObject> quakes) {
        return quakes.stream()
                .map(quake -> quake.getJsonObject("data").getString("id") + quake.getLong("time"))
                .collect(Collectors.toSet());
    }

    private static void awaitFinal(String stream, int count, long windowMs) {
        await().atMost(Duration.ofMillis(windowMs + 20_000))
                .untilAsserted(() -> assertEquals(count, sealed(stream).size()));
    }

    @Test
    @Tag("T5")
    @Tag("T6")
    @Tag("T7")
    void inAWindowLongerThanTheirDisorderEventsAreSortedByTheTimesThatTheyClaim() {
        long windowMs = SPAN_MS + 10_000;
        assertEquals(
                201,
                api().put("sorted", "{\"acceptance_window\":\"" + windowMs + "ms\"}")
                        .status());
        List<JsonObject> quakes = quakes();
        try (Follower live = Follower.of(SERVER.url(), "sorted", "after=earliest");
                Follower inOrder = Follower.of(SERVER.url(), "sorted", "after=earliest&view=sealed")) {
            live.await("caught_up");
            sendByFourWriters("sorted", quakes);
            List<JsonObject> seen = live.awaitEvents(quakes.size());
            assertEquals(sentIds(quakes), quakeIds(seen));
            assertTrue(seen.stream().allMatch(event -> event.getBoolean("provisional", false)));
            JsonObject tail = api().get("/v1/streams/sorted/tail?n=10000").json();
            assertEquals(quakes.size(), tail.getJsonArray("events").size());
            assertTrue(tail.getBoolean("complete"));
            List<JsonObject> tailed = tail.getJsonArray("events").stream()
                    .map(JsonObject.class::cast)
                    .toList();
            Api.assertRising(Api.ids(tailed));
            assertEquals(sentIds(quakes), quakeIds(tailed));

            awaitFinal("sorted", quakes.size(), windowMs);
            List<JsonObject> events = sealed("sorted");
            Api.assertRising(Api.ids(events));
            assertEquals(sentIds(quakes), quakeIds(events));
            List<Long> times =
                    events.stream().map(event -> event.getLong("time")).toList();
            assertEquals(times.stream().sorted().toList(), times);
            assertTrue(events.stream().noneMatch(event -> event.getBoolean("late", false)));
            assertTrue(events.stream().noneMatch(event -> event.getBoolean("provisional", false)));
            assertEquals(Api.ids(events), Api.ids(inOrder.awaitEvents(quakes.size())));
            await().atMost(Duration.ofSeconds(5)).untilAsserted(() -> {
                List<JsonObject> said = live.messages("sealed");
                String through = said.get(said.size() - 1).getString("through");
                assertTrue(through.compareTo(events.get(events.size() - 1).getString("id")) >= 0);
            });
            finalOrderIsTheOneReadAfterTheFold("sorted", events);
            assertEquals(quakes.size(), live.events().size());
        }
    }

    private static void finalOrderIsTheOneReadAfterTheFold(String stream, List<JsonObject> events) {
        assertEquals(200, api().fold(stream).status());
        assertEquals(events.size(), api().seam(stream).getInteger("archived_events"));
        assertEquals(events, sealed(stream));
        SERVER.killAndRestart();
        assertEquals(events, sealed(stream));
        assertEquals(events, api().events(Api.stream(stream) + "/events"));
    }

    @Test
    @Tag("T7")
    @Tag("T11")
    void inAWindowShorterThanTheirDisorderLateEventsAreMarkedAndNoneIsLost() {
        assertEquals(201, api().put("short", "{\"acceptance_window\":\"1s\"}").status());
        List<JsonObject> quakes = quakes();
        sendByFourWriters("short", quakes);
        awaitFinal("short", quakes.size(), 1_000);
        List<JsonObject> events = sealed("short");
        Api.assertRising(Api.ids(events));
        assertEquals(sentIds(quakes), quakeIds(events));
        List<JsonObject> late =
                events.stream().filter(event -> event.getBoolean("late", false)).toList();
        assertFalse(late.isEmpty());
        for (JsonObject event : late) {
            assertTrue(event.getLong("time") < event.getLong("at") - 900, event.encode());
        }
        for (JsonObject event : events) {
            if (!event.getBoolean("late", false)) {
                assertTrue(Math.abs(event.getLong("time") - event.getLong("at")) < 20, event.encode());
            }
        }
    }

    @Test
    void whatIsStillSortedLagsByTheWindowAndNoMore() {
        assertEquals(201, api().put("lag", "{\"acceptance_window\":\"10m\"}").status());
        assertEquals(201, api().append("lag", List.of("1")).status());
        long lagMs = api().seam("lag").getLong("fold_lag_ms");
        assertTrue(lagMs >= 600_000 && lagMs < 1_200_000, "lag " + lagMs);
    }

    @Test
    @Tag("R36")
    void implausibleTimesAreRefusedWithWhatIsAcceptedOrStoredWithoutEffectOnOthers() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        assertEquals(201, api().put("times", "{\"acceptance_window\":\"2s\"}").status());
        int stored = 0;
        for (int i = 0; i < 1_000; i++) {
            long now = System.currentTimeMillis();
            String time = switch (random.nextInt(8)) {
                case 0 -> Long.toString(now / 1_000);
                case 1 -> Long.toString(now * 1_000);
                case 2 -> Long.toString(now * 1_000_000);
                case 3 -> "0";
                case 4 -> Long.toString(-random.nextInt(1_000_000));
                case 5 -> Instant.ofEpochMilli(now + 7_200_000).toString();
                case 6 -> "1000000000000000000";
                default -> Long.toString(now - random.nextInt(1_000));
            };
            Api.Answer answer = append("times", "application/json", Integer.toString(i), "", time);
            if (answer.status() == 201) {
                stored++;
                long id = api().get("/v1/streams/times/tail?n=10000").json().getJsonArray("events").stream()
                        .map(JsonObject.class::cast)
                        .filter(event ->
                                event.getString("id").equals(answer.json().getString("first")))
                        .findFirst()
                        .orElseThrow()
                        .getLong("at");
                assertTrue(Math.abs(id - now) < 10_000, "seed " + seed + ": " + time + " is at " + id);
            } else {
                assertEquals(422, answer.status(), time + ": " + answer.text());
                JsonArray accepted = answer.json().getJsonArray("accepted");
                assertEquals(2, accepted.size(), answer.text());
                assertEquals("no", answer.json().getString("stored"));
            }
        }
        assertTrue(stored > 300 && stored < 900, "stored " + stored);
        int all = stored;
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertEquals(all, sealed("times").size()));
        assertEquals(200, api().fold("times").status());
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertEquals(all, api().seam("times").getInteger("archived_events")));
        Api.assertRising(Api.ids(sealed("times")));
    }

    @Test
    @Tag("R36")
    void aBacklogAfterADowntimeIsRefusedLineByLineOrRescuedAsTheStreamSays() throws IOException {
        assertEquals(
                201,
                api().put("old", "{\"acceptance_window\":\"60s\",\"late\":\"refuse\"}")
                        .status());
        assertEquals(201, append("old", "application/json", "\"before\"").status());
        assertEquals(
                201,
                api().put("new", "{\"acceptance_window\":\"60s\",\"late\":\"refuse\"}")
                        .status());
        assertEquals(201, api().put("rescue", "{\"acceptance_window\":\"60s\"}").status());
        for (String stream : List.of("old", "new", "rescue")) {
            boolean refuses = !stream.equals("rescue");
            for (int i = 0; i < 300; i++) {
                long now = System.currentTimeMillis();
                long buffered = now - 600_000 + i * 1_700L;
                boolean late = buffered < now - 60_000;
                Api.Answer answer = append(stream, ENVELOPES, envelope(buffered, i));
                if (late && refuses) {
                    assertEquals(422, answer.status(), answer.text());
                    String detail = answer.json().getString("detail");
                    assertTrue(detail.contains(Instant.ofEpochMilli(buffered).toString()), detail);
                    assertTrue(detail.contains("acceptance_window"), detail);
                    Instant oldest =
                            Instant.parse(answer.json().getJsonArray("accepted").getString(0));
                    assertTrue(Math.abs(oldest.toEpochMilli() - (now - 60_000)) < 5_000, detail);
                    assertEquals(new JsonArray(List.of(1)), answer.json().getJsonArray("lines"));
                } else if (Math.abs(buffered - (now - 60_000)) > 2_000) {
                    assertEquals(201, answer.status(), answer.text());
                }
                assertEquals(
                        201,
                        append(stream, "application/json", "\"fresh\"", "", Long.toString(now))
                                .status());
            }
            Api.Answer mixed =
                    append(stream, ENVELOPES, envelope(System.currentTimeMillis(), "a") + "\n\n" + envelope(5, "b"));
            assertEquals(refuses ? 422 : 201, mixed.status());
            if (refuses) {
                assertEquals(new JsonArray(List.of(3)), mixed.json().getJsonArray("lines"));
                Api.Answer rescued = append(stream, ENVELOPES, envelope(5, "c"), "?late=rescue");
                assertEquals(201, rescued.status(), rescued.text());
            }
        }
        List<JsonObject> rescued = api().events("/v1/streams/rescue/events");
        assertTrue(rescued.stream().anyMatch(event -> event.getBoolean("late", false)));
        assertTrue(rescued.stream()
                .filter(event -> "fresh".equals(event.getValue("data")))
                .noneMatch(event -> event.getBoolean("late", false)));
        String metrics = api().get("/metrics").text();
        assertTrue(metrics.contains("tidemark_times_refused_total"), metrics);
        assertTrue(metrics.contains("tidemark_late_rescued_total"), metrics);
    }

    @Test
    void idsAreImportedOnlyWithoutAWindow() {
        assertEquals(201, api().put("window", "{\"acceptance_window\":\"1s\"}").status());
        String line = "{\"id\":\"EVT000xY9Wvvcd\",\"data\":1}";
        assertEquals(400, append("window", ENVELOPES, line).status());
        assertEquals(201, append("plain", ENVELOPES, line).status());
        assertEquals(409, append("plain", ENVELOPES, line).status());
        Api.Answer archived = append("window", "application/json", "1", "?ack=archived");
        assertEquals(400, archived.status(), archived.text());
    }

    @Test
    void aWindowCanBeSetAndEndedWhileAStreamIsWrittenAndNothingIsLostOrRepeated() {
        List<String> sent = new ArrayList<>();
        String[] settings = {"0s", "3s", "500ms", "0s", "2s", "0s"};
        for (String window : settings) {
            Api.Answer put = api().put("changing", "{\"acceptance_window\":\"" + window + "\"}");
            assertTrue(put.status() <= 201, put.text());
            for (int i = 0; i < 50; i++) {
                String name = window + "/" + sent.size();
                long time = System.currentTimeMillis() - i * 20L;
                assertEquals(
                        201, append("changing", ENVELOPES, envelope(time, name)).status());
                sent.add(name);
            }
        }
        SERVER.killAndRestart();
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(
                        () -> assertEquals(sent.size(), sealed("changing").size()));
        List<JsonObject> events = sealed("changing");
        Api.assertRising(Api.ids(events));
        assertEquals(
                sent.stream().sorted().toList(),
                events.stream().map(event -> event.getString("data")).sorted().toList());
        assertEquals(200, api().fold("changing").status());
        assertEquals(events, sealed("changing"));
    }

    @Test
    void aFollowerThatIsCutInTheMiddleOfProvisionalEventsResumesWithoutGapOrRepeat() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        assertEquals(201, api().put("cuts", "{\"acceptance_window\":\"800ms\"}").status());
        CompletableFuture<Set<String>> writer = CompletableFuture.supplyAsync(() -> {
            Set<String> sent = new HashSet<>();
            for (int i = 0; i < 600; i++) {
                long time = System.currentTimeMillis() - (i % 5) * 300L;
                assertEquals(
                        201, append("cuts", ENVELOPES, envelope(time, "e" + i)).status());
                sent.add("e" + i);
            }
            return sent;
        });
        List<String> given = new ArrayList<>();
        String cursor = "earliest";
        while (!writer.isDone() || given.size() < writer.join().size()) {
            try (Follower follower = Follower.of(SERVER.url(), "cuts", "after=" + cursor)) {
                int wanted = 1 + random.nextInt(40);
                List<JsonObject> events = new ArrayList<>();
                await().atMost(Duration.ofSeconds(20)).until(() -> {
                    events.clear();
                    events.addAll(follower.events());
                    return events.size() >= wanted
                            || (writer.isDone()
                                    && events.size() + given.size()
                                            >= writer.join().size());
                });
                for (JsonObject event : events.subList(0, Math.min(wanted, events.size()))) {
                    given.add(event.getString("data"));
                    cursor = event.getString("cursor");
                }
            }
        }
        List<String> expected = new ArrayList<>(writer.join());
        expected.sort(Comparator.naturalOrder());
        given.sort(Comparator.naturalOrder());
        assertEquals(expected, given, "seed " + seed);
        assertNull(api().get("/v1/streams/cuts/events?after=" + cursor + "&view=live")
                .json()
                .getString("next"));
    }
}
