package dev.tidemark.keeper;

import static dev.tidemark.keeper.KeeperWorld.numbers;
import static dev.tidemark.keeper.KeeperWorld.succeeded;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Event;
import dev.tidemark.event.EventId;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Setting;
import dev.tidemark.livelog.FakeLiveLog.Command;
import dev.tidemark.livelog.FakeLiveLog.Image;
import dev.tidemark.livelog.LiveLogException.Kind;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class KeeperTest {
    private final KeeperWorld world = new KeeperWorld(Map.of());

    @com.google.errorprone.annotations.CanIgnoreReturnValue
    private static Problem problem(Future<?> future) {
        assertTrue(future.failed(), "should have failed: " + future);
        return (Problem) future.cause();
    }

    private void ordinalsAreGapFreeInRedis() {
        List<Event> events = world.liveLog.events(world.stream().stripe(0));
        assertEquals(
                LongStream.rangeClosed(1, events.size()).boxed().toList(),
                events.stream().map(Event::ordinal).toList());
    }

    @Test
    @Tag("T6")
    void anEventIsVisibleWhenItIsAcknowledgedAndNotBefore() {
        succeeded(world.append(1));
        world.liveLog.holdReplies(Command.APPEND);
        Future<Appends.Appended> second = world.append(1);
        assertFalse(second.isComplete());
        assertEquals(numbers(1, 1), world.memory());
        world.liveLog.deliver();
        succeeded(second);
        assertEquals(numbers(1, 2), world.memory());
        assertEquals(
                world.stream().snapshot(0).tail(), world.stream().snapshot(0).frontier());
    }

    @Test
    void idsRiseOverAClockThatStepsBack() {
        List<Position> ids = new ArrayList<>();
        for (int step : new int[] {0, -3_600_000, 7_200_000, -300, 300, -86_400_000}) {
            world.clock.stepMs(step);
            ids.addAll(succeeded(world.append(3)).ids());
        }
        for (int i = 1; i < ids.size(); i++) {
            assertTrue(ids.get(i).isAfter(ids.get(i - 1)), ids.toString());
        }
        ordinalsAreGapFreeInRedis();
    }

    @Test
    void sealingGoesOnWhileTheWallClockStandsStill() {
        succeeded(world.append(3));
        assertEquals(Position.ZERO, world.stream().snapshot(0).lastSealed());
        world.clock.stepMs(-3_600_000);
        world.pass(1_100);
        assertEquals(
                world.stream().snapshot(0).tail(), world.stream().snapshot(0).lastSealed());
    }

    @Test
    void aChunkSealsWhenItIsFullAndALargeEventGetsOneOfItsOwn() {
        KeeperWorld small = new KeeperWorld(Map.of(Setting.CHUNK_MAX_EVENTS, 4L, Setting.CHUNK_MAX_BYTES, 2_048L));
        succeeded(small.append(10));
        assertEquals(
                8,
                small.stream().snapshot(0).sealedAfter(Position.ZERO, 100, 1 << 20).stream()
                        .mapToInt(slice -> slice.count())
                        .sum());
        byte[] large = ("\"" + "x".repeat(5_000) + "\"").getBytes(java.nio.charset.StandardCharsets.UTF_8);
        succeeded(small.append(List.of(NewEvent.json(large))));
        succeeded(small.append(1));
        List<Integer> sizes = small.stream().snapshot(0).newest(100).stream()
                .map(slice -> slice.count())
                .toList();
        assertEquals(List.of(4, 4, 2, 1, 1), sizes);
    }

    @Test
    @Tag("F15")
    void afterAnUnansweredAppendTheStripeIsFencedAndALateArrivalChangesNothing() {
        succeeded(world.append(2));
        world.liveLog.holdBytes(Command.APPEND);
        Future<Appends.Appended> open = world.append(1);
        world.liveLog.dropConnections();
        world.pass(100);
        succeeded(open);
        succeeded(world.append(1));
        List<String> before = world.live();
        assertEquals(numbers(1, 4), before);
        assertEquals(1, world.liveLog.arriveLate());
        assertEquals(before, world.live());
        assertEquals(numbers(1, 4), world.memory());
        ordinalsAreGapFreeInRedis();
    }

    @Test
    void anAppendWhoseAnswerWasLostIsFoundAndAcknowledgedOnce() {
        succeeded(world.append(1));
        world.liveLog.holdReplies(Command.APPEND);
        Future<Appends.Appended> stored = world.append(2);
        world.liveLog.holdBytes(Command.APPEND);
        Future<Appends.Appended> notStored = world.append(2);
        world.liveLog.dropConnections();
        assertFalse(stored.isComplete());
        world.pass(100);
        assertEquals(2, succeeded(stored).ids().size());
        assertEquals(2, succeeded(notStored).ids().size());
        assertEquals(numbers(1, 5), world.live());
        assertEquals(numbers(1, 5), world.memory());
        ordinalsAreGapFreeInRedis();
    }

    @Test
    void whileRedisIsAwayAppendsAreRefusedWithinASecondAndMemoryIsStillRead() {
        succeeded(world.append(3));
        world.liveLog.holdReplies(Command.APPEND);
        Future<Appends.Appended> open = world.append(1);
        world.liveLog.away();
        Future<Appends.Appended> waiting = world.append(1);
        world.pass(1_100);
        assertEquals("unknown", problem(open).fields().get("stored"));
        assertEquals("no", problem(waiting).fields().get("stored"));
        assertEquals(Problem.Kind.UNAVAILABLE, problem(world.append(1)).kind());
        assertFalse(world.stream().liveLogReachable());
        assertEquals(numbers(1, 3), world.memory());
        world.liveLog.back();
        world.pass(1_200);
        assertTrue(world.stream().liveLogReachable());
        assertEquals(numbers(1, 4), world.memory());
        succeeded(world.append(1));
        ordinalsAreGapFreeInRedis();
    }

    @Test
    void aRefusedAppendStoresNothingAndItsOrdinalsAreGivenAgain() {
        succeeded(world.append(1));
        for (Kind kind : new Kind[] {Kind.OUT_OF_MEMORY, Kind.NOT_NOW, Kind.REFUSED}) {
            world.liveLog.refuse(kind, Command.APPEND);
            Problem refused = problem(world.append(3));
            assertEquals("no", refused.fields().get("stored"), kind.toString());
            assertEquals(kind.retryable(), refused.kind().retryable(), kind.toString());
        }
        world.liveLog.accept();
        succeeded(world.append(2));
        assertEquals(3, world.live().size());
        ordinalsAreGapFreeInRedis();
    }

    /** Redis can't write for a while: the connection comes back at once, what is done then is refused. */
    @Test
    void aQuietStripeThatCouldNotResumeTriesAgainByItself() {
        succeeded(world.append(2));
        world.seal();
        world.pass(2_000);
        world.liveLog.dropConnections();
        world.liveLog.holdReplies(Command.FENCE);
        world.liveLog.refuse(Kind.NOT_NOW, Command.FENCE);
        world.pass(200);
        world.liveLog.deliver();
        assertFalse(world.liveStream().liveLogReachable());
        world.liveLog.accept();
        world.pass(2_000);
        assertTrue(world.liveStream().liveLogReachable());
    }

    /** An append of three is refused while one behind it is stored. */
    private void refusedBelowAStored() {
        world.liveLog.holdReplies(Command.APPEND);
        world.liveLog.refuseNext(Command.APPEND, Kind.OUT_OF_MEMORY, 1);
        Future<Appends.Appended> refused = world.append(3);
        Future<Appends.Appended> stored = world.append(1);
        world.liveLog.deliver();
        assertEquals("no", problem(refused).fields().get("stored"));
        succeeded(stored);
    }

    private void theThirdEventCarriesWhatWasRefused() {
        List<Event> events = world.liveLog.events(world.stream().stripe(0));
        assertEquals(List.of(1L, 5L, 6L), events.stream().map(Event::ordinal).toList());
        assertEquals(
                "[2-4]",
                String.valueOf(
                        java.util.Objects.requireNonNull(events.get(2).extras()).voided()));
    }

    @Test
    void ordinalsOfARefusedAppendBelowAStoredOneAreCarriedByTheNext() {
        succeeded(world.append(1));
        refusedBelowAStored();
        succeeded(world.append(1));
        theThirdEventCarriesWhatWasRefused();
    }

    @Test
    void whatIsInFlightWhenTheKeyGoesKeepsItsOrder() {
        succeeded(world.append(1));
        world.liveLog.holdBytes(Command.APPEND);
        List<Future<Appends.Appended>> inFlight = List.of(world.append(1), world.append(2), world.append(1));
        world.liveLog.deleteByOthers(world.stream().stripe(0));
        world.liveLog.arrive();
        world.pass(500);
        inFlight.forEach(KeeperWorld::succeeded);
        assertEquals(numbers(2, 5), world.live());
        assertEquals(numbers(1, 5), world.memory());
    }

    @Test
    void whatIsInFlightWhenIdsAreTooLowKeepsItsOrder() {
        succeeded(world.append(1));
        world.liveLog.holdReplies(Command.APPEND);
        world.liveLog.refuseNext(Command.APPEND, Kind.ID_TOO_LOW, 3);
        List<Future<Appends.Appended>> inFlight = List.of(world.append(1), world.append(2), world.append(1));
        world.liveLog.deliver();
        world.pass(500);
        inFlight.forEach(KeeperWorld::succeeded);
        assertEquals(numbers(1, 5), world.live());
        assertEquals(numbers(1, 5), world.memory());
        ordinalsAreGapFreeInRedis();
    }

    @Test
    void whatWasRefusedWhileTheStripeCanNotBeFencedIsSaidNotToBeStored() {
        succeeded(world.append(1));
        world.liveLog.refuse(Kind.NOT_NOW, Command.FENCE);
        world.liveLog.refuseNext(Command.APPEND, Kind.ID_TOO_LOW, 1);
        Future<Appends.Appended> refused = world.append(1);
        world.pass(1_500);
        assertEquals("no", problem(refused).fields().get("stored"));
        world.liveLog.accept();
        world.pass(2_000);
        assertEquals(numbers(1, 1), world.live());
    }

    @Test
    void ordinalsLeftOutAndFoldedBetweenTwoLooksOfThePatrolAreNoLoss() {
        succeeded(world.append(1));
        world.pass(2_500);
        refusedBelowAStored();
        succeeded(world.append(1));
        world.seal();
        TimelineSnapshot sealed = world.stream().snapshot(0);
        world.folded(world.liveStream(), 0, sealed.tail(), sealed.lastOrdinal());
        succeeded(world.append(1));
        world.pass(2_500);
        assertEquals(Position.ZERO, world.stream().foldSoonThrough());
        world.liveLog.removeByOthers(
                world.stream().stripe(0),
                world.liveLog.events(world.stream().stripe(0)).get(1).entry());
        world.pass(2_500);
        assertTrue(world.stream().foldSoonThrough().isAfter(Position.ZERO));
    }

    @Test
    void ordinalsOfARefusedAppendThatAreGivenAgainAfterALostConnectionAreNotVoided() {
        succeeded(world.append(1));
        world.liveLog.holdReplies(Command.APPEND);
        world.liveLog.refuseNext(Command.APPEND, Kind.OUT_OF_MEMORY, 1);
        Future<Appends.Appended> refused = world.append(3);
        world.liveLog.holdBytes(Command.APPEND);
        Future<Appends.Appended> notStored = world.append(1);
        world.liveLog.deliver();
        assertEquals("no", problem(refused).fields().get("stored"));
        world.liveLog.dropConnections();
        world.pass(100);
        succeeded(notStored);
        succeeded(world.append(3));
        ordinalsAreGapFreeInRedis();
        List<Event> events = world.liveLog.events(world.stream().stripe(0));
        assertTrue(events.stream().allMatch(event -> event.extras() == null), events::toString);
        assertEquals(List.of(), world.stream().voided(0));
    }

    @Test
    void whatAnAppendCarriedThatWasNotStoredIsCarriedWhenItIsSentAgain() {
        succeeded(world.append(1));
        refusedBelowAStored();
        world.liveLog.holdBytes(Command.APPEND);
        Future<Appends.Appended> carrier = world.append(1);
        world.liveLog.dropConnections();
        world.pass(100);
        succeeded(carrier);
        theThirdEventCarriesWhatWasRefused();
    }

    @Test
    void aDeletedKeyIsMadeAgainAndIdsGoOn() {
        Position before = succeeded(world.append(2)).ids().get(1);
        world.liveLog.deleteByOthers(world.stream().stripe(0));
        Position after = succeeded(world.append(1)).ids().get(0);
        assertTrue(after.isAfter(before));
        assertEquals(numbers(1, 3), world.memory());
        assertEquals(List.of("3"), world.live());
    }

    @Test
    void aStripeThatIsClosedWhileItOpensIsClosedOnceItCanNotMakeItsKeyAgain() {
        world.liveLog.deleteByOthers(world.stream().stripe(0));
        world.liveLog.holdReplies(Command.STATE);
        Future<Void> opened = world.stream().open();
        world.stream().deleted();
        Future<Void> closed = world.keeper().close(world.stream(), 0);
        assertFalse(closed.isComplete(), "its key may still be made");
        problem(opened);
        world.liveLog.deliver();
        succeeded(closed);
        succeeded(world.liveLog.delete(KeeperWorld.STREAM, 1));
        world.pass(1_000);
        problem(world.append(1));
        assertFalse(world.liveLog.exists(world.stream().stripe(0)));
    }

    @Test
    void redisComesBackWithLessAndNoIdIsGivenTwice() {
        succeeded(world.append(2));
        Image image = world.liveLog.image();
        Position before = succeeded(world.append(2)).ids().get(1);
        world.liveLog.restore(image);
        world.pass(200);
        Position after = succeeded(world.append(1)).ids().get(0);
        assertTrue(after.isAfter(before));
        assertEquals(numbers(1, 5), world.memory());
        assertEquals(List.of("1", "2", "5"), world.live());
    }

    @Test
    void somebodyElsesHigherEntryDoesNotStopTheStripe() {
        succeeded(world.append(1));
        world.liveLog.addForeign(world.stream().stripe(0), new Position(world.clock.wallMs() + 5_000, 0));
        succeeded(world.append(2));
        assertEquals(numbers(1, 3), world.memory());
        assertEquals(numbers(1, 3), world.live());
    }

    @Test
    void afterAKillEverythingAcknowledgedIsThereAndIdsStartAboveTheReservation() {
        succeeded(world.append(5));
        long high = world.reservation().highMs();
        world.killAndRestart(0);
        world.open();
        assertEquals(numbers(1, 5), world.memory());
        Position id = succeeded(world.append(1)).ids().get(0);
        assertTrue(id.ms() >= high, id + " is below " + high);
        assertEquals(numbers(1, 6), world.memory());
        ordinalsAreGapFreeInRedis();
    }

    @Test
    @Tag("F15")
    void bytesOfAKilledPredecessorAreRefused() {
        succeeded(world.append(2));
        world.liveLog.holdBytes(Command.APPEND);
        Future<Appends.Appended> lost = world.append(1);
        world.killAndRestart(0);
        assertFalse(lost.succeeded());
        world.open();
        world.liveLog.arriveLate();
        assertEquals(numbers(1, 2), world.live());
        succeeded(world.append(1));
        ordinalsAreGapFreeInRedis();
    }

    @Test
    void importedIdsMustBeAboveTheLastAndNotAheadOfTheClock() {
        EventId old = EventId.parse("EVT000xY9Wvvcd");
        NewEvent first = new NewEvent(new byte[] {'1'}, "application/json", Event.NO_TIME, old);
        assertEquals(
                List.of(old.position()), succeeded(world.append(List.of(first))).ids());
        assertEquals(
                Problem.Kind.NONMONOTONIC, problem(world.append(List.of(first))).kind());
        EventId ahead = EventId.of(new Position(world.clock.wallMs() + 10_000, 0));
        NewEvent tooNew = new NewEvent(new byte[] {'2'}, "application/json", Event.NO_TIME, ahead);
        assertEquals(
                Problem.Kind.NONMONOTONIC,
                problem(world.append(List.of(tooNew))).kind());
        EventId next = EventId.of(old.position().next());
        NewEvent second = new NewEvent(new byte[] {'3'}, "application/json", Event.NO_TIME, next);
        succeeded(world.append(List.of(second)));
        succeeded(world.append(1));
        assertEquals(3, world.live().size());
        ordinalsAreGapFreeInRedis();
    }

    @Test
    @Tag("R14")
    void whatIsInFlightIsBoundedAndTheRestIsRefusedAtOnce() {
        KeeperLimits limits = new KeeperLimits(10, 1 << 20, 5, 1 << 20, 1 << 20, 60_000, 10_000, 1_000);
        KeeperWorld bounded = new KeeperWorld(Map.of(), limits);
        succeeded(bounded.append(1));
        bounded.liveLog.holdReplies(Command.APPEND);
        List<Future<Appends.Appended>> appends = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            appends.add(bounded.append(1));
        }
        assertEquals(20, appends.stream().filter(Future::failed).count());
        bounded.liveLog.deliver();
        assertEquals(10, appends.stream().filter(Future::succeeded).count());
        assertEquals(11, bounded.live().size());
    }

    @Test
    @Tag("T8")
    void aFoldedChunkStaysWhileTailsNeedItAndGoesWhenTheyDont() {
        KeeperWorld few = new KeeperWorld(Map.of(Setting.CHUNK_MAX_EVENTS, 10L, Setting.TAIL_CAPACITY, 25L));
        succeeded(few.append(100));
        assertEquals(100, few.memory().size());
        Position tail = few.seal();
        few.folded(few.stream(), 0, tail, 100);
        assertEquals(numbers(71, 100), few.memory());
        assertTrue(few.stream().snapshot(0).covers(few.stream().snapshot(0).floor()));
    }
}
