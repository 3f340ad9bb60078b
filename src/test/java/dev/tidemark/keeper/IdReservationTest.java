package dev.tidemark.keeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.FakeClock;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class IdReservationTest {
    private final FakeClock clock = FakeClock.atStart();
    private final List<Long> written = new ArrayList<>();
    private Promise<Void> disk = Promise.promise();

    private IdReservation reservation(long startMs) {
        return new IdReservation(
                high -> {
                    written.add(high);
                    disk = Promise.promise();
                    return disk.future();
                },
                clock,
                startMs,
                false,
                IdReservation.Stop.NONE);
    }

    @Test
    void highIsOnlyRaisedOnceItIsOnDisk() {
        IdReservation reservation = reservation(0);
        reservation.ensure(clock.wallMs());
        assertEquals(0, reservation.highMs());
        disk.complete();
        assertEquals(clock.wallMs() + IdReservation.AHEAD_MS, reservation.highMs());
    }

    @Test
    void oneWriteIsUnderWayAtATimeAndAFailedOneIsTriedAgain() {
        IdReservation reservation = reservation(0);
        reservation.used(clock.wallMs());
        reservation.used(clock.wallMs() + 1);
        assertEquals(1, written.size());
        disk.fail("disk full");
        assertEquals(0, reservation.highMs());
        reservation.used(clock.wallMs() + 2);
        disk.complete();
        assertEquals(2, written.size());
        assertTrue(reservation.highMs() > clock.wallMs());
    }

    @Test
    void itMovesAheadInTheBackgroundBeforeItIsReached() {
        IdReservation reservation = reservation(0);
        reservation.ensure(clock.wallMs());
        disk.complete();
        long high = reservation.highMs();
        reservation.used(high - IdReservation.LOW_MS);
        assertEquals(1, written.size());
        reservation.used(high - IdReservation.LOW_MS + 1);
        assertEquals(2, written.size());
    }

    @Test
    void aPredecessorsHighAheadOfTheClockIsNeverLowered() {
        long startMs = clock.wallMs() + 3_600_000;
        IdReservation reservation = reservation(startMs);
        assertEquals(startMs, reservation.highMs());
        reservation.used(startMs);
        disk.complete();
        assertTrue(reservation.highMs() > startMs);
        assertEquals(startMs, reservation.usedMs());
    }

    @Test
    void aFenceIsNeededUnlessTheStopWasCleanOrTheStreamIsNew() {
        IdReservation unclean = reservation(5);
        IdReservation clean =
                new IdReservation(high -> Future.succeededFuture(), clock, 5, true, IdReservation.Stop.NONE);
        assertTrue(unclean.needsFence(false));
        assertTrue(!unclean.needsFence(true));
        assertTrue(!clean.needsFence(false));
    }
}
