package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Clock;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The server owns the order: a whole one inside this process, so that its wall clock can step. */
class OrderIT {
    private static final int WRITERS = 50;
    private static final int APPENDS = 200;

    @TempDir
    static Path folder;

    private final Vertx vertx = Vertx.vertx();
    private final SteppingClock clock = new SteppingClock(System.nanoTime());
    private Assembly assembly = new Assembly(vertx, configuration(folder), clock);

    /** A wall clock that steps by up to 300 ms to either side many times a second; its monotonic time is the system's. */
    private static final class SteppingClock implements Clock {
        private final Clock system = Clock.system();
        private final Random random;
        private final AtomicLong offsetMs = new AtomicLong();

        SteppingClock(long seed) {
            random = new Random(seed);
        }

        void step() {
            offsetMs.set(random.nextLong(-300, 301));
        }

        @Override
        public long wallMs() {
            return system.wallMs() + offsetMs.get();
        }

        @Override
        public long monotonicNs() {
            return system.monotonicNs();
        }
    }

    private static Configuration configuration(Path data) {
        return ConfigurationLoader.load(
                null,
                Map.of("TIDEMARK_DATA", data.toString(), "TIDEMARK_HTTP_PORT", "0", "TIDEMARK_FOLD_MAX_LAG", "200ms"),
                Map.of(),
                Configuration.Start.NORMAL);
    }

    @BeforeEach
    void start() throws Exception {
        assembly = new Assembly(vertx, configuration(Files.createTempDirectory(folder, "data")), clock);
        done(assembly.start());
    }

    @AfterEach
    void stop() throws Exception {
        done(assembly.stop());
        done(vertx.close());
    }

    private static void done(io.vertx.core.Future<?> future) throws Exception {
        Object unused = future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
    }

    @Test
    @Tag("R16")
    void fiftyWritersHaveOneOrderWhateverTheClockDoes() {
        Api api = new Api(assembly.url());
        assertEquals(
                201,
                api.put("order", "{\"live_max_events\":300,\"chunk_duration\":\"50ms\",\"tail_capacity\":100}")
                        .status());
        long timer = vertx.setPeriodic(5, id -> clock.step());
        List<String> live;
        try (Follower follower = Follower.of(assembly.url(), "order", "after=earliest")) {
            List<CompletableFuture<Void>> writers = new ArrayList<>();
            for (int w = 0; w < WRITERS; w++) {
                writers.add(write(api, w, 0));
            }
            writers.forEach(CompletableFuture::join);
            live = follower.awaitEvents(WRITERS * APPENDS).stream()
                    .map(JsonObject::encode)
                    .toList();
            Api.assertRising(follower.ids());
            assertEquals(List.of(), follower.messages("gap"));
        } finally {
            assertTrue(vertx.cancelTimer(timer));
        }
        assertEquals(WRITERS * APPENDS, live.size());
        assertPerWriterOrder(live.stream().map(JsonObject::new).toList());
        assertEquals(live, withoutType(api.events("/v1/streams/order/events")), "read live");
        assertEquals(200, api.fold("order").status());
        assertEquals(live, withoutType(api.events("/v1/streams/order/events")), "read after the fold");
    }

    /** One append after the other; each must be stored. */
    private static CompletableFuture<Void> write(Api api, int writer, int number) {
        if (number == APPENDS) {
            return CompletableFuture.completedFuture(null);
        }
        return api.later(api.request("/v1/streams/order/events")
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString("[" + writer + "," + number + "]")))
                .thenCompose(answer -> {
                    assertEquals(201, answer.status(), answer.text());
                    return write(api, writer, number + 1);
                });
    }

    private static void assertPerWriterOrder(List<JsonObject> events) {
        Map<Integer, Integer> next = new HashMap<>();
        for (JsonObject event : events) {
            int writer = event.getJsonArray("data").getInteger(0);
            int number = event.getJsonArray("data").getInteger(1);
            assertEquals(next.getOrDefault(writer, 0), number, "writer " + writer);
            next.put(writer, number + 1);
        }
        assertEquals(WRITERS, next.size());
    }

    /** As a subscriber gets them. */
    private static List<String> withoutType(List<JsonObject> events) {
        return events.stream()
                .map(event ->
                        new JsonObject().put("type", "event").mergeIn(event).encode())
                .toList();
    }
}
