package dev.tidemark.fold;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Streams whose order isn't final on arrival, under seeded faults; any number of seeds with {@code -Dtidemark.seeds=N}. */
@Tag("T5")
@Tag("T6")
@Tag("T7")
@Tag("T11")
@Tag("T13")
class SortedStreamSimulationTest {
    private static final int STEPS = 120;

    @Test
    void everyAcknowledgedEventIsReadOnceInOrderWhateverTimesAreClaimedAndWhateverFails() {
        long first = Long.getLong("tidemark.seed", 1);
        int seeds = Integer.getInteger("tidemark.seeds", 300);
        for (long seed = first; seed < first + seeds; seed++) {
            SortedStreamSimulation simulation = new SortedStreamSimulation(seed);
            try {
                simulation.run(STEPS);
            } catch (AssertionError | RuntimeException e) {
                List<String> trace = simulation.trace();
                throw new AssertionError("seed " + seed + ": " + e.getMessage() + "\n" + String.join("\n", trace), e);
            }
        }
    }
}
