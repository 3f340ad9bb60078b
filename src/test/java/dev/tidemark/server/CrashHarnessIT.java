package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/**
 * The crash harness: the built server and its Redis under load, killed and stopped at random moments and at named points of append and
 * fold; with a table at the end. How many rounds: system property {@code tidemark.rounds}; from which seed: {@code tidemark.seed}. The seed decides
 * the faults, their order, points, passages and pauses, and what writers send; what the processes are doing at that moment it can't.
 */
@Tag("R06")
@Tag("R31")
@Tag("F4")
@Tag("F5")
@Tag("T13")
@Tag("failure-1")
class CrashHarnessIT {
    private static final int ROUNDS = Integer.getInteger("tidemark.rounds", 4);
    private static final long SEED = Long.getLong("tidemark.seed", System.nanoTime());

    /** Rounds on one data directory; then it is checked as a whole, and the next begins. */
    private static final int SCENE_ROUNDS = 15;

    private static final int LOG_LINES = 60;

    private final Verdict verdict = new Verdict();

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    Path dir;

    @Test
    void nothingIsLostRepeatedOrOutOfOrderWhateverIsKilledOrStopped() throws Exception {
        System.out.println("crash harness: " + ROUNDS + " rounds, seed " + SEED);
        List<Fault> faults = Fault.drawn(ROUNDS, new Random(SEED));
        int round = 0;
        for (int scene = 0; round < ROUNDS; scene++) {
            round = scene(scene, round, faults);
        }
        System.out.println("crash harness: " + ROUNDS + " rounds, seed " + SEED + "\n" + verdict.text());
        assertTrue(verdict.isClean(), () -> "seed " + SEED + ", data in " + dir + "\n" + verdict.text());
    }

    /** Gives the next round. */
    private int scene(int number, int first, List<Fault> faults) throws Exception {
        int round = first;
        try (CrashScene scene = new CrashScene(dir.resolve("data-" + number), SEED + number)) {
            boolean goesOn = true;
            while (goesOn && round < Math.min(first + SCENE_ROUNDS, faults.size())) {
                goesOn = round(scene, round, faults.get(round));
                round++;
            }
            if (goesOn) {
                Ledger ledger = new Ledger();
                scene.end(ledger);
                verdict.add("archive and stop after every " + SCENE_ROUNDS + " rounds", ledger);
            }
        }
        return round;
    }

    /** False if the scene can't be used further. */
    private boolean round(CrashScene scene, int round, Fault fault) throws InterruptedException {
        Ledger ledger = new Ledger();
        long acked = scene.acked();
        long recoveryMs = 0;
        try {
            recoveryMs = scene.round(fault, ledger);
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception | AssertionError e) {
            ledger.other("the round didn't end: " + e + (e.getCause() == null ? "" : ", " + e.getCause()));
        }
        acked = scene.acked() - acked;
        verdict.add(fault.title(), acked, recoveryMs, ledger);
        System.out.println("round " + (round + 1) + ": " + fault.title() + ": acked " + acked + ", appends again after "
                + recoveryMs + " ms" + (ledger.isClean() ? "" : ", WRONG: " + ledger.details()));
        if (!ledger.isClean()) {
            List<String> log = scene.log();
            System.out.println(String.join("\n", log.subList(Math.max(0, log.size() - LOG_LINES), log.size())));
        }
        return ledger.isClean();
    }
}
