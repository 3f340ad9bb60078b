package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.vertx.core.json.JsonObject;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
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
@Tag("failure-12")
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
        return server(SHUTDOWN_MS, Map.of());
    }

    private ServerProcess server(long shutdownMs, Map<String, String> more) {
        Map<String, String> environment = new HashMap<>(more);
        environment.put("TIDEMARK_SHUTDOWN_TIMEOUT", shutdownMs + "ms");
        ServerProcess server = ServerProcess.start(data, environment);
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

    /** Stops a server under load while its archive takes {@code slowMs} for a force; a subscriber must be told to come back. */
    private ServerProcess stopWhileTheArchiveIsSlow(long shutdownMs, long slowMs, Writer writer) throws Exception {
        ServerProcess server = server(shutdownMs, Breakpoints.ENVIRONMENT);
        toClose.add(0, writer);
        writer.start();
        writer.awaitAcked(500);
        try (Breakpoints breakpoints = Breakpoints.in(server);
                Follower follower = Follower.of(server.url(), STREAM, "after=earliest")) {
            follower.await("caught_up");
            Api open = server.api();
            breakpoints.slow(NamedPoint.SLICE_WRITTEN, () -> {
                assertTrue(server.process().toHandle().destroy());
                assertEquals(4_000, follower.awaitClose());
                List<JsonObject> told = follower.messages("error");
                assertFalse(told.isEmpty(), "closed without a word");
                assertTrue(told.get(0).getBoolean("retryable"), told::toString);
                assertTrue(isRefused(open), "an append was taken during the stop");
                assertTrue(server.process().isAlive());
                Thread.sleep(slowMs);
            });
        }
        server.awaitEnd();
        server.awaitLogEnd();
        assertEquals(ServerProcess.TERMINATED, server.process().exitValue());
        return server;
    }

    private static boolean isRefused(Api api) {
        try {
            return api.append(STREAM, List.of("{\"w\":9,\"n\":0,\"x\":0}")).status() == 503;
        } catch (UncheckedIOException connectionRefused) {
            return true;
        }
    }

    private static boolean warns(ServerProcess server, String words) {
        return server.log().stream().anyMatch(line -> line.contains(" WARN ") && line.contains(words));
    }

    private void assertKept(Writer writer) {
        writer.stop();
        Writer.assertKept(
                Seen.ofLines(api().ndjson(Api.stream(STREAM) + "/events").text()), List.of(writer));
    }

    @Test
    void aStopWaitsForASlowArchive() throws Exception {
        Writer writer = new Writer(0, STREAM, this::api, SEED, 60, 0);
        ServerProcess stopped = stopWhileTheArchiveIsSlow(SHUTDOWN_MS, 2_000, writer);
        assertFalse(warns(stopped, "only in Redis"), () -> "log: " + stopped.log());
        server();
        JsonObject seam = api().seam(STREAM);
        assertKept(writer);
        long archived = Seen.ofLines(
                        api().ndjson(Api.stream(STREAM) + "/events").text())
                .stream()
                .filter(event -> event.id().compareTo(seam.getString("watermark")) <= 0)
                .count();
        assertTrue(archived >= 500, () -> "archived: " + seam);
        assertEquals(archived, (long) seam.getLong("archived_events"), () -> "archived: " + seam);
    }

    @Test
    void aStopThatRunsOutOfTimeSaysWhatIsOnlyInRedisAndLosesNothing() throws Exception {
        Writer writer = new Writer(0, STREAM, this::api, SEED, 60, 0);
        ServerProcess stopped = stopWhileTheArchiveIsSlow(500, 3_000, writer);
        assertTrue(warns(stopped, "shutdown_timeout is over"), () -> "log: " + stopped.log());
        assertTrue(
                stopped.log().stream()
                        .anyMatch(line ->
                                line.matches(".* WARN .*stream flights: [1-9]\\d* events above .* are only in Redis")),
                () -> "log: " + stopped.log());
        server();
        writer.awaitAcked(1);
        assertKept(writer);
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
