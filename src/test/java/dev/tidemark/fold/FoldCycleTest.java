package dev.tidemark.fold;

import static dev.tidemark.keeper.KeeperWorld.numbers;
import static dev.tidemark.keeper.KeeperWorld.succeeded;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.archive.ArchiveException;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.event.Setting;
import dev.tidemark.livelog.FakeLiveLog.Command;
import dev.tidemark.livelog.FakeLiveLog.Image;
import dev.tidemark.livelog.LiveLogException.Kind;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FoldCycleTest {
    private static final Map<Setting, Long> KEEP_3 = Map.of(Setting.LIVE_MAX_EVENTS, 3L, Setting.CHUNK_MAX_EVENTS, 10L);

    private final FoldWorld world = new FoldWorld(KEEP_3);

    @Test
    @Tag("F1")
    void aFoldMovesWhatIsSealedAndTrimsToTheWindow() {
        succeeded(world.keeper.append(10));
        world.sealAndRun();
        assertEquals(numbers(1, 10), world.archived());
        assertEquals(numbers(8, 10), world.keeper.live());
        assertEquals(world.keeper.liveStream().snapshot(0).tail(), world.keeper.archive.watermark());
    }

    @Test
    @Tag("F2")
    void nothingSealedIsNothingToDo() {
        succeeded(world.keeper.append(2));
        succeeded(world.run());
        assertEquals(List.of(), world.archived());
        assertEquals(0, world.keeper.liveLog.executed(Command.TRIM));
        assertTrue(world.keeper.archive.calls().stream().noneMatch(call -> call.startsWith("append")));
    }

    @ParameterizedTest
    @Tag("F3")
    @EnumSource(
            value = ArchiveException.Kind.class,
            names = {"DISK_FULL", "IO"})
    void aFailedAppendTrimsNothingAndHealsAlone(ArchiveException.Kind kind) {
        succeeded(world.keeper.append(10));
        world.keeper.seal();
        world.keeper.archive.failAppends(2, kind);
        for (int i = 0; i < 2; i++) {
            assertTrue(world.run().failed());
            assertEquals(numbers(1, 10), world.keeper.live());
            assertEquals(0, world.keeper.liveLog.executed(Command.TRIM));
            assertEquals(7, world.cycle.overRetained(world.fold()));
        }
        succeeded(world.run());
        assertEquals(numbers(1, 10), world.archived());
        assertEquals(numbers(8, 10), world.keeper.live());
        assertEquals(0, world.cycle.overRetained(world.fold()));
    }

    @Test
    @Tag("F3")
    void aFailedForceTrimsNothingAndWhatItLostIsWrittenAgain() {
        succeeded(world.keeper.append(10));
        world.keeper.seal();
        world.keeper.archive.failForces(1, ArchiveException.Kind.IO);
        assertTrue(world.run().failed());
        assertEquals(Position.ZERO, world.keeper.archive.watermark());
        assertEquals(numbers(1, 10), world.keeper.live());
        succeeded(world.run());
        assertEquals(numbers(1, 10), world.archived());
    }

    @Test
    @Tag("F6")
    void whatArrivesDuringAFoldIsNeverTrimmedUnfolded() {
        appendsArriveBetweenFoldAndTrim(world);
        assertEquals(numbers(1, 7), world.archived());
        assertEquals(numbers(8, 9), world.keeper.live());
        assertEquals(numbers(1, 9), world.stored());
    }

    /** Live 7, folded; then two appends that aren't sealed, and a window that would trim into them. */
    private static void appendsArriveBetweenFoldAndTrim(FoldWorld world) {
        succeeded(world.keeper.append(7));
        world.keeper.seal();
        succeeded(world.cycle.foldSlice(world.fold()));
        succeeded(world.keeper.append(2));
        TrimBounds.Bounds keepNothing = new TrimBounds.Bounds(0, Long.MAX_VALUE, Position.ZERO);
        Position below = world.cycle.trimBelow(world.fold(), keepNothing);
        assertNotEquals(Position.ZERO, below);
        succeeded(world.keeper.liveLog.trim(world.keeper.liveStream().stripe(0), below));
    }

    @Test
    @Tag("F6")
    void aMutantThatTrimsByTheWindowLosesEventsAndIsCaught() {
        FoldWorld mutant = new FoldWorld(
                Map.of(Setting.LIVE_MAX_EVENTS, 1L, Setting.CHUNK_MAX_EVENTS, 10L),
                FoldWorld.Mutant.TRIMS_BY_THE_WINDOW);
        assertTrue(losesEvents(mutant), "a trim by the window must show in what is stored");
    }

    @Test
    @Tag("F11")
    void aMutantThatTrimsBeforeItFoldsLosesEventsAndIsCaught() {
        FoldWorld mutant = new FoldWorld(KEEP_3, FoldWorld.Mutant.TRIMS_BEFORE_IT_FOLDS);
        assertTrue(losesEvents(mutant), "a trim before the fold must show in what is stored");
    }

    @Test
    @Tag("F11")
    void theRealCycleLosesNothingWhereTheMutantsDo() {
        assertTrue(!losesEvents(new FoldWorld(KEEP_3)));
        assertTrue(!losesEvents(new FoldWorld(Map.of(Setting.LIVE_MAX_EVENTS, 1L, Setting.CHUNK_MAX_EVENTS, 10L))));
    }

    /** Fold cycles in which the archive fails now and then and appends come between, each followed by a look at storage alone. */
    private static boolean losesEvents(FoldWorld world) {
        int appended = 0;
        for (int round = 0; round < 20; round++) {
            succeeded(world.keeper.append(5));
            appended += 5;
            if (round % 2 == 0) {
                world.keeper.seal();
            }
            if (round % 3 == 1) {
                world.keeper.archive.failAppends(1, ArchiveException.Kind.IO);
            }
            boolean ended = world.run().isComplete();
            if (!ended || !world.stored().equals(numbers(1, appended))) {
                return true;
            }
        }
        return false;
    }

    @ParameterizedTest
    @Tag("F5")
    @EnumSource(
            value = Command.class,
            names = {"COPY_SEAM", "TRIM", "RANGE"})
    void anErrorOfRedisIsNeverReadAsEmpty(Command command) {
        succeeded(world.keeper.append(10));
        world.keeper.seal();
        world.keeper.liveLog.refuse(Kind.NOT_NOW, command);
        var run = world.run();
        assertEquals(command == Command.RANGE, run.failed());
        assertEquals(command == Command.TRIM, !world.fold().trimTrouble.isEmpty());
        assertEquals(numbers(1, 10), world.stored());
        world.keeper.liveLog.accept();
        succeeded(world.run());
        assertEquals(numbers(1, 10), world.archived());
        assertEquals(numbers(8, 10), world.keeper.live());
    }

    @Test
    @Tag("F8")
    void theSeamIsCopiedToRedis() {
        succeeded(world.keeper.append(10));
        world.sealAndRun();
        String seam = world.keeper.liveLog.seam(dev.tidemark.keeper.KeeperWorld.STREAM.name());
        assertTrue(
                seam != null && seam.contains(world.keeper.archive.watermark().entryId()), seam);
    }

    @Test
    @Tag("F4")
    @Tag("F5")
    void afterAKillAtAnyStepEveryEventIsThereOnceAndWHasNotGoneBack() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        int appended = 0;
        Position watermark = Position.ZERO;
        for (int round = 0; round < 200; round++) {
            int count = 1 + random.nextInt(8);
            succeeded(world.keeper.append(count));
            appended += count;
            if (random.nextBoolean()) {
                world.keeper.seal();
            }
            switch (random.nextInt(4)) {
                case 0 -> world.keeper.archive.failForces(1, ArchiveException.Kind.IO);
                case 1 -> world.keeper.archive.failAppends(1, ArchiveException.Kind.IO);
                default -> {}
            }
            assertTrue(world.run().isComplete());
            watermark = Position.max(watermark, world.keeper.archive.watermark());
            if (random.nextInt(3) == 0) {
                int unforced = world.keeper.archive.unforced();
                world.killAndRestart(unforced == 0 ? 0 : random.nextInt(unforced + 1));
                assertTrue(world.keeper.archive.watermark().compareTo(watermark) >= 0, "seed " + seed);
            }
            assertEquals(numbers(1, appended), world.stored(), "seed " + seed);
        }
    }

    @Test
    @Tag("T13")
    void whatADeadProcessLeftInRedisIsFolded() {
        succeeded(world.keeper.append(2_500));
        world.killAndRestart(0);
        world.sealAndRun();
        assertEquals(numbers(1, 2_500), world.archived());
        assertEquals(numbers(2_498, 2_500), world.keeper.live());
    }

    @Test
    void whatRedisLostButMemoryHoldsIsFolded() {
        succeeded(world.keeper.append(2));
        Image image = world.keeper.liveLog.image();
        succeeded(world.keeper.append(3));
        world.keeper.liveLog.restore(image);
        world.keeper.pass(200);
        succeeded(world.keeper.append(1));
        world.sealAndRun();
        assertEquals(numbers(1, 6), world.archived());
    }

    @Test
    void whatIsInNeitherPlaceIsAGapAndTheFoldGoesOn() {
        succeeded(world.keeper.append(2_000));
        world.killAndRestart(0);
        Position first = world.keeper
                .liveLog
                .events(world.keeper.liveStream().stripe(0))
                .get(100)
                .id();
        world.keeper.liveLog.trimByOthers(world.keeper.liveStream().stripe(0), first);
        succeeded(world.keeper.append(1));
        world.sealAndRun();
        assertEquals(numbers(101, 2_001), world.archived());
        List<Gap> gaps = world.keeper
                .archive
                .read(Position.ZERO, Position.MAX, 10, 1 << 20)
                .gaps();
        assertEquals(List.of(Gap.Reason.LOST), gaps.stream().map(Gap::reason).toList());
    }

    @Test
    void whatOthersTrimmedButMemoryHoldsIsFolded() {
        succeeded(world.keeper.append(10));
        world.sealAndRun();
        succeeded(world.keeper.append(5));
        world.keeper.liveLog.trimByOthers(world.keeper.liveStream().stripe(0), Position.MAX);
        succeeded(world.keeper.append(1));
        world.sealAndRun();
        assertEquals(numbers(1, 16), world.archived());
    }

    @Test
    void voidedOrdinalsAreNoLoss() {
        succeeded(world.keeper.append(1));
        world.keeper.liveLog.holdReplies(Command.APPEND);
        world.keeper.liveLog.refuseNext(Command.APPEND, Kind.OUT_OF_MEMORY, 1);
        var refused = world.keeper.append(3);
        var stored = world.keeper.append(1);
        world.keeper.liveLog.deliver();
        assertTrue(refused.failed() && stored.succeeded());
        world.sealAndRun();
        succeeded(world.keeper.append(1));
        world.sealAndRun();
        assertEquals(List.of("1", "5", "6"), world.archived());
        assertEquals(
                List.of(),
                world.keeper
                        .archive
                        .read(Position.ZERO, Position.MAX, 10, 1 << 20)
                        .gaps());
    }

    @Test
    @Tag("R27")
    void aBacklogMeetsItsBoundAfterARestart() {
        FoldWorld backlog = new FoldWorld(Map.of(Setting.LIVE_MAX_EVENTS, 10L, Setting.TAIL_CAPACITY, 5L));
        succeeded(backlog.keeper.append(6_000));
        backlog.killAndRestart(0);
        backlog.sealAndRun();
        assertEquals(numbers(5_991, 6_000), backlog.keeper.live());
        assertEquals(numbers(1, 6_000), backlog.stored());
    }

    @Test
    @Tag("F10")
    void ageAndBytesTrimTooButNeverAboveW() {
        FoldWorld aged = new FoldWorld(Map.of(Setting.LIVE_MAX_AGE, 60_000L, Setting.LIVE_MAX_BYTES, 50L));
        for (int i = 0; i < 50; i++) {
            succeeded(aged.keeper.append(1));
            aged.sealAndRun();
        }
        assertEquals(25, aged.keeper.live().size(), "50 bytes of two-digit payloads");
        aged.keeper.clock.advanceMs(61_000);
        succeeded(aged.keeper.append(1));
        succeeded(aged.run());
        assertEquals(List.of("51"), aged.keeper.live());
        assertEquals(numbers(1, 51), aged.stored());
    }
}
