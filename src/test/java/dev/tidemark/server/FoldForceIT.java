package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tidemark.event.EventId;
import dev.tidemark.event.Position;
import dev.tidemark.server.StraceLog.Call;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the system calls of the built server say about the order of force and trim. */
@Tag("R05")
class FoldForceIT {
    private static final Pattern MIN_ID = Pattern.compile("MINID.*?\\D(\\d+)-(\\d+)");
    private static final String STREAM = "forced";
    private static final long HOUR_MS = 3_600_000;
    private static final int LIVE_MAX_EVENTS = 3;
    private static final int BATCH = 10;
    private static final String SETTINGS = """
            {"roll":"hourly","chunk_duration":"1h","live_max_age":"10h","live_max_events":%d}""";

    @TempDir
    Path dir;

    /** One fold on request: the newest event it took, and the roll files that it wrote, by number. */
    private record Fold(String lastId, List<Integer> files, List<Integer> newFiles) {}

    private static boolean straceIsInstalled() {
        return Stream.of("/usr/bin/strace", "/usr/local/bin/strace", "/bin/strace")
                .anyMatch(file -> Files.isExecutable(Path.of(file)));
    }

    @Test
    void everyFileOfAFoldIsForcedBeforeTheFirstByteOfItsTrimIsSent() throws Exception {
        assumeTrue(straceIsInstalled(), "strace isn't installed");
        Path trace = dir.resolve("trace");
        List<String> strace = List.of(
                "strace",
                "-D",
                "-f",
                "-y",
                "-s",
                "600",
                "--seccomp-bpf",
                "-o",
                trace.toString(),
                "-e",
                "trace=fsync,fdatasync,msync,openat,mkdir,rename,renameat,renameat2,write,writev,sendto,sendmsg");
        Map<String, String> environment = Map.of("TIDEMARK_FOLD_MAX_LAG", "1h");
        List<Fold> folds;
        Path archive;
        try (ServerProcess server = ServerProcess.launch(dir.resolve("data"), environment, strace)) {
            folds = fold(server.api());
            assertEquals(ServerProcess.TERMINATED, server.terminate());
            archive = server.data().toRealPath().resolve("archive");
        }
        Awaitility.await("end of the trace")
                .atMost(Duration.ofSeconds(20))
                .until(() -> Files.readString(trace, StandardCharsets.ISO_8859_1)
                        .contains("+++ exited with " + ServerProcess.TERMINATED));
        List<Path> files = rollFiles(archive);
        assertEquals(3, files.size(), () -> "three hours, three files: " + files);
        List<Call> calls = StraceLog.read(trace).calls();
        Position before = Position.ZERO;
        for (Fold fold : folds) {
            assertForced(calls, fold, before, files);
            before = EventId.parse(fold.lastId()).position();
        }
        assertDirectoriesForced(calls, archive);
    }

    /** Nothing seals but a request; every fold leaves more than the window, so every one trims. */
    private static List<Fold> fold(Api api) {
        String settings = SETTINGS.formatted(LIVE_MAX_EVENTS);
        assertEquals(201, api.put(STREAM, settings).status());
        long hour = System.currentTimeMillis() / HOUR_MS * HOUR_MS;
        long first = hour - 3 * HOUR_MS;
        long second = hour - 2 * HOUR_MS;
        List<Fold> folds = new ArrayList<>();
        folds.add(fold(api, imported(first), List.of(0), List.of(0)));
        folds.add(fold(api, imported(first + 1_000), List.of(0), List.of()));
        List<String> acrossTheRoll = new ArrayList<>(imported(first + 2_000));
        acrossTheRoll.addAll(imported(second));
        folds.add(fold(api, acrossTheRoll, List.of(0, 1), List.of(1)));
        folds.add(fold(api, imported(second + 1_000), List.of(1), List.of()));
        folds.add(fold(api, List.of(), List.of(1, 2), List.of(2)));
        return folds;
    }

    private static List<String> imported(long ms) {
        List<String> envelopes = new ArrayList<>();
        for (int i = 0; i < BATCH; i++) {
            envelopes.add("{\"id\":\"" + EventId.of(new Position(ms, i)) + "\",\"data\":{\"n\":" + i + "}}");
        }
        return envelopes;
    }

    private static Fold fold(Api api, List<String> envelopes, List<Integer> files, List<Integer> newFiles) {
        List<String> lines = envelopes.isEmpty()
                ? Stream.generate(() -> "{\"data\":1}").limit(BATCH).toList()
                : envelopes;
        byte[] body = String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
        Api.Answer appended = api.append(STREAM, "application/vnd.tidemark.events+ndjson", body);
        assertEquals(201, appended.status(), appended::text);
        String last = appended.json().getString("last");
        Api.Answer folded = api.fold(STREAM);
        assertEquals(last, folded.json().getString("watermark"), folded::text);
        assertEquals(LIVE_MAX_EVENTS, api.seam(STREAM).getInteger("live_events"));
        return new Fold(last, files, newFiles);
    }

    private static List<Path> rollFiles(Path archive) throws IOException {
        try (Stream<Path> all = Files.walk(archive)) {
            return all.filter(file -> file.toString().endsWith(".cq4")).sorted().toList();
        }
    }

    /**
     * The fold began behind the answer to its append. Between that and the first XTRIM that removes any event of it every file it
     * wrote, and for a new one its directory, must have been forced; where it rolled, the file before too, behind the roll: it got its
     * end mark then.
     *
     * @param before the newest event of the fold before
     */
    private static void assertForced(List<Call> calls, Fold fold, Position before, List<Path> files) {
        Call answer = first(calls, 0, call -> call.sends("\\\"last\\\":\\\"" + fold.lastId()), "answer of " + fold);
        Call trim = first(
                calls,
                answer.begin(),
                call -> call.sends("XTRIM") && trimBound(call).isAfter(before.next()),
                "trim of " + fold);
        int written = answer.begin();
        for (int file : fold.newFiles()) {
            Path path = files.get(file);
            Call made = first(
                    calls,
                    answer.begin(),
                    call -> call.name().equals("openat")
                            && call.arguments().contains("\"" + path + "\"")
                            && call.arguments().contains("O_CREAT"),
                    "creation of " + path);
            assertForcedBetween(calls, parent(path), made.end(), trim.begin());
            written = made.end();
        }
        for (int file : fold.files()) {
            assertForcedBetween(calls, files.get(file), written, trim.begin());
        }
    }

    /** What {@code XTRIM key MINID = ms-seq} keeps first. */
    private static Position trimBound(Call trim) {
        Matcher minId = MIN_ID.matcher(trim.arguments());
        assertTrue(minId.find(), () -> "an XTRIM of another form: " + trim);
        return new Position(Long.parseLong(minId.group(1)), Long.parseLong(minId.group(2)));
    }

    private static void assertForcedBetween(List<Call> calls, Path path, int after, int before) {
        boolean forced = calls.stream()
                .anyMatch(call -> call.forces()
                        && call.isOn(path)
                        && call.succeeded()
                        && call.begin() > after
                        && call.end() < before);
        assertTrue(forced, () -> path + " isn't forced between lines " + after + " and " + before + " of the trace");
    }

    private static Path parent(Path path) {
        return Objects.requireNonNull(path.getParent());
    }

    private interface Condition {
        boolean holds(Call call);
    }

    private static Call first(List<Call> calls, int after, Condition condition, String what) {
        return calls.stream()
                .filter(call -> call.begin() >= after && condition.holds(call))
                .min((one, other) -> Integer.compare(one.begin(), other.begin()))
                .orElseThrow(() -> new AssertionError("not in the trace: " + what));
    }

    /** Each directory made for the archive is in its parent's entries on disk before anything is trimmed. */
    private static void assertDirectoriesForced(List<Call> calls, Path archive) {
        Call trim = first(calls, 0, call -> call.sends("XTRIM"), "a trim");
        List<Call> made = calls.stream()
                .filter(call -> call.name().equals("mkdir")
                        && call.succeeded()
                        && call.arguments().startsWith("\"" + archive))
                .toList();
        assertTrue(made.size() >= 3, () -> "archive, stream, generation: " + made);
        for (Call call : made) {
            Path path = Path.of(call.arguments().substring(1, call.arguments().indexOf('"', 1)));
            assertForcedBetween(calls, parent(path), call.end(), trim.begin());
        }
    }
}
