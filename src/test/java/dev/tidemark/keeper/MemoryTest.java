package dev.tidemark.keeper;

import static dev.tidemark.keeper.KeeperWorld.numbers;
import static dev.tidemark.keeper.KeeperWorld.succeeded;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Setting;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What keepers hold in memory is bounded, and what leaves it first is what is needed least. */
class MemoryTest {
    private static final long MEMORY = 400_000;
    /** By so much a chunk may grow at once. */
    private static final long SLAB = 32 << 10;

    private static final int IDLE_MS = 60_000;

    private static KeeperWorld world(long memoryBytes, Map<Setting, Long> settings) {
        return new KeeperWorld(
                settings, new KeeperLimits(100_000, 64 << 20, 100, memoryBytes, 1 << 20, IDLE_MS, 10_000, 1_000));
    }

    private static Future<Appends.Appended> appendLarge(KeeperWorld world, int number) {
        byte[] payload = ("\"" + number + "x".repeat(2_000) + "\"").getBytes(StandardCharsets.UTF_8);
        return world.append(List.of(NewEvent.json(payload)));
    }

    private static Problem.Kind kind(Future<?> failed) {
        assertTrue(failed.failed());
        return ((Problem) failed.cause()).kind();
    }

    private static void foldAll(KeeperWorld world) {
        Position tail = world.seal();
        world.folded(world.stream(), 0, tail, world.stream().snapshot(0).lastOrdinal());
    }

    @Test
    @Tag("T8")
    void underPressureUnfoldedChunksLeaveMemoryTheOldestFirstAndAppendsGoOn() {
        KeeperWorld world = world(MEMORY, Map.of(Setting.CHUNK_MAX_EVENTS, 10L));
        for (int i = 0; i < 1_000; i++) {
            succeeded(appendLarge(world, i));
            assertTrue(world.keeper().memory().bytes() <= MEMORY + SLAB);
        }
        TimelineSnapshot memory = world.stream().snapshot(0);
        assertEquals(1_000, world.live().size());
        assertEquals(1_000, memory.lastOrdinal());
        assertTrue(memory.count() > 50 && memory.count() < 1_000, memory.count() + " are in memory");
        Position oldest = memory.newest(Integer.MAX_VALUE).get(0).first();
        assertEquals(
                memory.floor(),
                world.liveLog.events(world.stream().stripe(0)).stream()
                        .map(event -> event.id())
                        .filter(id -> id.isBefore(oldest))
                        .reduce(Position.ZERO, Position::max),
                "memory has everything above its floor");
    }

    @Test
    @Tag("T8")
    void whatIsFoldedLeavesMemoryBeforeWhatIsNot() {
        KeeperWorld world = world(MEMORY, Map.of(Setting.CHUNK_MAX_EVENTS, 10L));
        for (int i = 0; i < 50; i++) {
            succeeded(appendLarge(world, i));
        }
        foldAll(world);
        assertEquals(50, world.memory().size(), "tails may have it as long as there is room");
        Position folded = world.stream().snapshot(0).tail();
        int appended = 50;
        while (world.stream().snapshot(0).floor().isBefore(folded)) {
            assertEquals(
                    appended - 50,
                    world.stream().snapshot(0).countAfter(folded),
                    "all that isn't folded is in memory as long as something folded is");
            succeeded(appendLarge(world, appended++));
        }
        assertTrue(appended > 100);
    }

    @Test
    @Tag("T8")
    void inAStreamWithAWindowNothingUnfoldedLeavesMemoryAndAppendsAreRefusedInstead() {
        KeeperWorld world = world(MEMORY, Map.of(Setting.CHUNK_MAX_EVENTS, 10L, Setting.ACCEPTANCE_WINDOW, 1_000L));
        List<Future<Appends.Appended>> appends = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            appends.add(appendLarge(world, i));
            assertTrue(world.keeper().memory().bytes() <= MEMORY + SLAB);
        }
        Future<Appends.Appended> last = appends.get(499);
        assertEquals(Problem.Kind.OVERLOADED, kind(last));
        assertEquals("no", ((Problem) last.cause()).fields().get("stored"));
        long stored = appends.stream().filter(Future::succeeded).count();
        assertEquals(stored, world.live().size());
        assertEquals(stored, world.stream().snapshot().count(), "all of it is in memory");
        world.pass(1_100);
        foldAll(world);
        succeeded(appendLarge(world, 501));
    }

    @Test
    void whatIsOnItsWayToRedisCounts() {
        KeeperWorld world = world(100_000, Map.of());
        succeeded(world.append(1));
        world.liveLog.holdReplies(dev.tidemark.livelog.FakeLiveLog.Command.APPEND);
        List<Future<Appends.Appended>> appends = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            appends.add(appendLarge(world, i));
        }
        long refused = appends.stream().filter(Future::failed).count();
        assertTrue(refused > 50, refused + " were refused");
        assertTrue(world.keeper().memory().bytes() <= 100_000 + SLAB);
        world.liveLog.deliver();
        assertEquals(100 - refused, appends.stream().filter(Future::succeeded).count());
        world.pass(2_000);
        foldAll(world);
        world.pass(2 * IDLE_MS);
        assertTrue(world.keeper().memory().bytes() < 1_000, "nothing is counted for ever");
    }

    @Test
    void nothingUnfoldedLeavesMemoryWhileRedisIsAway() {
        KeeperWorld world = world(MEMORY, Map.of(Setting.CHUNK_MAX_EVENTS, 10L));
        for (int i = 0; i < 60; i++) {
            succeeded(appendLarge(world, i));
        }
        world.liveLog.away();
        long before = world.stream().snapshot(0).count();
        world.keeper().memory().changed(350_000);
        world.pass(100);
        assertEquals(before, world.stream().snapshot(0).count());
        world.liveLog.back();
        world.pass(5_000);
        assertTrue(world.stream().snapshot(0).count() < before);
    }

    @Test
    @Tag("T10")
    void anIdleStreamOfWhichAllIsFoldedLetsGoOfItsMemoryAndTheNextEventComesToItAsBefore() {
        KeeperWorld world = world(MEMORY, Map.of());
        succeeded(world.append(20));
        foldAll(world);
        world.pass(IDLE_MS - 1_000);
        assertEquals(numbers(1, 20), world.memory());
        world.pass(20_000);
        assertEquals(List.of(), world.memory());
        TimelineSnapshot memory = world.stream().snapshot(0);
        assertTrue(memory.isOpen());
        assertEquals(memory.tail(), memory.floor());
        assertTrue(
                world.keeper().memory().bytes() < 1_000, world.keeper().memory().bytes() + " bytes");
        succeeded(world.append(1));
        assertEquals(List.of("21"), world.memory());
        assertEquals(21, world.stream().snapshot(0).lastOrdinal());
    }

    @Test
    @Tag("T10")
    void aStreamThatIsReadOrFollowedOrHasUnfoldedEventsIsNotIdle() {
        KeeperWorld world = world(MEMORY, Map.of());
        succeeded(world.append(5));
        world.pass(3 * IDLE_MS);
        assertEquals(numbers(1, 5), world.memory(), "not folded");
        foldAll(world);
        for (int i = 0; i < 10; i++) {
            world.stream().used();
            world.pass(IDLE_MS / 2);
            assertEquals(numbers(1, 5), world.memory(), "read");
        }
        Runnable unfollow = world.stream().follow(() -> {});
        world.pass(3 * IDLE_MS);
        assertEquals(numbers(1, 5), world.memory(), "followed");
        unfollow.run();
        world.pass(IDLE_MS + 20_000);
        assertEquals(List.of(), world.memory());
    }

    @Test
    @Tag("T8")
    void foldedChunksBeyondTheTailCapacityGoWhenNewEventsComeWhetherOrNotThereIsAnotherFold() {
        KeeperWorld world = world(MEMORY, Map.of(Setting.CHUNK_MAX_EVENTS, 10L, Setting.TAIL_CAPACITY, 30L));
        succeeded(world.append(30));
        foldAll(world);
        assertEquals(numbers(1, 30), world.memory());
        succeeded(world.append(25));
        assertEquals(numbers(21, 55), world.memory());
    }

    @Test
    void anEmptyTimelineTakesNextToNothing() {
        KeeperWorld world = world(MEMORY, Map.of());
        world.open();
        assertTrue(world.keeper().memory().bytes() < 1_000);
        assertFalse(world.stream().snapshot(0).lastOrdinal() > 0);
    }

    @Test
    void aBatchThatAloneTakesMuchOfTheBoundIsTakenWhenOlderEventsCanLeaveForIt() {
        KeeperWorld world = world(MEMORY, Map.of(Setting.CHUNK_MAX_EVENTS, 10L));
        for (int i = 0; i < 200; i++) {
            succeeded(appendLarge(world, i));
        }
        byte[] payload = ("\"" + "x".repeat(300_000) + "\"").getBytes(StandardCharsets.UTF_8);
        succeeded(world.append(List.of(NewEvent.json(payload))));
        world.pass(2_000);
        assertTrue(world.keeper().memory().bytes() <= MEMORY);
    }
}
