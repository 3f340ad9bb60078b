package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The built server and its Redis, killed with SIGKILL at random moments under load, with folds and trims running. How often: system
 * property {@code tidemark.rounds}; from which seed: {@code tidemark.seed}.
 */
@Tag("F4")
@Tag("F5")
@Tag("T13")
@Tag("failure-1")
class CrashIT {
    private static final int ROUNDS = Integer.getInteger("tidemark.rounds", 5);
    private static final long SEED = Long.getLong("tidemark.seed", System.nanoTime());
    private static final String STREAM = "flights";
    private static final int LIVE_MAX_EVENTS = 1_000;
    private static final Map<String, String> ENVIRONMENT = Map.of("TIDEMARK_FOLD_MAX_LAG", "200ms");

    private final Random random = new Random(SEED);
    private final AtomicReference<Api> api = new AtomicReference<>();
    private final List<AutoCloseable> toClose = new ArrayList<>();

    @TempDir
    Path data;

    @CanIgnoreReturnValue
    private ServerProcess server() {
        ServerProcess started = ServerProcess.start(data, ENVIRONMENT);
        api.set(started.api());
        toClose.add(0, started);
        return started;
    }

    private Api api() {
        return Objects.requireNonNull(api.get());
    }

    private <T extends AutoCloseable> T closing(T resource) {
        toClose.add(0, resource);
        return resource;
    }

    @AfterEach
    void closeAll() throws Exception {
        ServerProcess.closeAll(toClose);
    }

    @Test
    void everyAcknowledgedEventOutlivesKillsOfTheServer() throws Exception {
        run("the server", server -> {
            server.kill();
            server();
        });
    }

    @Test
    void everyAcknowledgedEventOutlivesKillsOfRedis() throws Exception {
        run("Redis", ServerProcess::killRedis);
    }

    @Test
    void everyAcknowledgedEventOutlivesKillsOfBothAtOnce() throws Exception {
        run("both", server -> {
            boolean serverFirst = random.nextBoolean();
            if (serverFirst) {
                server.kill();
                server.killRedis();
            } else {
                server.killRedis();
                server.kill();
            }
            server();
        });
    }

    private interface Kill {
        void of(ServerProcess server);
    }

    private void run(String victim, Kill kill) throws Exception {
        System.out.println("kill " + victim + ": " + ROUNDS + " rounds, seed " + SEED);
        server();
        String settings = "{\"live_max_events\":" + LIVE_MAX_EVENTS + ",\"chunk_duration\":\"50ms\"}";
        assertEquals(201, api().put(STREAM, settings).status());
        List<Writer> writers = new ArrayList<>();
        for (int w = 0; w < 2; w++) {
            writers.add(closing(new Writer(w, STREAM, this::api, SEED, 60, 0)));
        }
        ResumingFollower follower = closing(new ResumingFollower(STREAM, this::api));
        List<Seen> before = List.of();
        for (int round = 1; round <= ROUNDS; round++) {
            before = round(round, kill, writers, before);
        }
        follower.assertSaw(before);
        assertPayloads(writers);
        assertEquals(
                ServerProcess.TERMINATED,
                current().terminate(),
                () -> "exit code; log: " + current().log());
    }

    private ServerProcess current() {
        return (ServerProcess) toClose.stream()
                .filter(ServerProcess.class::isInstance)
                .findFirst()
                .orElseThrow();
    }

    private List<Seen> round(int round, Kill kill, List<Writer> writers, List<Seen> before) throws Exception {
        writers.forEach(Writer::start);
        writers.get(0).awaitAcked(1 + random.nextInt(3_000));
        String watermark = api().watermark(STREAM);
        long beganNs = System.nanoTime();
        kill.of(current());
        String recovered = api().watermark(STREAM);
        assertTrue(recovered.compareTo(watermark) >= 0, "W went back from " + watermark + " to " + recovered);
        writers.get(1).awaitAcked(1);
        long awayMs = (System.nanoTime() - beganNs) / 1_000_000;
        writers.get(0).awaitAcked(1 + random.nextInt(500));
        writers.forEach(Writer::stop);

        List<Seen> whole = whole();
        Writer.assertKept(whole, writers);
        assertEquals(before, whole.subList(0, before.size()), "what was read before");
        assertSeam(whole, round % 2 == 0 || round == ROUNDS);
        long acked = writers.stream().mapToLong(Writer::acked).sum();
        long open = writers.stream()
                .flatMap(writer -> writer.batches().stream())
                .filter(batch -> !batch.acked())
                .count();
        System.out.println("round " + round + ": acked " + acked + " events, open requests " + open + ", stored "
                + whole.size() + ", W " + watermark + " -> " + recovered + ", appends again after " + awayMs + " ms");
        return whole;
    }

    private List<Seen> whole() {
        return Seen.ofLines(wholeText());
    }

    private String wholeText() {
        Api.Answer answer = api().ndjson(Api.stream(STREAM) + "/events");
        assertEquals(200, answer.status());
        return answer.text();
    }

    /** Nobody writes, so the seam is where the whole stream says. */
    private void assertSeam(List<Seen> whole, boolean fold) {
        JsonObject seam = api().seam(STREAM);
        String watermark = Objects.requireNonNullElse(seam.getString("watermark"), "");
        assertEquals(whole.get(0).id(), seam.getString("earliest"), () -> "earliest of " + seam);
        assertEquals(whole.get(whole.size() - 1).id(), seam.getString("tail"), () -> "tail of " + seam);
        assertTrue(watermark.compareTo(seam.getString("frontier")) <= 0, () -> "W above the frontier: " + seam);
        assertTrue(
                seam.getString("first_live").compareTo(nextAfter(whole, watermark)) <= 0,
                () -> "trimmed above W: " + seam);
        if (fold) {
            Api.Answer folded = api().fold(STREAM);
            assertEquals(200, folded.status(), folded::text);
            JsonObject after = api().seam(STREAM);
            assertEquals(seam.getString("tail"), after.getString("watermark"), () -> "W after a fold: " + after);
            assertEquals(whole.size(), after.getInteger("archived_events"), () -> "archived: " + after);
            assertTrue(after.getInteger("live_events") <= LIVE_MAX_EVENTS, () -> "live: " + after);
            assertEquals(0, after.getInteger("over_retained"), () -> "over-retained: " + after);
            assertEquals(whole, whole(), "the same stream from the archive");
        }
    }

    /** Id of the first event above W, which must still be in the live log; any id at all if all is folded. */
    private static String nextAfter(List<Seen> whole, String watermark) {
        return whole.stream()
                .map(Seen::id)
                .filter(id -> id.compareTo(watermark) > 0)
                .findFirst()
                .orElse("F");
    }

    /** Every event has the bytes that were sent. */
    private void assertPayloads(List<Writer> writers) {
        Map<Integer, Set<Long>> seen = new HashMap<>();
        for (String line : wholeText().split("\n", -1)) {
            if (line.startsWith("{\"type\"") || line.isEmpty()) {
                continue;
            }
            Seen event = Seen.of(new JsonObject(line));
            String payload = new String(writers.get(event.writer()).payload(event.number()), StandardCharsets.UTF_8);
            assertTrue(line.endsWith("\"data\":" + payload + "}"), line);
            assertTrue(
                    seen.computeIfAbsent(event.writer(), w -> new HashSet<>()).add(event.number()));
        }
    }
}
