package dev.tidemark.retention;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.FakeClock;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamSettings;
import dev.tidemark.fold.TrimBounds;
import dev.tidemark.retention.MemoryPressure.Usage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("R10")
class MemoryPressureTest {
    private static final long MAX = 1_000 << 20;
    private static final long HOUR_MS = 3_600_000;

    private final FakeClock clock = FakeClock.atStart();
    private final TrimBounds windows = new Windows();
    private final MemoryPressure pressure = new MemoryPressure(windows, 80, clock);

    private long keepFromMs() {
        return pressure.of(StreamSettings.DEFAULT, clock.wallMs()).keepFrom().ms();
    }

    private long windowMs() {
        return windows.of(StreamSettings.DEFAULT, clock.wallMs()).keepFrom().ms();
    }

    private void look(Usage usage, long oldestMs) {
        pressure.look(usage, () -> oldestMs);
    }

    private static Usage used(int percent) {
        return new Usage(MAX / 100 * percent, MAX, 0);
    }

    @Test
    void belowTheMarkWindowsDecideAlone() {
        look(used(79), clock.wallMs() - HOUR_MS);
        assertFalse(pressure.isOn());
        assertEquals("", pressure.trouble());
        assertEquals(windowMs(), keepFromMs());
    }

    @Test
    void aboveTheMarkTheOldestGoFirstAndMoreWithEveryLook() {
        long oldest = clock.wallMs() - HOUR_MS / 2;
        look(used(81), oldest);
        assertTrue(pressure.isOn());
        long first = keepFromMs();
        assertTrue(first > oldest && first < clock.wallMs() - HOUR_MS / 4, "the first step is " + (first - oldest));
        look(used(81), first);
        assertTrue(keepFromMs() > first);
        assertTrue(pressure.trouble().contains("redis.memory_high is 80%"), pressure.trouble());
    }

    @Test
    void itEndsBelowTheMarkAndNotAtIt() {
        look(used(81), clock.wallMs() - 1_000);
        look(used(79), clock.wallMs() - 500);
        assertTrue(pressure.isOn());
        look(used(74), clock.wallMs() - 250);
        assertFalse(pressure.isOn());
        assertEquals(windowMs(), keepFromMs());
    }

    @Test
    void aRefusalIsPressureWhateverTheFiguresSay() {
        look(new Usage(1, 0, 0), clock.wallMs() - 1_000);
        assertFalse(pressure.isOn());
        look(new Usage(1, 0, 3), clock.wallMs() - 1_000);
        assertTrue(pressure.isOn());
        assertTrue(pressure.trouble().contains("refuses appends"), pressure.trouble());
        assertTrue(keepFromMs() >= clock.wallMs() - 500);
        look(new Usage(1, 0, 3), clock.wallMs() - 1_000);
        assertFalse(pressure.isOn());
    }

    @Test
    void manyLooksReachTheNewestEvents() {
        long oldest = clock.wallMs() - HOUR_MS;
        for (int i = 0; i < 25; i++) {
            look(used(99), oldest);
        }
        assertTrue(clock.wallMs() - keepFromMs() < 1_000, "still kept: " + (clock.wallMs() - keepFromMs()) + " ms");
        assertTrue(keepFromMs() <= clock.wallMs());
    }

    @Test
    void withNothingFoldedTheBoundStays() {
        look(used(99), Long.MAX_VALUE);
        assertTrue(pressure.isOn());
        assertEquals(windowMs(), keepFromMs());
        assertEquals(
                Position.ZERO.seq(),
                pressure.of(StreamSettings.DEFAULT, clock.wallMs()).keepFrom().seq());
    }
}
