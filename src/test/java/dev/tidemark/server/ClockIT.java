package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The built server with a wall clock that is set by hours, in both directions, while it works, and over a kill. */
@Tag("failure-11")
class ClockIT {
    private static final String PLAIN = "flights";
    private static final String SORTED = "sensors";
    private static final long HOUR_MS = 3_600_000;

    @TempDir
    Path dir;

    private Path clock;
    private ServerProcess server;
    private int sent;

    private void start() {
        server = ServerProcess.start(
                dir.resolve("data"),
                Map.of(
                        "TIDEMARK_TEST_CLOCK_FILE", clock.toString(),
                        "TIDEMARK_FOLD_MAX_LAG", "300ms",
                        "TIDEMARK_REDIS_FSYNC", "everysec"));
    }

    @AfterEach
    void close() {
        if (server != null) {
            server.close();
        }
    }

    private void set(String text) throws IOException {
        long before = timesSet();
        Path next = dir.resolve("clock.next");
        Files.writeString(next, text);
        Files.move(next, clock, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        Awaitility.await("the clock is set").atMost(Duration.ofSeconds(10)).until(() -> timesSet() > before);
    }

    private long timesSet() {
        return server.log().stream()
                .filter(line -> line.contains("clock is now"))
                .count();
    }

    private void append(String stream, int count) {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            lines.add("{\"n\":" + ++sent + "}");
        }
        Api.Answer answer = server.api().append(stream, lines);
        assertEquals(201, answer.status(), answer::text);
    }

    /** Sealed and folded without being asked, whatever the clock says. */
    private void assertFoldedByItself(String stream) {
        Awaitility.await(stream + " is folded").atMost(Duration.ofSeconds(30)).until(() -> {
            JsonObject seam = server.api().seam(stream);
            return seam.getString("tail").equals(seam.getString("watermark"));
        });
    }

    private static List<Integer> numbers(List<JsonObject> events) {
        return events.stream()
                .map(event -> event.getJsonObject("data").getInteger("n"))
                .toList();
    }

    private void assertAll(String stream, List<Integer> expected) {
        List<JsonObject> events = server.api().events(Api.stream(stream) + "/events");
        Api.assertRising(events.stream().map(event -> event.getString("id")).toList());
        assertEquals(expected.size(), new HashSet<>(numbers(events)).size());
        assertEquals(expected, numbers(events));
    }

    @Test
    void idsOrderSealingAndFoldingGoOnOverStepsOfHoursInBothDirections() throws Exception {
        clock = dir.resolve("clock");
        Files.writeString(clock, "0s");
        start();
        assertEquals(
                201, server.api().put(PLAIN, "{\"chunk_duration\":\"100ms\"}").status());
        assertEquals(
                201,
                server.api()
                        .put(SORTED, "{\"chunk_duration\":\"100ms\",\"acceptance_window\":\"200ms\"}")
                        .status());
        List<Integer> plain = new ArrayList<>();
        List<Integer> sorted = new ArrayList<>();
        try (Follower follower = Follower.of(server.url(), PLAIN, "after=earliest")) {
            for (String clockSetTo : List.of("1s", "3h", "-3h", "26h 2", "-26h 0.5", "-1h 0", "0s")) {
                set(clockSetTo);
                step(PLAIN, plain);
                step(SORTED, sorted);
            }
            assertEquals(plain, numbers(follower.awaitEvents(plain.size())));
            assertEquals(List.of(), follower.messages("gap"));
        }
        assertHealthSaysIdsAreAhead();
        server.assertCleanLog();

        // Killed while ids are a day ahead, and started hours before that.
        server.kill();
        Files.writeString(clock, "-5h");
        start();
        step(PLAIN, plain);
        step(SORTED, sorted);
        assertEquals(0, server.api().get(Api.stream(PLAIN) + "/audit").json().getInteger("mismatches"));
        assertEquals(0, server.api().get(Api.stream(SORTED) + "/audit").json().getInteger("mismatches"));
        server.assertCleanLog();
    }

    private void step(String stream, List<Integer> expected) {
        int before = sent;
        append(stream, 1);
        append(stream, 20);
        for (int n = before + 1; n <= sent; n++) {
            expected.add(n);
        }
        assertFoldedByItself(stream);
        assertAll(stream, expected);
    }

    private void assertHealthSaysIdsAreAhead() {
        JsonObject keepers =
                server.api().get("/health/ready").json().getJsonObject("checks").getJsonObject("keepers");
        assertTrue(keepers.getString("detail").contains("ahead of the clock"), keepers::encode);
        assertTrue(keepers.getString("detail").contains("test.clock"), keepers::encode);
        List<JsonObject> newest = server.api().events(Api.stream(PLAIN) + "/events");
        long at = newest.get(newest.size() - 1).getLong("at");
        assertTrue(at > System.currentTimeMillis() + 25 * HOUR_MS, "ids stay ahead: " + at);
    }
}
