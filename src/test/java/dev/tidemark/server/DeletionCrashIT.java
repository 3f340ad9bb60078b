package dev.tidemark.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** SIGKILL in the middle of deletions: each stream is there whole, or gone without a trace; what was acknowledged as gone stays gone. */
@Tag("failure-13")
class DeletionCrashIT {
    private static final int STREAMS = 16;
    private static final int ROUNDS = 2;

    @RegisterExtension
    static final RunningServer SERVER = new RunningServer(Map.of());

    private static List<String> payloads(String stream) {
        return IntStream.range(0, 50)
                .mapToObj(i -> "\"" + stream + "-" + i + "\"")
                .toList();
    }

    @Test
    void aDeletionThatWasCutOffIsFinishedAtTheNextStart() throws InterruptedException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < ROUNDS; round++) {
            List<String> streams = new ArrayList<>();
            for (int i = 0; i < STREAMS; i++) {
                streams.add("r" + round + "-" + i);
            }
            fill(streams);
            List<CompletableFuture<Api.Answer>> deletions = new ArrayList<>();
            Api api = SERVER.api();
            for (String stream : streams) {
                deletions.add(api.later(api.request(Api.stream(stream)).DELETE()));
            }
            Thread.sleep(random.nextInt(10, 150));
            SERVER.killAndRestart();
            for (int i = 0; i < STREAMS; i++) {
                check(streams.get(i), deletions.get(i), "seed " + seed + ", round " + round);
            }
        }
    }

    private static void fill(List<String> streams) {
        for (int i = 0; i < streams.size(); i++) {
            String stream = streams.get(i);
            assertEquals(201, SERVER.api().append(stream, payloads(stream)).status());
            if (i % 2 == 0) {
                assertEquals(200, SERVER.api().fold(stream).status());
            }
        }
    }

    private static void check(String stream, CompletableFuture<Api.Answer> deletion, String hint) {
        boolean acknowledged = deletion.handle((answer, cut) -> cut == null && answer.status() == 204)
                .join();
        int status = SERVER.api().get(Api.stream(stream)).status();
        if (status == 200) {
            assertTrue(!acknowledged, stream + " came back; " + hint);
            assertEquals(payloads(stream), SERVER.api().payloads(Api.stream(stream) + "/events"), hint);
            assertEquals(204, SERVER.api().delete(stream).status(), hint);
        } else {
            assertEquals(404, status, hint);
        }
        await(hint).atMost(Duration.ofSeconds(20)).untilAsserted(() -> assertEquals(List.of(), traces(stream)));
        assertEquals(201, SERVER.api().append(stream, List.of("1")).status(), hint);
        assertEquals(List.of("1"), SERVER.api().payloads(Api.stream(stream) + "/events"), hint);
        assertEquals(204, SERVER.api().delete(stream).status(), hint);
        assertEquals(List.of(), traces(stream), hint);
    }

    private static List<String> traces(String stream) {
        List<String> found = new ArrayList<>(SERVER.files().stream()
                .filter(file -> file.equals("archive/" + stream) || file.startsWith("archive/" + stream + "/"))
                .toList());
        try (PlainRedis redis = SERVER.redis()) {
            found.addAll(redis.texts("KEYS", "tidemark:{" + stream + "}*"));
            found.addAll(redis.texts("KEYS", "tidemark:{" + stream + "#*"));
            found.addAll(new TreeSet<>(redis.texts("HKEYS", "tidemark:streams"))
                    .stream().filter(stream::equals).toList());
        }
        return found;
    }
}
