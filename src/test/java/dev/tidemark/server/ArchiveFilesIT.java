package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.EventId;
import dev.tidemark.event.Position;
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
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Somebody removes or damages files of the archive, while the server is stopped and while it runs: the rest is served, the hole is a
 * gap, health names the file, appends and folds go on.
 */
@Tag("R37")
@Tag("failure-8")
class ArchiveFilesIT {
    private static final String STREAM = "flights";
    private static final int HOURS = 4;
    private static final int EACH = 500;
    private static final long HOUR_MS = 3_600_000;

    @TempDir
    Path data;

    private ServerProcess server;
    private final List<String> ids = new ArrayList<>();
    private int appended;
    private Path newest;

    @BeforeEach
    void fill() {
        start();
        assertEquals(
                201,
                api().put(STREAM, "{\"roll\":\"hourly\",\"live_max_events\":20,\"live_max_age\":\"100h\"}")
                        .status());
        long first = System.currentTimeMillis() / HOUR_MS * HOUR_MS - (HOURS + 1) * HOUR_MS;
        for (int hour = 0; hour < HOURS; hour++) {
            List<String> lines = new ArrayList<>();
            for (int i = 0; i < EACH; i++) {
                String id =
                        EventId.of(new Position(first + hour * HOUR_MS + i, 0)).toString();
                ids.add(id);
                lines.add("{\"id\":\"" + id + "\",\"data\":{\"n\":" + (10_000 + hour * EACH + i) + "}}");
            }
            byte[] body = String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
            Api.Answer answer = api().append(STREAM, "application/vnd.tidemark.events+ndjson", body);
            assertEquals(201, answer.status(), answer::text);
        }
        assertEquals(200, api().fold(STREAM).status());
        assertEquals(HOURS, files().size());
        newest = files().get(HOURS - 1);
    }

    @AfterEach
    void close() {
        server.close();
    }

    private void start() {
        server = ServerProcess.start(data, Map.of("TIDEMARK_FOLD_MAX_LAG", "300ms"));
    }

    private void stop() {
        assertEquals(ServerProcess.TERMINATED, server.terminate());
    }

    private Api api() {
        return server.api();
    }

    private List<Path> files() {
        return RollFileBytes.all(data);
    }

    private static void eventually(String what, Callable<Boolean> condition) {
        Awaitility.await(what)
                .atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(100))
                .until(condition);
    }

    private String diskDetail() {
        Api.Answer ready = api().get("/health/ready");
        assertEquals(200, ready.status(), () -> "the rest is served, so it is ready: " + ready.text());
        return ready.json().getJsonObject("checks").getJsonObject("disk").getString("detail");
    }

    private void assertHealthNames(Path... lost) {
        for (Path file : lost) {
            eventually("health names " + file, () -> diskDetail().contains(STREAM + " " + RollFileBytes.name(file)));
        }
        assertEquals(
                "warning",
                api().get("/health/ready")
                        .json()
                        .getJsonObject("checks")
                        .getJsonObject("disk")
                        .getString("status"));
    }

    private void assertLogNames(Path file) {
        eventually(
                "the log names " + file,
                () -> server.log().stream()
                        .anyMatch(line -> line.contains(" WARN ") && line.contains(RollFileBytes.name(file))));
    }

    /** Everything but the ids from {@code from} to below {@code to} is given, and one gap with exactly these bounds. */
    private void assertHole(int from, int to, String reason) {
        List<String> rest = new ArrayList<>(ids.subList(0, from));
        rest.addAll(ids.subList(to, ids.size()));
        for (String order : List.of("asc", "desc")) {
            List<JsonObject> lines = api().lines(Api.stream(STREAM) + "/events?order=" + order);
            List<String> given = new ArrayList<>(lines.stream()
                    .filter(line -> !line.containsKey("type"))
                    .map(line -> line.getString("id"))
                    .toList());
            if (order.equals("desc")) {
                java.util.Collections.reverse(given);
            }
            assertEquals(rest, given, order);
            List<JsonObject> gaps = lines.stream()
                    .filter(line -> "gap".equals(line.getString("type")))
                    .toList();
            assertEquals(1, gaps.size(), () -> order + ": " + gaps);
            JsonObject gap = gaps.get(0);
            assertEquals(reason, gap.getString("reason"), gap::encode);
            assertTrue(
                    from == 0 || gap.getString("from").compareTo(ids.get(from - 1)) >= 0,
                    () -> "the gap begins too early: " + gap);
            assertTrue(
                    gap.getString("from") == null || gap.getString("from").compareTo(ids.get(from)) < 0, gap::encode);
            assertTrue(gap.getString("to").compareTo(ids.get(to - 1)) >= 0, gap::encode);
            assertTrue(
                    to == ids.size() || gap.getString("to").compareTo(ids.get(to)) < 0,
                    () -> "the gap ends too late: " + gap);
        }
    }

    private void assertGoesOn() {
        for (int i = 0; i < 3; i++) {
            Api.Answer answer = api().append(STREAM, List.of("{\"more\":" + appended++ + "}"));
            assertEquals(201, answer.status(), answer::text);
            ids.add(answer.json().getString("last"));
        }
        // A fold that finds that files are gone fails once, and repairs the archive.
        eventually("folded", () -> api().fold(STREAM).status() == 200);
        assertEquals(ids.get(ids.size() - 1), api().watermark(STREAM));
    }

    @Test
    void aMiddleFileRemovedWhileStoppedIsListedAtTheStartAndServedAsAGap() throws IOException {
        stop();
        Path lost = files().get(2);
        Files.delete(lost);
        start();
        assertLogNames(lost);
        assertHealthNames(lost);
        assertHole(2 * EACH, 3 * EACH, "damaged");
        assertGoesOn();
        assertHole(2 * EACH, 3 * EACH, "damaged");
        assertHealthNames(lost);
        server.assertCleanLog();
    }

    @Test
    void theOldestFileRemovedWhileStoppedMovesTheEarliestAndIsListed() throws IOException {
        stop();
        Path lost = files().get(0);
        Files.delete(lost);
        start();
        assertLogNames(lost);
        assertHealthNames(lost);
        JsonObject seam = api().seam(STREAM);
        assertEquals(ids.get(EACH), seam.getString("earliest"), seam::encode);
        Api.Answer expired = api().get(Api.stream(STREAM) + "/events?after=" + ids.get(10));
        assertEquals(410, expired.status(), expired::text);
        assertEquals(ids.subList(EACH, ids.size()), given());
        assertGoesOn();
    }

    @Test
    void theNewestFileRemovedWhileStoppedIsRefoldedAsFarAsRedisHasItAndTheRestIsAGap() throws IOException {
        stop();
        Path lost = files().get(3);
        Files.delete(lost);
        start();
        assertHealthNames(lost);
        assertGoesOn();
        // The newest 20 were still live.
        int last = HOURS * EACH;
        assertHole(3 * EACH, last - 20, "lost");
        assertHealthNames(lost);
    }

    @Test
    void allFilesRemovedWhileStoppedLeaveWhatIsLiveAndAGap() throws IOException {
        stop();
        for (Path file : files()) {
            Files.delete(file);
        }
        start();
        assertHealthNames(newest);
        assertGoesOn();
        int left = HOURS * EACH - 20;
        assertEquals(ids.subList(left, ids.size()), given());
        Api.Answer later = api().get(Api.stream(STREAM) + "/events?after=" + ids.get(10));
        assertEquals(200, later.status(), later::text);
        JsonObject gap = later.json().getJsonArray("gaps").getJsonObject(0);
        assertEquals("lost", gap.getString("reason"), later::text);
        assertEquals(ids.get(10), gap.getString("from"), later::text);
        assertTrue(gap.getString("to").compareTo(ids.get(left - 1)) >= 0, later::text);
        assertTrue(gap.getString("to").compareTo(ids.get(left)) < 0, later::text);
    }

    /** Ids of what is given, whatever else the answer says. */
    private List<String> given() {
        return Api.ids(api().lines(Api.stream(STREAM) + "/events").stream()
                .filter(line -> !line.containsKey("type"))
                .toList());
    }

    /** Afterwards memory has only what is live. */
    private void restart() {
        stop();
        start();
        assertEquals(ids, given());
    }

    @Test
    void whereNothingIsLiveAnyMoreWhatWasRemovedIsAGapToo() throws IOException {
        String key = "tidemark:{" + STREAM + "#0/" + api().seam(STREAM).getString("generation") + "}:live";
        try (PlainRedis redis = PlainRedis.ofChild(data)) {
            redis.call("XTRIM", key, "MAXLEN", "0");
        }
        stop();
        Files.delete(files().get(3));
        start();
        assertGoesOn();
        assertHole(3 * EACH, HOURS * EACH, "lost");
    }

    @Test
    void aFileOfZeroLengthIsPutAsideAndNamed() throws IOException {
        stop();
        Path lost = files().get(1);
        Files.write(lost, new byte[0]);
        start();
        assertHealthNames(lost);
        assertHole(EACH, 2 * EACH, "damaged");
        assertGoesOn();
        assertHole(EACH, 2 * EACH, "damaged");
        assertHealthNames(lost);
    }

    @Test
    void aDamagedHeaderCostsItsFileAndNoOther() throws IOException {
        stop();
        Path lost = files().get(1);
        byte[] bytes = Files.readAllBytes(lost);
        bytes[20] ^= 0x40;
        Files.write(lost, bytes);
        start();
        assertHealthNames(lost);
        assertHole(EACH, 2 * EACH, "damaged");
        assertGoesOn();
        assertHealthNames(lost);
    }

    @Test
    void aFlippedByteIsAGapOfOneEventAndHealthNamesTheFileOnceItIsRead() throws IOException {
        restart();
        Path damaged = files().get(1);
        RollFileBytes.flip(damaged, "{\"n\":" + (10_000 + EACH + 77) + "}");
        assertHole(EACH + 77, EACH + 78, "damaged");
        assertHealthNames(damaged);
        assertGoesOn();
    }

    @Test
    void filesRemovedWhileRunningAreGapsAndNamedThoughNobodyReads() throws IOException {
        restart();
        Path lost = files().get(1);
        Files.delete(lost);
        assertHealthNames(lost);
        assertHole(EACH, 2 * EACH, "damaged");
        assertGoesOn();
        assertHole(EACH, 2 * EACH, "damaged");
        server.assertCleanLog();
    }

    @Test
    void allFilesRemovedWhileRunningLeaveAServerThatGoesOn() throws IOException {
        restart();
        for (Path file : files()) {
            Files.delete(file);
        }
        assertHealthNames(newest);
        assertGoesOn();
        List<String> given = given();
        assertEquals(ids.subList(ids.size() - 3, ids.size()), given.subList(given.size() - 3, given.size()));
        stop();
        start();
        assertGoesOn();
        assertFalse(files().isEmpty());
    }

    @Test
    void aReaderInTheOldestFileWhileItIsRemovedGetsTheRestOrAGap() throws IOException {
        restart();
        String first =
                api().get(Api.stream(STREAM) + "/events?limit=100").json().getString("next");
        Files.delete(files().get(0));
        List<String> seen = new ArrayList<>(ids.subList(0, 100));
        List<JsonObject> gaps = new ArrayList<>();
        String cursor = first;
        while (cursor != null) {
            Api.Answer page = api().get(Api.stream(STREAM) + "/events?limit=300&on_gap=continue&after=" + cursor);
            assertEquals(200, page.status(), page::text);
            page.json().getJsonArray("events").forEach(event -> seen.add(((JsonObject) event).getString("id")));
            page.json().getJsonArray("gaps").forEach(gap -> gaps.add((JsonObject) gap));
            cursor = page.json().getString("next");
        }
        if (gaps.isEmpty()) {
            assertEquals(ids, seen);
        } else {
            assertEquals(1, gaps.size(), () -> "" + gaps);
            assertTrue(seen.containsAll(ids.subList(EACH, ids.size())), () -> "" + seen.size());
            assertTrue(gaps.get(0).getString("to").compareTo(ids.get(EACH)) < 0, () -> "" + gaps);
        }
        System.out.println("reader in the removed file: " + (gaps.isEmpty() ? "finished" : "gap " + gaps));
    }
}
