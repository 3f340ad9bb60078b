package dev.tidemark.livelog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.EventId;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.StripeId;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Names of streams never meet in Redis, whatever is in them. */
@Tag("R42")
final class LiveLogKeysTest {
    private static final Generation GENERATION = new Generation(1);
    private final LiveLogKeys keys = new LiveLogKeys("tidemark");

    private String live(String name, int stripe) {
        return keys.live(new StripeId(new StreamId(new StreamName(name), GENERATION), stripe));
    }

    @Test
    void keysAreAsDesigned() {
        assertEquals("tidemark:owner", keys.owner());
        assertEquals("tidemark:streams", keys.streams());
        assertEquals("tidemark:{quakes#0/00000000001}:live", live("quakes", 0));
        assertEquals("tidemark:{quakes}:archived", keys.archived(new StreamName("quakes")));
    }

    @Test
    @Tag("F8")
    void theSeamNamesTheWatermarkTwiceAndTheGeneration() {
        StreamId stream = new StreamId(new StreamName("s"), GENERATION);
        Position watermark = new EventId(274557032793636864L).position();
        assertEquals("EVT0KHTOWnGLuC " + watermark.entryId() + " 00000000001", LiveLogKeys.seamText(stream, watermark));
    }

    @Test
    void oddNamesNeverMeetAndNeverBreakTheHashTag() {
        List<String> names = List.of(
                "a",
                "a#0",
                "a#1",
                "a/b",
                "a%7D",
                "a}",
                "a{",
                "a{}",
                "{a}",
                "%",
                "%25",
                "}",
                "{",
                "a:live",
                "a}:live",
                "é",
                "a b",
                "a+b",
                "a%20b",
                "../../x",
                "a#0/00000000001",
                "a#0/00000000001}:live");
        Set<String> seen = new HashSet<>();
        for (String name : names) {
            for (int stripe = 0; stripe < 2; stripe++) {
                String key = live(name, stripe);
                assertTrue(seen.add(key), key);
                assertEquals("{}", key.replaceAll("[^{}]", ""), key);
                assertTrue(key.indexOf('}') > key.indexOf('{') + 1, key);
            }
            assertTrue(seen.add(keys.archived(new StreamName(name))));
        }
    }

    @Test
    void aPrefixThatWouldBreakKeysIsRefused() {
        for (String prefix : List.of("", "a{b", "a}b", "a b", "a\nb", "x".repeat(101))) {
            IllegalArgumentException refused =
                    assertThrows(IllegalArgumentException.class, () -> new LiveLogKeys(prefix));
            assertTrue(String.valueOf(refused.getMessage()).contains("redis.prefix"));
        }
    }
}
