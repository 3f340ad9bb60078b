package dev.tidemark.keeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.EventId;
import dev.tidemark.event.Position;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class MintTest {
    private static final long NOW = EventId.EPOCH_MS + 1_000_000;

    @Test
    void aBurstBorrowsFromTheNextMillisecondAndNeverFromTheNode() {
        Mint mint = new Mint(1023);
        Position last = Position.ZERO;
        for (int i = 0; i < 10_000; i++) {
            Position id = mint.next(NOW);
            assertTrue(id.isAfter(last));
            assertEquals(1023, EventId.of(id).node());
            last = id;
        }
        assertEquals(NOW + 2, last.ms());
    }

    @Test
    void idsRiseWhateverTheClockDoes() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        Mint mint = new Mint(random.nextInt(1024));
        Position last = Position.ZERO;
        long clock = NOW;
        for (int i = 0; i < 50_000; i++) {
            clock += random.nextInt(-400, 401);
            if (random.nextInt(100) == 0) {
                mint.startAfter(new Position(last.ms() + random.nextInt(3), random.nextLong(EventId.LOW_MASK)));
            }
            if (random.nextInt(100) == 0) {
                Position imported = new Position(last.ms() + 1 + random.nextInt(3), random.nextLong(EventId.LOW_MASK));
                if (imported.isAfter(mint.last())) {
                    mint.imported(imported);
                    last = imported;
                }
            }
            Position id = mint.next(clock);
            assertTrue(id.isAfter(last), "seed " + seed + ": " + id + " after " + last);
            assertTrue(id.ms() >= clock, "seed " + seed);
            last = id;
        }
    }

    @Test
    void takingOverStartsInALaterMillisecond() {
        Mint mint = new Mint(3);
        mint.startAfter(new Position(NOW + 50, 0));
        assertEquals(new Position(NOW + 51, 3 << EventId.SEQUENCE_BITS), mint.next(NOW));
    }

    @Test
    void theReservationIsAskedBeforeIdsLeaveIt() {
        Mint mint = new Mint(0);
        assertTrue(mint.staysBelow(NOW + 10, NOW, 1));
        assertFalse(mint.staysBelow(NOW + 1, NOW, 1));
        assertFalse(mint.staysBelow(NOW + 3, NOW, 3 * 4096));
    }

    @Test
    @Tag("F15")
    void aFenceStandsAboveAllIdsGivenOutAndNoEventEverHasOne() {
        Mint mint = new Mint(5);
        for (int i = 0; i < 20_000; i++) {
            assertFalse(Mint.isFence(mint.next(NOW)));
        }
        Position last = mint.last();
        Position fence = mint.fence(0);
        assertTrue(fence.isAfter(last));
        assertTrue(Mint.isFence(fence));
        assertTrue(mint.fence(0).isAfter(fence));
        assertEquals(NOW + 500, mint.fence(NOW + 500).ms());
        Position next = mint.next(NOW);
        assertEquals(NOW + 501, next.ms());
        assertFalse(Mint.isFence(next));
        mint.startAfter(new Position(NOW + 900, 7));
        assertEquals(NOW + 901, mint.fence(0).ms());
    }
}
