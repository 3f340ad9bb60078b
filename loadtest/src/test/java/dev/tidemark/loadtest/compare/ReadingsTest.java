package dev.tidemark.loadtest.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What is read out of options and of what programs and servers say. */
class ReadingsTest {
    @Test
    void theLastSummaryOfTheProducerCounts() {
        String output = """
                50001 records sent, 10000.2 records/sec (2.44 MB/sec), 5.1 ms avg latency.
                200000 records sent, 66622.25 records/sec (16.26 MB/sec), 1.52 ms avg latency, 90.00 ms max latency.
                """;
        assertEquals(66622.25, KafkaTurn.rate(output).orElseThrow());
        assertTrue(KafkaTurn.rate("nothing").isEmpty());
    }

    @Test
    void theSeamsNumbers() throws IOException {
        String seam = "{\"live_events\":1000,\"archived_events\": 61536,\"fold_lag_ms\":\"12\"}";
        assertEquals(new SeamFigures(1_000, 61_536, 12), SeamFigures.parse(seam));
        assertThrows(IOException.class, () -> SeamFigures.parse("{\"live_events\":1}"));
    }

    @Test
    void jobsByTheirWords() {
        assertEquals(Set.of(Job.TAIL, Job.APPEND_SINGLE), Job.parse("append-single, tail"));
        assertThrows(IllegalArgumentException.class, () -> Job.parse("tails"));
    }

    @Test
    void wrongOptionsAreNamed() {
        for (List<String> wrong : List.of(
                List.of("--round", "3"), List.of("--rounds"), List.of("--rounds", "0"), List.of("--fsync", "never"))) {
            IllegalArgumentException refused = assertThrows(
                    IllegalArgumentException.class, () -> CompareOptions.parse(wrong.toArray(String[]::new)));
            assertFalse(String.valueOf(refused.getMessage()).isEmpty());
        }
    }

    @Test
    void aChartHasAPointForEachFigureAndItsAxesAreRound() {
        LineChart chart = new LineChart("a < b", "events", "ms", true);
        chart.add("p50", List.of(new LineChart.Point(10_000, 0.1), new LineChart.Point(10_000_000, 0.17)));
        String svg = chart.svg();
        assertTrue(svg.contains("a &lt; b"), svg);
        assertTrue(svg.contains(">10M</text>"), svg);
        assertTrue(svg.contains(">0.2</text>"), svg);
        assertTrue(svg.contains("points=\"80.0,155.0 605.0,74.5\""), svg);
    }

    @Test
    void numbersOnAxes() {
        assertEquals("0", LineChart.number(0));
        assertEquals("0.04", LineChart.number(0.04));
        assertEquals("100", LineChart.number(100));
        assertEquals("150k", LineChart.number(150_000));
        assertEquals("2.5M", LineChart.number(2_500_000));
    }
}
