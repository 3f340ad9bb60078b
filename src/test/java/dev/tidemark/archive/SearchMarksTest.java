package dev.tidemark.archive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Position;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SearchMarksTest {
    private final SearchMarks marks = new SearchMarks();

    @Test
    void theRoundestNumberOfARangeIsInItAndHasTheMostZeroBits() {
        for (long low = 0; low < 70; low++) {
            for (long high = low + 1; high < 140; high++) {
                long round = ArchiveSearch.roundest(low, high);
                assertTrue(low <= round && round < high, low + " " + high + " gave " + round);
                for (long other = Math.max(1, low + 1); other < high; other++) {
                    assertTrue(
                            round != 0 && Long.numberOfTrailingZeros(round) >= Long.numberOfTrailingZeros(other),
                            low + " " + high + " gave " + round + ", not " + other);
                }
            }
        }
    }

    @Test
    void aSearchTakesNoMoreStepsThanTheLengthHasBitsAndOne() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 10_000; i++) {
            long count = 1 + random.nextLong(1L << random.nextInt(1, 40));
            long wanted = random.nextLong(count);
            long low = 0;
            long high = count;
            int steps = 0;
            while (low < high) {
                long middle = ArchiveSearch.roundest(low, high);
                steps++;
                if (middle < wanted) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            assertEquals(wanted, low);
            assertTrue(
                    steps <= 65 - Long.numberOfLeadingZeros(count),
                    "seed " + seed + ": " + steps + " steps for " + wanted + " of " + count);
        }
    }

    @Test
    void aMarkIsFoundUnderItsOwnFileAndNumberOnly() {
        Position key = new Position(5, 6);
        marks.remember(1, 4_096, key);
        assertEquals(key, marks.find(1, 4_096));
        assertNull(marks.find(2, 4_096));
        assertNull(marks.find(1, 8_192));
        for (int cycle = 0; cycle < 20_000; cycle++) {
            marks.remember(cycle + 10, 4_096, new Position(cycle, 1));
        }
        for (int cycle = 0; cycle < 20_000; cycle++) {
            Position found = marks.find(cycle + 10, 4_096);
            assertTrue(found == null || found.equals(new Position(cycle, 1)), "of " + cycle + ": " + found);
        }
    }

    @Test
    void aFileHasAFewThousandMarksAtMost() {
        for (long count : new long[] {1, 5_000, 1_000_000, 10_000_000, 27_274_500, 3_000_000_000L}) {
            long step = 0;
            for (long number = 1; number < count; number *= 2) {
                if (SearchMarks.isMark(number, count)) {
                    step = number;
                    break;
                }
            }
            assertTrue(step == 0 || (step >= 4_096 && count / step < 2_049), "of " + count + ": every " + step);
        }
    }
}
