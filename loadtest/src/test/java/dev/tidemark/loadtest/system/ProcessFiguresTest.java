package dev.tidemark.loadtest.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** What Linux tells of a process is read rightly. */
class ProcessFiguresTest {
    @Test
    void processorTimeStandsBehindANameWithSpacesAndBrackets() {
        String stat = "4711 (a) b (c) S 1 4711 4711 0 -1 4194560 9 0 0 0 250 50 7 7 20 0 33 0 100 1 2\n";
        assertEquals(3.0, ProcessFigures.cpuSeconds(stat));
    }
}
