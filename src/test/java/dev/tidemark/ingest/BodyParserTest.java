package dev.tidemark.ingest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.ContentType;
import dev.tidemark.event.Event;
import dev.tidemark.event.Limits;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Problem;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BodyParserTest {
    private static final String NDJSON = "application/x-ndjson";
    private static final Limits SMALL = new Limits(100, 1_000, 5, 16 << 20);

    private static List<NewEvent> parse(Limits limits, String type, byte[] body) {
        return new BodyParser(limits).parse(BodyFormat.of(type), body, Event.NO_TIME);
    }

    private static List<NewEvent> parse(String type, String body) {
        return parse(Limits.DEFAULT, type, body.getBytes(StandardCharsets.UTF_8));
    }

    private static List<String> payloads(String type, String body) {
        return parse(type, body).stream().map(BodyParserTest::text).toList();
    }

    private static String text(NewEvent event) {
        return new String(event.payload(), StandardCharsets.UTF_8);
    }

    private static Problem refusal(Limits limits, String type, byte[] body) {
        return assertThrows(Problem.class, () -> parse(limits, type, body));
    }

    private static Problem refusal(String type, String body) {
        return refusal(Limits.DEFAULT, type, body.getBytes(StandardCharsets.UTF_8));
    }

    private static void assertAt(int line, int column, Problem problem) {
        assertEquals(Problem.Kind.BAD_BODY, problem.kind(), problem.detail());
        assertEquals(line, problem.fields().get("line"), problem.detail());
        assertEquals(column, problem.fields().get("column"), problem.detail());
        assertTrue(problem.detail().startsWith("line " + line + ", column " + column + ": "), problem.detail());
    }

    @ParameterizedTest
    @Tag("R24")
    @Tag("R25")
    @ValueSource(
            strings = {
                "{\"n\":9007199254740993}",
                "{\"n\":12345678901234567890,\"m\":0.1234567890123456789}",
                "[1.10,-0,1E400,1.0]",
                "{\"a\":1,\"a\":2}",
                "{\"\":\"\"}",
                "{}",
                "{\"z\":1,\"a\":2,\"m\":3}",
                "{\"id\":\"mine\",\"time\":0,\"cursor\":null,\"at\":1}",
                " { \"spaced\" :\t1 } ",
                "\"\\ud800\"",
                "\"\\u00e9 is é\"",
                "null",
                "7"
            })
    void keepsJsonByteForByteInEveryForm(String json) {
        assertEquals(List.of(json), payloads("application/json", json));
        assertEquals(List.of(json), payloads("application/vnd.acme.v1+json", json));
        assertEquals(List.of(json, json), payloads(NDJSON, json + "\n" + json + "\r\n"));
        assertEquals(
                List.of(json.trim()), payloads("application/vnd.tidemark.events+ndjson", "{\"data\":" + json + "}"));
    }

    @Test
    void keepsLineBreaksInsideOneJsonValue() {
        String pretty = "{\r\n  \"a\": 1\r\n}\r\n";
        assertEquals(List.of(pretty), payloads("application/json", pretty));
    }

    @ParameterizedTest
    @Tag("R26")
    @ValueSource(strings = {"c328", "00", "ff", "efbbbf7b7d", "0d0a", "ed a0 80"})
    void keepsRawBytesOfOtherTypes(String hex) {
        byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));
        for (String type : List.of("application/octet-stream", "text/plain", "image/png")) {
            NewEvent event = parse(Limits.DEFAULT, type, bytes).get(0);
            assertArrayEquals(bytes, event.payload());
            assertEquals(type, event.type());
        }
    }

    @Test
    @Tag("R26")
    void refusesInvalidUtf8InJsonAndNamesTheLine() {
        byte[] body = "{\"a\":1}\r\n\n{\"é\":\"x__\"}\n".getBytes(StandardCharsets.UTF_8);
        body[body.length - 5] = (byte) 0xc3;
        body[body.length - 4] = 0x28;
        assertAt(3, 8, refusal(Limits.DEFAULT, NDJSON, body));
    }

    @Test
    @Tag("R20")
    void takesEveryLineEndAndSkipsBlankLines() {
        List<String> three = List.of("{\"a\":1}", "[2]", "3");
        assertEquals(three, payloads(NDJSON, "{\"a\":1}\n[2]\n3\n"));
        assertEquals(three, payloads(NDJSON, "{\"a\":1}\r\n[2]\r\n3\r\n"));
        assertEquals(three, payloads(NDJSON, "{\"a\":1}\r\n[2]\n3"));
        assertEquals(three, payloads(NDJSON, "\n\r\n{\"a\":1}\r\n \t\r\n[2]\n\n3\r\n\r\n\n"));
        assertEquals(three, payloads("application/ndjson", "{\"a\":1}\n[2]\n3\r"));
        assertEquals(three, payloads("application/jsonl", "{\"a\":1}\n[2]\n3\n  "));
    }

    @ParameterizedTest
    @Tag("R20")
    @ValueSource(strings = {"", "\n", "\r\n\r\n", "  \n\t\n", " "})
    void refusesBodiesWithoutEvents(String body) {
        assertEquals(Problem.Kind.BAD_BODY, refusal(NDJSON, body).kind());
        assertEquals(
                Problem.Kind.BAD_BODY,
                refusal("application/vnd.tidemark.events+ndjson", body).kind());
        assertEquals(Problem.Kind.BAD_BODY, refusal("application/json", body).kind());
    }

    @Test
    @Tag("R20")
    void refusesAnEmptyRawBody() {
        assertEquals(
                Problem.Kind.BAD_BODY, refusal("application/octet-stream", "").kind());
    }

    @Test
    @Tag("R20")
    void aLoneCarriageReturnEndsNoLine() {
        assertAt(1, 4, refusal(NDJSON, "{}\r{}\n"));
        assertEquals(List.of("[1,\r2]"), payloads(NDJSON, "[1,\r2]\r\n"));
    }

    @Test
    @Tag("R19")
    @Tag("R20")
    void aBadLineNamesItsPhysicalLineAndColumn() {
        assertAt(4, 6, refusal(NDJSON, "{\"a\":1}\n{\"a\":2}\r\n{\"a\":3}\n{\"a\":x}\n{\"a\":5}\n"));
        assertAt(6, 1, refusal(NDJSON, "\n1\n\r\n2\n \nnope"));
        assertAt(2, 5, refusal(NDJSON, "1\n\"é\" 2\n"));
        assertAt(3, 3, refusal("application/json", "{\n\n  x}"));
        assertAt(1, 1, refusal(NDJSON, "\ufeff{}\n"));
        assertAt(2, 7, refusal(NDJSON, "1\n{\"a\":1\r\n2}\n"));
    }

    @Test
    @Tag("R18")
    void takesEventsUpToTheLimitAndNotOneByteMore() {
        byte[] full = ("\"" + "x".repeat(98) + "\"").getBytes(StandardCharsets.UTF_8);
        byte[] over = ("\"" + "x".repeat(99) + "\"").getBytes(StandardCharsets.UTF_8);
        for (String type : List.of("application/json", NDJSON, "text/plain")) {
            assertArrayEquals(full, parse(SMALL, type, full).get(0).payload());
            Problem refusal = refusal(SMALL, type, over);
            assertEquals(Problem.Kind.TOO_LARGE, refusal.kind());
            assertEquals("limits.event_bytes", refusal.fields().get("limit"));
            assertEquals(100L, refusal.fields().get("max"));
        }
        byte[] batch =
                concat("1\r\n".getBytes(StandardCharsets.UTF_8), full, "\r\n\n".getBytes(StandardCharsets.UTF_8), over);
        assertEquals(4, refusal(SMALL, NDJSON, batch).fields().get("line"));
    }

    @Test
    @Tag("R18")
    void limitsTheDecodedPayloadOfAnEnvelopeAndNotItsText() {
        String full = "{\"base64\":\"" + "A".repeat(132) + "AA==\",\"content_type\":\"application/octet-stream\"}\n";
        assertEquals(
                100,
                parse(SMALL, "application/vnd.tidemark.events+ndjson", full.getBytes(StandardCharsets.UTF_8))
                        .get(0)
                        .payload()
                        .length);
        byte[] over = full.replace("AA==", "AAA=").getBytes(StandardCharsets.UTF_8);
        Problem refusal = refusal(SMALL, "application/vnd.tidemark.events+ndjson", over);
        assertEquals("limits.event_bytes", refusal.fields().get("limit"));
        assertEquals(1, refusal.fields().get("line"));
    }

    @Test
    @Tag("R18")
    void limitsTheNumberOfEventsNotOfLines() {
        String five = "1\n\n2\n\n3\n\n4\n\n5\n\n";
        assertEquals(
                5, parse(SMALL, NDJSON, five.getBytes(StandardCharsets.UTF_8)).size());
        Problem refusal = refusal(SMALL, NDJSON, (five + "6").getBytes(StandardCharsets.UTF_8));
        assertEquals(Problem.Kind.TOO_LARGE, refusal.kind());
        assertEquals("limits.batch_events", refusal.fields().get("limit"));
        assertEquals(11, refusal.fields().get("line"));
    }

    @Test
    @Tag("R18")
    void limitsTheBody() {
        byte[] full = " ".repeat(999).concat("1").getBytes(StandardCharsets.UTF_8);
        Limits limits = new Limits(1_000, 1_000, 5, 16 << 20);
        assertEquals(1, parse(limits, "application/json", full).size());
        Problem refusal = refusal(limits, "application/json", concat(full, new byte[] {' '}));
        assertEquals("limits.body_bytes", refusal.fields().get("limit"));
    }

    @Test
    @Tag("R20")
    void findsTheSameEventsWhateverTheLineEnds() {
        long seed = Long.getLong("seed", 20_260_102L);
        Random random = new Random(seed);
        RandomJson json = new RandomJson(random);
        for (int round = 0; round < 5_000; round++) {
            List<String> values = new ArrayList<>();
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            int count = 1 + random.nextInt(8);
            for (int i = 0; i < count; i++) {
                values.add(json.value(3));
                body.writeBytes(blankLines(random).getBytes(StandardCharsets.UTF_8));
                body.writeBytes(values.get(i).getBytes(StandardCharsets.UTF_8));
                String end = i == count - 1 && random.nextBoolean() ? "" : random.nextBoolean() ? "\n" : "\r\n";
                body.writeBytes(end.getBytes(StandardCharsets.UTF_8));
            }
            List<String> found = parse(Limits.DEFAULT, NDJSON, body.toByteArray()).stream()
                    .map(BodyParserTest::text)
                    .toList();
            assertEquals(values, found, "seed " + seed + ", round " + round);
        }
    }

    @Test
    @Tag("R19")
    void refusesABatchExactlyWhenTheOracleRefusesALine() {
        long seed = Long.getLong("seed", 20_260_103L);
        Random random = new Random(seed);
        RandomJson json = new RandomJson(random);
        for (int round = 0; round < 20_000; round++) {
            byte[] bad = json.mutated();
            String text = new String(bad, StandardCharsets.ISO_8859_1);
            if (text.contains("\n") || text.isBlank()) {
                continue;
            }
            byte[] body =
                    concat("{}\n[1]\n".getBytes(StandardCharsets.UTF_8), bad, "\n3\n".getBytes(StandardCharsets.UTF_8));
            if (JsonOracle.isOneValue(bad)) {
                assertEquals(4, parse(Limits.DEFAULT, NDJSON, body).size(), "seed " + seed + ", round " + round);
            } else {
                assertEquals(
                        3, refusal(Limits.DEFAULT, NDJSON, body).fields().get("line"), "seed " + seed + ", " + text);
            }
        }
    }

    private static String blankLines(Random random) {
        return random.nextInt(4) > 0 ? "" : new String[] {"\n", "\r\n", " \t\n", "\n\n"}[random.nextInt(4)];
    }

    private static byte[] concat(byte[]... parts) {
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            whole.writeBytes(part);
        }
        return whole.toByteArray();
    }

    @Test
    void givesLinesTheJsonType() {
        assertEquals(ContentType.JSON, parse(NDJSON, "1").get(0).type());
        assertEquals(
                "application/geo+json",
                parse("Application/Geo+JSON; charset=UTF-8", "1").get(0).type());
    }
}
