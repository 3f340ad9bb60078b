package dev.tidemark.loadtest.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** A part of the results takes the place of the one before it, in its order, and leaves the others alone. */
class ResultsFileTest {
    @Test
    void partsStandInTheirOrderWhenEachComes() {
        String start = ResultsFile.with("# Results\n", "start", "s1\n");
        String both = ResultsFile.with(start, "comparison", "\nc1\n");
        assertEquals("""
                # Results

                <!-- comparison -->
                c1
                <!-- end of comparison -->

                <!-- start -->
                s1
                <!-- end of start -->
                """, both);
    }

    @Test
    void aPartIsReplacedAndTheRestStays() {
        String whole = ResultsFile.with(ResultsFile.with("# R\n\nby hand\n", "archive", "a"), "growth", "g");
        String again = ResultsFile.with(whole, "archive", "new\ntext");
        assertEquals(whole.replace("\na\n", "\nnew\ntext\n"), again);
    }
}
