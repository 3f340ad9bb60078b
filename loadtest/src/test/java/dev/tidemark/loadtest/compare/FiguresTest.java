package dev.tidemark.loadtest.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Medians, and what is held against the bars. */
class FiguresTest {
    private static final Figures.Key OWN = new Figures.Key(Measure.APPEND_BATCHES, Side.TIDEMARK, "always");
    private static final Figures.Key OTHER = new Figures.Key(Measure.APPEND_BATCHES, Side.REDIS_BENCHMARK, "always");

    private static Figures figures(List<Double> own, List<Double> other) {
        Figures figures = new Figures();
        own.forEach(value -> figures.add(OWN, "so", value));
        other.forEach(value -> figures.add(OTHER, "so", value));
        return figures;
    }

    @Test
    void theMedianIsOfTheSortedRounds() {
        assertEquals(2, Figures.median(List.of(9.0, 1.0, 2.0)).orElseThrow());
        assertEquals(3, Figures.median(List.of(9.0, 1.0, 2.0, 4.0)).orElseThrow());
        assertTrue(Figures.median(List.of()).isEmpty());
    }

    @Test
    void aRatioIsOfMedians() {
        Figures figures = figures(List.of(10.0, 50.0, 60.0), List.of(100.0, 1.0, 1_000.0));
        Bar bar = Bar.ratio(OWN, OTHER, 0.5, 0.7);
        assertEquals(0.5, bar.value(figures).orElseThrow());
        assertEquals(Bar.Outcome.REACHED, bar.outcome(figures));
        assertEquals(Bar.Outcome.MISSED, Bar.ratio(OWN, OTHER, 0.51, 0).outcome(figures));
        assertEquals(Bar.Outcome.MISSED, Bar.ratioAtMost(OWN, OTHER, 0.4).outcome(figures));
        assertEquals("≥ 0.50 (aim 0.70)", bar.asked());
    }

    @Test
    void withoutAFigureNothingIsReached() {
        Bar bar = Bar.ratio(OWN, OTHER, 0.5, 0);
        assertEquals(Bar.Outcome.NOT_MEASURED, bar.outcome(figures(List.of(1.0), List.of())));
        assertEquals(Bar.Outcome.NOT_MEASURED, bar.outcome(figures(List.of(), List.of(1.0))));
    }

    @Test
    void aFigureIsWithinItsBound() {
        Figures.Key latency = new Figures.Key(Measure.TO_SUBSCRIBER_P99, Side.TIDEMARK, "always");
        Figures figures = new Figures();
        figures.add(latency, "so", 5.0);
        assertEquals(Bar.Outcome.REACHED, Bar.atMost(latency, 5).outcome(figures));
        assertEquals(Bar.Outcome.MISSED, Bar.atMost(latency, 4.9).outcome(figures));
        assertEquals("≤ 5.000 ms", Bar.atMost(latency, 5).asked());
    }

    @Test
    void theTableOfBarsNamesWhatIsMissed() {
        ComparisonText text = new ComparisonText(figures(List.of(40.0), List.of(100.0)));
        String bars = text.bars(List.of("always"));
        assertTrue(bars.contains("| 0.40 | ≥ 0.50 (aim 0.70) | **no** |"), bars);
        assertTrue(bars.contains("not measured"), bars);
        assertTrue(!bars.contains("everysec"), bars);
    }
}
