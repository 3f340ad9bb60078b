package dev.tidemark.ingest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Event;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Limits;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Problem;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EnvelopeReaderTest {
    private static final BodyFormat ENVELOPES = BodyFormat.of("application/vnd.tidemark.events+ndjson");
    private static final long HEADER_TIME = 42;

    private static List<NewEvent> parse(String body, long time) {
        return new BodyParser(Limits.DEFAULT).parse(ENVELOPES, body.getBytes(StandardCharsets.UTF_8), time);
    }

    private static NewEvent one(String envelope) {
        return parse(envelope, Event.NO_TIME).get(0);
    }

    private static Problem refusal(String body) {
        return assertThrows(Problem.class, () -> parse(body, Event.NO_TIME), body);
    }

    private static String text(NewEvent event) {
        return new String(event.payload(), StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @Tag("R24")
    @Tag("R25")
    @ValueSource(
            strings = {
                "{\"a\": 1,\t\"a\":2}",
                "9007199254740993",
                "1E400",
                "-0",
                "\"\\ud800\"",
                "null",
                "[ ]",
                "\"\\u00e9\""
            })
    void keepsTheSliceUnderDataExactlyAsSent(String data) {
        assertEquals(data, text(one(" { \"data\" : " + data + " , \"time\" : 5 } ")));
        assertEquals(data, text(one("{\"time\":5,\"d\\u0061ta\":" + data + "}")));
        assertEquals("application/json", one("{\"data\":" + data + "}").type());
    }

    @Test
    void decodesTextWithAllEscapes() {
        NewEvent event = one("{\"text\":\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20ac\\ud83d\\ude00é😀\\u0000\"}");
        assertEquals("a\"\\/\b\f\n\r\té€😀é😀\0", text(event));
        assertEquals("text/plain", event.type());
        assertEquals(0, one("{\"text\":\"\"}").payload().length);
    }

    @ParameterizedTest
    @Tag("R26")
    @ValueSource(strings = {"\\ud800", "\\udc00", "\\ud800\\ud800", "\\ud83dx", "\\ud83d\\n", "\\ude00\\ud83d"})
    void refusesHalvesOfSurrogatePairsInText(String text) {
        assertTrue(refusal("{\"text\":\"ok" + text + "\"}").detail().contains("surrogate"));
    }

    @Test
    @Tag("R26")
    void decodesBase64ToAnyBytes() {
        NewEvent event = one("{\"base64\":\"wygA/w==\"}");
        assertArrayEquals(new byte[] {(byte) 0xc3, 0x28, 0, (byte) 0xff}, event.payload());
        assertEquals("application/octet-stream", event.type());
        assertEquals(
                "image/png",
                one("{\"content_type\":\"IMAGE/png\",\"base64\":\"\"}").type());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{}                                                   | exactly one of data, text and base64, not 0",
                "{\"data\":1,\"text\":\"x\"}                          | exactly one of data, text and base64, not 2",
                "{\"data\":1,\"data\":2}                              | 'data' is repeated",
                "{\"data\":1,\"payload\":2,\"Time\":3}                | payload, Time; allowed are data, text",
                "{\"mag\":2.3}                                        | unknown keys in the envelope: mag",
                "[1]                                                  | expected an envelope",
                "1                                                    | expected an envelope",
                "{\"data\":1} 2                                       | exactly one is allowed",
                "{\"data\":1,}                                        | a name in double quotes",
                "{\"data\":}                                          | expected a value",
                "{\"data\":1                                          | expected ',' or '}', not the end",
                "{\"text\":1}                                         | text must be a string",
                "{\"base64\":null}                                    | base64 must be a string",
                "{\"base64\":\"A\"}                                   | not valid Base64",
                "{\"base64\":\"_-==\"}                                | not valid Base64",
                "{\"data\":1,\"content_type\":\"text/plain\"}         | can't have the content_type 'text/plain'",
                "{\"data\":1,\"content_type\":7}                      | content_type must be a string",
                "{\"text\":\"x\",\"content_type\":\"nonsense\"}       | content_type: 'nonsense' isn't a media type",
                "{\"text\":\"x\",\"content_type\":\"text/plain;charset=latin1\"} | charset 'latin1' isn't supported",
                "{\"text\":\"{\\\"a\\\":NaN}\",\"content_type\":\"application/json\"} | text: the content_type is JSON, but byte 6",
                "{\"base64\":\"/w==\",\"content_type\":\"application/a+json\"}      | base64: the content_type is JSON, but byte 1",
                "{\"data\":1,\"id\":7}                                | id must be a string",
                "{\"data\":1,\"id\":\"EVT1\"}                         | id: not an event id: 'EVT1'",
                "{\"data\":1,\"time\":true}                           | time must be an RFC 3339 string or a whole number",
                "{\"data\":1,\"time\":1.5}                            | time must be an RFC 3339 string or a whole number",
                "{\"data\":1,\"time\":1e12}                           | time must be an RFC 3339 string or a whole number",
                "{\"data\":1,\"time\":\"yesterday\"}                  | time: 'yesterday' isn't a time",
                "{\"data\":1,\"time\":\"1517365101235\"}              | time: '1517365101235' isn't a time"
            })
    @Tag("R19")
    void refusesWithTheLineAndTheReason(String envelope, String reason) {
        Problem problem = refusal("{\"data\":0}\n\n" + envelope + "\n{\"data\":2}\n");
        assertEquals(Problem.Kind.BAD_BODY, problem.kind());
        assertEquals(3, problem.fields().get("line"));
        assertTrue(problem.detail().contains(reason), problem.detail());
    }

    @Test
    void textAndBase64MayHoldJsonIfItIsJson() {
        NewEvent event = one("{\"text\":\"{\\\"a\\\":1.0}\",\"content_type\":\"application/json\"}");
        assertEquals("{\"a\":1.0}", text(event));
        assertEquals("application/json", event.type());
        assertEquals("[1]", text(one("{\"base64\":\"WzFd\",\"content_type\":\"application/geo+json\"}")));
    }

    @Test
    void itsOwnTimeWinsOverTheHeaders() {
        List<NewEvent> events = parse(
                "{\"data\":1,\"time\":1517365101235}\n{\"data\":2,\"time\":\"2018-01-31T02:18:21.235Z\"}\n{\"data\":3}\n",
                HEADER_TIME);
        assertEquals(
                List.of(1_517_365_101_235L, 1_517_365_101_235L, HEADER_TIME),
                events.stream().map(NewEvent::time).toList());
        assertEquals(Event.NO_TIME, one("{\"data\":3}").time());
    }

    @Test
    void listsAllLinesWhoseTimesAreOutOfRange() {
        Problem problem = refusal("""
                {"data":1,"time":1000000000000000000}
                {"data":2,"time":0}

                {"data":3,"time":-62135596800001}
                {"data":3,"time":123456789012345678901234567890}
                """);
        assertEquals(Problem.Kind.TIME_REFUSED, problem.kind());
        assertEquals(List.of(1, 4, 5), problem.fields().get("lines"));
        assertEquals(
                List.of("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"),
                problem.fields().get("accepted"));
    }

    @Test
    void importsEventsUnderTheirOwnIds() {
        List<NewEvent> events = parse(
                "{\"data\":1,\"id\":\"EVT000xY9Wvvcd\"}\n{\"data\":2,\"id\":\"EVT000xY9Wvvce\"}\n", Event.NO_TIME);
        assertEquals(EventId.parse("EVT000xY9Wvvcd"), events.get(0).importId());
        assertEquals(
                "EVT000xY9Wvvce",
                Objects.requireNonNull(events.get(1).importId()).toString());
        assertNull(one("{\"data\":1}").importId());
    }

    @Test
    void refusesEnvelopesWithAndWithoutIdsInOneRequest() {
        assertEquals(
                2,
                refusal("{\"data\":1,\"id\":\"EVT000xY9Wvvcd\"}\n{\"data\":2}\n")
                        .fields()
                        .get("line"));
        Problem problem = refusal("{\"data\":1}\n{\"data\":2}\n{\"data\":3,\"id\":\"EVT000xY9Wvvcd\"}\n");
        assertEquals(3, problem.fields().get("line"));
        assertEquals(Problem.Kind.BAD_BODY, problem.kind());
    }

    @ParameterizedTest
    @ValueSource(strings = {"EVT000xY9Wvvcd", "EVT000xY9Wvvcc"})
    void refusesIdsThatDontRise(String second) {
        Problem problem = refusal("{\"data\":1,\"id\":\"EVT000xY9Wvvcd\"}\n\n{\"data\":2,\"id\":\"" + second + "\"}\n");
        assertEquals(Problem.Kind.NONMONOTONIC, problem.kind());
        assertEquals(3, problem.fields().get("line"));
    }
}
