package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.archive.Trees;
import dev.tidemark.livelog.RedisProcess;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Redis doesn't sync always, and restarts with the files that it had some time before: its newest part is lost. */
@Tag("R13")
@Tag("failure-4")
class OlderRedisIT {
    private static final String STREAM = "flights";
    private static final Map<String, String> LAZY = Map.of("TIDEMARK_FOLD_MAX_LAG", "1h");
    private static final String[] EVERY_SECOND = {"--appendfsync", "everysec"};

    @TempDir
    Path dir;

    private Path files;
    private int port;
    private RedisProcess redis;
    private ServerProcess server;

    @BeforeEach
    void startRedis() throws IOException {
        files = Files.createDirectory(dir.resolve("redis"));
        port = RedisProcess.freePort();
        redis = RedisProcess.start(files, port, EVERY_SECOND);
    }

    @AfterEach
    void close() {
        if (server != null) {
            server.close();
        }
        redis.close();
    }

    private void start() {
        server = ServerProcess.start(dir.resolve("data"), LAZY, "--redis", "redis://127.0.0.1:" + port);
    }

    /** What Redis has on disk now. */
    private Path image() throws IOException, InterruptedException {
        Thread.sleep(1_500);
        Path image = Files.createDirectory(dir.resolve("image"));
        Trees.copy(files, image);
        return image;
    }

    private void restartFrom(Path image) throws IOException {
        redis.kill();
        Trees.delete(files);
        Trees.copy(image, files);
        redis = RedisProcess.start(files, port, EVERY_SECOND);
    }

    private static List<String> numbers(int from, int to) {
        return IntStream.rangeClosed(from, to).mapToObj(String::valueOf).toList();
    }

    private String append(int from, int to) {
        Api.Answer answer = server.api().append(STREAM, numbers(from, to));
        assertEquals(201, answer.status(), answer::text);
        return answer.json().getString("last");
    }

    private void appendInTheEnd(int from, int to) {
        Awaitility.await("appends succeed again")
                .pollInterval(Duration.ofMillis(50))
                .atMost(Duration.ofSeconds(5))
                .until(() -> server.api().append(STREAM, numbers(from, to)).status() == 201);
    }

    @Test
    void whileTheServerRunsMemoryIsFoldedAndNothingIsLost() throws Exception {
        start();
        append(1, 10);
        Path image = image();
        String last = append(11, 20);
        try (Follower follower = Follower.of(server.url(), STREAM, "after=earliest")) {
            follower.awaitEvents(20);
            restartFrom(image);
            Awaitility.await("what Redis lacks is folded at once")
                    .atMost(Duration.ofSeconds(10))
                    .until(() -> server.api().watermark(STREAM).compareTo(last) >= 0);
            appendInTheEnd(21, 30);
            follower.awaitEvents(30);
            assertEquals(List.of(), follower.messages("gap"));
        }
        assertEquals(numbers(1, 30), server.api().payloads(Api.stream(STREAM) + "/events"));
        assertEquals(200, server.api().fold(STREAM).status());
        assertEquals(numbers(1, 30), server.api().payloads(Api.stream(STREAM) + "/events"));
        server.assertCleanLog();
    }

    @Test
    void whileTheServerIsDownWhatMayBeLostIsAGapWithBoundsAndIdsGoOn() throws Exception {
        start();
        String kept = append(1, 10);
        Path image = image();
        String lost = append(11, 20);
        server.kill();
        restartFrom(image);
        start();
        List<String> events = new ArrayList<>();
        List<JsonObject> gaps = new ArrayList<>();
        read(events, gaps);
        assertEquals(numbers(1, 10), events);
        assertEquals(1, gaps.size(), gaps::toString);
        assertBounds(gaps.get(0), kept, lost);
        String next = append(21, 21);
        assertTrue(next.compareTo(lost) > 0, "an id is given twice");
        assertEquals(200, server.api().fold(STREAM).status());
        events.clear();
        gaps.clear();
        read(events, gaps);
        assertEquals(List.of("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "21"), events);
        assertEquals(1, gaps.size(), gaps::toString);
        assertBounds(gaps.get(0), kept, lost);
    }

    private void read(List<String> events, List<JsonObject> gaps) {
        for (JsonObject line : server.api().lines(Api.stream(STREAM) + "/events")) {
            if (!line.containsKey("type")) {
                events.add(String.valueOf(line.getValue("data")));
            } else if (line.getString("type").equals("gap")) {
                gaps.add(line);
            }
        }
    }

    private static void assertBounds(JsonObject gap, String kept, String lost) {
        assertEquals("lost", gap.getString("reason"));
        assertEquals(kept, gap.getString("from"));
        assertTrue(gap.getString("to").compareTo(lost) >= 0, gap::encode);
    }
}
