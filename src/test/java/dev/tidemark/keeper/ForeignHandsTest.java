package dev.tidemark.keeper;

import static dev.tidemark.keeper.KeeperWorld.numbers;
import static dev.tidemark.keeper.KeeperWorld.succeeded;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Event;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Position;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StripeId;
import dev.tidemark.livelog.FakeLiveLog.Command;
import dev.tidemark.livelog.FakeLiveLog.Image;
import dev.tidemark.livelog.LiveLogException.Kind;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What others do to a stripe's key. */
class ForeignHandsTest {
    private static final long A_ROUND_MS = 3_000;

    private final KeeperWorld world = new KeeperWorld(Map.of());
    private final StripeId stripe = world.stream().stripe(0);

    private Position now() {
        return new Position(world.clock.wallMs(), 9);
    }

    private long quarantined() {
        return world.keeper().counters().quarantined.sum();
    }

    private List<Long> ordinals() {
        return world.liveLog.events(stripe).stream().map(Event::ordinal).toList();
    }

    // ---- what they put in

    @Test
    void anEntryBetweenOursGoesToQuarantineAndOursGoOn() {
        succeeded(world.append(2));
        world.clock.advanceMs(5);
        Position foreign = now();
        world.liveLog.addForeign(stripe, foreign);
        world.clock.advanceMs(5);
        succeeded(world.append(2));
        world.pass(A_ROUND_MS);
        assertEquals(List.of(foreign), world.liveLog.quarantined(stripe));
        assertEquals(1, quarantined());
        succeeded(world.append(1));
        assertEquals(numbers(1, 5), world.memory());
        assertEquals(numbers(1, 5), world.live());
        assertEquals(List.of(1L, 2L, 3L, 4L, 5L), ordinals());
        world.pass(2 * A_ROUND_MS);
        assertEquals(1, quarantined());
    }

    @Test
    void anEntryBehindOursGoesToQuarantineAndNothingLooksLost() {
        succeeded(world.append(2));
        world.clock.advanceMs(5);
        world.liveLog.addForeign(stripe, now());
        world.pass(A_ROUND_MS);
        assertEquals(1, quarantined());
        world.killAndRestart(0);
        world.open();
        assertEquals(2, world.stream().snapshot(0).lastOrdinal());
        succeeded(world.append(1));
        assertEquals(List.of(1L, 2L, 3L), ordinals());
    }

    @Test
    @Tag("R28")
    void whatTheyTakeOutOfAnUnansweredAppendDoesNotDoubleTheNextOne() {
        for (int removed = 0; removed < 3; removed++) {
            succeeded(world.append(1));
            world.liveLog.holdReplies(Command.APPEND);
            var three = world.append(3);
            var one = world.append(1);
            int there = world.live().size();
            world.liveLog.removeByOthers(
                    stripe,
                    world.liveLog.events(stripe).get(there - 4 + removed).entry());
            world.liveLog.dropConnections();
            world.pass(1_000);
            assertEquals(3, succeeded(three).ids().size());
            assertEquals(1, succeeded(one).ids().size());
            assertEquals(there - 1, world.live().size(), "nothing is stored once more");
            assertEquals(numbers(1, 5 * (removed + 1)), world.memory());
        }
    }

    @Test
    void aPositionFarAheadIsPutBackWhileRunning() {
        succeeded(world.append(2));
        Position ahead = new Position(world.clock.wallMs() + 3_600_000, 0);
        world.liveLog.addForeign(stripe, ahead);
        long before = world.clock.wallMs();
        Position next = succeeded(world.append(1)).ids().get(0);
        assertTrue(next.ms() < before + 10_000, "ids run ahead: " + next);
        assertEquals(List.of(ahead), world.liveLog.quarantined(stripe));
        assertEquals(1, quarantined());
        assertEquals(numbers(1, 3), world.live());
    }

    @Test
    void aPositionAheadOfAllTimesIsPutBackAtAStart() {
        succeeded(world.append(2));
        world.stopAndRestart();
        world.liveLog.addForeign(stripe, new Position(Long.MAX_VALUE, 5));
        world.open();
        succeeded(world.append(1));
        assertEquals(numbers(1, 3), world.live());
        assertEquals(1, quarantined());
    }

    @Test
    void aPositionWithoutAnEntryFarAheadIsPutBack() {
        succeeded(world.append(2));
        world.liveLog.positionByOthers(stripe, new Position(world.clock.wallMs() + 30 * 86_400_000L, 0));
        long before = world.clock.wallMs();
        Position next = succeeded(world.append(1)).ids().get(0);
        assertTrue(next.ms() < before + 10_000, "ids run ahead: " + next);
        assertEquals(numbers(1, 3), world.live());
    }

    @Test
    void idsOfOursAheadOfTheClockStayWhereTheyAre() {
        world.clock.stepMs(3_600_000);
        succeeded(world.append(2));
        world.clock.stepMs(-3_600_000);
        world.killAndRestart(0);
        world.open();
        succeeded(world.append(1));
        assertEquals(numbers(1, 3), world.live());
        assertEquals(0, quarantined());
        assertEquals(0, world.liveLog.executed(Command.RESTORE_POSITION));
    }

    @Test
    void refusedAppendsAreNoReasonToSweepTheLiveLogAgainAndAgain() {
        succeeded(world.append(1));
        world.liveLog.holdReplies(Command.APPEND);
        world.liveLog.refuseNext(Command.APPEND, Kind.OUT_OF_MEMORY, 1);
        var refused = world.append(3);
        var stored = world.append(1);
        world.liveLog.deliver();
        assertTrue(refused.failed());
        succeeded(stored);
        world.pass(10 * A_ROUND_MS);
        assertEquals(0, world.liveLog.executed(Command.QUARANTINE));
        assertTrue(world.liveLog.executed(Command.CENSUS) > 5);
    }

    // ---- what they take out

    @Test
    void aKeyThatOthersDeletedIsMadeAgainAndWhatIsUnfoldedIsFoldedAtOnce() {
        Position last = succeeded(world.append(3)).ids().get(2);
        world.liveLog.deleteByOthers(stripe);
        world.pass(A_ROUND_MS);
        assertTrue(world.liveLog.exists(stripe));
        assertEquals(last, world.stream().foldSoonThrough());
        assertEquals(numbers(1, 3), world.memory());
    }

    @Test
    void unfoldedEntriesThatOthersRemoveAreFoldedFromMemoryAtOnce() {
        List<Position> ids = succeeded(world.append(4)).ids();
        world.pass(A_ROUND_MS);
        assertEquals(Position.ZERO, world.stream().foldSoonThrough());
        world.liveLog.removeByOthers(stripe, ids.get(1));
        world.pass(A_ROUND_MS);
        assertEquals(ids.get(3), world.stream().foldSoonThrough());
    }

    @Test
    void theOldestAndTheNewestAreMissedToo() {
        List<Position> ids = succeeded(world.append(4)).ids();
        world.liveLog.trimByOthers(stripe, ids.get(2));
        world.pass(A_ROUND_MS);
        assertEquals(ids.get(3), world.stream().foldSoonThrough());
        List<Position> more = succeeded(world.append(2)).ids();
        world.liveLog.removeByOthers(stripe, more.get(1));
        world.pass(A_ROUND_MS);
        assertEquals(more.get(1), world.stream().foldSoonThrough());
    }

    @Test
    void aRedisThatCameBackWithLessIsNoticedWhenTheConnectionIsBack() {
        succeeded(world.append(2));
        Image image = world.liveLog.image();
        Position last = succeeded(world.append(2)).ids().get(1);
        world.liveLog.restore(image);
        world.pass(200);
        assertEquals(last, world.stream().foldSoonThrough());
        assertEquals(numbers(1, 4), world.memory());
    }

    // ---- while the server is down

    private Position lastKnownTail() {
        return world.stream().snapshot(0).tail();
    }

    /** Ordinals 1 to {@code found} are there, and what was appended behind them is a hole for all who count. */
    private void assertLostBehind(int found, Position lost) {
        assertTrue(lastKnownTail().compareTo(lost) >= 0, "the tail is " + lastKnownTail());
        assertEquals(found + 1L, world.stream().snapshot(0).lastOrdinal());
        Position next = succeeded(world.append(1)).ids().get(0);
        assertTrue(next.isAfter(lost));
        List<Event> events = world.liveLog.events(stripe);
        assertEquals(found + 2L, events.get(events.size() - 1).ordinal());
    }

    @Test
    void theNewestEntriesRemovedMeanwhileAreAHole() {
        List<Position> ids = succeeded(world.append(5)).ids();
        world.killAndRestart(0);
        world.liveLog.removeByOthers(stripe, ids.get(4));
        world.liveLog.removeByOthers(stripe, ids.get(3));
        world.open();
        assertLostBehind(3, ids.get(4));
    }

    @Test
    void allEntriesTrimmedMeanwhileAreAHole() {
        List<Position> ids = succeeded(world.append(5)).ids();
        world.killAndRestart(0);
        world.liveLog.trimByOthers(stripe, Position.MAX);
        world.open();
        assertLostBehind(0, ids.get(4));
    }

    @Test
    void aKeyDeletedMeanwhileIsAHoleUpToTheReservation() {
        succeeded(world.append(5));
        long high = world.reservation().highMs();
        world.killAndRestart(0);
        world.liveLog.deleteByOthers(stripe);
        world.open();
        assertLostBehind(0, new Position(high - 1, 0));
    }

    @Test
    void theEvidenceOfALossOutlivesFurtherKillsUntilAnEventIsStored() {
        List<Position> ids = succeeded(world.append(5)).ids();
        world.killAndRestart(0);
        world.liveLog.deleteByOthers(stripe);
        for (int i = 0; i < 3; i++) {
            world.open();
            assertEquals(1, world.stream().snapshot(0).lastOrdinal());
            world.killAndRestart(0);
        }
        world.open();
        assertLostBehind(0, ids.get(4));
        world.killAndRestart(0);
        world.open();
        assertEquals(2, world.stream().snapshot(0).lastOrdinal());
    }

    @Test
    void killsWithoutAnyLossLookLikeNone() {
        succeeded(world.append(5));
        for (int i = 0; i < 3; i++) {
            world.killAndRestart(0);
            world.open();
            assertEquals(5, world.stream().snapshot(0).lastOrdinal());
        }
        succeeded(world.append(1));
        assertEquals(List.of(1L, 2L, 3L, 4L, 5L, 6L), ordinals());
    }

    @Test
    void afterACleanStopAMissingKeyIsNoLossBecauseEverythingWasFolded() {
        world.stopAndRestart();
        world.liveLog.deleteByOthers(stripe);
        world.open();
        assertEquals(0, world.stream().snapshot(0).lastOrdinal());
        assertFalse(succeeded(world.append(1)).duplicate());
        assertEquals(List.of(1L), ordinals());
    }

    @Test
    @Tag("R13")
    void aRedisThatWasRestartedWithoutSyncingMayHaveLostTheNewest() {
        succeeded(world.append(5));
        long high = world.reservation().highMs();
        world.lostBelowMs(high);
        world.killAndRestart(0);
        world.open();
        assertLostBehind(5, new Position(high - 1, 0));
        world.killAndRestart(0);
        world.open();
        assertEquals(7, world.stream().snapshot(0).lastOrdinal(), "one hole, not one at each start");
    }

    // ---- several stripes, which share W

    private final KeeperWorld four = new KeeperWorld(Map.of(Setting.STRIPES, 4L));

    /** Appends to a stripe and folds it: W is behind it for all stripes. */
    private Position appendAndFold(int stripe, int count) {
        List<NewEvent> events = Collections.nCopies(count, NewEvent.json("1".getBytes(StandardCharsets.UTF_8)));
        List<Position> ids = succeeded(four.append(stripe, events)).ids();
        Position last = ids.get(count - 1);
        four.pass(100);
        four.archive.append(four.stream().snapshot(stripe).newest(count));
        four.archive.force();
        four.archive.publish(last);
        return last;
    }

    private long nextOrdinal(int stripe) {
        succeeded(four.append(stripe, List.of(NewEvent.json("1".getBytes(StandardCharsets.UTF_8)))));
        List<Event> events = four.liveLog.events(four.stream().stripe(stripe));
        return events.get(events.size() - 1).ordinal();
    }

    @Test
    @Tag("T13")
    void aStripeThatHadLittleToDoHasLostNothingAfterAKill() {
        four.open();
        appendAndFold(1, 2);
        appendAndFold(0, 3);
        four.killAndRestart(0);
        four.open();
        assertEquals(1, nextOrdinal(3), "of a stripe that never had an event");
        assertEquals(3, nextOrdinal(1), "of a stripe whose newest event is far below W");
        assertEquals(4, nextOrdinal(0));
    }

    @Test
    @Tag("R13")
    void aStripeWhoseRedisHasLessThanTheArchiveMayHaveLostMore() {
        four.open();
        appendAndFold(1, 1);
        Image image = four.liveLog.image();
        appendAndFold(1, 1);
        appendAndFold(0, 1);
        four.liveLog.restore(image);
        four.killAndRestart(0);
        four.open();
        assertEquals(4, nextOrdinal(1), "1 and 2 are folded, 3 stands for what may be lost");
    }
}
