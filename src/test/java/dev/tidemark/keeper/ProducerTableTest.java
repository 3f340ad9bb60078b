package dev.tidemark.keeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.BodyHash;
import dev.tidemark.event.Event;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Problem.Kind;
import dev.tidemark.event.Producer;
import dev.tidemark.event.ProducerRequest;
import dev.tidemark.event.RequestIds;
import dev.tidemark.event.StoredRequest;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every rule about producers and idempotency keys, without a keeper. */
@Tag("R28")
class ProducerTableTest {
    private static final int KEYS_MAX = 3;
    private static final KeeperLimits LIMITS = new KeeperLimits(100, 1_000, 6, 1_000, 1_000, 60_000, 1_000, 1_000);

    private final ProducerTable table = new ProducerTable(new ProducerHistory(10, KEYS_MAX), LIMITS);
    private long nowMs = 1_764_440_000_000L;
    private long seq;

    @BeforeEach
    void nothingWasStoredBefore() {
        table.restored(List.of(), nowMs);
    }

    /** One request and its answer. */
    private record Try(PendingAppend append, Future<Appends.Appended> answer) {
        Problem problem() {
            assertTrue(answer.failed(), "should have failed: " + answer);
            return (Problem) answer.cause();
        }

        Kind refusal() {
            return problem().kind();
        }

        void isDuplicateOf(Try first) {
            assertTrue(answer.succeeded(), "should have succeeded: " + answer);
            assertTrue(answer.result().duplicate());
            assertEquals(first.append.ids().known(), answer.result().ids());
        }

        void isOpen() {
            assertFalse(answer.isComplete(), "should be open: " + answer);
        }
    }

    private Try tried(Producer producer, String body) {
        Promise<Appends.Appended> promise = Promise.promise();
        NewEvent event = NewEvent.json(body.getBytes(StandardCharsets.UTF_8));
        ProducerRequest request = new ProducerRequest(producer, new BodyHash(7, body.hashCode()));
        return new Try(new PendingAppend(List.of(event), request, 0, promise), promise.future());
    }

    private static Producer producer(long epoch, long seq) {
        return new Producer("p", epoch, seq);
    }

    private Try sent(Producer producer) {
        Try sent = tried(producer, "body " + producer);
        assertTrue(table.admit(sent.append, nowMs), "should be sent: " + sent.answer);
        return sent;
    }

    private Try notSent(Producer producer) {
        return notSent(producer, "body " + producer);
    }

    private Try notSent(Producer producer, String body) {
        Try kept = tried(producer, body);
        assertFalse(table.admit(kept.append, nowMs), "should not be sent");
        return kept;
    }

    private Try stored(Try sent) {
        Position id = new Position(nowMs, ++seq);
        sent.append.minted =
                List.of(new Event(id, id, seq, Event.NO_TIME, false, "application/json", null, new byte[] {'1'}));
        table.stored(sent.append);
        sent.append.succeed();
        return sent;
    }

    private Try stored(long epoch, long number) {
        return stored(sent(producer(epoch, number)));
    }

    private @Nullable PendingAppend next() {
        return table.nextReady(nowMs, 0);
    }

    @Test
    void anAppendOfNobodyIsAlwaysSent() {
        PendingAppend append = new PendingAppend(List.of(NewEvent.json(new byte[] {'1'})), 0, Promise.promise());
        assertTrue(table.admit(append, nowMs));
        table.stored(append);
        table.notStored(append);
        assertFalse(table.mayBeStored(append));
    }

    @Test
    void anUnknownProducerMayStartAnywhereAndGoesOnByOne() {
        stored(4, 1_000);
        stored(4, 1_001);
        assertEquals(Kind.SEQ_GAP, notSent(producer(4, 1_003)).refusal());
    }

    @Test
    void aKnownNumberIsAnsweredAsTheFirstTime() {
        Try first = stored(0, 0);
        notSent(producer(0, 0)).isDuplicateOf(first);
        Try second = stored(0, 1);
        notSent(producer(0, 0)).isDuplicateOf(first);
        notSent(producer(0, 1)).isDuplicateOf(second);
    }

    @Test
    void aGapIsRefusedAndSaysWhatIsExpected() {
        stored(0, 0);
        Problem gap = notSent(producer(0, 2)).problem();
        assertEquals(Kind.SEQ_GAP, gap.kind());
        assertEquals(1L, gap.fields().get("expected_seq"));
        assertEquals("no", gap.fields().get("stored"));
        stored(0, 1);
    }

    @Test
    void anOlderEpochIsFenced() {
        stored(3, 0);
        assertEquals(Kind.PRODUCER_FENCED, notSent(producer(2, 1)).refusal());
        assertEquals(Kind.PRODUCER_FENCED, notSent(producer(2, 0)).refusal());
    }

    @Test
    void aNewEpochStartsAtZero() {
        stored(0, 41);
        Problem gap = notSent(producer(1, 42)).problem();
        assertEquals(Kind.SEQ_GAP, gap.kind());
        assertEquals(0L, gap.fields().get("expected_seq"));
        stored(1, 0);
        assertEquals(Kind.PRODUCER_FENCED, notSent(producer(0, 42)).refusal());
    }

    @Test
    void aKnownNumberWithAnotherBodyIsRefused() {
        stored(0, 0);
        Problem changed = notSent(producer(0, 0), "other").problem();
        assertEquals(Kind.BODY_CHANGED, changed.kind());
        assertEquals("no", changed.fields().get("stored"));
    }

    @Test
    void whatIsOlderThanRememberedHasExpired() {
        for (int number = 0; number < 6; number++) {
            stored(0, number);
        }
        assertEquals(Kind.SEQ_EXPIRED, notSent(producer(0, 0)).refusal());
        assertTrue(notSent(producer(0, 1)).answer.succeeded());
    }

    @Test
    void afterADayAProducerIsUnknown() {
        stored(5, 7);
        nowMs += ProducerHistory.PRODUCER_MS + 1;
        stored(2, 99);
    }

    @Test
    void theSameNumberWaitsForTheOneThatIsUnderWay() {
        Try first = sent(producer(0, 0));
        Try again = notSent(producer(0, 0));
        again.isOpen();
        stored(first);
        assertNull(next());
        again.isDuplicateOf(first);
        assertFalse(table.hasWaiting());
    }

    @Test
    void theNextNumberWaitsForTheOneThatIsUnderWay() {
        Try first = sent(producer(0, 0));
        Try second = notSent(producer(0, 1));
        Try third = notSent(producer(0, 2));
        assertEquals(Kind.SEQ_GAP, notSent(producer(0, 4)).refusal());
        assertNull(next());
        stored(first);
        assertSame(second.append, next());
        assertNull(next());
        stored(second);
        assertSame(third.append, next());
        stored(third);
        assertEquals(3L, notSent(producer(0, 9)).problem().fields().get("expected_seq"));
    }

    @Test
    void ifTheFirstTryWasNotStoredTheSecondOneIsSentAndTheNextGoesOnWaiting() {
        Try first = sent(producer(0, 0));
        Try second = notSent(producer(0, 1));
        Try again = notSent(producer(0, 0));
        first.append.fail(Problem.unavailable(Problem.Stored.NO, "refused"));
        assertSame(again.append, next());
        assertNull(next());
        stored(again);
        assertSame(second.append, next());
    }

    @Test
    void ifNothingOfItIsStoredWhatWaitedBehindItIsAGap() {
        stored(0, 0);
        Try lost = sent(producer(0, 1));
        Try behind = notSent(producer(0, 2));
        lost.append.fail(Problem.unavailable(Problem.Stored.NO, "refused"));
        assertNull(next());
        assertEquals(Kind.SEQ_GAP, behind.refusal());
        stored(0, 1);
    }

    @Test
    void anAppendOnItsWayStaysUnderWayWhenItsClientWasToldThatItIsUnknown() {
        Try first = sent(producer(0, 0));
        first.append.inFlight = true;
        first.append.fail(Problem.unavailable(Problem.Stored.UNKNOWN, "no answer"));
        Try again = notSent(producer(0, 0));
        assertTrue(table.mayBeStored(again.append));
        again.isOpen();
        stored(first);
        assertNull(next());
        again.isDuplicateOf(first);
    }

    @Test
    void anotherBodyIsJudgedByWhatBecameOfTheFirst() {
        Try first = sent(producer(0, 0));
        Try other = notSent(producer(0, 0), "other");
        other.isOpen();
        stored(first);
        assertNull(next());
        assertEquals(Kind.BODY_CHANGED, other.refusal());
    }

    @Test
    void anOlderNumberIsAnsweredAtOnceWhileALaterOneIsUnderWay() {
        Try first = stored(0, 0);
        sent(producer(0, 1));
        notSent(producer(0, 0)).isDuplicateOf(first);
    }

    @Test
    void ofAnUnknownProducerAnOlderNumberWaitsForTheOneThatIsUnderWay() {
        Try fifth = sent(producer(0, 5));
        Try third = notSent(producer(0, 3));
        third.isOpen();
        stored(fifth);
        assertNull(next());
        assertEquals(Kind.SEQ_EXPIRED, third.refusal());
    }

    @Test
    void aNewEpochWaitsForWhatIsUnderWayAndFencesTheOldOneFromThenOn() {
        Try old = sent(producer(0, 0));
        Try fresh = notSent(producer(1, 0));
        assertEquals(Kind.PRODUCER_FENCED, notSent(producer(0, 1)).refusal());
        assertEquals(Kind.SEQ_GAP, notSent(producer(2, 1)).refusal());
        Try next = notSent(producer(1, 1));
        stored(old);
        assertSame(fresh.append, next());
        stored(fresh);
        assertSame(next.append, next());
    }

    @Test
    void producersDontWaitForEachOther() {
        sent(producer(0, 0));
        assertTrue(table.admit(tried(new Producer("q", 0, 0), "1").append, nowMs));
        assertTrue(table.admit(tried(Producer.idempotencyKey("p"), "1").append, nowMs));
    }

    @Test
    void whatWaitsIsBounded() {
        sent(producer(0, 0));
        for (int i = 1; i <= LIMITS.waitingMax(); i++) {
            notSent(producer(0, i)).isOpen();
        }
        assertEquals(Kind.OVERLOADED, notSent(producer(0, 7)).refusal());
    }

    @Test
    void whatWaitsTooLongIsToldWhetherItMayBeStored() {
        sent(producer(0, 0));
        Try again = notSent(producer(0, 0));
        Try next = notSent(producer(0, 1));
        table.expire(1_000, 1_000_000_000L);
        again.isOpen();
        table.expire(1_000, 1_001_000_000L);
        assertEquals("unknown", again.problem().fields().get("stored"));
        assertEquals("no", next.problem().fields().get("stored"));
        assertFalse(table.hasWaiting());
    }

    @Test
    void afterAllThatWaitedHasGivenUpTheProducerGoesOn() {
        Try first = sent(producer(0, 0));
        notSent(producer(0, 1));
        stored(first);
        table.failWaiting(Problem.unavailable(Problem.Stored.NO, "stopped"));
        stored(0, 1);
        assertNull(next());
    }

    @Test
    void aKeyIsAnsweredAgainForAQuarterOfAnHour() {
        Producer key = Producer.idempotencyKey("k");
        Try first = stored(sent(key));
        nowMs += ProducerHistory.KEY_MS;
        notSent(key).isDuplicateOf(first);
        assertEquals(Kind.BODY_CHANGED, notSent(key, "other").refusal());
        nowMs++;
        stored(sent(key));
    }

    @Test
    void theSameKeyWaitsForTheOneThatIsUnderWay() {
        Producer key = Producer.idempotencyKey("k");
        Try first = sent(key);
        Try second = notSent(key);
        Try third = notSent(key);
        first.append.fail(Problem.unavailable(Problem.Stored.NO, "refused"));
        assertSame(second.append, next());
        assertNull(next());
        stored(second);
        assertNull(next());
        third.isDuplicateOf(second);
    }

    @Test
    void overTheLimitKeysAreRefusedUntilOldOnesAreForgotten() {
        Try first = stored(sent(Producer.idempotencyKey("k0")));
        nowMs += 1_000;
        stored(sent(Producer.idempotencyKey("k1")));
        sent(Producer.idempotencyKey("k2"));
        Problem refused = notSent(Producer.idempotencyKey("k3")).problem();
        assertEquals(Kind.TOO_MANY_KEYS, refused.kind());
        assertTrue(refused.kind().retryable());
        notSent(Producer.idempotencyKey("k0")).isDuplicateOf(first);
        nowMs += ProducerHistory.KEY_MS - 999;
        sent(Producer.idempotencyKey("k3"));
    }

    @Test
    void untilTheHistoryIsKnownEverythingWaits() {
        ProducerTable cold = new ProducerTable(new ProducerHistory(10, 10), LIMITS);
        assertFalse(cold.wantsHistory(0));
        Try known = tried(producer(0, 4), "4");
        Try next = tried(producer(0, 5), "5");
        assertFalse(cold.admit(known.append, nowMs));
        assertFalse(cold.admit(next.append, nowMs));
        assertTrue(cold.wantsHistory(0));
        cold.restoring();
        assertFalse(cold.wantsHistory(0));
        cold.notRestored(500);
        assertFalse(cold.wantsHistory(499));
        assertTrue(cold.wantsHistory(500));
        assertNull(cold.nextReady(nowMs, 0));
        known.isOpen();
        assertTrue(cold.mayBeStored(known.append));
        RequestIds ids = RequestIds.of(List.of(new Position(nowMs, 1), new Position(nowMs, 2)));
        BodyHash body = Objects.requireNonNull(known.append.request).body();
        cold.restored(List.of(new StoredRequest(producer(0, 4), body, ids, nowMs)), nowMs);
        assertSame(next.append, cold.nextReady(nowMs, 0));
        assertEquals(ids.known(), known.answer.result().ids());
        assertFalse(cold.hasWaiting());
    }

    @Test
    void theHistoryIsWaitedForAsLongAsAStripeIs() {
        KeeperLimits limits = new KeeperLimits(100, 1_000, 6, 1_000, 1_000, 60_000, 5_000, 1_000);
        ProducerTable cold = new ProducerTable(new ProducerHistory(10, 10), limits);
        Try waits = tried(producer(0, 0), "0");
        assertFalse(cold.admit(waits.append, nowMs));
        cold.restoring();
        cold.expire(1_000, 5_000_000_000L);
        waits.isOpen();
        cold.expire(1_000, 5_001_000_000L);
        assertEquals("unknown", waits.problem().fields().get("stored"));
        assertFalse(cold.hasWaiting());
    }

    @Test
    void writersThatComeAndGoLeaveNothingBehind() {
        List<Try> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            all.add(sent(new Producer("w" + i, 0, 0)));
        }
        all.forEach(one -> one.append.fail(Problem.unavailable(Problem.Stored.NO, "refused")));
        assertNull(next());
        assertTrue(table.isIdle());
    }
}
