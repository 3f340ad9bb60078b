package dev.tidemark.read;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.tidemark.event.Position;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Reads while everything else goes on, in random interleavings. A failure names its seed: {@code run(level, seed, ...)} repeats it. */
class ReadSimulationTest {
    private static final int SEEDS = Integer.getInteger("tidemark.read.seeds", 300);
    private static final int STEPS = 400;

    @CanIgnoreReturnValue
    private static int run(int level, long seed, Function<World, StreamSource> source) {
        ReadSimulation simulation = new ReadSimulation(seed, level, source);
        try {
            simulation.run(STEPS);
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError("fault level " + level + ", seed " + seed + ": " + e.getMessage(), e);
        }
        return simulation.answers;
    }

    private static void runAll(int level) {
        int answers = 0;
        for (long seed = 0; seed < SEEDS; seed++) {
            answers += run(level, seed, World::source);
        }
        System.out.println("fault level " + level + ", seeds 0 to " + (SEEDS - 1) + ": " + answers + " answers");
        assertTrue(answers > SEEDS);
    }

    @Test
    @Tag("F7")
    @Tag("R02")
    @Tag("R15")
    @Tag("T17")
    void everyAnswerIsContiguousWhileFoldsTrimsAndReleasesRun() {
        runAll(0);
    }

    @Test
    @Tag("R03")
    void whatRetentionRemovedUnderAReaderIsAnnounced() {
        runAll(1);
    }

    @Test
    @Tag("R13")
    void redisAwayOrRobbedNeverMakesAHoleThatIsSilent() {
        runAll(2);
    }

    @Test
    @Tag("F7")
    void aMergeReadThatDoesNotReadWAgainIsCaught() {
        for (long seed = 0; seed < SEEDS; seed++) {
            try {
                run(0, seed, ReadSimulationTest::withoutTheRule);
            } catch (AssertionError e) {
                System.out.println("the mutant is caught with seed " + seed);
                return;
            }
        }
        fail("a merge-read without the rule went through " + SEEDS + " seeds");
    }

    private static StreamSource withoutTheRule(World world) {
        return new StreamSource(world, world.archive, world.liveLog, world) {
            @Override
            Position watermarkAgain(Position before) {
                return before;
            }
        };
    }
}
