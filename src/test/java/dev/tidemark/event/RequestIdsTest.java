package dev.tidemark.event;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("R28")
class RequestIdsTest {
    private static final long MS = 1_764_440_000_000L;

    private static RequestIds again(RequestIds ids) {
        return RequestIds.restore(ids.count(), ids.starts(), ids.lengths());
    }

    private static void assertSurvives(RequestIds ids) {
        assertEquals(ids, again(ids));
        assertEquals(ids, RequestIds.parseOrNull(ids.toString()), ids.toString());
        assertTrue(ids.toString().length() <= ids.textLengthMax());
    }

    @Test
    void aBatchOfManyIsOneRun() {
        List<Position> minted = new ArrayList<>();
        for (int i = 0; i < 4_000; i++) {
            minted.add(new Position(MS, i));
        }
        RequestIds ids = RequestIds.of(minted);
        assertEquals(minted, ids.known());
        assertEquals(minted.get(0), ids.first());
        assertEquals(minted.get(3_999), ids.last());
        assertEquals(EventId.of(minted.get(0)) + "+3999", ids.toString());
        assertSurvives(ids);
    }

    @Test
    void idsInAnyOrderComeBackAsTheyWere() {
        long seed = new SplittableRandom().nextLong();
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 300; round++) {
            List<Position> positions = new ArrayList<>();
            int runs = random.nextInt(1, RequestIds.RUNS_MAX + 1);
            for (int run = 0; run < runs; run++) {
                long ms = MS + random.nextLong(1_000_000);
                int seq = random.nextInt(1_000);
                for (int i = random.nextInt(1, 4); i > 0; i--) {
                    positions.add(new Position(ms, seq++));
                }
            }
            RequestIds ids = RequestIds.of(positions);
            assertTrue(ids.isWhole());
            assertEquals(positions, ids.known(), "seed " + seed);
            assertEquals(positions.stream().reduce(Position.ZERO, Position::max), ids.highest());
            assertSurvives(ids);
        }
    }

    @Test
    void ofScatteredIdsTheFirstTheLastAndTheHighestAreKept() {
        List<Position> positions = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            positions.add(new Position(MS + (i * 7_919L) % 100_000, 5));
        }
        RequestIds ids = RequestIds.of(positions);
        assertFalse(ids.isWhole());
        assertEquals(5_000, ids.count());
        assertEquals(List.of(positions.get(0), positions.get(4_999)), ids.known());
        assertEquals(positions.get(4_999), ids.last());
        assertEquals(positions.stream().reduce(Position.ZERO, Position::max), ids.highest());
        assertSurvives(ids);
    }

    @Test
    void whatIsNoListOfIdsIsNull() {
        String id = EventId.of(new Position(MS, 1)).toString();
        for (String text : List.of(
                "",
                ",",
                id + ",",
                id + "+0",
                id + "+-1",
                id + "+01",
                id + "+2147483647",
                id + "+x",
                "~",
                "~1," + id,
                "~0," + id + "," + id + "," + id,
                "~01," + id + "," + id + "," + id,
                id + " ",
                "EVTzzzzzzzzzzz",
                "EVTAzL8n0Y58m7+1",
                (id + ",").repeat(RequestIds.RUNS_MAX) + id)) {
            assertNull(RequestIds.parseOrNull(text), text);
        }
        assertThrows(IllegalArgumentException.class, () -> RequestIds.restore(1, new long[0], new int[0]));
        assertThrows(IllegalArgumentException.class, () -> RequestIds.restore(3, new long[] {1}, new int[] {2}));
        assertThrows(IllegalArgumentException.class, () -> RequestIds.restore(1, new long[] {-1}, new int[] {1}));
    }

    @Test
    void aBodyHashIs32HexDigits() {
        BodyHash hash = new BodyHash(0x0123456789abcdefL, -2);
        assertEquals("0123456789abcdeffffffffffffffffe", hash.toString());
        assertEquals(hash, BodyHash.parseOrNull(hash.toString()));
        assertNull(BodyHash.parseOrNull("0123456789ABCDEFfffffffffffffffe"));
        assertNull(BodyHash.parseOrNull("0123456789abcdeffffffffffffffff"));
        assertNull(BodyHash.parseOrNull("0123456789abcdefffffffffffffffg0"));
    }
}
