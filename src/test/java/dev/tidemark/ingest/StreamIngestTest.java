package dev.tidemark.ingest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Limits;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamName;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StreamIngestTest {
    private static final String NDJSON = "application/x-ndjson";

    private final FakeKeeper keeper = new FakeKeeper();
    private final Promise<Void> archived = Promise.promise();
    private final CountingWorkers workers = new CountingWorkers();
    private @Nullable Position awaited;
    private @Nullable Runnable timeout;
    private long timeoutMs;
    private boolean cancelled;
    private final StreamIngest ingest = new StreamIngest(
            keeper,
            keeper,
            (stream, through) -> {
                awaited = through;
                return archived.future();
            },
            Limits.DEFAULT,
            workers,
            (delayMs, action) -> {
                timeoutMs = delayMs;
                timeout = action;
                return () -> cancelled = true;
            });

    /** Runs work at once and counts it. */
    private static final class CountingWorkers implements Workers {
        private int calls;

        @Override
        public <T> Future<T> call(Callable<T> work) {
            calls++;
            try {
                return Future.succeededFuture(work.call());
            } catch (Exception e) {
                return Future.failedFuture(e);
            }
        }
    }

    private static AppendRequest request(String type, String body) {
        return new AppendRequest("quakes", type, null, null, Buffer.buffer(body), false);
    }

    private static AppendRequest gzipped(byte[] body) {
        return new AppendRequest("quakes", NDJSON, "gzip", null, Buffer.buffer(body), false);
    }

    @CanIgnoreReturnValue
    private AppendResult done(AppendRequest request) {
        Future<AppendResult> future = ingest.append(request);
        assertTrue(future.succeeded(), () -> String.valueOf(future.cause()));
        return future.result();
    }

    private static Problem problem(Future<?> future) {
        assertTrue(future.failed());
        return assertInstanceOf(Problem.class, future.cause());
    }

    private Problem refusal(AppendRequest request) {
        return problem(ingest.append(request));
    }

    private List<String> stored() {
        return keeper.stored("quakes").stream()
                .map(event -> new String(event.payload(), StandardCharsets.UTF_8))
                .toList();
    }

    @Test
    @Tag("T16")
    void writingNeedsNothingOfTheReadSide() {
        AppendResult result = done(request(NDJSON, "{\"a\":1}\n{\"a\":2}\n"));
        assertEquals(List.of("{\"a\":1}", "{\"a\":2}"), stored());
        assertEquals(2, result.ids().size());
        assertEquals(result.ids().get(1).position(), result.cursor().position());
        assertEquals(1, result.cursor().generation().number());
        assertEquals("quakes", result.stream().value());
        assertEquals("live", result.ack());
        assertTrue(result.complete());
        assertFalse(result.duplicate());
        assertEquals(0, workers.calls);
    }

    @Test
    @Tag("R19")
    void aBadLineStoresNothingAndMakesNoStreamHoweverOftenItIsSent() {
        AppendRequest bad = request(NDJSON, "1\n2\n3\nfour\n5\n");
        for (int attempt = 0; attempt < 2; attempt++) {
            Problem problem = refusal(bad);
            assertEquals(Problem.Kind.BAD_BODY, problem.kind());
            assertEquals(4, problem.fields().get("line"));
            assertEquals("no", problem.fields().get("stored"));
            assertTrue(keeper.all().isEmpty());
        }
    }

    @Test
    @Tag("R19")
    void whatTheKeeperSaysOfAFailedAppendReachesTheWriter() {
        keeper.failure = Problem.unavailable(Problem.Stored.UNKNOWN, "Redis is away");
        assertSame(keeper.failure, refusal(request(NDJSON, "1\n2\n")));
    }

    @Test
    void refusesIllegalNamesAndStreamsThatMayNotBeMade() {
        AppendRequest named = new AppendRequest("..", NDJSON, null, null, Buffer.buffer("1"), false);
        assertEquals(Problem.Kind.BAD_REQUEST, refusal(named).kind());
        keeper.autoCreate = false;
        assertEquals(Problem.Kind.NOT_FOUND, refusal(request(NDJSON, "1")).kind());
    }

    @Test
    void theHeadersTimeIsClaimedForEveryLine() {
        AppendRequest request =
                new AppendRequest("quakes", NDJSON, null, "2018-01-31T02:18:21.235Z", Buffer.buffer("1\n2\n"), false);
        assertEquals(2, done(request).ids().size());
        assertEquals(
                List.of(1_517_365_101_235L, 1_517_365_101_235L),
                keeper.stored("quakes").stream().map(NewEvent::time).toList());
        done(request(NDJSON, "3"));
        assertEquals(Event.NO_TIME, keeper.stored("quakes").get(2).time());
    }

    @Test
    void aHeaderThatIsNoTimeIsNamed() {
        Problem problem = refusal(new AppendRequest("quakes", NDJSON, null, "yesterday", Buffer.buffer("1\n"), false));
        assertEquals(Problem.Kind.BAD_REQUEST, problem.kind());
        assertEquals("Event-Time", problem.fields().get("parameter"));
        Problem range =
                refusal(new AppendRequest("quakes", NDJSON, null, "1000000000000000000", Buffer.buffer("1\n"), false));
        assertEquals(Problem.Kind.TIME_REFUSED, range.kind());
    }

    @Test
    @Tag("R52")
    void decodesGzipOnAWorker() throws IOException {
        done(gzipped(GunzipTest.gzip("1\n2\n".getBytes(StandardCharsets.UTF_8))));
        assertEquals(List.of("1", "2"), stored());
        assertEquals(1, workers.calls);
    }

    @Test
    @Tag("R52")
    void refusesBombsAndDamagedBodies() throws IOException {
        Problem bomb = refusal(gzipped(GunzipTest.gzip(new byte[60 << 20])));
        assertEquals(Problem.Kind.TOO_LARGE, bomb.kind());
        assertEquals("limits.body_bytes", bomb.fields().get("limit"));
        assertEquals("no", bomb.fields().get("stored"));
        assertEquals(
                Problem.Kind.BAD_BODY,
                refusal(gzipped("1\n2\n".getBytes(StandardCharsets.UTF_8))).kind());
        assertEquals(
                Problem.Kind.UNSUPPORTED_TYPE,
                refusal(new AppendRequest("quakes", NDJSON, "br", null, Buffer.buffer("1"), false))
                        .kind());
        assertEquals(
                Problem.Kind.BAD_BODY,
                refusal(gzipped(GunzipTest.gzip(new byte[0]))).kind());
        assertTrue(keeper.all().isEmpty());
    }

    @Test
    void parsesLargeBodiesOnAWorkerAndSmallOnesInline() {
        String inline = "x".repeat(StreamIngest.INLINE_BYTES_MAX);
        done(request("text/plain", inline));
        assertEquals(0, workers.calls);
        done(request("text/plain", inline + "x"));
        assertEquals(1, workers.calls);
        assertEquals(List.of(inline, inline + "x"), stored());
        assertEquals("no", refusal(request(NDJSON, inline + "x")).fields().get("stored"));
        assertEquals(2, workers.calls);
        String envelope = "{\"data\":1}";
        String most = envelope + " ".repeat(StreamIngest.INLINE_ENVELOPE_BYTES_MAX - envelope.length());
        done(request("application/vnd.tidemark.events+ndjson", most));
        assertEquals(2, workers.calls);
        done(request("application/vnd.tidemark.events+ndjson", most + " "));
        assertEquals(3, workers.calls);
    }

    @Test
    @Tag("R18")
    void carriesAnEventOfTheLimitAndRefusesOneByteMore() {
        String limit = "\"" + "x".repeat((1 << 20) - 2) + "\"";
        done(request("application/json", limit));
        done(request(NDJSON, "1\n" + limit + "\n2\n"));
        assertEquals(List.of(limit, "1", limit, "2"), stored());
        Problem over = refusal(request(NDJSON, "1\n" + limit + " \n2\n"));
        assertEquals(Problem.Kind.TOO_LARGE, over.kind());
        assertEquals(2, over.fields().get("line"));
        Problem body = refusal(request(NDJSON, "1\n".repeat(8 << 20) + "1"));
        assertEquals("limits.body_bytes", body.fields().get("limit"));
        assertEquals(
                "limits.batch_events",
                refusal(request(NDJSON, "1\n".repeat(10_001))).fields().get("limit"));
        assertEquals(10_000, done(request(NDJSON, "1\n".repeat(10_000))).ids().size());
    }

    @Test
    void archivedAnswersWhenTheWatermarkIsThere() {
        Future<AppendResult> answer =
                ingest.append(new AppendRequest("quakes", NDJSON, null, null, Buffer.buffer("1\n2\n"), true));
        assertFalse(answer.isComplete());
        assertEquals(new Position(EventId.EPOCH_MS + 2, 0), awaited);
        assertEquals(10_000, timeoutMs);
        archived.complete();
        assertEquals("archived", answer.result().ack());
        assertTrue(answer.result().complete());
        assertTrue(cancelled);
    }

    @Test
    void archivedIsRefusedInAStreamWithAnAcceptanceWindowBeforeAnythingIsStored() {
        done(request(NDJSON, "1"));
        assertTrue(keeper.put(new StreamName("quakes"), Map.of(Setting.ACCEPTANCE_WINDOW, 5_000L))
                .succeeded());
        Future<AppendResult> answer =
                ingest.append(new AppendRequest("quakes", NDJSON, null, null, Buffer.buffer("2\n"), true));
        Problem refused = (Problem) answer.cause();
        assertEquals(Problem.Kind.BAD_REQUEST, refused.kind());
        assertEquals("ack", refused.fields().get("parameter"));
        assertEquals("no", refused.fields().get("stored"));
        assertEquals(List.of("1"), stored());
    }

    @Test
    void archivedAnswersLiveAfterTenSeconds() {
        Future<AppendResult> answer =
                ingest.append(new AppendRequest("quakes", NDJSON, null, null, Buffer.buffer("1\n"), true));
        Objects.requireNonNull(timeout).run();
        assertEquals("live", answer.result().ack());
        assertFalse(answer.result().complete());
        archived.complete();
        assertEquals("live", answer.result().ack());
    }

    @Test
    void aFailedFoldIsNoFailedAppend() {
        Future<AppendResult> answer =
                ingest.append(new AppendRequest("quakes", NDJSON, null, null, Buffer.buffer("1\n"), true));
        archived.fail("the archive is away");
        assertEquals("live", answer.result().ack());
        assertFalse(answer.result().complete());
        assertTrue(cancelled);
        assertEquals(List.of("1"), stored());
    }

    @Test
    void theCursorIsBehindTheHighestIdAndIdsKeepTheOrderSent() {
        AppendResult result = done(request(
                "application/vnd.tidemark.events+ndjson",
                "{\"data\":1,\"id\":\"EVT000xY9Wvvcd\"}\n{\"data\":2,\"id\":\"EVT000xY9Wvvce\"}"));
        assertEquals(
                List.of("EVT000xY9Wvvcd", "EVT000xY9Wvvce"),
                result.ids().stream().map(EventId::toString).toList());
        assertEquals(EventId.parse("EVT000xY9Wvvce").position(), result.cursor().position());
    }

    @Test
    @Tag("R26")
    void rawBytesReachTheKeeperUntouched() {
        byte[] bytes = {(byte) 0xc3, 0x28, 0, (byte) 0xff};
        done(new AppendRequest("quakes", null, null, null, Buffer.buffer(bytes), false));
        assertArrayEquals(bytes, keeper.stored("quakes").get(0).payload());
        assertEquals("application/octet-stream", keeper.stored("quakes").get(0).type());
    }

    @Test
    void listsStreamsInPages() {
        for (String name : List.of("b", "a/1", "é", "a", "c")) {
            assertTrue(ingest.put(new StreamName(name), Map.of()).result().created());
        }
        assertEquals(List.of("a", "a/1"), names(null, 2));
        assertEquals(List.of("b", "c"), names("a/1", 2));
        assertEquals(List.of("é"), names("c", 2));
        assertEquals(List.of(), names("é", 2));
        assertEquals(List.of("b"), names("aaa", 1));
    }

    private List<String> names(@Nullable String after, int limit) {
        return ingest.streams(after, limit).stream()
                .map(stream -> stream.id().name().value())
                .toList();
    }

    @Test
    void putCreatesThenMergesThenResets() {
        StreamName name = new StreamName("quakes");
        Ingest.Put created = ingest.put(name, Map.of("live_max_events", 1000, "chunk_duration", "2s"))
                .result();
        assertTrue(created.created());
        assertEquals(1_000, created.stream().settings().liveMaxEvents());
        Ingest.Put merged = ingest.put(name, Map.of("live_max_events", "2000")).result();
        assertFalse(merged.created());
        assertEquals(2_000, ingest.stream(name).settings().liveMaxEvents());
        assertEquals(2_000, ingest.stream(name).settings().chunkDurationMs());
        Map<String, @Nullable Object> reset = Collections.singletonMap("live_max_events", null);
        assertEquals(
                100_000, ingest.put(name, reset).result().stream().settings().liveMaxEvents());
    }

    @ParameterizedTest
    @ValueSource(strings = {"live_max_events", "chunk_duration", "late", "no_such_setting"})
    void putNamesTheSettingThatIsWrong(String key) {
        Problem problem = problem(ingest.put(new StreamName("quakes"), Map.of(key, "1 apple")));
        assertEquals(Problem.Kind.BAD_REQUEST, problem.kind());
        assertEquals(key, problem.fields().get("parameter"));
        assertTrue(problem.detail().contains(key), problem.detail());
        assertTrue(keeper.all().isEmpty());
    }

    @Test
    void putRefusesSettingsThatContradictEachOther() {
        StreamName name = new StreamName("quakes");
        Problem onCreation = problem(ingest.put(name, Map.of("live_max_age", "500ms")));
        assertEquals(Problem.Kind.BAD_REQUEST, onCreation.kind());
        assertTrue(onCreation.detail().startsWith("live_max_age is 500ms"), onCreation.detail());
        assertTrue(ingest.put(name, Map.of("live_max_age", "5s")).result().created());
        assertEquals(
                Problem.Kind.BAD_REQUEST,
                problem(ingest.put(name, Map.of("chunk_duration", "10s"))).kind());
        assertEquals(1_000, ingest.stream(name).settings().chunkDurationMs());
    }

    @Test
    void rollCantChangeAfterCreation() {
        StreamName name = new StreamName("quakes");
        assertTrue(ingest.put(name, Map.of("roll", "hourly")).result().created());
        assertFalse(ingest.put(name, Map.of("roll", "hourly")).result().created());
        Problem problem = problem(ingest.put(name, Map.of("roll", "daily")));
        assertEquals(Problem.Kind.CONFLICT, problem.kind());
        assertEquals("roll", problem.fields().get("parameter"));
    }

    @Test
    void deletesOnceAndThenFindsNothing() {
        StreamName name = new StreamName("quakes");
        done(request(NDJSON, "1"));
        assertTrue(ingest.delete(name).succeeded());
        assertEquals(Problem.Kind.NOT_FOUND, problem(ingest.delete(name)).kind());
        assertEquals(
                Problem.Kind.NOT_FOUND,
                assertThrows(Problem.class, () -> ingest.stream(name)).kind());
    }
}
