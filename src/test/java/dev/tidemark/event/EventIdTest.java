package dev.tidemark.event;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventIdTest {
    @Test
    @Tag("F13")
    void theDesignsVectorsHold() {
        assertEquals("USR0KHTOWnGLuC", new EventId(274557032793636864L).toString("USR"));
        EventId parsed = EventId.parseOrNull("USR0KHTOWnGLuC", "USR");
        assertNotNull(parsed);
        assertEquals(274557032793636864L, parsed.number());
        assertEquals(
                "1704117200000-1620567",
                EventId.parse("EVT000xY9Wvvcd").position().entryId());
        assertEquals("EVTAzL8n0Y58m7", new EventId(Long.MAX_VALUE).toString());
        assertEquals("EVT00000000000", new EventId(0).toString());
    }

    @ParameterizedTest
    @Tag("F13")
    @ValueSource(
            strings = {
                "",
                "EVT",
                "EVT0000000000",
                "EVT000000000000",
                "evt00000000000",
                "USR00000000000",
                "EVT0000000000-",
                "EVT0000000000é",
                "EVTAzL8n0Y58m8",
                "EVTzzzzzzzzzzz",
                " EVT0000000000",
                "1704117200000-1"
            })
    void everythingElseIsRefused(String text) {
        assertNull(EventId.parseOrNull(text));
        Problem problem = assertThrows(Problem.class, () -> EventId.parse(text));
        assertTrue(problem.detail().contains("AzL8n0Y58m7"), problem.detail());
    }

    @Test
    void textPositionAndNumberAreTheSameOrder() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 20_000; i++) {
            EventId left = new EventId(random.nextLong() >>> 1);
            EventId right =
                    new EventId(random.nextBoolean() ? left.number() ^ random.nextInt(8) : random.nextLong() >>> 1);
            int order = Integer.signum(Long.compare(left.number(), right.number()));
            assertEquals(order, Integer.signum(left.toString().compareTo(right.toString())), "seed " + seed);
            assertEquals(order, Integer.signum(left.position().compareTo(right.position())), "seed " + seed);
            assertEquals(left, EventId.of(left.position()), "seed " + seed);
            assertEquals(left, EventId.parse(left.toString()), "seed " + seed);
        }
    }

    @Test
    void cursorsRoundTripAndRubbishIsNone() {
        Generation generation = new Generation(42);
        Cursor cursor = new Cursor(generation, new EventId(274557032793636864L).position());
        assertEquals(cursor, Cursor.parseOrNull(cursor.toString()));
        Cursor start = new Cursor(generation, Position.ZERO);
        assertEquals(start, Cursor.parseOrNull(start.toString()));
        assertNull(Cursor.parseOrNull(""));
        assertNull(Cursor.parseOrNull(cursor + "0"));
        assertNull(Cursor.parseOrNull("9" + cursor.toString().substring(1)));
        assertNull(Cursor.parseOrNull(cursor.toString().replace('0', '!')));
    }
}
