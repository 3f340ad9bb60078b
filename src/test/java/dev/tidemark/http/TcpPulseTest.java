package dev.tidemark.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.function.LongPredicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** With default times: a look every 2.5 s, lost after 20 s. */
@Tag("R38")
class TcpPulseTest {
    private static final long TICK_MS = 100;
    private static final long UNTIL_MS = 600_000;

    private long nowMs;
    private int looks;

    /** When a peer is found lost of which something is unanswered at those times; -1 if never. */
    private long lostAtMs(LongPredicate unanswered) {
        looks = 0;
        TcpPulse pulse = new TcpPulse(
                () -> {
                    looks++;
                    return unanswered.test(nowMs);
                },
                HttpOptions.Timeouts.DEFAULT.pingMs() / 8,
                HttpOptions.Timeouts.DEFAULT.pongMs(),
                0);
        for (nowMs = 0; nowMs < UNTIL_MS; nowMs += TICK_MS) {
            if (pulse.isLost(nowMs * 1_000_000)) {
                return nowMs;
            }
        }
        return -1;
    }

    @Test
    void aPeerThatAnswersNothingIsLostWithinFortySeconds() {
        for (long goneAt = 0; goneAt < 30_000; goneAt += 700) {
            long gone = goneAt;
            long lostAt = lostAtMs(ms -> ms > gone);
            assertFalse(lostAt < gone + 20_000 || lostAt > gone + 40_000, "gone at " + gone + ", lost at " + lostAt);
        }
    }

    @Test
    void onePacketThatIsSentAgainNowAndThenIsNothing() {
        assertEquals(-1, lostAtMs(ms -> ms % 19_000 < 15_000 && ms % 1_000 < 900 && (ms / 2_500) % 7 != 6));
        assertEquals(-1, lostAtMs(ms -> false));
    }

    @Test
    void theSystemIsAskedSeldom() {
        assertEquals(-1, lostAtMs(ms -> false));
        assertEquals(UNTIL_MS / 2_500 - 1, looks);
    }
}
