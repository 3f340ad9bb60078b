package dev.tidemark.retention;

import static dev.tidemark.keeper.KeeperWorld.succeeded;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Position;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamSettings;
import dev.tidemark.event.Units;
import dev.tidemark.fold.FoldStatus;
import dev.tidemark.fold.TrimBounds;
import dev.tidemark.keeper.KeeperWorld;
import dev.tidemark.keeper.TimelineSnapshot;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class RetentionBeatTest {
    private static final long LAG_MS = 10_000;

    private static RetentionBeat beat(KeeperWorld world) {
        return new RetentionBeat(new Windows(), world.clock, LAG_MS);
    }

    /** The status after everything in memory was folded, with the live log beginning at {@code firstLive}. */
    private static FoldStatus folded(KeeperWorld world, Position firstLive, long liveFloorOrdinal) {
        return folded(world, firstLive, liveFloorOrdinal, 0);
    }

    private static FoldStatus folded(
            KeeperWorld world, Position firstLive, long liveFloorOrdinal, long foldedLiveBytes) {
        TimelineSnapshot memory = world.liveStream().snapshot(0);
        return new FoldStatus(
                memory.tail(),
                firstLive,
                liveFloorOrdinal,
                null,
                memory.lastOrdinal(),
                Position.ZERO,
                "ok",
                1,
                "",
                0,
                0,
                memory.lastOrdinal(),
                0,
                foldedLiveBytes);
    }

    @Test
    void nothingIsDueForAStreamThatIsNotOpenOrHasNothingSealed() {
        KeeperWorld world = new KeeperWorld(Map.of());
        assertFalse(beat(world).isDue(world.liveStream(), FoldStatus.NONE));
        succeeded(world.append(3));
        assertFalse(beat(world).isDue(world.liveStream(), FoldStatus.NONE));
    }

    @Test
    void sealedEventsAreDueWhenTheOldestReachesTheLag() {
        KeeperWorld world = new KeeperWorld(Map.of());
        succeeded(world.append(3));
        world.pass(1_100);
        assertFalse(beat(world).isDue(world.liveStream(), FoldStatus.NONE));
        world.pass(LAG_MS);
        assertTrue(beat(world).isDue(world.liveStream(), FoldStatus.NONE));
        assertFalse(beat(world).isDue(world.liveStream(), folded(world, Position.ZERO, 0)));
    }

    @Test
    @Tag("F10")
    void aWindowOfLessThanTheLagIsFoldedInTime() {
        KeeperWorld world = new KeeperWorld(Map.of(Setting.LIVE_MAX_AGE, 3_000L));
        succeeded(world.append(3));
        world.pass(2_900);
        assertFalse(beat(world).isDue(world.liveStream(), FoldStatus.NONE));
        world.pass(200);
        assertTrue(beat(world).isDue(world.liveStream(), FoldStatus.NONE));
    }

    @Test
    void aMegabyteSealedIsDueAtOnce() {
        KeeperWorld world = new KeeperWorld(Map.of());
        byte[] payload = ("\"" + "x".repeat(100_000) + "\"").getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < 12; i++) {
            succeeded(world.append(List.of(NewEvent.json(payload))));
        }
        world.seal();
        assertTrue(beat(world).isDue(world.liveStream(), FoldStatus.NONE));
    }

    @Test
    @Tag("F10")
    void moreThanTheWindowIsDueAtOnceWhetherToFoldOrToTrim() {
        KeeperWorld world = new KeeperWorld(Map.of(Setting.LIVE_MAX_EVENTS, 2L));
        succeeded(world.append(3));
        world.seal();
        assertTrue(beat(world).isDue(world.liveStream(), FoldStatus.NONE));
        Position first =
                world.liveLog.events(world.liveStream().stripe(0)).get(0).id();
        assertTrue(beat(world).isDue(world.liveStream(), folded(world, first, 0)));
        assertFalse(beat(world).isDue(world.liveStream(), folded(world, first, 1)));
    }

    @Test
    @Tag("F10")
    void whatIsOlderThanTheWindowIsDueOnceAndOnlyIfItIsFolded() {
        KeeperWorld world = new KeeperWorld(Map.of(Setting.LIVE_MAX_AGE, 60_000L));
        succeeded(world.append(3));
        world.seal();
        Position first =
                world.liveLog.events(world.liveStream().stripe(0)).get(0).id();
        assertFalse(beat(world).isDue(world.liveStream(), folded(world, first, 0)));
        world.clock.advanceMs(60_001);
        assertTrue(beat(world).isDue(world.liveStream(), folded(world, first, 0)));
        assertFalse(beat(world).isDue(world.liveStream(), folded(world, Position.ZERO, 3)));
    }

    @Test
    void windowsComeFromTheSettings() {
        StreamSettings none = StreamSettings.DEFAULT.with(Map.of(
                Setting.LIVE_MAX_EVENTS,
                Units.NONE,
                Setting.LIVE_MAX_AGE,
                Units.NONE,
                Setting.LIVE_MAX_BYTES,
                Units.NONE));
        assertEquals(
                new TrimBounds.Bounds(Long.MAX_VALUE, Long.MAX_VALUE, Position.ZERO),
                new Windows().of(none, 1_000_000));
        StreamSettings some = StreamSettings.DEFAULT.with(
                Map.of(Setting.LIVE_MAX_EVENTS, 7L, Setting.LIVE_MAX_AGE, 5_000L, Setting.LIVE_MAX_BYTES, 9L));
        assertEquals(new TrimBounds.Bounds(7, 9, new Position(995_000, 0)), new Windows().of(some, 1_000_000));
    }

    @Test
    @Tag("F10")
    void moreBytesThanTheWindowAreDueWhetherToFoldOrToTrim() {
        KeeperWorld world = new KeeperWorld(Map.of(Setting.LIVE_MAX_BYTES, 10_000L));
        byte[] payload = ("\"" + "x".repeat(4_000) + "\"").getBytes(StandardCharsets.UTF_8);
        succeeded(world.append(List.of(NewEvent.json(payload))));
        world.seal();
        assertFalse(beat(world).isDue(world.liveStream(), FoldStatus.NONE));
        succeeded(world.append(List.of(NewEvent.json(payload), NewEvent.json(payload))));
        world.seal();
        assertTrue(beat(world).isDue(world.liveStream(), FoldStatus.NONE));
        Position first =
                world.liveLog.events(world.liveStream().stripe(0)).get(0).id();
        assertFalse(beat(world).isDue(world.liveStream(), folded(world, first, 0, 10_000)));
        assertTrue(beat(world).isDue(world.liveStream(), folded(world, first, 0, 10_001)));
        assertTrue(beat(world).isDue(world.liveStream(), folded(world, first, 0, Long.MAX_VALUE)), "not known yet");
    }
}
