package dev.tidemark.archive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** What a check knows of ordinals, in whatever order they come. */
class CheckedOrdinalsTest {
    private static final long SEED = Long.getLong("tidemark.seed", System.nanoTime());

    private static Position at(long ms) {
        return new Position(ms, 0);
    }

    @Test
    void whatComesTwiceIsSeenAndWhatNeverComesIsMissedOnce() {
        CheckedOrdinals ordinals = new CheckedOrdinals();
        assertTrue(ordinals.event(1, at(10), at(10)));
        assertTrue(ordinals.event(4, at(20), at(20)));
        assertFalse(ordinals.event(4, at(30), at(30)));
        assertFalse(ordinals.event(1, at(40), at(40)));
        assertEquals(List.of(new OrdinalRange(2, 3)), ordinals.takeMissing());
        assertEquals(List.of(), ordinals.takeMissing());
    }

    @Test
    void whatLiesBeforeDamageIsNeitherMissedNorTakenForARepetition() {
        CheckedOrdinals ordinals = new CheckedOrdinals();
        assertTrue(ordinals.event(1, at(10), at(10)));
        ordinals.doubt(8);
        assertEquals(List.of(), ordinals.takeMissing());
        assertTrue(ordinals.event(5, at(20), at(20)));
        assertTrue(ordinals.event(9, at(30), at(30)));
        assertFalse(ordinals.event(9, at(40), at(40)));
    }

    @Test
    void anyOrderOfArrivalsWithinAWindowIsAccountedForExactly() {
        System.out.println("checked ordinals: seed " + SEED);
        Random random = new Random(SEED);
        for (int round = 0; round < 200; round++) {
            int count = 1 + random.nextInt(200);
            List<long[]> events = new ArrayList<>();
            TreeSet<Long> left = new TreeSet<>();
            for (int i = 0; i < count; i++) {
                long entryMs = 10_000L + i * 50L;
                if (random.nextInt(20) == 0) {
                    left.add(i + 1L);
                } else {
                    events.add(new long[] {entryMs - random.nextInt(3_000), entryMs, i + 1L});
                }
            }
            Collections.shuffle(events, random);
            events.sort((one, other) -> Long.compare(one[0], other[0]));
            CheckedOrdinals ordinals = new CheckedOrdinals();
            long seq = 0;
            for (long[] event : events) {
                assertTrue(ordinals.event(event[2], new Position(event[0], seq++), at(event[1])));
            }
            // An event far behind all of them settles what must have come.
            assertTrue(ordinals.event(count + 1L, at(1_000_000), at(1_000_000)));
            TreeSet<Long> missing = new TreeSet<>();
            for (OrdinalRange range : ordinals.takeMissing()) {
                for (long ordinal = range.first(); ordinal <= range.last(); ordinal++) {
                    missing.add(ordinal);
                }
            }
            assertEquals(left, missing, "seed " + SEED + ", round " + round);
        }
    }
}
