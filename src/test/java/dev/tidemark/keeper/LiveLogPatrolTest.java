package dev.tidemark.keeper;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidemark.event.FakeClock;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LiveLogPatrolTest {
    private final FakeClock clock = FakeClock.atStart();
    private final List<Integer> stripes =
            new ArrayList<>(IntStream.range(0, 200).boxed().toList());
    private final List<Integer> looked = new ArrayList<>();
    private final LiveLogPatrol<Integer> patrol = new LiveLogPatrol<>(clock, stripes, looked::add);

    private void tickFor(long ms, long everyMs) {
        for (long passed = 0; passed < ms; passed += everyMs) {
            clock.advanceMs(everyMs);
            patrol.tick();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {20, Keeper.TICK_MS_IDLE})
    void aRoundTakesAsLongWhetherItsKeeperIsBusyOrNot(long tickMs) {
        tickFor(2_000, tickMs);
        tickFor(4_000, tickMs);
        assertEquals(200, looked.size(), 15);
        assertEquals(stripes.subList(0, 190), looked.subList(0, 190));
    }

    @ParameterizedTest
    @ValueSource(longs = {20, Keeper.TICK_MS_IDLE})
    void noRoundBeginsSoonerThanTwoSecondsAfterTheOneBefore(long tickMs) {
        stripes.subList(3, 200).clear();
        tickFor(10_000, tickMs);
        assertEquals(5 * 3, looked.size(), 3);
    }

    @Test
    void afterALongPauseFewAreLookedAtAtOnce() {
        clock.advanceMs(60_000);
        patrol.tick();
        assertEquals(25, looked.size());
    }
}
