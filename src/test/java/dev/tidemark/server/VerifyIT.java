package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tidemark.archive.Trees;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Position;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code tidemark verify} of the built jar: good archives are good, and each kind of damage is named. The number of events can be
 * chosen with {@code -Dtidemark.verify.events=N}.
 */
@Tag("R37")
class VerifyIT {
    private static final int EVENTS = Integer.getInteger("tidemark.verify.events", 20_000);
    private static final int HOURS = 4;
    private static final int BATCH = 2_000;
    private static final long HOUR_MS = 3_600_000;
    private static final String STREAM = "flights/ü";

    @TempDir
    Path dir;

    private ServerProcess server;

    @BeforeEach
    void start() {
        server = ServerProcess.start(dir.resolve("data"), Map.of("TIDEMARK_FOLD_MAX_LAG", "1h"));
    }

    @AfterEach
    void stop() {
        server.close();
    }

    /** Events of four hours, each hour a file; all of it folded. */
    private void fill(int events) {
        Api api = server.api();
        assertEquals(
                201,
                api.put(STREAM, "{\"roll\":\"hourly\",\"live_max_events\":1000,\"live_max_age\":\"100h\"}")
                        .status());
        long first = System.currentTimeMillis() / HOUR_MS * HOUR_MS - (HOURS + 1) * HOUR_MS;
        List<String> lines = new ArrayList<>();
        for (int n = 0; n < events; n++) {
            long hour = (long) n * HOURS / events;
            Position id = new Position(first + hour * HOUR_MS + n / 100, n % 100);
            lines.add("{\"id\":\"" + EventId.of(id) + "\",\"data\":" + payload(n) + "}");
            if (lines.size() == BATCH || n == events - 1) {
                byte[] body = String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
                Api.Answer answer = api.append(STREAM, "application/vnd.tidemark.events+ndjson", body);
                assertEquals(201, answer.status(), answer::text);
                lines.clear();
            }
        }
        Api.Answer folded = api.fold(STREAM);
        assertEquals(200, folded.status(), folded::text);
    }

    /** All of one length. */
    private static String payload(int n) {
        return "{\"flight\":\"XY" + (1_000_000 + n) + "\",\"alt\":11277,\"lat\":47.3911,\"lon\":8.0512,\"v\":231}";
    }

    private Command verifyFiles(Path data) {
        return Command.run(List.of("verify", "--data", data.toString()));
    }

    private Command verifyOnline() {
        return Command.against(server.url(), "verify", STREAM);
    }

    private static void assertGood(Command command, int events) {
        assertEquals(0, command.exit(), () -> command.text() + command.err());
        assertEquals(1, command.lines().size(), command::text);
        assertTrue(
                command.lines().get(0).startsWith(STREAM + ": good, " + events + " events in " + HOURS + " files"),
                command::text);
        assertEquals("", command.err());
    }

    private static void assertFinds(Command command, String kind, Path file, String... named) {
        assertEquals(1, command.exit(), () -> command.text() + command.err());
        List<String> lines = command.lines().stream()
                .filter(line -> line.startsWith(STREAM + ": " + kind + ": " + RollFileBytes.name(file) + ": "))
                .toList();
        assertFalse(lines.isEmpty(), () -> kind + " " + file + " isn't named: " + command.text());
        for (String name : named) {
            assertTrue(
                    lines.stream().anyMatch(line -> line.contains(name)),
                    () -> name + " isn't named: " + command.text());
        }
    }

    private interface Damage {
        void to(List<Path> files) throws IOException;
    }

    private Path damaged(String name, Damage damage) throws IOException {
        Path copy = dir.resolve(name);
        Trees.copy(server.data().resolve("archive"), copy.resolve("archive"));
        damage.to(RollFileBytes.all(copy));
        return copy;
    }

    @Test
    void aGoodArchiveIsGoodAndEachDamageIsNamed() throws IOException {
        fill(EVENTS);
        assertEquals(ServerProcess.TERMINATED, server.terminate());
        long beganNs = System.nanoTime();
        Command good = verifyFiles(server.data());
        long tookMs = (System.nanoTime() - beganNs) / 1_000_000;
        System.out.println(good.text() + "verified in " + tookMs + " ms, start of the JVM included");
        assertGood(good, EVENTS);

        int inSecond = EVENTS / HOURS + 700;
        List<Path> files = RollFileBytes.all(server.data());
        Path flipped = damaged("flipped", copy -> RollFileBytes.flip(copy.get(1), payload(inSecond)));
        Command found = verifyFiles(flipped);
        System.out.print("flipped byte: " + found.text());
        assertFinds(found, "damaged", files.get(1), "excerpt ", "CRC");

        Path missing = damaged("missing", copy -> Files.delete(copy.get(2)));
        found = verifyFiles(missing);
        System.out.print("missing file: " + found.text());
        assertFinds(found, "missing", files.get(2), (EVENTS / HOURS) + " events behind EVT");

        Path swapped = damaged("swapped", copy -> RollFileBytes.exchange(copy.get(0), copy.get(1)));
        found = verifyFiles(swapped);
        System.out.print("swapped files: " + found.text());
        assertFinds(found, "swapped", files.get(0), RollFileBytes.name(files.get(1)));
        assertFinds(found, "swapped", files.get(1), RollFileBytes.name(files.get(0)));

        Path repeated = damaged(
                "repeated", copy -> RollFileBytes.repeat(copy.get(1), payload(inSecond), payload(inSecond + 1)));
        found = verifyFiles(repeated);
        System.out.print("repeated record: " + found.text());
        assertFinds(found, "repeated", files.get(1), "once more", "EVT");
        assertFinds(found, "ordinals", files.get(1), "ordinals " + (inSecond + 2) + "-" + (inSecond + 2));
    }

    @Test
    void onATerminalThereIsProgressAndElsewhereThereIsNone() throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/script")), "script isn't installed, which makes a terminal");
        fill(EVENTS);
        assertEquals(ServerProcess.TERMINATED, server.terminate());
        String command = String.join(
                " ", Command.command(List.of("verify", "--data", server.data().toString())));
        Process process = new ProcessBuilder("script", "-qefc", command, "/dev/null")
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        String shown = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(60, TimeUnit.SECONDS), "it doesn't end");
        assertEquals(0, process.exitValue(), shown);
        assertTrue(shown.contains("verifying " + STREAM + ": "), () -> "no progress: " + shown);
        assertTrue(shown.contains(STREAM + ": good, " + EVENTS + " events"), shown);
        System.out.println(shown.replaceAll("\r\u001b\\[K", "\n  ").strip());
        assertGood(verifyFiles(server.data()), EVENTS);
    }

    @Test
    void aRunningServerIsNotDisturbedAndChecksItself() throws IOException {
        fill(4_000);
        Command refused = verifyFiles(server.data());
        assertEquals(2, refused.exit(), refused::err);
        assertTrue(
                refused.err().contains("in use by a server, pid " + server.pid())
                        && refused.err().contains("--url"),
                refused::err);
        Command good = verifyOnline();
        assertGood(good, 4_000);
        assertTrue(good.text().contains(", 1000 compared with the live log"), good::text);

        List<Path> files = RollFileBytes.all(server.data());
        RollFileBytes.flip(files.get(1), payload(1_500));
        assertFinds(verifyOnline(), "damaged", files.get(1), "CRC");
        Files.delete(files.get(2));
        assertFinds(verifyOnline(), "missing", files.get(2));
        Api.Answer appended = server.api().append(STREAM, List.of("1", "2"));
        assertEquals(201, appended.status(), appended::text);
        assertEquals(200, server.api().fold(STREAM).status());
        assertEquals(404, verifyOnlineOf("nothing").status());
        assertEquals(3, Command.against("http://127.0.0.1:1", "verify").exit());
        server.assertCleanLog();
    }

    private Api.Answer verifyOnlineOf(String stream) {
        return server.api()
                .send(server.api()
                        .request(Api.stream(stream) + "/verify")
                        .POST(java.net.http.HttpRequest.BodyPublishers.noBody()));
    }

    @Test
    void whatTheLiveLogSaysOtherwiseThanTheArchiveIsFound() {
        fill(2_000);
        String key = "tidemark:{" + STREAM + "#0/" + server.api().seam(STREAM).getString("generation") + "}:live";
        String changed;
        try (PlainRedis redis = PlainRedis.ofChild(server.data())) {
            @SuppressWarnings("unchecked")
            List<List<Object>> entries = (List<List<Object>>) redis.call("XRANGE", key, "-", "+");
            assertEquals(1_000, entries.size());
            redis.call("DEL", key);
            changed = EventId.of(
                            Position.ofEntryId(String.valueOf(entries.get(500).get(0))))
                    .toString();
            for (int i = 0; i < entries.size(); i++) {
                List<String> words = new ArrayList<>(
                        List.of("XADD", key, String.valueOf(entries.get(i).get(0))));
                for (Object word : (List<?>) entries.get(i).get(1)) {
                    words.add(i == 500 ? String.valueOf(word).replace("11277", "11278") : String.valueOf(word));
                }
                redis.call(words.toArray(String[]::new));
            }
        }
        Command found = verifyOnline();
        assertEquals(1, found.exit(), found::text);
        assertTrue(found.lines().get(0).startsWith(STREAM + ": different: " + changed), found::text);
    }

    @Test
    void aCopyThatCannotBeWrittenIsCheckedAndStaysAsItIs() throws IOException {
        fill(2_000);
        assertEquals(ServerProcess.TERMINATED, server.terminate());
        Path copy = damaged("copy", files -> {});
        List<String> before = RunningServer.files(copy);
        assertGood(verifyFiles(copy), 2_000);
        assertEquals(before, RunningServer.files(copy), "a check leaves nothing behind");
        assertGood(Command.run(List.of("verify", "--data", copy.toString(), STREAM)), 2_000);
        assertEquals(
                1,
                Command.run(List.of("verify", "--data", copy.toString(), "other"))
                        .exit());
        assertEquals(
                2,
                Command.run(List.of("verify", "--data", dir.resolve("nowhere").toString()))
                        .exit());
        assertEquals(
                2,
                Command.run(List.of("verify", "--data", copy.toString(), "--url", "http://127.0.0.1:1"))
                        .exit());
    }

    @Test
    void anArchiveOfAKilledServerIsGoodAndSaysWhatIsNotProven() throws IOException {
        fill(2_000);
        server.kill();
        try (Stream<Path> files = Files.list(server.data())) {
            assertNotEquals(0, files.count());
        }
        Command command = verifyFiles(server.data());
        assertEquals(0, command.exit(), command::text);
        assertTrue(
                command.text().contains("note: ") && command.text().contains("wasn't closed cleanly"), command::text);
    }
}
