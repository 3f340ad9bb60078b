package dev.tidemark.fold;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.tidemark.archive.Archive;
import dev.tidemark.archive.ArchiveAppender;
import dev.tidemark.archive.MemoryArchive;
import dev.tidemark.archive.StreamRecords;
import dev.tidemark.event.FakeClock;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Limits;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.keeper.CallerContext;
import dev.tidemark.keeper.FixedStream;
import dev.tidemark.keeper.KeeperWorld;
import dev.tidemark.livelog.FakeLiveLog;
import dev.tidemark.retention.Windows;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many streams on few workers. */
class FoldLanesTest {
    private static final int STREAMS = 20_000;

    @TempDir
    Path folder;

    @Test
    @Tag("R49")
    void manyStreamsThatWaitedForOneAreFoldedOneAfterTheOther() throws Exception {
        FakeLiveLog liveLog = new FakeLiveLog();
        Map<StreamId, ArchiveAppender> archives = new ConcurrentHashMap<>();
        KeeperWorld keepers = new KeeperWorld(Map.of());
        FoldPorts ports = new FoldPorts(
                keepers,
                liveLog,
                liveLog,
                id -> archives.computeIfAbsent(id, unknown -> new MemoryArchive(id.generation())),
                new Windows(),
                FakeClock.atStart());
        Vertx vertx = Vertx.vertx();
        try {
            FoldLanes lanes = FoldLanes.over(ports, CallerContext.of(vertx), 1);
            await(lanes.deploy(vertx, id -> {}));
            Promise<Void> opening = Promise.promise();
            FixedStream first = new FixedStream(new StreamId(new StreamName("first"), new Generation(1)), Map.of());
            first.opening = opening.future();
            List<Future<Position>> folds = new ArrayList<>();
            KeeperWorld.succeeded(liveLog.create(first.id(), 1, "{}"));
            folds.add(lanes.fold(first));
            for (int i = 0; i < STREAMS; i++) {
                StreamId id = new StreamId(new StreamName("s" + i), new Generation(i + 2));
                KeeperWorld.succeeded(liveLog.create(id, 1, "{}"));
                folds.add(lanes.fold(new FixedStream(id, Map.of())));
            }
            await(vertx.timer(500));
            assertEquals(0, folds.stream().filter(Future::isComplete).count());
            opening.complete();
            await(Future.all(folds));
            assertEquals(STREAMS + 1, folds.stream().filter(Future::succeeded).count());
        } finally {
            await(vertx.close());
        }
    }

    /** Who found the stream just before its deletion, and asks just after it: it isn't there, and nothing of ours has failed. */
    @Test
    void whoComesAfterADeletionIsToldThatThereIsNoStream() throws Exception {
        FakeLiveLog liveLog = new FakeLiveLog();
        KeeperWorld keepers = new KeeperWorld(Map.of());
        AtomicReference<ArchiveStreamStore> store = new AtomicReference<>();
        FoldPorts ports = new FoldPorts(
                keepers, liveLog, liveLog, id -> store.get().archive(id), new Windows(), FakeClock.atStart());
        Vertx vertx = Vertx.vertx();
        try (Archive archive = new Archive(folder, Limits.DEFAULT)) {
            FoldLanes lanes = FoldLanes.over(ports, CallerContext.of(vertx), 1);
            store.set(new ArchiveStreamStore(archive, new StreamRecords(folder), liveLog, lanes));
            await(lanes.deploy(vertx, id -> {}));
            FixedStream stream = new FixedStream(new StreamId(new StreamName("gone"), new Generation(1)), Map.of());
            await(store.get().create(stream.id(), Map.of(), 1));
            await(lanes.fold(stream));
            await(store.get().tombstone(stream.id(), Map.of(), 1));
            await(store.get().remove(stream.id(), 1));
            for (Future<?> late : List.of(lanes.fold(stream), lanes.recover(stream, 0), lanes.requests(stream, 0))) {
                Throwable cause = late.transform(ended -> Future.succeededFuture(ended.cause()))
                        .toCompletionStage()
                        .toCompletableFuture()
                        .get(60, TimeUnit.SECONDS);
                assertEquals(
                        Problem.Kind.NOT_FOUND,
                        assertInstanceOf(Problem.class, cause).kind());
            }
        } finally {
            await(vertx.close());
        }
    }

    private static void await(Future<?> future) throws Exception {
        Object unused = future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
    }
}
