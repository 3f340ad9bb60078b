package dev.tidemark.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.cli.FakeServer.Answer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code read}, {@code tail} without {@code -f} and {@code streams} against scripted answers. */
class ReadIT {
    private static final String END = "{\"type\":\"end\",\"cursor\":\"c9\",\"complete\":true}";

    private final FakeServer server = new FakeServer();
    private final Run run = new Run();

    @AfterEach
    void stop() {
        server.close();
    }

    private static String event(int i, String payload) {
        return "{\"id\":\"EVT" + i + "\",\"cursor\":\"c" + i + "\",\"at\":1764440000123," + payload + "}";
    }

    @Test
    @Tag("T14")
    void tailPrintsTheLastEventsAsTheyCame() {
        server.answer(request -> Answer.lines(event(1, "\"data\":{\"a\":1}"), event(2, "\"data\":2"), END));
        assertEquals(0, run.at(server, "tail", "a/b", "-n", "2", "--view", "sealed"));
        assertEquals(event(1, "\"data\":{\"a\":1}") + "\n" + event(2, "\"data\":2") + "\n", run.out());
        assertEquals("", run.err());
        assertEquals(
                "/v1/streams/a%2Fb/tail?view=sealed&n=2",
                server.requests().get(0).uri());
    }

    @Test
    @Tag("T14")
    void tailTakesTenByDefault() {
        server.answer(request -> Answer.lines(END));
        assertEquals(0, run.at(server, "tail", "s"));
        assertEquals("/v1/streams/s/tail?n=10", server.requests().get(0).uri());
        assertEquals("", run.out());
    }

    @Test
    @Tag("R24")
    @Tag("R25")
    void dataIsExactlyWhatWasSent() {
        List<String> payloads = List.of(
                "9007199254740993",
                "0.1234567890123456789",
                "1.10",
                "-0",
                "1E400",
                "{\"a\":1,\"a\":2,\"\":\"\"}",
                "{ \"z\" : [1, 2 ,{\"data\":\"}\"}], \"id\":\"x\",\"type\":\"end\" }",
                "\"line\\nbreak \\ud83d\\ude00 \\\"q\\\" \\\\\"",
                "\"größe\"",
                "null",
                "[]");
        List<String> lines = new ArrayList<>();
        payloads.forEach(payload -> lines.add(event(lines.size(), "\"data\":" + payload)));
        lines.add(END);
        server.answer(request -> Answer.lines(lines.toArray(String[]::new)));
        assertEquals(0, run.at(server, "read", "s", "--output", "data"));
        assertEquals(String.join("\n", payloads) + "\n", run.out());
    }

    @Test
    @Tag("R26")
    void textAndBytesAreDecoded() {
        byte[] bytes = {(byte) 0xc3, 0x28, 0x00, (byte) 0xff};
        server.answer(request -> Answer.lines(
                event(1, "\"content_type\":\"text/plain\",\"text\":\"a\\u000ab\\u00e9\\ud83d\\ude00\\\"\\\\\""),
                event(
                        2,
                        "\"content_type\":\"image/png\",\"base64\":\""
                                + Base64.getEncoder().encodeToString(bytes) + "\""),
                END));
        assertEquals(0, run.at(server, "read", "s", "--output", "data"));
        byte[] text = "a\nbé😀\"\\\n".getBytes(StandardCharsets.UTF_8);
        byte[] expected = java.util.Arrays.copyOf(text, text.length + bytes.length + 1);
        System.arraycopy(bytes, 0, expected, text.length, bytes.length);
        expected[expected.length - 1] = '\n';
        assertArrayEquals(expected, run.outBytes());
    }

    @Test
    void prettyIsColumnsThatCannotDriveTheTerminal() {
        server.answer(request -> Answer.lines(
                event(1, "\"time\":0,\"late\":true,\"data\":{\"a\":\"\u009b31m\"}"),
                event(2, "\"content_type\":\"text/plain\",\"text\":\"x\\u001b[2J\""),
                event(3, "\"content_type\":\"image/png\",\"base64\":\"AAEC\""),
                END));
        assertEquals(0, run.at(server, "read", "s", "--output", "pretty"));
        assertEquals("""
                2025-11-29 18:13:20.123  EVT1  time=1970-01-01 00:00:00.000  late  {"a":"?31m"}
                2025-11-29 18:13:20.123  EVT2  text/plain  "x\\u001b[2J"
                2025-11-29 18:13:20.123  EVT3  image/png  (3 bytes)
                """, run.out());
    }

    @Test
    void theRangeIsPassedOn() {
        server.answer(request -> Answer.lines(END));
        assertEquals(
                0,
                run.at(
                        server,
                        "read",
                        "s",
                        "--after",
                        "c1",
                        "--from",
                        "2026-01-01T00:00:00+01:00",
                        "--to",
                        "1767225600000",
                        "--limit",
                        "5",
                        "--reverse"));
        assertEquals(
                "/v1/streams/s/events?after=c1&from=2026-01-01T00%3A00%3A00%2B01%3A00&to=1767225600000&limit=5&order=desc",
                server.requests().get(0).uri());
    }

    @Test
    void anAnswerWithoutItsEndWasCutAndIsNotTakenForWhole() {
        server.answer(request -> Answer.lines(event(1, "\"data\":1")));
        assertEquals(1, run.at(server, "read", "s", "--output", "data"));
        assertEquals("1\n", run.out());
        assertEquals(
                "tidemark: the answer was cut after 1 events: it has no end line; the last cursor is c1\n", run.err());
    }

    @Test
    void aConnectionThatBreaksInTheAnswerIsToldInOneLine() {
        server.answer(request ->
                Answer.lines(event(1, "\"data\":1"), event(2, "\"data\":2")).cutOff());
        assertEquals(1, run.at(server, "read", "s", "--output", "data"));
        assertEquals("1\n2\n", run.out());
        assertTrue(run.err().startsWith("tidemark: the answer was cut after 2 events: "), run.err());
        assertEquals(1, run.err().lines().count());
    }

    @Test
    void theReasonThatTheServerGivesForACutIsTold() {
        server.answer(request -> Answer.lines(
                        event(1, "\"data\":1"),
                        "{\"type\":\"error\",\"title\":\"Unavailable\",\"status\":503,\"detail\":\"Redis is away\"}")
                .cutOff());
        assertEquals(1, run.at(server, "read", "s", "--output", "data"));
        assertEquals(
                "tidemark: the answer was cut after 1 events: 503 unavailable: Redis is away; the last cursor is c1\n",
                run.err());
    }

    @Test
    void anIncompleteAnswerIsToldAndFails() {
        server.answer(request ->
                Answer.lines(event(1, "\"data\":1"), "{\"type\":\"end\",\"cursor\":\"c1\",\"complete\":false}"));
        assertEquals(1, run.at(server, "tail", "s", "--output", "data"));
        assertEquals("1\n", run.out());
        assertTrue(run.err().startsWith("tidemark: the answer isn't complete"), run.err());
    }

    @Test
    void gapsAreNotedAndAreNoEvents() {
        server.answer(request -> Answer.lines(
                "{\"type\":\"gap\",\"from\":\"c1\",\"to\":\"c5\",\"reason\":\"expired\",\"earliest\":\"EVT6\"}",
                event(6, "\"data\":6"),
                END));
        assertEquals(0, run.at(server, "read", "s", "--output", "data"));
        assertEquals("6\n", run.out());
        assertEquals("tidemark: gap: events from c1 to c5 can't be given (expired); the earliest is EVT6\n", run.err());
    }

    @Test
    void refusalsAreOneLineWithWhatHelps() {
        server.answer(request -> Answer.problem(
                410, "\"title\":\"Position expired\",\"detail\":\"removed\\nbefore\",\"earliest\":\"EVT6\""));
        assertEquals(1, run.at(server, "read", "s", "--after", "c1"));
        assertEquals("tidemark: 410 position expired: removed before; the earliest is EVT6\n", run.err());
        assertEquals("", run.out());
    }

    @Test
    void aServerThatIsNotThereIsExitCodeThree() {
        server.stop();
        for (String[] command : new String[][] {{"read", "s"}, {"tail", "s"}, {"tail", "s", "-f"}, {"streams"}}) {
            Run unreachable = new Run();
            assertEquals(3, unreachable.at(server, command));
            assertEquals(
                    "tidemark: can't reach " + server.url() + "; is the server running there?\n", unreachable.err());
        }
    }

    @Test
    void aClosedPipeEndsQuietly() {
        String[] lines = new String[5_001];
        java.util.Arrays.fill(lines, event(1, "\"data\":\"" + "x".repeat(100) + "\""));
        lines[5_000] = END;
        server.answer(request -> Answer.lines(lines));
        assertEquals(0, run.outputClosedAfter(1).at(server, "read", "s"));
        assertEquals("", run.err());
    }

    @Test
    void theTokenIsSentAndNeverShown() {
        server.answer(request -> Answer.problem(401, "\"title\":\"Not authorised\""));
        assertEquals(1, run.at(server, "tail", "s", "--token", "secret"));
        assertEquals("Bearer secret", server.requests().get(0).token());
        assertEquals("tidemark: 401 not authorised\n", run.err());
        assertEquals(2, new Run().at(server, "tail", "s", "--token", "a\nb"));
    }

    @Test
    void streamsAreListedPageByPage() {
        server.answer(request -> request.uri().equals("/v1/streams")
                ? Answer.json(
                        200,
                        "{\"streams\":[{\"stream\":\"a/b\",\"live_events\":10,\"archived_events\":2000}],\"next\":\"a/b\"}")
                : Answer.json(200, "{\"streams\":[{\"stream\":\"größe\"}],\"next\":null}"));
        assertEquals(0, run.at(server, "streams"));
        assertEquals("""
                STREAM          LIVE      ARCHIVED
                a/b               10          2000
                größe              -             -
                """, run.out());
        assertEquals("/v1/streams?after=a%2Fb", server.requests().get(1).uri());
    }

    @Test
    void streamsAreCreatedShownAndDeleted() {
        server.answer(request -> switch (request.method()) {
            case "PUT" -> Answer.json(201, "{}");
            case "DELETE" -> Answer.json(204, "");
            default -> Answer.json(200, "{\"name\":\"s\",\"settings\":{\"live_max_events\":5,\"late\":\"{x,\"}}");
        });
        assertEquals(
                0,
                new Run()
                        .at(
                                server,
                                "streams",
                                "create",
                                "s",
                                "--set",
                                "live_max_events=1000",
                                "--set",
                                "live_max_age=15m",
                                "--set",
                                "late=null"));
        assertEquals(
                "{\"live_max_events\":1000,\"live_max_age\":\"15m\",\"late\":null}",
                server.requests().get(0).body());
        assertEquals(0, run.at(server, "streams", "show", "s"));
        assertEquals("""
                {
                  "name": "s",
                  "settings": {
                    "live_max_events": 5,
                    "late": "{x,"
                  }
                }
                """, run.out());
        Run deleted = new Run();
        assertEquals(0, deleted.at(server, "streams", "delete", "s"));
        assertEquals("s: deleted\n", deleted.out());
    }
}
