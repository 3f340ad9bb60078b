package dev.tidemark.fold;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import dev.tidemark.event.Position;
import dev.tidemark.keeper.KeeperWorld;
import dev.tidemark.livelog.LiveLogTrimmer;
import dev.tidemark.retention.Windows;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The whole pipeline under seeded faults; any number of seeds with {@code -Dtidemark.seeds=N}, one with {@code -Dtidemark.seed=S}. */
@Tag("F3")
@Tag("F4")
@Tag("F5")
@Tag("F6")
@Tag("F15")
@Tag("T5")
@Tag("T6")
@Tag("T7")
@Tag("T11")
@Tag("T13")
@Tag("R04")
@Tag("R06")
class PipelineSimulationTest {
    private static final int STEPS = 120;
    private static final int FAILURES_MAX = 50;

    @Test
    void everyAcknowledgedEventIsReadOnceInOrderWhateverFails() {
        long first = Long.getLong("tidemark.seed", 1);
        int seeds = Integer.getInteger("tidemark.seeds", Long.getLong("tidemark.seed") == null ? 500 : 1);
        List<String> failures = new ArrayList<>();
        for (long seed = first; seed < first + seeds && failures.size() < FAILURES_MAX; seed++) {
            PipelineSimulation simulation = new PipelineSimulation(seed);
            try {
                simulation.run(STEPS);
            } catch (AssertionError | RuntimeException e) {
                if (failures.isEmpty()) {
                    System.out.println(String.join("\n", simulation.trace()));
                }
                failures.add("seed " + seed + ": " + e);
            }
        }
        assertEquals(List.of(), failures, "the trace of the first is above");
    }

    @Test
    void theSameSeedGivesTheSameTrace() {
        for (long seed = 1; seed <= 20; seed++) {
            assertEquals(traceOf(seed), traceOf(seed));
        }
    }

    @Test
    @Tag("F11")
    void aTrimBeforeTheFoldIsFound() {
        assertFound("a trim that doesn't heed W", seed -> new PipelineSimulation(seed) {
            @Override
            FoldCycle newCycle(KeeperWorld of, LiveLogTrimmer trimmer) {
                return new FoldCycle(of, of.liveLog, trimmer, new Windows(), of.clock) {
                    @Override
                    Position trimBelow(StreamFold fold, TrimBounds.Bounds wanted) {
                        return window(fold, wanted);
                    }
                };
            }
        });
    }

    @Test
    @Tag("F15")
    void aMissingFenceIsFound() {
        assertFound("no fence", seed -> {
            PipelineSimulation simulation = new PipelineSimulation(seed);
            simulation.world().liveLog.ignoreFences();
            return simulation;
        });
    }

    @Test
    void anErrorThatIsTakenForDataIsFound() {
        assertFound("an error read as an empty range", seed -> {
            PipelineSimulation simulation = new PipelineSimulation(seed);
            simulation.world().liveLog.takeFailedRangesForEmpty();
            return simulation;
        });
    }

    /** A bug that somebody builds in is found within 200 seeds. */
    private static void assertFound(String bug, LongFunction<PipelineSimulation> broken) {
        for (long seed = 1; seed <= 200; seed++) {
            try {
                broken.apply(seed).run(STEPS);
            } catch (AssertionError | RuntimeException found) {
                System.out.println(bug + " is found by seed " + seed + ": " + found.getMessage());
                return;
            }
        }
        fail(bug + " isn't found");
    }

    private static List<String> traceOf(long seed) {
        PipelineSimulation simulation = new PipelineSimulation(seed);
        simulation.run(STEPS);
        return simulation.trace();
    }
}
