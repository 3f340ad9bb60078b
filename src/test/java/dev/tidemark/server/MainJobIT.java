package dev.tidemark.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * The main job on real input, as a user does it: a file goes in by the command line, most of it ends in the archive, and it comes
 * out again as one ordered stream: last N, range, subscription.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class MainJobIT {
    private static final int WINDOW = 1_000;
    private static final int CHUNK_EVENTS_MAX = 8_192;

    @RegisterExtension
    static final RunningServer SERVER = new RunningServer(Map.of());

    @TempDir
    static Path folder;

    private static Path flights = Path.of("");
    private static List<String> lines = List.of();

    @BeforeAll
    static void appendTheFile() {
        flights = Sample.flights(folder);
        lines = Sample.lines(flights);
        assertEquals(20_000, lines.size());
        command("streams", "create", "flights", "--set", "live_max_events=" + WINDOW);
        Command appended = command("append", "flights", flights.toString());
        assertTrue(appended.text().contains("20000 events"), appended.text());
        await().atMost(Duration.ofSeconds(30))
                .until(() -> seam().getInteger("live_events") <= WINDOW + CHUNK_EVENTS_MAX);
    }

    private static Command command(String... words) {
        return Command.against(SERVER.url(), words).succeeded();
    }

    private static JsonObject seam() {
        return SERVER.api().seam("flights");
    }

    @Test
    @Order(1)
    @Tag("F10")
    void theLiveLogKeepsItsWindowAndTheArchiveHasTheRest() {
        await().atMost(Duration.ofSeconds(30)).until(() -> seam().getInteger("live_events") == WINDOW);
        JsonObject seam = seam();
        assertTrue(seam.getInteger("archived_events") >= lines.size() - WINDOW, seam.encode());
        assertEquals(0, seam.getInteger("over_retained"), seam.encode());
        try (PlainRedis redis = SERVER.redis()) {
            String key = "tidemark:{flights#0/" + seam.getString("generation") + "}:live";
            assertEquals(String.valueOf(WINDOW), redis.text("XLEN", key));
        }
    }

    @Test
    @Order(2)
    @Tag("F7")
    void readGivesTheFileBackByteForByte() throws IOException {
        assertEquals(
                sha256(Files.readAllBytes(flights)),
                sha256(command("read", "flights", "--output", "data").out()));
        assertEquals(lines, SERVER.api().payloads("/v1/streams/flights/events"));
    }

    @Test
    @Order(2)
    @Tag("F7")
    void readBackwardsGivesTheFileFromItsEnd() {
        List<String> backwards = new ArrayList<>(SERVER.api().payloads("/v1/streams/flights/events?order=desc"));
        java.util.Collections.reverse(backwards);
        assertEquals(lines, backwards);
    }

    @Test
    @Order(2)
    @Tag("F7")
    void pagesOfJsonGiveTheFileToo() {
        List<String> paged = new ArrayList<>();
        String after = "";
        while (after != null) {
            Api.Answer page = SERVER.api()
                    .get("/v1/streams/flights/events?limit=3333" + (after.isEmpty() ? "" : "&after=" + after));
            JsonObject json = page.json();
            JsonArray events = json.getJsonArray("events");
            assertTrue(json.getJsonArray("gaps").isEmpty(), json.encode());
            for (int i = 0; i < events.size(); i++) {
                paged.add(events.getJsonObject(i).getJsonObject("data").encode());
            }
            after = json.getString("next");
        }
        assertEquals(lines, paged);
    }

    @Test
    @Order(2)
    @Tag("T1")
    @Tag("T2")
    void tailsAreExactInMemoryOverTheSeamAndDeep() {
        Api api = SERVER.api();
        for (int n : new int[] {1, 10, WINDOW - 1, WINDOW, WINDOW + 1, 1_500, 10_000}) {
            assertEquals(
                    lines.subList(lines.size() - n, lines.size()),
                    api.payloads("/v1/streams/flights/tail?n=" + n),
                    "n=" + n);
        }
        JsonObject none = api.get("/v1/streams/flights/tail?n=0").json();
        assertEquals(new JsonArray(), none.getJsonArray("events"));
        assertTrue(none.getBoolean("complete"));
    }

    @Test
    @Order(2)
    @Tag("T14")
    void oneCommandPrintsTheLastN() {
        List<String> last =
                command("tail", "flights", "-n", "10", "--output", "data").lines();
        assertEquals(lines.subList(lines.size() - 10, lines.size()), last);
        List<String> json = command("tail", "flights", "-n", "3").lines();
        assertEquals(
                lines.subList(lines.size() - 3, lines.size()),
                json.stream().map(Api::payload).toList());
    }

    @Test
    @Order(2)
    void anyEventIsThereWithItsExactBytes() {
        List<JsonObject> events = SERVER.api().events("/v1/streams/flights/events?limit=3");
        List<JsonObject> newest = SERVER.api().events("/v1/streams/flights/tail?n=1");
        for (int i = 0; i < 3; i++) {
            Api.Answer event = SERVER.api()
                    .get("/v1/streams/flights/events/" + events.get(i).getString("id"));
            assertArrayEquals(Follower.utf8(lines.get(i)), event.bytes());
        }
        Api.Answer last =
                SERVER.api().get("/v1/streams/flights/events/" + newest.get(0).getString("id"));
        assertArrayEquals(Follower.utf8(lines.get(lines.size() - 1)), last.bytes());
    }

    @Test
    @Order(3)
    @Tag("F7")
    void aSubscriberFromTheEarliestGetsAllThenIsCaughtUpThenWhatComes() {
        try (Follower follower = Follower.of(SERVER.url(), "flights", "after=earliest")) {
            JsonObject caughtUp = follower.await("caught_up");
            List<JsonObject> replayed = follower.events();
            assertEquals(lines.size(), replayed.size(), "events before caught_up");
            assertEquals(
                    lines,
                    replayed.stream()
                            .map(event -> event.getJsonObject("data").encode())
                            .toList());
            assertEquals(replayed.get(replayed.size() - 1).getString("cursor"), caughtUp.getString("cursor"));
            assertEquals("hello", follower.messages().get(0).getString("type"));
            assertEquals(List.of(), follower.messages("gap"));

            JsonObject stored = SERVER.api()
                    .append("flights", List.of("{\"live\":1}", "{\"live\":2}"))
                    .json();
            List<JsonObject> all = follower.awaitEvents(lines.size() + 2);
            assertEquals(stored.getString("last"), all.get(all.size() - 1).getString("id"));
            Api.assertRising(follower.ids());
            assertEquals(lines.size() + 2, all.size());
        }
    }

    @Test
    @Order(4)
    @Tag("T14")
    void tailFollowsWhatComes() throws IOException {
        List<String> words = List.of("tail", "flights", "--url", SERVER.url(), "-n", "1", "-f", "--output", "data");
        Process tail = new ProcessBuilder(Command.command(words)).start();
        try (BufferedReader out = tail.inputReader(StandardCharsets.UTF_8)) {
            assertEquals("{\"live\":2}", out.readLine());
            SERVER.api().append("flights", List.of("{\"live\":3}"));
            assertEquals("{\"live\":3}", out.readLine());
        } finally {
            tail.destroy();
        }
    }

    @Test
    @Order(5)
    void envelopesKeepTheirTimesAndTheirOrderOfArrival() {
        Path quakes = Sample.quakes(folder);
        List<JsonObject> sent =
                Sample.lines(quakes).stream().map(JsonObject::new).toList();
        command("append", "quakes", quakes.toString(), "--envelopes");
        assertEquals(200, SERVER.api().fold("quakes").status());
        List<JsonObject> events = SERVER.api().events("/v1/streams/quakes/events");
        assertEquals(sent.size(), events.size());
        Api.assertRising(Api.ids(events));
        for (int i = 0; i < sent.size(); i++) {
            assertEquals(sent.get(i).getLong("time"), events.get(i).getLong("time"));
            assertEquals(sent.get(i).getValue("data"), events.get(i).getValue("data"));
        }
        String data = Sample.lines(quakes).stream()
                .map(line -> line.substring(line.indexOf("\"data\":") + 7, line.length() - 1) + "\n")
                .collect(Collectors.joining());
        assertEquals(data, command("read", "quakes", "--output", "data").text());
    }

    @Test
    @Order(6)
    @Tag("T2")
    void anEmptyStreamHasAnEmptyTail() {
        assertEquals(201, SERVER.api().put("empty", "{}").status());
        for (String n : List.of("0", "10", "10000")) {
            JsonObject tail = SERVER.api().get("/v1/streams/empty/tail?n=" + n).json();
            assertEquals(new JsonArray(), tail.getJsonArray("events"));
            assertTrue(tail.getBoolean("complete"));
        }
        assertEquals("", command("read", "empty").text());
        try (Follower follower = Follower.of(SERVER.url(), "empty", "after=earliest")) {
            follower.await("caught_up");
        }
    }

    @Test
    @Order(7)
    @Tag("T16")
    void readingNeedsNoWriterAndWritingNoReader() throws IOException {
        List<String> written = SERVER.api().payloads("/v1/streams/flights/events");
        SERVER.stopAndRestart();
        Api api = SERVER.api();
        assertEquals(
                written.subList(written.size() - 1_500, written.size()),
                api.payloads("/v1/streams/flights/tail?n=1500"));
        assertEquals(written, api.payloads("/v1/streams/flights/events"));
        SERVER.killAndRestart();
        api = SERVER.api();
        for (int i = 0; i < 10; i++) {
            assertEquals(201, api.append("unread", List.of("{\"i\":" + i + "}")).status());
        }
        assertEquals(10, api.payloads("/v1/streams/unread/tail").size());
    }

    private static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
