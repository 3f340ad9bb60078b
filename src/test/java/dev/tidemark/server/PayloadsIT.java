package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What goes in comes out with the same bytes: on every way out, before the fold and behind it. */
class PayloadsIT {
    private static final int EVENT_BYTES_MAX = 1 << 20;
    private static final String JSON = "application/json";
    private static final String NDJSON = "application/x-ndjson";

    @RegisterExtension
    static final RunningServer SERVER = new RunningServer(Map.of());

    /** What was sent under which id. */
    private record Sent(String id, String type, byte[] payload) {}

    private static Sent send(String stream, String type, byte[] payload) {
        Api.Answer answer = SERVER.api().append(stream, type, payload);
        assertEquals(201, answer.status(), answer.text());
        return new Sent(answer.json().getString("first"), type, payload);
    }

    /** Every way out has exactly what was sent, live and archived. */
    private static void assertRoundTrip(String stream, Follower fromTheStart, List<Sent> sent) {
        assertSame(sent, fromTheStart.awaitEvents(sent.size()));
        assertEverywhere(stream, sent);
        assertEquals(200, SERVER.api().fold(stream).status());
        assertEquals(sent.get(sent.size() - 1).id(), SERVER.api().seam(stream).getString("watermark"));
        assertEverywhere(stream, sent);
        assertEquals(Api.ids(fromTheStart.events()), sent.stream().map(Sent::id).toList());
    }

    private static void assertEverywhere(String stream, List<Sent> sent) {
        Api api = SERVER.api();
        assertSame(sent, api.events(Api.stream(stream) + "/events"));
        assertSame(sent, api.events(Api.stream(stream) + "/tail?n=10000"));
        List<JsonObject> descending = new ArrayList<>(api.events(Api.stream(stream) + "/events?order=desc"));
        Collections.reverse(descending);
        assertSame(sent, descending);
        try (Follower replay = Follower.of(SERVER.url(), stream, "after=earliest")) {
            replay.await("caught_up");
            assertSame(sent, replay.events());
        }
        for (Sent event : sent) {
            Api.Answer exact = api.get(Api.stream(stream) + "/events/" + event.id());
            assertEquals(200, exact.status());
            assertArrayEquals(event.payload(), exact.bytes());
            assertEquals(
                    event.type(),
                    exact.response().headers().firstValue("content-type").orElse(""));
        }
    }

    private static void assertSame(List<Sent> sent, List<JsonObject> events) {
        assertEquals(sent.size(), events.size());
        for (int i = 0; i < sent.size(); i++) {
            Sent expected = sent.get(i);
            JsonObject event = events.get(i);
            assertEquals(expected.id(), event.getString("id"));
            assertEquals(expected.type(), event.getString("content_type", JSON));
            if (expected.type().equals(JSON)) {
                Object value = event.getValue("data");
                assertEquals(io.vertx.core.json.Json.decodeValue(text(expected.payload())), value);
            } else if (event.containsKey("text")) {
                assertTrue(expected.type().startsWith("text/"));
                assertArrayEquals(expected.payload(), utf8(event.getString("text")));
            } else {
                assertArrayEquals(expected.payload(), Base64.getDecoder().decode(event.getString("base64")));
            }
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    // ---- sizes

    @Test
    @Tag("R18")
    void largeEventsUpToTheLimitPassOnEveryWay() {
        try (Follower follower = subscribed("large")) {
            List<Sent> sent = new ArrayList<>();
            for (int size : new int[] {60_000, 70_000, 300_000, EVENT_BYTES_MAX}) {
                sent.add(send("large", JSON, json(size)));
                sent.add(send("large", "text/plain", characters(size)));
                sent.add(send("large", "application/octet-stream", noise(size)));
            }
            assertRoundTrip("large", follower, sent);
        }
    }

    @Test
    @Tag("R18")
    void aByteMoreThanTheLimitIsRefusedAtTheDoor() {
        Api api = SERVER.api();
        List<Api.Answer> answers = List.of(
                api.append("larger", JSON, json(EVENT_BYTES_MAX + 1)),
                api.append("larger", "text/plain", characters(EVENT_BYTES_MAX + 1)),
                api.append("larger", "application/octet-stream", noise(EVENT_BYTES_MAX + 1)),
                api.append("larger", NDJSON, json(EVENT_BYTES_MAX + 1)));
        for (Api.Answer answer : answers) {
            assertEquals(413, answer.status(), answer.text());
            assertTrue(answer.text().contains("limits.event_bytes"), answer.text());
            assertEquals("no", answer.json().getString("stored"));
        }
        assertEquals(404, api.get("/v1/streams/larger").status(), "a refused append must not make a stream");
    }

    @Test
    @Tag("R18")
    void oneOversizedEventAmongAThousandIsNamedAndNothingStored() {
        List<String> lines = new ArrayList<>();
        for (int i = 1; i <= 1_000; i++) {
            lines.add("{\"i\":" + i + "}");
        }
        List<String> spoilt = new ArrayList<>(lines);
        spoilt.set(499, text(json(EVENT_BYTES_MAX + 1)));
        Api.Answer refused = SERVER.api().append("thousand", spoilt);
        assertEquals(413, refused.status());
        assertEquals(500, refused.json().getInteger("line"));
        assertEquals(201, SERVER.api().append("thousand", lines).status());
        assertEquals(lines, SERVER.api().payloads("/v1/streams/thousand/events"));
        assertEquals(200, SERVER.api().fold("thousand").status());
        assertEquals(lines, SERVER.api().payloads("/v1/streams/thousand/events"));
    }

    private static Follower subscribed(String stream) {
        assertEquals(201, SERVER.api().put(stream, "{}").status());
        Follower follower = Follower.of(SERVER.url(), stream, "after=earliest");
        follower.await("caught_up");
        return follower;
    }

    private static byte[] json(int size) {
        byte[] bytes = characters(size);
        bytes[0] = '"';
        bytes[size - 1] = '"';
        return bytes;
    }

    private static byte[] characters(int size) {
        byte[] bytes = new byte[size];
        for (int i = 0; i < size; i++) {
            bytes[i] = (byte) ('a' + i % 26);
        }
        return bytes;
    }

    private static byte[] noise(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }

    // ---- lines

    @Test
    @Tag("R19")
    void aBadLineRefusesTheWholeBatchHoweverOftenItIsSent() {
        List<String> lines = List.of("{\"i\":1}", "{\"i\":2}", "{\"i\":3}", "{\"i\":", "{\"i\":5}");
        for (int i = 0; i < 2; i++) {
            Api.Answer answer = SERVER.api().append("bad-line", lines);
            assertEquals(400, answer.status());
            assertEquals(4, answer.json().getInteger("line"));
            assertNotNull(answer.json().getInteger("column"));
            assertEquals("no", answer.json().getString("stored"));
            assertFalse(answer.json().getBoolean("retryable"));
        }
        assertEquals(404, SERVER.api().get("/v1/streams/bad-line").status());
        List<String> good = List.of("{\"i\":1}", "{\"i\":2}", "{\"i\":3}", "{\"i\":4}", "{\"i\":5}");
        assertEquals(5, SERVER.api().append("bad-line", good).json().getInteger("count"));
        assertEquals(good, SERVER.api().payloads("/v1/streams/bad-line/events"));
    }

    @Test
    @Tag("R20")
    void lineEndsAndBlankLinesOfEveryEditorAreTaken() {
        Api api = SERVER.api();
        assertEquals(3, count(api.append("ends", NDJSON, utf8("{\"i\":1}\r\n{\"i\":2}\r\n{\"i\":3}\r\n\r\n"))));
        assertEquals(2, count(api.append("ends", NDJSON, utf8("\n\n{\"i\":4}\n \t\n{\"i\":5}"))));
        assertEquals(1, count(api.append("ends", "application/jsonl", utf8("{\"i\":6}\r\n"))));
        assertEquals(1, count(api.append("ends", "application/ndjson", utf8("{\"i\":7}"))));
        List<String> expected =
                List.of("{\"i\":1}", "{\"i\":2}", "{\"i\":3}", "{\"i\":4}", "{\"i\":5}", "{\"i\":6}", "{\"i\":7}");
        assertEquals(expected, api.payloads("/v1/streams/ends/events"));
        for (JsonObject event : api.events("/v1/streams/ends/events")) {
            byte[] bytes =
                    api.get("/v1/streams/ends/events/" + event.getString("id")).bytes();
            assertEquals(-1, text(bytes).indexOf('\r'), "a CR in a payload");
        }
    }

    @Test
    @Tag("R20")
    void bodiesWithNothingInThemAreRefused() {
        for (String body : List.of("", "\n", "\r\n\r\n  \n")) {
            Api.Answer answer = SERVER.api().append("nothing", NDJSON, utf8(body));
            assertEquals(400, answer.status(), answer.text());
            assertEquals("no", answer.json().getString("stored"));
        }
        assertEquals(400, SERVER.api().append("nothing", JSON, new byte[0]).status());
        assertEquals(404, SERVER.api().get("/v1/streams/nothing").status());
    }

    @Test
    @Tag("R20")
    void errorsCountPhysicalLines() {
        Api.Answer answer = SERVER.api().append("lines", NDJSON, utf8("\r\n{\"i\":1}\r\n\r\n\n{\"i\":2]\n"));
        assertEquals(400, answer.status());
        assertEquals(5, answer.json().getInteger("line"));
        assertEquals(7, answer.json().getInteger("column"));
    }

    private static int count(Api.Answer answer) {
        assertEquals(201, answer.status(), answer.text());
        return answer.json().getInteger("count");
    }

    // ---- JSON that others spoil

    @Test
    @Tag("R24")
    void numbersComeBackByteForByte() {
        List<String> numbers = List.of(
                "9007199254740993",
                "12345678901234567890",
                "0.1234567890123456789",
                "1.10",
                "-0",
                "1E400",
                "-1.5e-400",
                "{\"n\":9007199254740993,\"m\":[1.10,-0,1E400]}");
        assertKept("numbers", numbers);
        for (JsonObject event : SERVER.api().events("/v1/streams/numbers/events")) {
            assertTrue(event.getValue("id") instanceof String);
            assertTrue(event.getValue("cursor") instanceof String);
            assertTrue(event.getLong("at") < 1L << 53);
        }
    }

    @Test
    @Tag("R24")
    void whatIsNoNumberIsRefused() {
        for (String bad : List.of("NaN", "Infinity", "-Infinity", "{\"a\":NaN}", "01", "1.", ".5", "+1", "0x1", "1e")) {
            assertEquals(400, SERVER.api().append("no-number", JSON, utf8(bad)).status(), bad);
            assertEquals(
                    400,
                    SERVER.api().append("no-number", NDJSON, utf8("1\n" + bad)).status(),
                    bad);
            assertEquals(
                    400,
                    SERVER.api()
                            .append(
                                    "no-number",
                                    "application/vnd.tidemark.events+ndjson",
                                    utf8("{\"data\":" + bad + "}"))
                            .status(),
                    bad);
        }
    }

    @Test
    @Tag("R25")
    void repeatedEmptyAndSystemNamesStayAsTheyAre() {
        List<String> objects = List.of(
                "{\"a\":1,\"a\":2}",
                "{\"\":1}",
                "{\"a\":\"\"}",
                "{}",
                "[]",
                "\"\"",
                "null",
                "{\"z\":1,\"a\":2,\"m\":3}",
                "{\"id\":\"EVT00000000000\",\"cursor\":\"x\",\"at\":0,\"time\":1,\"late\":true,\"data\":{},\"type\":\"gap\"}",
                "{\"n\":1,\"type\":\"end\",\"complete\":true,\"ordinal\":7,\"content_type\":\"text/plain\"}");
        assertKept("names", objects);
        for (JsonObject event : SERVER.api().events("/v1/streams/names/events")) {
            assertTrue(event.getLong("at") > 1_700_000_000_000L, event.encode());
            assertFalse(event.containsKey("time"), event.encode());
        }
    }

    /** Sends values in three ways; the raw text of every event is the same in memory, from Redis and from the archive. */
    private static void assertKept(String stream, List<String> values) {
        List<String> expected = new ArrayList<>();
        try (Follower follower = subscribed(stream)) {
            for (String value : values) {
                var unused = send(stream, JSON, utf8(value));
            }
            assertEquals(201, SERVER.api().append(stream, values).status());
            StringBuilder envelopes = new StringBuilder();
            values.forEach(value -> envelopes.append("{\"data\":").append(value).append("}\n"));
            assertEquals(
                    201,
                    SERVER.api()
                            .append(stream, "application/vnd.tidemark.events+ndjson", utf8(envelopes.toString()))
                            .status());
            for (int i = 0; i < 3; i++) {
                expected.addAll(values);
            }
            var unused = follower.awaitEvents(expected.size());
        }
        String events = Api.stream(stream) + "/events";
        assertEquals(expected, SERVER.api().payloads(events));
        String before = SERVER.api().get(events).json().getJsonArray("events").encode();
        assertEquals(200, SERVER.api().fold(stream).status());
        assertEquals(expected, SERVER.api().payloads(events));
        assertEquals(expected, SERVER.api().payloads(Api.stream(stream) + "/tail?n=1000"));
        assertEquals(
                before, SERVER.api().get(events).json().getJsonArray("events").encode());
    }

    // ---- bytes that are not text

    @Test
    @Tag("R26")
    void bytesThatAreNotTextComeBackExactly() {
        try (Follower follower = subscribed("bytes")) {
            List<Sent> sent = new ArrayList<>();
            byte[] all = new byte[256];
            for (int i = 0; i < all.length; i++) {
                all[i] = (byte) i;
            }
            for (byte[] payload :
                    List.of(new byte[] {(byte) 0xc3, 0x28}, new byte[] {0}, new byte[] {(byte) 0xff}, all)) {
                sent.add(send("bytes", "application/octet-stream", payload));
                sent.add(send("bytes", "text/plain", payload));
                sent.add(send("bytes", "image/png", payload));
            }
            assertRoundTrip("bytes", follower, sent);
        }
        List<JsonObject> events = SERVER.api().events("/v1/streams/bytes/events");
        assertTrue(events.get(1).containsKey("base64"), "invalid UTF-8 of a text type is given as bytes");
        assertEquals("\0", events.get(4).getString("text"));
    }

    @Test
    @Tag("R26")
    void invalidUtf8InJsonIsRefusedWithItsLine() {
        byte[][] bad = {
            {'"', (byte) 0xc3, 0x28, '"'},
            {'"', 0, '"'},
            {'"', (byte) 0xff, '"'},
            {'"', (byte) 0xed, (byte) 0xa0, (byte) 0x80, '"'}
        };
        for (byte[] value : bad) {
            assertEquals(400, SERVER.api().append("invalid", JSON, value).status(), Arrays.toString(value));
            byte[] second = new byte[value.length + 2];
            second[0] = '1';
            second[1] = '\n';
            System.arraycopy(value, 0, second, 2, value.length);
            Api.Answer answer = SERVER.api().append("invalid", NDJSON, second);
            assertEquals(400, answer.status());
            assertEquals(2, answer.json().getInteger("line"));
        }
        assertEquals(404, SERVER.api().get("/v1/streams/invalid").status());
    }

    @Test
    @Tag("R26")
    void aLoneSurrogateEscapeIsNeverReplaced() {
        String value = "{\"s\":\"\\ud800 \\uDFFF \\u0000\"}";
        Api.Answer stored = SERVER.api().append("surrogate", JSON, utf8(value));
        assertEquals(201, stored.status());
        for (int i = 0; i < 2; i++) {
            assertEquals(List.of(value), SERVER.api().payloads("/v1/streams/surrogate/events"));
            assertArrayEquals(
                    utf8(value),
                    SERVER.api()
                            .get("/v1/streams/surrogate/events/" + stored.json().getString("first"))
                            .bytes());
            assertEquals(200, SERVER.api().fold("surrogate").status());
        }
    }
}
