package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.livelog.DelayProxy;
import dev.tidemark.livelog.RedisProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Redis goes away under load and comes back. Fault model: it is killed and started again on its files; or nothing passes between it
 * and the server, in both directions, connections made meanwhile included, and what was on its way arrives late. Rounds and seconds:
 * {@code -Dtidemark.away.rounds=3 -Dtidemark.away.seconds=20}.
 */
@Tag("failure-3")
class RedisAwayIT {
    private static final String STREAM = "flights";
    private static final int RATE = 2_000;
    private static final int ROUNDS = Integer.getInteger("tidemark.away.rounds", 1);
    private static final int SECONDS = Integer.getInteger("tidemark.away.seconds", 20);
    private static final Duration BACK_MAX = Duration.ofSeconds(3);
    /** Refusals come within a second; the machine that runs the test takes some time, too. */
    private static final double REFUSED_MS_MAX = 1_300;

    private final List<AutoCloseable> toClose = new ArrayList<>();

    @TempDir
    Path dir;

    @AfterEach
    void closeAll() throws Exception {
        ServerProcess.closeAll(toClose);
    }

    private interface Outage {
        void begin() throws IOException;

        void end() throws IOException;
    }

    /**
     * One round's figures, milliseconds.
     *
     * @param refused slowest refusal while Redis was away
     * @param again from its return to the first append that succeeded
     * @param caughtUp from its return until the subscriber had all that was acknowledged by then, that first append included
     */
    private record Figures(double refused, double again, double caughtUp) {}

    @Test
    @Tag("R13")
    void afterRedisWasStoppedAppendsSucceedAndASubscriberHasEverythingWithinSeconds() throws Exception {
        int port = RedisProcess.freePort();
        Path files = java.nio.file.Files.createDirectory(dir.resolve("redis"));
        RedisProcess[] redis = {RedisProcess.start(files, port)};
        toClose.add(() -> redis[0].close());
        Outage stopped = new Outage() {
            @Override
            public void begin() {
                redis[0].kill();
            }

            @Override
            public void end() throws IOException {
                redis[0] = RedisProcess.start(files, port);
            }
        };
        rounds("stopped", port, stopped);
    }

    @Test
    @Tag("R13")
    @Tag("F15")
    void afterPacketsToRedisWereDroppedAppendsSucceedAndASubscriberHasEverythingWithinSeconds() throws Exception {
        RedisProcess redis = RedisProcess.start();
        toClose.add(redis);
        DelayProxy proxy = new DelayProxy(redis.port());
        toClose.add(0, proxy);
        Outage dropped = new Outage() {
            @Override
            public void begin() {
                proxy.deaf(true);
            }

            @Override
            public void end() {
                proxy.deaf(false);
            }
        };
        rounds("packets dropped", proxy.port(), dropped);
    }

    private void rounds(String name, int port, Outage outage) throws Exception {
        ServerProcess server =
                ServerProcess.start(dir.resolve("data"), Map.of(), "--redis", "redis://127.0.0.1:" + port);
        toClose.add(0, server);
        assertEquals(201, server.api().append(STREAM, List.of("{\"n\":-1}")).status());
        List<Figures> all = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            String stream = STREAM + round;
            assertEquals(201, server.api().append(stream, List.of("{\"n\":-1}")).status());
            all.add(round(server, stream, outage));
            System.out.printf(
                    Locale.ROOT, "Redis %s for %d s, round %d: %s%n", name, SECONDS, round + 1, all.get(round));
        }
        System.out.printf(
                Locale.ROOT,
                "Redis %s for %d s, median of %d, ms: slowest refusal %.0f, appends again %.0f, subscriber has all %.0f%n",
                name,
                SECONDS,
                ROUNDS,
                median(all.stream().map(Figures::refused).toList()),
                median(all.stream().map(Figures::again).toList()),
                median(all.stream().map(Figures::caughtUp).toList()));
    }

    private static double median(List<Double> figures) {
        List<Double> sorted = new ArrayList<>(figures);
        Collections.sort(sorted);
        return sorted.get(sorted.size() / 2);
    }

    private static Figures round(ServerProcess server, String stream, Outage outage) throws Exception {
        try (Follower follower = Follower.of(server.url(), stream, "after=earliest");
                OfferedLoad load = new OfferedLoad(server.url(), stream, RATE)) {
            Thread.sleep(3_000);
            long awayNs = System.nanoTime();
            outage.begin();
            Thread.sleep(SECONDS * 1_000L);
            outage.end();
            long backNs = System.nanoTime();
            double againMs = firstAckedMs(load, backNs);
            long againNs = backNs + (long) (againMs * 1e6);
            Thread.sleep(1_000);
            Set<Long> acked = acked(load.results());
            Awaitility.await("the subscriber has what is acknowledged")
                    .pollInterval(Duration.ofMillis(20))
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> numbers(follower).containsAll(acked));
            Set<Long> missed = acked(load.results().stream()
                    .filter(result -> result.answeredNs() <= againNs)
                    .toList());
            double caughtUpMs = (follower.arrivalNsOf(event -> missed.contains(number(event))) - backNs) / 1e6;
            load.stop();
            List<OfferedLoad.Result> results = load.results();
            double refusedMs = refusals(results, awayNs, backNs);
            assertTrue(againMs < BACK_MAX.toMillis(), "appends succeed again after " + againMs + " ms");
            assertTrue(caughtUpMs < BACK_MAX.toMillis(), "the subscriber has all after " + caughtUpMs + " ms");
            assertTrue(refusedMs < REFUSED_MS_MAX, "the slowest refusal took " + refusedMs + " ms");
            assertExactlyOnce(server, stream, follower, results);
            return new Figures(refusedMs, againMs, caughtUpMs);
        }
    }

    private static double firstAckedMs(OfferedLoad load, long sinceNs) {
        Awaitility.await("appends succeed again")
                .pollInterval(Duration.ofMillis(5))
                .atMost(Duration.ofSeconds(30))
                .until(() ->
                        load.results().stream().anyMatch(result -> result.acked() && result.answeredNs() > sinceNs));
        return load.results().stream()
                .filter(result -> result.acked() && result.answeredNs() > sinceNs)
                .mapToDouble(result -> (result.answeredNs() - sinceNs) / 1e6)
                .min()
                .orElseThrow();
    }

    private static double refusals(List<OfferedLoad.Result> results, long awayNs, long backNs) {
        double slowest = 0;
        for (OfferedLoad.Result result : results) {
            if (result.sentNs() > awayNs + 100_000_000 && result.sentNs() < backNs - 1_500_000_000) {
                assertEquals(503, result.status(), result::body);
                assertFalse(result.retryAfter().isEmpty(), "no Retry-After");
                slowest = Math.max(slowest, result.tookMs());
            }
        }
        return slowest;
    }

    private static Set<Long> acked(List<OfferedLoad.Result> results) {
        Set<Long> acked = new HashSet<>();
        results.stream().filter(OfferedLoad.Result::acked).forEach(result -> acked.addAll(result.numbers()));
        return acked;
    }

    private static long number(io.vertx.core.json.JsonObject event) {
        return event.getJsonObject("data").getLong("n");
    }

    private static List<Long> numbers(Follower follower) {
        return follower.events().stream().map(RedisAwayIT::number).toList();
    }

    private static void assertExactlyOnce(
            ServerProcess server, String stream, Follower follower, List<OfferedLoad.Result> results) {
        Set<Long> acked = acked(results);
        acked.add(-1L);
        List<String> read = Api.ids(server.api().events(Api.stream(stream) + "/events"));
        Awaitility.await("the subscriber has what a reader has")
                .atMost(Duration.ofSeconds(10))
                .until(() -> follower.ids().size() >= read.size());
        assertEquals(read, follower.ids());
        Api.assertRising(read);
        List<Long> given = numbers(follower);
        Set<Long> once = new TreeSet<>(given);
        assertEquals(once.size(), given.size(), "an event came twice");
        assertTrue(once.containsAll(acked), "an acknowledged event is missing");
        Set<Long> open = new HashSet<>(acked);
        results.stream().filter(OfferedLoad.Result::maybeStored).forEach(result -> open.addAll(result.numbers()));
        once.removeAll(open);
        assertEquals(Set.of(), once, "refused with stored: no, and stored all the same");
        assertEquals(List.of(), follower.messages("gap"));
    }
}
