package dev.tidemark.keeper;

import static dev.tidemark.keeper.KeeperWorld.numbers;
import static dev.tidemark.keeper.KeeperWorld.succeeded;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.BodyHash;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventExtras;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Producer;
import dev.tidemark.event.ProducerRequest;
import dev.tidemark.event.RequestIds;
import dev.tidemark.event.RequestMark;
import dev.tidemark.livelog.FakeLiveLog.Command;
import dev.tidemark.livelog.LiveLogException.Kind;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Exactly-once appends through a keeper whose Redis and connections fail. */
@Tag("R28")
class ProducerAppendsTest {
    private final KeeperWorld world = new KeeperWorld(Map.of());

    /** Request {@code seq} of producer {@code p}: two events, numbered on. */
    private Future<Appends.Appended> append(long seq) {
        return append("p", seq, 2);
    }

    private Future<Appends.Appended> append(String id, long seq, int count) {
        List<NewEvent> events = new ArrayList<>();
        for (long i = seq * count + 1; i <= (seq + 1) * count; i++) {
            events.add(NewEvent.json(Long.toString(i).getBytes(StandardCharsets.UTF_8)));
        }
        return world.append(events, new ProducerRequest(new Producer(id, 0, seq), new BodyHash(3, seq)));
    }

    private static Appends.Appended fresh(Future<Appends.Appended> append) {
        Appends.Appended appended = succeeded(append);
        assertFalse(appended.duplicate());
        return appended;
    }

    private static void assertDuplicate(Appends.Appended first, Future<Appends.Appended> again) {
        Appends.Appended appended = succeeded(again);
        assertTrue(appended.duplicate());
        assertEquals(first.ids(), appended.ids());
        assertEquals(first.count(), appended.count());
        assertEquals(first.highest(), appended.highest());
    }

    @Test
    void theFirstEventOfARequestTellsOfIt() {
        List<Position> ids = fresh(append(0)).ids();
        List<Event> events = world.liveLog.events(world.stream().stripe(0));
        assertEquals(
                new EventExtras(
                        new Producer("p", 0, 0), new RequestMark(new BodyHash(3, 0), RequestIds.of(ids)), List.of()),
                events.get(0).extras());
        assertEquals(null, events.get(1).extras());
    }

    @Test
    void aRepetitionIsAnsweredWithTheFirstIdsAndNothingIsStored() {
        Appends.Appended first = fresh(append(0));
        assertDuplicate(first, append(0));
        Appends.Appended second = fresh(append(1));
        assertDuplicate(first, append(0));
        assertDuplicate(second, append(1));
        assertEquals(numbers(1, 4), world.live());
    }

    @Test
    void aRepetitionWhileTheFirstTryIsUnderWayWaitsForIt() {
        world.open();
        world.liveLog.holdReplies(Command.APPEND);
        Future<Appends.Appended> first = append(0);
        Future<Appends.Appended> again = append(0);
        Future<Appends.Appended> next = append(1);
        assertFalse(again.isComplete());
        assertFalse(next.isComplete());
        world.liveLog.deliver();
        assertDuplicate(fresh(first), again);
        world.liveLog.deliver();
        fresh(next);
        assertEquals(numbers(1, 4), world.live());
    }

    @Test
    void aRepetitionWhileTheAnswerIsLostIsDecidedByWhatRedisHolds() {
        fresh(append(0));
        world.liveLog.holdReplies(Command.APPEND);
        Future<Appends.Appended> stored = append(1);
        world.liveLog.dropConnections();
        Future<Appends.Appended> again = append(1);
        assertFalse(again.isComplete());
        world.pass(200);
        assertDuplicate(fresh(stored), again);
        assertEquals(numbers(1, 4), world.live());
    }

    @Test
    @Tag("F15")
    void aRepetitionOfWhatNeverArrivedIsStoredOnce() {
        fresh(append(0));
        world.liveLog.holdBytes(Command.APPEND);
        Future<Appends.Appended> lost = append(1);
        world.liveLog.dropConnections();
        Future<Appends.Appended> again = append(1);
        world.pass(200);
        assertDuplicate(fresh(lost), again);
        assertEquals(1, world.liveLog.arriveLate());
        assertEquals(numbers(1, 4), world.live());
    }

    @Test
    void aRepetitionAfterTheClientGaveUpIsAnsweredByTheFirstTryIfThatIsStored() {
        fresh(append(0));
        world.liveLog.holdReplies(Command.APPEND);
        Future<Appends.Appended> first = append(1);
        world.pass(30_000);
        assertEquals("unknown", ((Problem) first.cause()).fields().get("stored"));
        Future<Appends.Appended> again = append(1);
        Future<Appends.Appended> next = append(2);
        assertFalse(again.isComplete());
        world.liveLog.deliver();
        assertTrue(succeeded(again).duplicate());
        world.liveLog.deliver();
        fresh(next);
        assertEquals(numbers(1, 6), world.live());
    }

    @Test
    void afterTheClientGaveUpTheNextTryIsSentIfTheFirstOneIsNotFound() {
        fresh(append(0));
        world.liveLog.holdBytes(Command.APPEND);
        Future<Appends.Appended> first = append(1);
        world.pass(30_000);
        assertTrue(first.failed());
        Future<Appends.Appended> again = append(1);
        world.liveLog.dropConnections();
        world.pass(200);
        fresh(again);
        assertEquals(numbers(1, 4), world.live());
        assertTrue(world.liveLog.arriveLate() > 0);
        assertEquals(numbers(1, 4), world.live());
    }

    @Test
    void whatRedisRefusedMayBeSentAgainAndWhatCameBehindItIsAGap() {
        fresh(append(0));
        world.liveLog.refuseNext(Command.APPEND, Kind.OUT_OF_MEMORY, 1);
        world.liveLog.holdReplies(Command.APPEND);
        Future<Appends.Appended> refused = append(1);
        Future<Appends.Appended> behind = append(2);
        world.liveLog.deliver();
        assertEquals("no", ((Problem) refused.cause()).fields().get("stored"));
        assertEquals(Problem.Kind.SEQ_GAP, ((Problem) behind.cause()).kind());
        Future<Appends.Appended> again = append(1);
        world.liveLog.deliver();
        fresh(again);
        assertEquals(numbers(1, 4), world.live());
    }

    @Test
    @Tag("T13")
    void repetitionsAreKnownAfterAKillAlsoWhenTheyAreOlderThanWhatIsLoaded() {
        Appends.Appended first = fresh(append(0));
        for (int i = 0; i < 3; i++) {
            succeeded(world.append(900));
        }
        world.killAndRestart(0);
        assertDuplicate(first, append(0));
        fresh(append(1));
        assertEquals(2_704, world.live().size());
    }

    @Test
    @Tag("T13")
    void repetitionsOfWhatIsOnlyInTheArchiveAreKnownAfterAKill() {
        Appends.Appended first = fresh(append(0));
        foldAndTrim(first.highest());
        assertEquals(List.of(), world.live());
        world.killAndRestart(0);
        assertDuplicate(first, append(0));
        assertEquals(List.of(), world.live());
        fresh(append(1));
    }

    private void foldAndTrim(Position through) {
        world.seal();
        world.archive.append(world.stream().snapshot(0).sealedAfter(Position.ZERO, 10, 1 << 20));
        world.archive.force();
        world.archive.publish(through);
        succeeded(world.liveLog.trim(world.stream().stripe(0), through.next()));
    }

    @Test
    void whatIsFoldedAndTrimmedWhileTheHistoryIsReadIsNotForgotten() {
        Appends.Appended first = fresh(append(0));
        world.killAndRestart(0);
        world.open();
        world.liveLog.holdBytes(Command.RANGE);
        Future<Appends.Appended> again = append(0);
        assertFalse(again.isComplete());
        foldAndTrim(first.highest());
        assertEquals(List.of(), world.live());
        world.liveLog.arrive();
        assertDuplicate(first, again);
    }

    @Test
    void whenTheHistoryCantBeReadItIsTriedAgain() {
        Appends.Appended first = fresh(append(0));
        world.killAndRestart(0);
        world.open();
        world.liveLog.refuseNext(Command.RANGE, Kind.NOT_NOW, 1);
        Future<Appends.Appended> again = append(0);
        assertFalse(again.isComplete());
        world.pass(400);
        assertDuplicate(first, again);
    }

    /** Opening and history took long, and then the reservation of ids has to be moved: still no reason to refuse. */
    @Test
    void theTimeThatTheHistoryTookIsNotHeldAgainstARequest() {
        fresh(append(0));
        world.killAndRestart(0);
        world.open();
        world.liveLog.holdBytes(Command.RANGE);
        Future<Appends.Appended> next = append(1);
        world.pass(8_000);
        world.holdReservation();
        world.liveLog.arrive();
        world.pass(200);
        assertFalse(next.isComplete());
        world.releaseReservation();
        world.pass(40);
        fresh(next);
    }

    @Test
    void streamsWithoutProducersNeverReadTheirHistory() {
        succeeded(world.append(10));
        world.killAndRestart(0);
        world.open();
        int before = world.liveLog.executed(Command.RANGE);
        succeeded(world.append(10));
        assertEquals(before, world.liveLog.executed(Command.RANGE));
    }

    @Test
    void throughDroppedConnectionsAndKillsEveryRequestIsStoredOnceAndInOrder() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        long seq = 0;
        Future<Appends.Appended> open = append("p", 0, 1);
        for (int step = 0; step < 3_000 && seq < 300; step++) {
            switch (random.nextInt(12)) {
                case 0 -> world.liveLog.dropConnections();
                case 1 -> world.liveLog.holdBytes(Command.APPEND);
                case 2 -> world.liveLog.holdReplies(Command.APPEND);
                case 3 -> world.liveLog.deliver();
                case 4 -> world.liveLog.arriveLate();
                case 5 -> {
                    if (random.nextInt(10) == 0) {
                        world.killAndRestart(0);
                        open = append("p", seq, 1);
                    }
                }
                default -> world.pass(random.nextInt(1, 30) * 20L);
            }
            if (open.succeeded()) {
                seq++;
                open = append("p", seq, 1);
            } else if (open.failed()) {
                assertTrue(
                        ((Problem) open.cause()).kind().retryable(),
                        "seed " + seed + ": " + open.cause().getMessage());
                open = append("p", seq, 1);
            } else if (random.nextInt(4) == 0) {
                open = append("p", seq, 1);
            }
        }
        world.liveLog.dropConnections();
        world.pass(2_000);
        assertTrue(seq > 50, "seed " + seed + ": " + seq);
        List<String> live = world.live();
        assertEquals(numbers(1, live.size()), live, "seed " + seed);
        assertTrue(live.size() >= seq, "seed " + seed);
    }
}
