package dev.tidemark.event;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StreamNameTest {
    @ParameterizedTest
    @Tag("R42")
    @ValueSource(
            strings = {
                "",
                ".",
                "..",
                "a\u0000b",
                "a\r\nb",
                "a\tb",
                "a\u007fb",
                "a\u0085b",
                "\ud800",
                "x\udc00",
                "e\u0301"
            })
    void whatIsNoNameIsRefused(String name) {
        assertEquals(
                Problem.Kind.BAD_REQUEST,
                assertThrows(Problem.class, () -> new StreamName(name)).kind());
    }

    @Test
    @Tag("R42")
    void twoHundredBytesAreTheMost() {
        assertEquals("é".repeat(100), new StreamName("é".repeat(100)).value());
        assertThrows(Problem.class, () -> new StreamName("é".repeat(100) + "a"));
        assertThrows(Problem.class, () -> new StreamName("x".repeat(300)));
    }

    @Test
    @Tag("R42")
    @Tag("F9")
    void namesNeverMeetOnDiskOrInRedisAndNeverLeaveTheirFolder() {
        List<String> names = List.of(
                "../../x",
                "%2e%2e%2f",
                "%252e",
                "a+b",
                "a b",
                "a%20b",
                "A",
                "a",
                "a/b",
                "a%2fb",
                "{a}",
                "%7Ba%7D",
                "é",
                "日本",
                "con",
                "a.b",
                "~",
                "x".repeat(200),
                "x".repeat(199) + "y",
                "X".repeat(200),
                "/".repeat(200),
                "/".repeat(199) + "x",
                "...",
                "-",
                "_");
        Set<String> disk = new HashSet<>();
        Set<String> redis = new HashSet<>();
        for (String value : names) {
            StreamName name = new StreamName(value);
            String folder = name.diskName();
            assertTrue(disk.add(folder.toLowerCase(Locale.ROOT)), value);
            assertTrue(redis.add(name.redisName()), value);
            assertTrue(folder.matches("[a-z0-9_%~-]{1,255}"), folder);
            assertFalse(name.redisName().contains("{") || name.redisName().contains("}"), value);
        }
    }
}
