package dev.tidemark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.archive.MemoryArchive;
import dev.tidemark.event.Clock;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Position;
import dev.tidemark.event.Setting;
import dev.tidemark.event.Slice;
import dev.tidemark.event.StoredRequest;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.StreamSettings;
import dev.tidemark.keeper.Appends;
import dev.tidemark.keeper.ArchivedState;
import dev.tidemark.keeper.CallerContext;
import dev.tidemark.keeper.IdReservation;
import dev.tidemark.keeper.KeeperGroup;
import dev.tidemark.keeper.KeeperLimits;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.StreamDirectory;
import dev.tidemark.keeper.StreamStore;
import dev.tidemark.keeper.TimelineSnapshot;
import dev.tidemark.livelog.FakeLiveLog;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.WorkerExecutor;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A stream over four keepers on real event loops, one of which hangs. */
class HungKeeperTest {
    private static final long TIMEOUT_MS = 300;

    private final Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(16));
    private final FakeLiveLog liveLog = new FakeLiveLog();
    private final CountDownLatch release = new CountDownLatch(1);
    private KeeperGroup keepers;
    private StreamReads reads;
    private StreamDirectory directory;
    private LiveStream stream;

    @BeforeEach
    void start() {
        Clock clock = Clock.system();
        IdReservation reservation =
                new IdReservation(high -> Future.succeededFuture(), clock, 0, true, IdReservation.Stop.NONE);
        reservation.ensure(clock.wallMs());
        ArchivedState nothing = new ArchivedState() {
            @Override
            public Future<Archived> recover(LiveStream live, int stripe) {
                return Future.succeededFuture(new Archived(Position.ZERO, 0, List.of(), Position.ZERO, null));
            }

            @Override
            public Future<List<StoredRequest>> requests(LiveStream live, int stripe) {
                return Future.succeededFuture(List.of());
            }
        };
        keepers = new KeeperGroup(vertx, clock, 4, liveLog, nothing, reservation, KeeperLimits.DEFAULT);
        directory = new StreamDirectory(
                keepers, new Store(), StreamSettings.DEFAULT, true, clock, new Random(), CallerContext.of(vertx));
        done(keepers.start());
        stream = done(directory.put(new StreamName("four"), Map.of(Setting.STRIPES, 4L))).stream();
        MemoryArchive archive = new MemoryArchive(stream.id().generation());
        WorkerExecutor workers = vertx.createSharedWorkerExecutor("read");
        reads = new StreamReads(new StreamReads.Ports(
                directory,
                live -> archive,
                liveLog,
                Workers.of(workers),
                keepers,
                TIMEOUT_MS,
                new VertxLoops(vertx),
                live -> Folding.Figures.NONE,
                clock));
    }

    @AfterEach
    void stop() {
        release.countDown();
        done(vertx.close());
    }

    private final class Store implements StreamStore {
        @Override
        public Future<Void> create(StreamId id, Map<Setting, Long> settings, long createdMs) {
            return liveLog.create(id, settings.getOrDefault(Setting.STRIPES, 1L).intValue(), "{}");
        }

        @Override
        public Future<Void> update(StreamId id, Map<Setting, Long> settings, long createdMs) {
            return Future.succeededFuture();
        }

        @Override
        public Future<Position> fold(LiveStream live) {
            return Future.succeededFuture(Position.ZERO);
        }

        @Override
        public Future<Void> tombstone(StreamId id, Map<Setting, Long> settings, long createdMs) {
            return Future.succeededFuture();
        }

        @Override
        public Future<Void> remove(StreamId id, int stripes) {
            return Future.succeededFuture();
        }
    }

    private static <T> T done(Future<T> future) {
        Awaitility.await()
                .pollInterval(Duration.ofMillis(2))
                .atMost(Duration.ofSeconds(20))
                .until(future::isComplete);
        if (future.failed()) {
            throw new AssertionError(future.cause());
        }
        return future.result();
    }

    private <T> T onLoop(Supplier<Future<T>> call) {
        io.vertx.core.Promise<T> promise = io.vertx.core.Promise.promise();
        vertx.getOrCreateContext().runOnContext(v -> call.get().onComplete(promise));
        return done(promise.future());
    }

    private Future<Appends.Appended> append(int stripe, String name) {
        return append(stream, stripe, name);
    }

    private Future<Appends.Appended> append(LiveStream to, int stripe, String name) {
        return keepers.append(to, stripe, List.of(NewEvent.json(name.getBytes(StandardCharsets.UTF_8))));
    }

    /** Holds the event loop of a stripe's keeper: the first look at the stream's memory doesn't come back. */
    private void hang(LiveStream of, int stripe) {
        CountDownLatch hanging = new CountDownLatch(1);
        LiveStream trap = (LiveStream) Proxy.newProxyInstance(
                LiveStream.class.getClassLoader(), new Class<?>[] {LiveStream.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("id")) {
                        return of.id();
                    }
                    hanging.countDown();
                    assertTrue(release.await(60, TimeUnit.SECONDS));
                    return TimelineSnapshot.COLD;
                });
        keepers.newest(trap, stripe, 1, Position.MAX).onComplete(answer -> {});
        Awaitility.await().until(() -> hanging.getCount() == 0);
    }

    private static List<String> names(List<Slice> slices) {
        List<String> names = new ArrayList<>();
        for (Slice slice : slices) {
            for (int i = slice.from(); i < slice.to(); i++) {
                names.add(new String(slice.chunk().payload(i), StandardCharsets.UTF_8));
            }
        }
        return names;
    }

    @Test
    @Tag("T3")
    @Tag("T4")
    void aTailWithoutOneKeeperComesInTimeAndSaysSoAndAppendsToOtherStripesGoOn() {
        List<String> sent = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            done(append(i % 4, "\"e" + i + "\""));
            sent.add("\"e" + i + "\"");
        }
        long before = keepers.payloadsMoved();
        TailAnswer whole = onLoop(() -> reads.tail(stream.name(), 10, View.LIVE, Long.MAX_VALUE));
        assertTrue(whole.complete());
        assertEquals(10, keepers.payloadsMoved() - before);
        assertEquals(10, names(whole.events()).size());

        hang(stream, 2);
        long startNs = System.nanoTime();
        TailAnswer part = onLoop(() -> reads.tail(stream.name(), 10, View.LIVE, Long.MAX_VALUE));
        assertTrue(System.nanoTime() - startNs >= TIMEOUT_MS * 1_000_000);
        assertFalse(part.complete());
        assertEquals(10, names(part.events()).size());
        assertTrue(sent.containsAll(names(part.events())));

        for (int stripe : new int[] {0, 1, 3}) {
            done(append(stripe, "\"more" + stripe + "\""));
        }
        assertFalse(append(2, "\"held\"").isComplete());
        release.countDown();
        Awaitility.await().untilAsserted(() -> {
            TailAnswer again = onLoop(() -> reads.tail(stream.name(), 4, View.LIVE, Long.MAX_VALUE));
            assertTrue(again.complete());
            assertTrue(names(again.events()).contains("\"held\""));
        });
    }

    /** It is read from what the keeper has published, without its loop: so it can't hold up appends either. */
    @Test
    @Tag("T4")
    @Tag("T9")
    void aDeepTailOfOneStripeNeedsNoKeeperAndIsNotCompleteOnceTheKeeperHasBeenSilent() {
        LiveStream one = done(directory.put(new StreamName("one"), Map.of())).stream();
        List<NewEvent> thousand = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            thousand.add(NewEvent.json(Integer.toString(i).getBytes(StandardCharsets.UTF_8)));
        }
        done(keepers.append(one, 0, thousand));
        hang(one, 0);
        TailAnswer tail = onLoop(() -> reads.tail(one.name(), 1_000, View.LIVE, Long.MAX_VALUE));
        assertEquals(1_000, names(tail.events()).size());
        Awaitility.await().atMost(Duration.ofSeconds(10)).untilAsserted(() -> {
            TailAnswer later = onLoop(() -> reads.tail(one.name(), 1_000, View.LIVE, Long.MAX_VALUE));
            assertEquals(1_000, names(later.events()).size());
            assertFalse(later.complete());
        });
    }
}
