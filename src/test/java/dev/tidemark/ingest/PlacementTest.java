package dev.tidemark.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Producer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class PlacementTest {
    @Test
    @Tag("R28")
    void aWriterGoesToTheSameStripeInEveryProcess() {
        // What is remembered of a producer lies in its stripe: these must never change.
        assertEquals(2, Placement.stripeOf(new Producer("sensor-1", 0, 0), "", 4));
        assertEquals(0, Placement.stripeOf(new Producer("sensor-2", 5, 9), "other", 4));
        assertEquals(
                Placement.stripeOf(new Producer("sensor-1", 0, 0), "1", 1_024),
                Placement.stripeOf(new Producer("sensor-1", 7, 8), "2", 1_024));
    }

    @Test
    void withoutAProducerTheConnectionDecides() {
        assertEquals(Placement.stripeOf(null, "17", 8), Placement.stripeOf(null, "17", 8));
        assertEquals(0, Placement.stripeOf(null, "17", 1));
    }

    @Test
    void writersAreSpreadOverAllStripes() {
        for (int stripes : new int[] {2, 3, 4, 16}) {
            int[] counts = new int[stripes];
            for (int i = 0; i < 4_000; i++) {
                counts[Placement.stripeOf(null, Integer.toString(i), stripes)]++;
                counts[Placement.stripeOf(new Producer("sensor-" + i, 0, 0), "", stripes)]++;
            }
            for (int count : counts) {
                assertTrue(count > 6_000 / stripes && count < 10_000 / stripes, count + " of " + stripes);
            }
        }
    }
}
