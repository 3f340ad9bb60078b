package dev.tidemark.fold;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidemark.archive.ArchiveAppender;
import dev.tidemark.archive.MemoryArchive;
import dev.tidemark.event.FakeClock;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many streams on few workers. */
class FoldLanesTest {
    private static final int STREAMS = 20_000;

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

    private static void await(Future<?> future) throws Exception {
        Object unused = future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
    }
}
