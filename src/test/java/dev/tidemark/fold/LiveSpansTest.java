package dev.tidemark.fold;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Position;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class LiveSpansTest {
    private static LiveSpans ofTen(int count) {
        LiveSpans spans = new LiveSpans();
        for (int i = 1; i <= count; i++) {
            spans.add(new Position(i, 0), i * 10L, 100);
        }
        return spans;
    }

    @Test
    @Tag("F10")
    void whatIsBehindABoundOfBytesIsNeverMoreThanIt() {
        LiveSpans spans = ofTen(10);
        assertNull(spans.beyondBytes(1_000));
        assertEquals(10, ordinalBeyond(spans, 999));
        assertEquals(10, ordinalBeyond(spans, 900));
        assertEquals(20, ordinalBeyond(spans, 899));
        assertEquals(90, ordinalBeyond(spans, 100));
        assertEquals(100, ordinalBeyond(spans, 99));
        assertEquals(100, ordinalBeyond(spans, 0));
    }

    private static long ordinalBeyond(LiveSpans spans, long bytes) {
        LiveSpans.Span span = spans.beyondBytes(bytes);
        assertNotNull(span);
        return span.lastOrdinal();
    }

    @Test
    @Tag("F10")
    void aMarkerWithoutBytesStandsForEverythingBelowIt() {
        LiveSpans spans = ofTen(3);
        spans.addOldest(new Position(0, 5), 5, 0);
        assertNull(spans.beyondBytes(300), "only what is more than the bound goes");
        assertEquals(10, ordinalBeyond(spans, 299));
    }

    @Test
    void forgettingAndTrimmingKeepTheSum() {
        LiveSpans spans = ofTen(10);
        spans.forgetThrough(35);
        assertEquals(700, spans.bytes());
        assertEquals(40, spans.oldestOrdinal());
        spans.trimmed(new Position(6, 0));
        assertEquals(500, spans.bytes());
        assertEquals(60, spans.oldestOrdinal());
    }

    @Test
    void manySpansAreJoinedWithoutLosingBytes() {
        LiveSpans spans = ofTen(5_000);
        assertEquals(500_000, spans.bytes());
        LiveSpans.Span found = spans.endingAtOrBelow(25_000);
        assertNotNull(found);
        assertTrue(found.lastOrdinal() <= 25_000 && found.lastOrdinal() > 24_000, found.toString());
    }
}
