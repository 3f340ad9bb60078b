package dev.tidemark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.tidemark.event.Cursor;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Seeds;
import dev.tidemark.event.StreamName;
import dev.tidemark.read.SubscribeRequest.Slow;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class StreamSubscriptionTest {
    private static final ReadPace PACE = new ReadPace(100, 100_000, 10, 10_000, 50, 3, 1_000);

    private final World world = new World();
    private final StreamReads reads = new StreamReads(world.ports(), PACE);
    private final Recorder recorder = new Recorder();

    @CanIgnoreReturnValue
    private Subscription subscribe(Recorder who, String after) {
        return subscribe(who, after, -1, false, Slow.ARCHIVE);
    }

    @CanIgnoreReturnValue
    private Subscription subscribe(Recorder who, String after, int tail, boolean closeOnGap, Slow slow) {
        Subscription subscription =
                reads.subscribe(world.id.name(), new SubscribeRequest(after, tail, View.LIVE, closeOnGap, slow), who);
        assertTrue(who.said.isEmpty(), "nothing is said before the session has its subscription");
        rest();
        return subscription;
    }

    /** Everything that is under way happens, and a little time passes. */
    private void rest() {
        for (int i = 0; i < 5; i++) {
            world.settle().elapse(2);
        }
        world.settle();
    }

    private List<Position> positions(int from, int to) {
        List<Position> positions = new ArrayList<>();
        for (int ordinal = from; ordinal <= to; ordinal++) {
            positions.add(world.position(ordinal));
        }
        return positions;
    }

    private void spread() {
        world.append(40)
                .foldAll()
                .trimAll()
                .append(20)
                .foldAll()
                .append(20)
                .seal()
                .releaseAll()
                .append(20);
    }

    // ---- where it begins

    @Test
    @Tag("R02")
    void fromTheEarliestEverythingComesThenCaughtUpThenWhatIsNew() {
        spread();
        subscribe(recorder, "earliest");
        assertEquals(positions(1, 100), recorder.given);
        assertEquals(List.of("hello", "events", "caughtUp"), recorder.said);
        world.append(1);
        rest();
        world.append(4);
        rest();
        assertEquals(positions(1, 105), recorder.given);
        assertEquals(List.of("hello", "events", "caughtUp", "events"), recorder.said);
    }

    @Test
    void byDefaultItBeginsBehindTheTail() {
        spread();
        Subscription subscription = subscribe(recorder, "latest");
        assertEquals(List.of("hello", "caughtUp"), recorder.said);
        assertEquals(world.cursor(100), recorder.helloCursor.toString());
        world.append(3);
        rest();
        assertEquals(positions(101, 103), recorder.given);
        assertEquals(world.cursor(103), subscription.cursor().toString());
    }

    @Test
    void afterACursorOrAnIdItBeginsWithTheNextEvent() {
        spread();
        Recorder other = new Recorder();
        subscribe(recorder, world.cursor(37));
        subscribe(other, EventId.of(world.position(99)).toString());
        assertEquals(positions(38, 100), recorder.given);
        assertEquals(positions(100, 100), other.given);
    }

    @Test
    void aStreamWithoutEventsCanBeFollowedAndItsCursorUsed() {
        subscribe(recorder, "latest");
        assertEquals(List.of("hello", "caughtUp"), recorder.said);
        String cursor = recorder.helloCursor.toString();
        world.append(3);
        rest();
        assertEquals(positions(1, 3), recorder.given);
        Recorder resumed = new Recorder();
        subscribe(resumed, cursor);
        assertEquals(positions(1, 3), resumed.given);
    }

    @Test
    void tailThenFollowIsOneCutWhereverTheLastNLie() {
        spread();
        for (int n : new int[] {0, 1, 20, 21, 40, 41, 75, 100}) {
            Recorder who = new Recorder();
            subscribe(who, "latest", n, false, Slow.ARCHIVE).close();
            assertEquals(positions(101 - n, 100), who.given, "tail " + n);
        }
        subscribe(recorder, "latest", 5_000, false, Slow.ARCHIVE);
        world.append(5);
        rest();
        assertEquals(positions(1, 105), recorder.given);
        assertEquals(List.of("hello", "events", "caughtUp", "events"), recorder.said);
    }

    @Test
    @Tag("R02")
    void theHandOverIsSeamlessAtFiftyMoments() {
        for (int seed = 0; seed < 50; seed++) {
            World busy = new World().stepped();
            Random random = Seeds.random(seed);
            busy.append(200).foldAll().trimAll().releaseAll().append(50);
            Recorder who = new Recorder();
            Subscription subscription = new StreamReads(busy.ports(), PACE)
                    .subscribe(
                            busy.id.name(), new SubscribeRequest("earliest", -1, View.LIVE, false, Slow.ARCHIVE), who);
            for (int i = 0; i < 300; i++) {
                busy.step(random);
                if (random.nextInt(3) == 0) {
                    busy.append(1);
                }
            }
            busy.settle().elapse(5).settle();
            assertEquals(busy.all.size(), who.given.size(), "seed " + seed);
            assertEquals(1, who.said.stream().filter("caughtUp"::equals).count(), "seed " + seed + ": " + who.said);
            assertEquals(
                    busy.all.get(busy.all.size() - 1).id(),
                    subscription.cursor().position());
        }
    }

    // ---- problems

    @Test
    void unknownStreamsAndBadPositionsCloseIt() {
        world.append(5);
        Subscription none = reads.subscribe(
                new StreamName("none"), new SubscribeRequest("latest", -1, View.LIVE, false, Slow.ARCHIVE), recorder);
        assertNotNull(none.cursor());
        rest();
        assertEquals(List.of("closed NOT_FOUND"), recorder.said);
        Recorder malformed = new Recorder();
        subscribe(malformed, "rubbish");
        assertEquals(List.of("closed BAD_REQUEST"), malformed.said);
        Recorder ahead = new Recorder();
        subscribe(ahead, EventId.of(new Position(World.START_MS + 5, 0)).toString());
        assertEquals(List.of("closed POSITION_AHEAD"), ahead.said);
        assertEquals(0, reads.subscriptions());
        assertEquals(0, world.followers());
    }

    @Test
    void aDeletedStreamClosesItsFollowersAndThoseWhoAreCatchingUp() {
        spread();
        Recorder slow = new Recorder();
        slow.writable = false;
        subscribe(slow, "earliest");
        subscribe(recorder, "latest");
        world.delete();
        rest();
        assertEquals(List.of("hello", "caughtUp", "closed NOT_FOUND"), recorder.said);
        assertEquals(List.of("hello", "closed NOT_FOUND"), slow.said);
        assertEquals(0, world.followers());
    }

    @Test
    @Tag("R03")
    void whatExpiredBehindAPositionIsAGapOrTheEndAsAskedFor() {
        world.append(100).nextMs(3).foldAll().trimAll().append(10).prune(60);
        subscribe(recorder, world.cursor(10));
        Gap gap = new Gap(world.position(10), Positions.below(world.position(61)), Gap.Reason.EXPIRED);
        assertEquals(List.of(gap), recorder.gaps);
        assertEquals(positions(61, 110), recorder.given);
        assertEquals("gap expired", recorder.said.get(1));
        Recorder strict = new Recorder();
        subscribe(strict, world.cursor(10), -1, true, Slow.ARCHIVE);
        assertEquals(List.of("hello", "gap expired", "closed EXPIRED"), strict.said);
        Recorder earliest = new Recorder();
        subscribe(earliest, "earliest", -1, true, Slow.ARCHIVE);
        assertEquals(positions(61, 110), earliest.given);
        assertEquals(List.of(), earliest.gaps);
    }

    @Test
    void aCursorOfAnotherGenerationIsAResetOrTheEnd() {
        world.append(5);
        String other = new Cursor(new Generation(5), world.position(3)).toString();
        subscribe(recorder, other);
        assertEquals(List.of("hello", "gap reset", "events", "caughtUp"), recorder.said);
        assertEquals(positions(1, 5), recorder.given);
        Recorder strict = new Recorder();
        subscribe(strict, other, -1, true, Slow.ARCHIVE);
        assertEquals(List.of("closed GENERATION_CHANGED"), strict.said);
    }

    @Test
    void aLossIsToldBetweenTheEventsAroundIt() {
        world.append(20).seal().releaseAll().append(5);
        world.removeByOthers(world.position(8));
        List<Position> expected = positions(1, 25);
        expected.remove(7);
        recorder.onEvents = () -> assertTrue(
                recorder.gaps.size() == 1 || recorder.given.size() <= 7, "the gap comes before what is behind it");
        subscribe(recorder, "earliest");
        assertEquals(expected, recorder.given);
        assertEquals(List.of("hello", "events", "gap lost", "events", "caughtUp"), recorder.said);
    }

    @Test
    @Tag("R13")
    void withRedisAwayItGivesWhatItCanAndGoesOnByItself() {
        spread();
        world.redisAway(true);
        Subscription subscription = subscribe(recorder, "earliest");
        assertEquals(positions(1, 60), recorder.given);
        assertFalse(subscription.liveLogReachable());
        world.redisAway(false);
        rest();
        assertEquals(positions(1, 100), recorder.given);
        assertTrue(subscription.liveLogReachable());
        world.redisAway(true);
        rest();
        world.redisAway(false);
        world.append(3);
        rest();
        assertEquals(positions(1, 103), recorder.given);
        assertEquals(List.of("hello", "events", "caughtUp", "events"), recorder.said);
    }

    @Test
    void aColdStreamWithRedisAwayIsServedFromTheArchiveUntilItIsBack() {
        world.append(30).foldAll().trimAll().append(10).seal().retire();
        world.redisAway(true);
        Recorder latest = new Recorder();
        subscribe(latest, "latest");
        assertEquals(List.of("closed UNAVAILABLE"), latest.said);
        subscribe(recorder, world.cursor(10));
        assertEquals(positions(11, 30), recorder.given);
        world.redisAway(false);
        rest();
        assertEquals(positions(11, 40), recorder.given);
    }

    @Test
    void anArchiveThatCanNotBeReadIsTriedAgainAndEndsItOnlyAfterLong() {
        spread();
        world.archiveAway = true;
        subscribe(recorder, world.cursor(5));
        assertEquals(List.of("hello"), recorder.said);
        world.archiveAway = false;
        world.elapse(1_000);
        rest();
        assertEquals(positions(6, 100), recorder.given);
        world.archiveAway = true;
        Recorder patient = new Recorder();
        subscribe(patient, world.cursor(5));
        for (int i = 0; i < 40; i++) {
            world.elapse(1_000);
            rest();
        }
        assertEquals(List.of("hello", "closed UNAVAILABLE"), patient.said);
        assertEquals(world.cursor(5), patient.closedCursor.toString());
    }

    // ---- slow ones

    @Test
    @Tag("R12")
    void aSlowSubscriberIsToldAndServedAtItsOwnPaceWithoutLoss() {
        Subscription subscription = subscribe(recorder, "latest");
        recorder.writable = false;
        world.append(30);
        rest();
        assertEquals(List.of("hello", "caughtUp"), recorder.said);
        world.append(30);
        rest();
        assertEquals(List.of("hello", "caughtUp", "fellBehind"), recorder.said);
        world.foldAll().trimAll().releaseAll().append(40);
        rest();
        assertEquals(List.of(), recorder.given);
        recorder.onEvents = () -> recorder.writable = false;
        while (recorder.given.size() < 100) {
            int before = recorder.given.size();
            recorder.writable = true;
            subscription.drained();
            rest();
            assertTrue(recorder.given.size() > before && recorder.given.size() <= before + 10);
        }
        assertEquals(positions(1, 100), recorder.given);
        recorder.writable = true;
        subscription.drained();
        rest();
        assertEquals(List.of("hello", "caughtUp", "fellBehind", "events", "caughtUp"), recorder.said);
    }

    @Test
    @Tag("R12")
    void aSlowSubscriberThatAskedToSkipJumpsToTheTailAndIsTold() {
        Subscription subscription = subscribe(recorder, "latest", -1, false, Slow.SKIP);
        world.append(10);
        rest();
        recorder.writable = false;
        world.append(80);
        rest();
        assertEquals(List.of("hello", "caughtUp", "events"), recorder.said);
        recorder.writable = true;
        subscription.drained();
        world.append(5);
        rest();
        assertEquals(List.of(new Gap(world.position(10), world.position(90), Gap.Reason.SKIPPED)), recorder.gaps);
        List<Position> expected = positions(1, 10);
        expected.addAll(positions(91, 95));
        assertEquals(expected, recorder.given);
    }

    @Test
    @Tag("R12")
    void aSlowSubscriberThatAskedForItIsClosedWithItsCursor() {
        subscribe(recorder, "latest", -1, false, Slow.CLOSE);
        world.append(10);
        rest();
        recorder.writable = false;
        world.append(80);
        rest();
        assertEquals(List.of("hello", "caughtUp", "events", "closed OVERLOADED"), recorder.said);
        assertEquals(world.cursor(10), recorder.closedCursor.toString());
    }

    @Test
    void pausedItStandsStillAndResumesWithoutLossOrBlame() {
        Subscription subscription = subscribe(recorder, "latest", -1, false, Slow.CLOSE);
        subscription.pause();
        world.append(500).foldAll().trimAll().releaseAll().append(10);
        rest();
        assertEquals(List.of("hello", "caughtUp"), recorder.said);
        subscription.resume();
        rest();
        assertEquals(positions(1, 510), recorder.given);
        assertEquals(List.of("hello", "caughtUp", "fellBehind", "events", "caughtUp"), recorder.said);
    }

    @Test
    void closedByItsSessionItIsNeverCalledAgain() {
        spread();
        Subscription subscription = subscribe(recorder, "latest");
        Recorder early = new Recorder();
        Subscription unborn = reads.subscribe(
                world.id.name(), new SubscribeRequest("earliest", -1, View.LIVE, false, Slow.ARCHIVE), early);
        unborn.close();
        recorder.onEvents = subscription::close;
        world.append(50);
        rest();
        assertEquals(positions(101, 110), recorder.given);
        assertEquals(List.of(), early.said);
        assertEquals(0, reads.subscriptions());
        assertEquals(0, world.followers());
    }

    // ---- many

    @Test
    void followersAtOnePositionGetOneListAndOneRegistration() {
        List<Recorder> many = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            Recorder who = new Recorder();
            many.add(who);
            subscribe(who, "latest");
        }
        assertEquals(1, world.followers());
        world.append(25);
        rest();
        for (Recorder who : many) {
            assertEquals(positions(1, 25), who.given);
            assertEquals(3, who.lists.size());
            for (int i = 0; i < 3; i++) {
                assertSame(many.get(0).lists.get(i), who.lists.get(i));
            }
        }
    }

    @Test
    void oneThatThrowsOrClosesDoesNotDisturbTheOthers() {
        Recorder broken = new Recorder();
        Recorder leaving = new Recorder();
        subscribe(broken, "latest");
        Subscription left = subscribe(leaving, "latest");
        subscribe(recorder, "latest");
        broken.onEvents = () -> {
            throw new IllegalStateException("a session that is broken");
        };
        leaving.onEvents = left::close;
        for (int i = 0; i < 3; i++) {
            world.append(5);
            rest();
        }
        assertEquals(positions(1, 15), recorder.given);
        assertEquals(positions(1, 5), leaving.given);
        assertEquals("closed INTERNAL", broken.said.get(broken.said.size() - 1));
        assertEquals(1, reads.subscriptions());
    }

    @Test
    void aBurstOfNotificationsIsOneRoundAndOneWrite() {
        subscribe(recorder, "latest");
        for (int i = 0; i < 9; i++) {
            world.append(1);
        }
        rest();
        assertEquals(1, recorder.lists.size());
        assertEquals(positions(1, 9), recorder.given);
    }

    @Test
    void underLoadRoundsLeaveTheLoopFreeForAtLeastTwoMilliseconds() {
        recorder.onEvents = () -> world.elapse(1);
        subscribe(recorder, "latest");
        world.append(1).settle();
        assertEquals(positions(1, 1), recorder.given);
        world.append(1).settle();
        assertEquals(positions(1, 1), recorder.given, "the last round took 1 ms: this one waits");
        world.append(1).elapse(2).settle();
        assertEquals(positions(1, 3), recorder.given);
        assertEquals(2, recorder.lists.size(), "both in one write");
    }

    @Test
    void aLargeFanOutIsServedInTurnsBetweenWhichTheLoopDoesOtherThings() {
        List<Recorder> many = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            Recorder who = new Recorder();
            many.add(who);
            subscribe(who, "latest");
        }
        List<Long> served = new ArrayList<>();
        Runnable other = () ->
                served.add(many.stream().filter(who -> !who.given.isEmpty()).count());
        world.append(1);
        world.post(other);
        world.settle();
        assertEquals(List.of(3L), served);
        assertTrue(many.stream().allMatch(who -> who.given.size() == 1));
    }

    @Test
    @Tag("R41")
    void comingAndGoingLeavesNothingBehind() {
        subscribe(recorder, "latest");
        for (int i = 0; i < 5_000; i++) {
            Subscription one = reads.subscribe(
                    world.id.name(),
                    new SubscribeRequest("latest", -1, View.LIVE, false, Slow.ARCHIVE),
                    new Recorder());
            world.settle();
            one.close();
        }
        assertEquals(1, reads.subscriptions());
        assertEquals(1, world.followers());
        world.append(1);
        rest();
        assertEquals(positions(1, 1), recorder.given);
    }

    @Test
    void whenTheServerStopsEveryoneIsToldWhereToResume() {
        world.append(5);
        subscribe(recorder, "earliest");
        reads.stop();
        rest();
        assertEquals(List.of("hello", "events", "caughtUp", "closed UNAVAILABLE"), recorder.said);
        assertEquals(world.cursor(5), recorder.closedCursor.toString());
        assertEquals(Problem.Kind.UNAVAILABLE, recorder.problem == null ? null : recorder.problem.kind());
    }
}
