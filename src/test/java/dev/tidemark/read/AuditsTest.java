package dev.tidemark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.FakeClock;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.keeper.FixedStream;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.TimelineSnapshot;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which streams are audited when, and what is told of it; the audits themselves are made up. */
@Tag("T18")
class AuditsTest {
    private final FakeClock clock = FakeClock.atStart();
    private final List<FixedStream> streams = new ArrayList<>();
    private final List<String> audited = new ArrayList<>();
    private final Map<String, Integer> wrong = new HashMap<>();
    private final Port port = new Port();
    private final Audits audits = new Audits(() -> streams, port, clock);

    private final class Port implements Audits.Port {
        boolean away;
        boolean deletedMeanwhile;
        Promise<StreamAudit> held;

        @Override
        public Position watermark(LiveStream stream) {
            if (deletedMeanwhile) {
                deletedMeanwhile = false;
                throw Problem.noStream(stream.name());
            }
            return Position.ZERO;
        }

        @Override
        public Future<StreamAudit> audit(LiveStream stream) {
            assertTrue(stream.snapshot(0).isOpen(), "never of one that isn't open");
            audited.add(stream.name().value());
            if (away) {
                return Future.failedFuture("away");
            }
            if (held != null) {
                return held.future();
            }
            return Future.succeededFuture(
                    result(wrong.getOrDefault(stream.name().value(), 0)));
        }
    }

    private static StreamAudit result(int mismatches) {
        return new StreamAudit(new Generation(1), 0, List.of(new StreamAudit.Stripe(0, 0, 0, 0, 0, 0, mismatches)), 0);
    }

    private FixedStream stream(String name, long appended) {
        FixedStream stream = new FixedStream(new StreamId(new StreamName(name), new Generation(1)), Map.of());
        stands(stream, appended);
        streams.add(stream);
        return stream;
    }

    private static void stands(FixedStream stream, long appended) {
        stream.snapshot = TimelineSnapshot.of(List.of(), 0, Position.ZERO, Position.ZERO, Position.ZERO, appended);
    }

    /** A second of beats. */
    private List<String> second() {
        audited.clear();
        for (int i = 0; i < 5; i++) {
            assertTrue(audits.beat().succeeded());
            clock.advanceMs(200);
        }
        return List.copyOf(audited);
    }

    @Test
    void thoseThatChangedComeFirstAndTheOthersRoundAndRound() {
        List<FixedStream> many = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            many.add(stream("s" + i, 5));
        }
        assertEquals(30, second().size(), "all are new");
        stands(many.get(17), 6);
        List<String> next = second();
        assertEquals("s17", next.get(0));
        assertEquals(11, next.size(), "the one, and two of the others a beat");
        List<String> all = new ArrayList<>(next.subList(1, 11));
        all.addAll(second());
        all.addAll(second());
        assertTrue(all.containsAll(List.of("s0", "s29")), all::toString);
    }

    @Test
    void streamsThatArentOpenAreLeftAlone() {
        for (int i = 0; i < 10_000; i++) {
            stream("s" + i, 0).snapshot = TimelineSnapshot.COLD;
        }
        assertEquals(List.of(), second());
    }

    @Test
    void mismatchesAreToldUntilTheyAreMended() {
        FixedStream flights = stream("flights", 5);
        stream("quakes", 5);
        wrong.put("flights", 3);
        wrong.put("quakes", 1);
        assertEquals(2, second().size());
        assertEquals(4, audits.mismatches());
        assertEquals("3 in stream 'flights', 1 in stream 'quakes'", audits.detail());
        wrong.clear();
        stands(flights, 6);
        var unused = second();
        assertEquals(0, audits.mismatches());
        assertEquals("", audits.detail());
    }

    @Test
    void whatCantBeAuditedKeepsWhatWasFoundAndIsTriedAgain() {
        stream("flights", 5);
        wrong.put("flights", 3);
        assertEquals(List.of("flights"), second());
        port.away = true;
        stands(streams.get(0), 6);
        assertTrue(second().contains("flights"));
        assertEquals(3, audits.mismatches());
        port.away = false;
        wrong.clear();
        assertTrue(second().contains("flights"));
        assertEquals(0, audits.mismatches());
    }

    @Test
    void aDeletedStreamIsForgotten() {
        stream("flights", 5);
        wrong.put("flights", 3);
        assertEquals(List.of("flights"), second());
        streams.clear();
        assertEquals(List.of(), second());
        assertEquals(0, audits.mismatches());
    }

    @Test
    void aStreamDeletedWithinABeatDoesNotEndTheAudits() {
        stream("flights", 5);
        port.deletedMeanwhile = true;
        assertTrue(audits.beat().failed());
        clock.advanceMs(2_000);
        assertEquals(List.of("flights"), second());
    }

    @Test
    void oneBeatAtATime() {
        stream("flights", 5);
        port.held = Promise.promise();
        Future<Void> first = audits.beat();
        assertFalse(first.isComplete());
        assertTrue(audits.beat().succeeded());
        assertEquals(List.of("flights"), audited);
        port.held.complete(result(0));
        assertTrue(first.succeeded());
    }
}
