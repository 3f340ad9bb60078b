package dev.tidemark.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tidemark.event.Problem;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Targets are taken apart as they come and decoded once. */
@Tag("R42")
class RequestTargetTest {
    @Test
    void everySlashCounts() {
        assertEquals(List.of(), RequestTarget.parse("/").segments());
        assertEquals(List.of("a"), RequestTarget.parse("/a").segments());
        assertEquals(List.of("a", ""), RequestTarget.parse("/a/").segments());
        assertEquals(List.of("", "a"), RequestTarget.parse("//a").segments());
        assertEquals(List.of("a", "", "b"), RequestTarget.parse("/a//b?x=/y").segments());
        assertEquals(
                List.of("..", "%2e", "a%2Fb"),
                RequestTarget.parse("/../%2e/a%2Fb").segments());
        assertEquals("", RequestTarget.parse("/a?").query());
        assertNull(RequestTarget.parse("/a").query());
        assertEquals("b?c", RequestTarget.parse("/a?b?c").query());
        assertEquals("h:1", RequestTarget.parse("http://h:1").authority());
        assertEquals("/", RequestTarget.parse("http://h?q").path());
    }

    @Test
    void decodingIsTheInverseOfEncodingAndHappensOnce() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 2_000; round++) {
            StringBuilder name = new StringBuilder();
            for (int i = random.nextInt(12); i >= 0; i--) {
                int point = random.nextBoolean() ? random.nextInt(128) : random.nextInt(0x110000);
                name.appendCodePoint(point >= 0xd800 && point < 0xe000 ? '%' : point);
            }
            StringBuilder encoded = new StringBuilder();
            for (byte b : name.toString().getBytes(StandardCharsets.UTF_8)) {
                boolean plain = Character.isLetterOrDigit(b) && b > 0;
                encoded.append(plain ? String.valueOf((char) b) : String.format("%%%02x", b & 0xff));
            }
            String what = "seed " + seed + ", " + encoded;
            assertEquals(name.toString(), RequestTarget.decode(encoded.toString(), "x", false), what);
            assertEquals(name.toString(), RequestTarget.decode(encoded.toString(), "x", true), what);
        }
        assertEquals("%2e", RequestTarget.decode("%252e", "x", false));
        assertEquals("a+b", RequestTarget.decode("a+b", "x", false));
        assertEquals("a b", RequestTarget.decode("a+b", "x", true));
    }

    @Test
    void whatIsMalformedIsRefusedByName() {
        for (String bad : List.of(
                "%",
                "a%",
                "%2",
                "%zz",
                "%2x",
                "%ff",
                "%c3",
                "%c0%af",
                "%ed%a0%80",
                "%f5%80%80%80",
                "%\u0661\u0661",
                "\u0100",
                "\u00ff")) {
            Problem problem = assertThrows(Problem.class, () -> RequestTarget.decode(bad, "stream", false), bad);
            assertEquals("stream", problem.fields().get("parameter"));
        }
    }

    @Test
    void formsAreChosenByTheHighestQualityThenByName() {
        assertEquals(Accept.JSON, Accept.of(null));
        assertEquals(Accept.JSON, Accept.of("text/html,application/xhtml+xml,*/*;q=0.8"));
        assertEquals(Accept.JSON, Accept.of("application/json, text/plain, */*"));
        assertEquals(Accept.NDJSON, Accept.of("application/x-ndjson"));
        assertEquals(Accept.NDJSON, Accept.of("APPLICATION/NDJSON;q=0.5, */*;q=0.4"));
        assertEquals(Accept.NDJSON, Accept.of("*/*, application/jsonl"));
        assertEquals(Accept.JSON, Accept.of("application/x-ndjson;q=0, application/json;q=0.1"));
        assertEquals(Accept.JSON, Accept.of("application/x-ndjson;q=abc"));
        assertEquals(Accept.EVENT_STREAM, Accept.of("text/event-stream"));
        assertEquals(Accept.NDJSON, Accept.of("application/x-ndjson, application/json"));
        assertEquals(Accept.JSON, Accept.of(",;,"));
        assertEquals(Accept.JSON, Accept.of("image/png"));
    }
}
