package dev.tidemark.retention;

import static dev.tidemark.keeper.KeeperWorld.succeeded;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Position;
import dev.tidemark.event.Setting;
import dev.tidemark.fold.FoldStatus;
import dev.tidemark.keeper.FixedStream;
import dev.tidemark.keeper.KeeperWorld;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.TimelineSnapshot;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Retention looks at a stream when something in it has changed or its time has come, not otherwise. */
class RetentionRoundTest {
    private static final long LAG_MS = 10_000;

    private final KeeperWorld world = new KeeperWorld(Map.of(Setting.LIVE_MAX_AGE, 60_000L));
    private final RetentionAgenda agenda = new RetentionAgenda(world.clock);
    private final List<Promise<Void>> folds = new ArrayList<>();
    private FoldStatus status = FoldStatus.NONE;
    private boolean backingOff;
    private int statusAsked;

    private final RetentionRound round = new RetentionRound(
            new RetentionRound.Folding() {
                @Override
                public FoldStatus status(LiveStream stream) {
                    statusAsked++;
                    return status;
                }

                @Override
                public boolean isBackingOff(LiveStream stream) {
                    return backingOff;
                }

                @Override
                public Future<?> fold(LiveStream stream) {
                    Promise<Void> promise = Promise.promise();
                    folds.add(promise);
                    return promise.future();
                }
            },
            new RetentionBeat(new Windows(), world.clock, LAG_MS),
            agenda,
            world.clock);

    private void beats(long ms) {
        for (long passed = 0; passed < ms; passed += 100) {
            world.pass(100);
            round.run(List.of());
        }
    }

    private void changed() {
        round.run(List.of(world.liveStream()));
    }

    /** All of it is folded; the live log begins at {@code firstLive}. */
    private FoldStatus folded(Position firstLive) {
        TimelineSnapshot memory = world.liveStream().snapshot(0);
        return new FoldStatus(
                memory.tail(), firstLive, 0, null, memory.lastOrdinal(), Position.ZERO, "ok", 1, "", 0, 0, 0, 0, 1);
    }

    @Test
    void aSealedEventIsFoldedWhenItsLagIsOverThoughNothingChangesUntilThen() {
        succeeded(world.append(3));
        world.seal();
        changed();
        beats(LAG_MS - 200);
        assertEquals(0, folds.size());
        assertTrue(statusAsked <= 2, "looked " + statusAsked + " times");
        beats(400);
        assertEquals(1, folds.size());
        beats(5_000);
        assertEquals(1, folds.size(), "one at a time");
    }

    @Test
    void aSealedEventIsFoldedWhenItsLagIsOverThoughTheClockWasSetBackByHours() {
        succeeded(world.append(3));
        world.seal();
        changed();
        world.clock.stepMs(-6 * 3_600_000L);
        beats(LAG_MS - 200);
        assertEquals(0, folds.size());
        beats(400);
        assertEquals(1, folds.size());
    }

    @Test
    @Tag("T10")
    void theLiveLogOfAnIdleStreamIsTrimmedByAgeAndUntilThenNobodyLooks() {
        succeeded(world.append(3));
        Position tail = world.seal();
        Position first =
                world.liveLog.events(world.liveStream().stripe(0)).get(0).id();
        status = folded(first);
        world.folded(world.liveStream(), 0, tail, 3);
        changed();
        beats(59_000);
        assertEquals(0, folds.size());
        assertTrue(statusAsked <= 4, "looked " + statusAsked + " times in a minute");
        beats(1_500);
        assertEquals(1, folds.size());
        status = folded(Position.ZERO);
        folds.get(0).complete();
        beats(120_000);
        assertEquals(1, folds.size());
        assertEquals(0, agenda.size(), "there is nothing more to come for it");
    }

    @Test
    void aFoldThatFailedIsTriedAgainWhenItsBackOffIsOver() {
        succeeded(world.append(3));
        world.seal();
        changed();
        beats(LAG_MS + 200);
        backingOff = true;
        folds.get(0).fail("not writable");
        beats(3_000);
        assertEquals(1, folds.size());
        backingOff = false;
        beats(500);
        assertEquals(2, folds.size());
    }

    @Test
    @Tag("T11")
    void aStreamThatNobodyOpenedIsFoldedWhenItsTimeHasComeAndNotBefore() {
        FixedStream closed = new FixedStream(KeeperWorld.STREAM, Map.of());
        round.run(List.of(closed));
        agenda.lookIn(closed, 5_000);
        beats(4_900);
        assertEquals(0, folds.size());
        beats(200);
        assertEquals(1, folds.size());
    }

    @Test
    void aDeletedStreamIsForgotten() {
        FixedStream deleted = new FixedStream(KeeperWorld.STREAM, Map.of());
        agenda.lookIn(deleted, 1_000);
        deleted.deleted = true;
        beats(2_000);
        assertEquals(0, folds.size());
        assertEquals(0, agenda.size());
    }
}
