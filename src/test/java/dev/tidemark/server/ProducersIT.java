package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Producers and idempotency keys as a client sees them, through folds, trims, kills and restarts. */
@Tag("R28")
class ProducersIT {
    private static final String STREAM = "payments";

    private final List<AutoCloseable> toClose = new ArrayList<>();
    private @Nullable ServerProcess server;

    @TempDir
    Path data;

    private ServerProcess server() {
        return Objects.requireNonNull(server);
    }

    private void start() {
        ServerProcess started = ServerProcess.start(data, Map.of("TIDEMARK_FOLD_MAX_LAG", "200ms"));
        toClose.add(0, started);
        server = started;
    }

    @AfterEach
    void closeAll() throws Exception {
        ServerProcess.closeAll(toClose);
    }

    private HttpRequest.Builder request(String body, String... headers) {
        HttpRequest.Builder request = server().api()
                .request(Api.stream(STREAM) + "/events?ids=true")
                .header("Content-Type", "application/x-ndjson")
                .POST(HttpRequest.BodyPublishers.ofString(body));
        return request.headers(headers);
    }

    private Api.Answer produce(long epoch, long seq, String body) {
        return server().api()
                .send(request(
                        body,
                        "Producer-Id",
                        "till 1",
                        "Producer-Epoch",
                        Long.toString(epoch),
                        "Producer-Seq",
                        Long.toString(seq)));
    }

    private Api.Answer keyed(String key, String body) {
        return server().api().send(request(body, "Idempotency-Key", key));
    }

    @CanIgnoreReturnValue
    private static JsonObject stored(Api.Answer answer) {
        assertEquals(201, answer.status(), answer::text);
        assertFalse(answer.json().getBoolean("duplicate"));
        return answer.json();
    }

    private static void assertDuplicate(JsonObject first, Api.Answer answer) {
        assertEquals(200, answer.status(), answer::text);
        JsonObject again = answer.json();
        assertTrue(again.getBoolean("duplicate"));
        for (String field : List.of("stream", "count", "first", "last", "cursor", "ids", "ack")) {
            assertEquals(first.getValue(field), again.getValue(field), field);
        }
    }

    private static void assertRefused(int status, String kind, Api.Answer answer) {
        assertEquals(status, answer.status(), answer::text);
        assertEquals("urn:tidemark:problem:" + kind, answer.json().getString("type"));
    }

    private List<String> payloads() {
        return server().api().payloads(Api.stream(STREAM) + "/events");
    }

    @Test
    void aProducerIsAnsweredByTheRulesOfTheContract() {
        start();
        JsonObject first = stored(produce(3, 7, "1\n2\n3\n"));
        assertDuplicate(first, produce(3, 7, "1\n2\n3\n"));
        JsonObject second = stored(produce(3, 8, "4\n"));
        assertDuplicate(first, produce(3, 7, "1\n2\n3\n"));
        assertDuplicate(second, produce(3, 8, "4\n"));
        assertRefused(409, "body_changed", produce(3, 8, "5\n"));
        Api.Answer gap = produce(3, 10, "6\n");
        assertRefused(409, "seq_gap", gap);
        assertEquals(
                "9",
                gap.response().headers().firstValue("Producer-Expected-Seq").orElse(""));
        assertEquals(9, gap.json().getInteger("expected_seq"));
        assertRefused(409, "seq_expired", produce(3, 1, "0\n"));
        assertRefused(403, "producer_fenced", produce(2, 9, "5\n"));
        assertRefused(409, "seq_gap", produce(4, 9, "5\n"));
        stored(produce(4, 0, "5\n"));
        assertRefused(403, "producer_fenced", produce(3, 9, "5\n"));
        assertEquals(List.of("1", "2", "3", "4", "5"), payloads());
        for (int seq = 1; seq < 6; seq++) {
            stored(produce(4, seq, seq + "\n"));
        }
        assertRefused(409, "seq_expired", produce(4, 0, "5\n"));
    }

    @Test
    void aKeyIsAnsweredByTheRulesOfTheContract() {
        start();
        JsonObject first = stored(keyed("order-1", "1\n2\n"));
        assertDuplicate(first, keyed("order-1", "1\n2\n"));
        assertRefused(409, "body_changed", keyed("order-1", "1\n"));
        stored(keyed("order-2", "3\n"));
        Api.Answer both =
                server().api().send(request("4\n", "Idempotency-Key", "k", "Producer-Id", "p", "Producer-Epoch", "0"));
        assertRefused(400, "bad_request", both);
        Api.Answer incomplete = server().api().send(request("4\n", "Producer-Id", "p", "Producer-Epoch", "0"));
        assertRefused(400, "bad_request", incomplete);
        assertEquals("Producer-Seq", incomplete.json().getString("parameter"));
        assertEquals(List.of("1", "2", "3"), payloads());
    }

    @Test
    @Tag("R19")
    void aBatchThatIsBadUsesUpNoNumberAndNoKey() {
        start();
        Api.Answer bad = produce(0, 0, "1\n2\n3\n{bad\n5\n");
        assertEquals(400, bad.status());
        assertEquals("no", bad.json().getString("stored"));
        assertEquals(400, produce(0, 0, "1\n2\n3\n{bad\n5\n").status());
        assertEquals(400, keyed("k", "nope\n").status());
        stored(produce(0, 0, "1\n"));
        stored(keyed("k", "2\n"));
        assertEquals(List.of("1", "2"), payloads());
    }

    @Test
    void ofManyEqualRequestsAtOnceOneIsStored() {
        start();
        List<CompletableFuture<Api.Answer>> answers = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            String[] headers = i % 2 == 0
                    ? new String[] {"Idempotency-Key", "k"}
                    : new String[] {"Producer-Id", "p", "Producer-Epoch", "0", "Producer-Seq", "0"};
            answers.add(server().api().later(request("7\n", headers)));
        }
        List<Integer> statuses =
                answers.stream().map(answer -> answer.join().status()).toList();
        assertEquals(2, statuses.stream().filter(status -> status == 201).count(), statuses.toString());
        assertEquals(38, statuses.stream().filter(status -> status == 200).count(), statuses.toString());
        assertEquals(List.of("7", "7"), payloads());
    }

    private interface Interruption {
        void run();
    }

    /** Known before and after: in the live log, folded and trimmed. */
    private void repetitionsAreKnownAfter(Interruption interruption) {
        start();
        assertEquals(201, server().api().put(STREAM, "{\"live_max_events\":1}").status());
        JsonObject archived = stored(produce(0, 0, "1\n2\n3\n"));
        JsonObject archivedKey = stored(keyed("old", "4\n"));
        assertEquals(200, server().api().fold(STREAM).status());
        assertEquals(1, server().api().seam(STREAM).getInteger("live_events"));
        assertDuplicate(archived, produce(0, 0, "1\n2\n3\n"));
        JsonObject live = stored(produce(0, 1, "5\n"));
        JsonObject liveKey = stored(keyed("new", "6\n7\n"));
        for (int round = 0; round < 2; round++) {
            interruption.run();
            assertDuplicate(archived, produce(0, 0, "1\n2\n3\n"));
            assertDuplicate(live, produce(0, 1, "5\n"));
            assertDuplicate(archivedKey, keyed("old", "4\n"));
            assertDuplicate(liveKey, keyed("new", "6\n7\n"));
            assertRefused(409, "body_changed", produce(0, 0, "1\n2\n"));
            assertRefused(409, "body_changed", keyed("old", "5\n"));
            assertRefused(409, "seq_gap", produce(0, 3, "9\n"));
        }
        stored(produce(0, 2, "8\n"));
        assertEquals(List.of("1", "2", "3", "4", "5", "6", "7", "8"), payloads());
    }

    @Test
    void repetitionsAreKnownAfterFoldAndTrim() {
        repetitionsAreKnownAfter(
                () -> assertEquals(200, server().api().fold(STREAM).status()));
    }

    @Test
    @Tag("T13")
    void repetitionsAreKnownAfterAKillOfTheServer() {
        repetitionsAreKnownAfter(() -> {
            server().kill();
            start();
        });
    }

    @Test
    void repetitionsAreKnownAfterAnOrderlyRestart() {
        repetitionsAreKnownAfter(() -> {
            assertEquals(ServerProcess.TERMINATED, server().terminate());
            start();
        });
    }

    @Test
    void repetitionsAreKnownAfterAKillOfRedis() {
        repetitionsAreKnownAfter(() -> {
            server().killRedis();
            long giveUp = System.nanoTime() + 20_000_000_000L;
            while (server().api().append("other", List.of("1")).status() != 201) {
                assertTrue(System.nanoTime() < giveUp, "Redis doesn't come back");
            }
        });
    }

    @Test
    @Tag("T13")
    void repetitionsAreKnownAfterAKillOfBoth() {
        repetitionsAreKnownAfter(() -> {
            server().kill();
            server().killRedis();
            start();
        });
    }

    @Test
    void checkpointsCarryProducersThroughManyEventsAndKills() {
        start();
        assertEquals(201, server().api().put(STREAM, "{\"live_max_events\":1}").status());
        JsonObject first = stored(produce(0, 0, "0\n"));
        String plain = "1\n".repeat(6_000);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 2; i++) {
                assertEquals(
                        201,
                        server().api()
                                .append(
                                        STREAM,
                                        "application/x-ndjson",
                                        plain.getBytes(java.nio.charset.StandardCharsets.UTF_8))
                                .status());
            }
            stored(produce(0, round + 1, round + "\n"));
            assertEquals(200, server().api().fold(STREAM).status());
            server().kill();
            start();
            assertDuplicate(first, produce(0, 0, "0\n"));
        }
        assertEquals(36_004, payloads().size());
    }
}
