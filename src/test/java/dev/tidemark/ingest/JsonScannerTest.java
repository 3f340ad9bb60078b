package dev.tidemark.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Limits;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonScannerTest {
    private static final int PROPERTY_ROUNDS = 200_000;

    private static void check(byte[] bytes) {
        new JsonScanner(bytes).exactlyOneValue(0, bytes.length);
    }

    private static boolean accepts(byte[] bytes) {
        try {
            check(bytes);
            return true;
        } catch (MalformedBody e) {
            assertTrue(e.offset() >= 0 && e.offset() <= bytes.length, e::reason);
            return false;
        }
    }

    private static MalformedBody refusal(String text) {
        return assertThrows(MalformedBody.class, () -> check(text.getBytes(StandardCharsets.UTF_8)), text);
    }

    @ParameterizedTest
    @Tag("R24")
    @ValueSource(
            strings = {
                "9007199254740993",
                "12345678901234567890",
                "0.1234567890123456789",
                "1.10",
                "-0",
                "1E400",
                "1e+400",
                "-0.0e-0",
                "0",
            })
    void takesNumbersOfAnySize(String number) {
        check(number.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    @Tag("R24")
    void takesANumberOfAHundredThousandDigits() {
        check("9".repeat(100_000).getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @Tag("R24")
    @ValueSource(
            strings = {
                "NaN",
                "Infinity",
                "-Infinity",
                "-",
                "+1",
                "01",
                "-01",
                "1.",
                ".5",
                "1e",
                "1e+",
                "0x10",
                "1_000",
                "--1"
            })
    void refusesWhatIsNoNumber(String text) {
        assertTrue(refusal(text).offset() < text.length() + 1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "{",
                "[",
                "\"",
                "{\"a\"",
                "{\"a\":",
                "{\"a\":1",
                "{\"a\":1,",
                "{\"a\":1,}",
                "[1,]",
                "[1",
                "[,]",
                "{a:1}",
                "{'a':1}",
                "{1:1}",
                "[1 2]",
                "1 2",
                "{}{}",
                "{},",
                "]",
                "tru",
                "truex",
                "nul",
                "True",
                "\"\\x\"",
                "\"\\u12g4\"",
                "\"\\u12",
                "\"\\",
                "\"a\nb\"",
                "\"a\u0000b\"",
                "\u0000",
                "1\u0000",
                "// c\n1",
                "1 // c",
                "\u00a01",
                "\"a\"b",
                "\ufeff1"
            })
    void refusesWhatIsNotExactlyOneValue(String text) {
        assertTrue(refusal(text).offset() <= text.getBytes(StandardCharsets.UTF_8).length);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "[]",
                " [ ] ",
                "{ }",
                "\"\"",
                "null",
                "true",
                "false",
                "\t\r\n1\n",
                "{\"\":\"\"}",
                "{\"a\":1,\"a\":2}",
                "\"\\ud800\"",
                "\"\\udc00x\"",
                "\"\\u0000\"",
                "\"\u007f\"",
                "[[[[]]],{\"a\":[{}]}]",
                "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""
            })
    void takesWhatTheRfcAllows(String text) {
        check(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void saysWhereAByteOrderMarkIsAndThatJsonHasNone() {
        MalformedBody refusal = refusal("\ufeff{}");
        assertEquals(0, refusal.offset());
        assertEquals("JSON has no byte order mark", refusal.reason());
    }

    @ParameterizedTest
    @Tag("R26")
    @ValueSource(strings = {"c328", "ff", "80", "c080", "eda080", "f4908080", "e282", "f09f98", "c3"})
    void refusesIllFormedUtf8InStringsAndNames(String hex) {
        byte[] bad = HexFormat.of().parseHex(hex);
        for (String form : new String[] {"[\"ab%s\"]", "{\"%s\":1}", "{\"a\":\"%s\",\"b\":2}"}) {
            String[] around = form.split("%s", -1);
            byte[] text = new byte[around[0].length() + bad.length + around[1].length()];
            System.arraycopy(around[0].getBytes(StandardCharsets.UTF_8), 0, text, 0, around[0].length());
            System.arraycopy(bad, 0, text, around[0].length(), bad.length);
            System.arraycopy(
                    around[1].getBytes(StandardCharsets.UTF_8),
                    0,
                    text,
                    around[0].length() + bad.length,
                    around[1].length());
            MalformedBody refusal = assertThrows(MalformedBody.class, () -> check(text), form);
            assertEquals(around[0].length(), refusal.offset(), form);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"feff007b007d", "fffe7b007d00", "7b007d00", "007b007d", "7b0000007d000000"})
    void neverGuessesAnotherEncoding(String hex) {
        byte[] text = HexFormat.of().parseHex(hex);
        assertThrows(MalformedBody.class, () -> check(text));
    }

    @Test
    void limitsDepthAndNotWidth() {
        int max = Limits.JSON_DEPTH_MAX;
        check(("[".repeat(max) + "]".repeat(max)).getBytes(StandardCharsets.UTF_8));
        check(("[" + "[],".repeat(10_000) + "[]]").getBytes(StandardCharsets.UTF_8));
        MalformedBody refusal = refusal("[".repeat(max + 1) + "]".repeat(max + 1));
        assertEquals(max, refusal.offset());
        assertEquals("nested deeper than 500", refusal.reason());
        assertEquals(
                "nested deeper than 500", refusal("{\"a\":".repeat(1_000_000)).reason());
    }

    @Test
    @Tag("R24")
    @Tag("R26")
    void agreesWithTheOracleOnRandomMutations() {
        long seed = Long.getLong("seed", 20_260_101L);
        Random random = new Random(seed);
        RandomJson json = new RandomJson(random);
        int accepted = 0;
        for (int round = 0; round < PROPERTY_ROUNDS; round++) {
            byte[] bytes = json.mutated();
            boolean expected = JsonOracle.isOneValue(bytes);
            int shown = round;
            assertEquals(
                    expected,
                    accepts(bytes),
                    () -> "seed " + seed + ", round " + shown + ": "
                            + HexFormat.of().formatHex(bytes) + " " + new String(bytes, StandardCharsets.UTF_8));
            accepted += expected ? 1 : 0;
        }
        int rare = Math.min(accepted, PROPERTY_ROUNDS - accepted);
        assertTrue(rare > PROPERTY_ROUNDS / 10, "both answers must be common, else this shows little: " + rare);
    }

    @Test
    void agreesWithTheOracleOnEveryTextOfThreeInterestingBytes() {
        byte[] alphabet = "\"\\{}[],:01-+.eu \n\ta".getBytes(StandardCharsets.UTF_8);
        for (byte a : alphabet) {
            for (byte b : alphabet) {
                for (byte c : alphabet) {
                    for (byte[] text :
                            new byte[][] {{a, b, c}, {'[', a, b, c, ']'}, {'"', a, b, c, '"'}, {'1', a, b, c}}) {
                        assertEquals(
                                JsonOracle.isOneValue(text),
                                accepts(text),
                                () -> new String(text, StandardCharsets.UTF_8));
                    }
                }
            }
        }
    }
}
