package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.EventId;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Reads in every form while the seam moves under them: a fold and trim every 10 ms, with windows so small that most of what is read
 * changes its place during the read. How long: system property {@code tidemark.seconds}.
 */
@Tag("F7")
@Tag("R15")
@Tag("T17")
class FoldWhileReadingIT {
    private static final int SECONDS = Integer.getInteger("tidemark.seconds", 10);
    private static final long SEED = Long.getLong("tidemark.seed", System.nanoTime());
    private static final int FOLDS_MIN = 30;
    private static final String STREAM = "busy";
    private static final String EVENTS = Api.stream(STREAM) + "/events";
    private static final String SETTINGS = """
            {"live_max_events":50,"chunk_duration":"10ms","chunk_max_events":64,"tail_capacity":500}""";
    private static final int[] TAILS = {10, 1_000, 10_000};

    private final List<AutoCloseable> toClose = new ArrayList<>();
    private final List<Writer> writers = new ArrayList<>();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final AtomicInteger folds = new AtomicInteger();
    private volatile boolean stopping;

    @TempDir
    Path data;

    @AfterEach
    void closeAll() throws Exception {
        ServerProcess.closeAll(toClose);
    }

    private <T extends AutoCloseable> T closing(T resource) {
        toClose.add(0, resource);
        return resource;
    }

    @Test
    void everyAnswerIsContiguousWhileTheSeamMovesUnderIt() throws Exception {
        System.out.println("fold while reading: " + SECONDS + " s, seed " + SEED);
        ServerProcess server = closing(ServerProcess.start(data));
        Api api = server.api();
        assertEquals(201, api.put(STREAM, SETTINGS).status());
        for (int w = 0; w < 2; w++) {
            writers.add(closing(new Writer(w, STREAM, () -> api, SEED, 40, 10)));
        }
        List<ResumingFollower> followers = List.of(
                closing(new ResumingFollower(STREAM, () -> api)), closing(new ResumingFollower(STREAM, () -> api)));
        writers.forEach(Writer::start);
        writers.get(0).awaitAcked(500);
        foldOnce(api);

        List<Reader> readers = List.of(
                new Lines(server.api()),
                new PagesDown(server.api()),
                new Tails(server.api()),
                new Ranges(server.api()));
        List<Thread> threads = new ArrayList<>();
        threads.add(thread("folds", () -> foldOnce(server.api())));
        readers.forEach(reader -> threads.add(thread(reader.toString(), reader)));
        threads.forEach(Thread::start);
        awaitEnoughFolds();
        stopping = true;
        for (Thread thread : threads) {
            thread.join();
        }
        writers.forEach(Writer::stop);
        Throwable failed = failure.get();
        if (failed != null) {
            throw new AssertionError("seed " + SEED, failed);
        }

        List<Seen> whole = Seen.ofLines(api.ndjson(EVENTS).text());
        Writer.assertKept(whole, writers);
        assertWhole(whole, new long[] {0, 0});
        for (ResumingFollower follower : followers) {
            follower.assertSaw(whole);
        }
        JsonObject seam = api.seam(STREAM);
        System.out.println(whole.size() + " events, " + folds + " folds, " + readers + ", " + seam);
        assertTrue(folds.get() >= FOLDS_MIN, () -> folds + " folds are too few to show anything");
        readers.forEach(reader -> assertTrue(reader.answers >= 5, () -> "too few answers: " + readers));
        assertTrue(seam.getInteger("live_events") < whole.size() / 2, () -> "nearly nothing was trimmed: " + seam);
    }

    private Thread thread(String name, Work work) {
        return new Thread(
                () -> {
                    try {
                        while (!stopping && failure.get() == null) {
                            work.once();
                        }
                    } catch (Exception | AssertionError e) {
                        failure.compareAndSet(null, new AssertionError(name, e));
                    }
                },
                name);
    }

    private interface Work {
        void once() throws Exception;
    }

    /** At least the time that was asked for; longer on a machine so busy that there were hardly any folds in it. */
    private void awaitEnoughFolds() throws InterruptedException {
        long beganNs = System.nanoTime();
        long elapsedS = 0;
        while (elapsedS < SECONDS || (folds.get() < FOLDS_MIN && elapsedS < 6L * SECONDS)) {
            Thread.sleep(100);
            elapsedS = (System.nanoTime() - beganNs) / 1_000_000_000L;
        }
    }

    private void foldOnce(Api api) throws InterruptedException {
        Api.Answer folded = api.fold(STREAM);
        assertEquals(200, folded.status(), folded::text);
        folds.incrementAndGet();
        Thread.sleep(10);
    }

    /** How many events of each writer are acknowledged now. */
    private long[] acked() {
        return writers.stream().mapToLong(Writer::ackedNumber).toArray();
    }

    /** From the first event on, without a hole, and at least to where each writer was. */
    private static void assertWhole(List<Seen> events, long[] acked) {
        Seen.assertContiguous(events, "whole");
        Map<Integer, Long> first = new HashMap<>();
        events.forEach(event -> first.putIfAbsent(event.writer(), event.number()));
        first.forEach((writer, number) -> assertEquals(0, number, () -> "first of writer " + writer));
        assertReaches(events, acked);
    }

    private static void assertReaches(List<Seen> events, long[] acked) {
        Map<Integer, Long> last = new HashMap<>();
        events.forEach(event -> last.put(event.writer(), event.number()));
        for (int w = 0; w < acked.length; w++) {
            long reached = last.getOrDefault(w, -1L) + 1;
            long wanted = acked[w];
            int writer = w;
            assertTrue(
                    reached >= wanted,
                    () -> "writer " + writer + ": ends at " + reached + ", " + wanted + " were acknowledged before");
        }
    }

    private static List<Seen> seen(JsonArray events) {
        List<Seen> seen = new ArrayList<>();
        for (int i = 0; i < events.size(); i++) {
            seen.add(Seen.of(events.getJsonObject(i)));
        }
        return seen;
    }

    private abstract static class Reader implements Work {
        final Api api;
        volatile int answers;

        Reader(Api api) {
            this.api = api;
        }

        JsonObject json(String path) {
            Api.Answer answer = api.get(path);
            assertEquals(200, answer.status(), answer::text);
            JsonObject json = answer.json();
            assertEquals(Boolean.TRUE, json.getBoolean("complete"), () -> path + " isn't complete");
            return json;
        }

        @Override
        public String toString() {
            return getClass().getSimpleName() + " " + answers;
        }
    }

    /** The whole stream, rising, as one NDJSON answer. */
    private final class Lines extends Reader {
        Lines(Api api) {
            super(api);
        }

        @Override
        public void once() {
            long[] acked = acked();
            assertWhole(Seen.ofLines(api.ndjson(EVENTS).text()), acked);
            answers++;
        }
    }

    /** The whole stream, falling, in JSON pages. */
    private final class PagesDown extends Reader {
        PagesDown(Api api) {
            super(api);
        }

        @Override
        public void once() {
            long[] acked = acked();
            List<Seen> falling = new ArrayList<>();
            String before = "";
            while (before != null) {
                JsonObject page = json(EVENTS + "?order=desc&limit=1000" + before);
                assertEquals(0, page.getJsonArray("gaps").size(), () -> "gaps: " + page.getJsonArray("gaps"));
                falling.addAll(seen(page.getJsonArray("events")));
                String next = page.getString("next");
                before = next == null ? null : "&before=" + next;
            }
            Collections.reverse(falling);
            assertWhole(falling, acked);
            answers++;
        }
    }

    /** Tails that end in memory, and tails that reach over live log and archive. */
    private final class Tails extends Reader {
        Tails(Api api) {
            super(api);
        }

        @Override
        public void once() {
            int n = TAILS[answers % TAILS.length];
            long[] acked = acked();
            List<Seen> tail = seen(json(Api.stream(STREAM) + "/tail?n=" + n).getJsonArray("events"));
            Seen.assertContiguous(tail, "tail " + n);
            assertTrue(
                    tail.size() == n || (tail.size() < n && acked[0] + acked[1] <= tail.size()),
                    () -> "tail " + n + " has " + tail.size() + " events, acknowledged were " + (acked[0] + acked[1]));
            if (tail.size() < n) {
                assertWhole(tail, acked);
            }
            assertTrue(tail.size() < 200 || reachesBoth(tail, acked), "tail " + n + " doesn't reach the end");
            answers++;
        }

        private static boolean reachesBoth(List<Seen> tail, long[] acked) {
            assertReaches(tail, acked);
            return true;
        }
    }

    /** Pages upwards, and between them ranges of time, whose events are all there already: exactly those. */
    private final class Ranges extends Reader {
        private final Random random = new Random(SEED);

        Ranges(Api api) {
            super(api);
        }

        @Override
        public void once() {
            long[] acked = acked();
            List<Seen> whole = new ArrayList<>();
            String after = "";
            while (after != null) {
                JsonObject page = json(EVENTS + "?limit=1000" + after);
                whole.addAll(seen(page.getJsonArray("events")));
                String next = page.getString("next");
                after = next == null ? null : "&after=" + next;
            }
            assertWhole(whole, acked);
            answers++;
            for (int i = 0; i < 5; i++) {
                range(whole);
            }
        }

        private void range(List<Seen> whole) {
            long one = at(whole.get(random.nextInt(whole.size())));
            long other = at(whole.get(random.nextInt(whole.size())));
            long from = Math.min(one, other);
            long to = Math.max(one, other);
            List<Seen> expected = whole.stream()
                    .filter(event -> at(event) >= from && at(event) < to)
                    .toList();
            Api.Answer answer = api.ndjson(EVENTS + "?from=" + from + "&to=" + to);
            assertEquals(expected, Seen.ofLines(answer.text()), () -> "[" + from + ", " + to + ")");
        }

        private static long at(Seen event) {
            return EventId.parse(event.id()).position().ms();
        }
    }
}
