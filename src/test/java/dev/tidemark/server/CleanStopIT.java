package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** SIGTERM to the built server. */
@Tag("T12")
class CleanStopIT {
    private static final String STREAM = "flights";
    private static final long SHUTDOWN_MS = 10_000;
    /** For the JVM to end on a busy machine. */
    private static final long EXTRA_MS = 20_000;

    private static final long SEED = Long.getLong("tidemark.seed", System.nanoTime());

    private final AtomicReference<Api> api = new AtomicReference<>();
    private final List<AutoCloseable> toClose = new ArrayList<>();

    @TempDir
    Path data;

    private Api api() {
        return Objects.requireNonNull(api.get());
    }

    @CanIgnoreReturnValue
    private ServerProcess server() {
        ServerProcess server = ServerProcess.start(data, Map.of("TIDEMARK_SHUTDOWN_TIMEOUT", SHUTDOWN_MS + "ms"));
        toClose.add(0, server);
        api.set(server.api());
        return server;
    }

    @AfterEach
    void closeAll() throws Exception {
        ServerProcess.closeAll(toClose);
    }

    @Test
    void whatWasAcknowledgedBeforeAStopUnderLoadIsInTheArchiveAfterIt() throws Exception {
        System.out.println("clean stop: seed " + SEED);
        ServerProcess first = server();
        List<Writer> writers = new ArrayList<>();
        for (int w = 0; w < 2; w++) {
            Writer writer = new Writer(w, STREAM, this::api, SEED, 60, 0);
            toClose.add(0, writer);
            writers.add(writer);
        }
        writers.forEach(Writer::start);
        writers.get(1).awaitAcked(1_000);
        ResumingFollower follower = new ResumingFollower(STREAM, this::api);
        toClose.add(0, follower);
        writers.get(0).awaitAcked(1_000);
        Optional<ProcessHandle> redis = first.redis();
        assertTrue(redis.isPresent(), "the child Redis isn't in the data directory");

        long beganNs = System.nanoTime();
        assertEquals(ServerProcess.TERMINATED, first.terminate());
        long tookMs = (System.nanoTime() - beganNs) / 1_000_000;
        assertTrue(tookMs < SHUTDOWN_MS + EXTRA_MS, () -> "the stop took " + tookMs + " ms");
        assertFalse(redis.get().isAlive(), "the child Redis outlived a clean stop");
        assertFalse(first.log().stream().anyMatch(line -> line.contains(" WARN ")), () -> "warnings: " + first.log());

        server();
        JsonObject seam = api().seam(STREAM);
        writers.forEach(Writer::stop);
        List<Seen> whole =
                Seen.ofLines(api().ndjson(Api.stream(STREAM) + "/events").text());
        Writer.assertKept(whole, writers);
        long before = whole.stream()
                .filter(event -> event.id().compareTo(seam.getString("watermark")) <= 0)
                .count();
        long acked = writers.stream()
                .flatMap(writer -> writer.batches().stream())
                .filter(Writer.Batch::acked)
                .mapToLong(Writer.Batch::count)
                .sum();
        assertEquals(before, (long) seam.getLong("archived_events"), () -> "archived: " + seam);
        assertTrue(acked >= 2_000, () -> "acknowledged: " + acked);
        follower.assertSaw(whole);
        System.out.println("stopped in " + tookMs + " ms, " + before + " events were in the archive then, "
                + whole.size() + " now; the subscriber had " + follower.connections() + " connections");
    }

    @Test
    void everythingIsFoldedByACleanStop() throws Exception {
        ServerProcess first = server();
        Writer writer = new Writer(0, STREAM, this::api, SEED, 60, 0);
        toClose.add(0, writer);
        writer.start();
        writer.awaitAcked(500);
        writer.stop();
        assertEquals(ServerProcess.TERMINATED, first.terminate());
        server();
        JsonObject seam = api().seam(STREAM);
        assertEquals(seam.getString("tail"), seam.getString("watermark"), () -> "W after a clean stop: " + seam);
        assertEquals(writer.acked(), (long) seam.getLong("archived_events"), () -> "archived: " + seam);
    }

    @Test
    void aStopDuringTheStartLeavesNoProcessBehind() throws Exception {
        for (int pauseMs = 0; pauseMs < 3_000; pauseMs += 1_000) {
            ServerProcess server = ServerProcess.launch(data, Map.of(), List.of());
            toClose.add(0, server);
            while (!Files.exists(data.resolve("lock"))) {
                Thread.sleep(10);
            }
            Thread.sleep(pauseMs);
            int code = server.terminate();
            assertTrue(code == ServerProcess.TERMINATED || code == 1, () -> code + ": " + server.log());
            assertEquals(Optional.empty(), server.redis().filter(ProcessHandle::isAlive), "a Redis is left");
        }
    }
}
