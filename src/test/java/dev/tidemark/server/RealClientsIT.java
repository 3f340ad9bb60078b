package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Clients that nobody here wrote, over a restart of the server: each gets each event once. */
@Tag("clients")
@Timeout(120)
class RealClientsIT {
    @RegisterExtension
    static final RunningServer SERVER = new RunningServer(Map.of());

    private static void append(String stream, int from, int to) {
        List<String> lines =
                IntStream.range(from, to).mapToObj(n -> "{\"n\":" + n + "}").toList();
        assertEquals(201, SERVER.api().append(stream, lines).status());
    }

    private static List<Integer> numbers(int from, int to) {
        return IntStream.range(from, to).boxed().toList();
    }

    private static LineProgram curl(String curl, String stream, String query, String... more) {
        List<String> command = new java.util.ArrayList<>(List.of(curl, "-sS", "-N", "-H", "Accept: text/event-stream"));
        command.addAll(List.of(more));
        command.add(SERVER.url() + Api.stream(stream) + "/events?" + query);
        return new LineProgram(command.toArray(String[]::new));
    }

    @Test
    void curlFollowsAndResumesWithLastEventId() throws Exception {
        String curl = RealClients.program("curl");
        append("by curl", 0, 5);
        String lastEventId;
        try (LineProgram first = curl(curl, "by curl", "after=earliest")) {
            first.awaitNumbers(numbers(0, 5));
            append("by curl", 5, 7);
            first.awaitNumbers(numbers(0, 7));
            lastEventId = first.lines().stream()
                    .filter(line -> line.startsWith("id: "))
                    .reduce((a, b) -> b)
                    .orElseThrow()
                    .substring(4);
            SERVER.stopAndRestart();
            first.await(
                    "the stopping server's last word",
                    program -> program.lines().contains("event: error"));
            first.awaitEnd();
        }
        append("by curl", 7, 9);
        try (LineProgram second = curl(curl, "by curl", "after=earliest", "-H", "Last-Event-ID: " + lastEventId)) {
            second.awaitNumbers(numbers(7, 9));
            append("by curl", 9, 11);
            second.awaitNumbers(numbers(7, 11));
        }
    }

    private static LineProgram wscat(String node, String wscat, String query) {
        String url = SERVER.url().replaceFirst("^http", "ws") + Api.stream("by wscat") + "/subscribe?" + query;
        return new LineProgram(node, wscat, "--no-color", "-s", "tidemark.v1", "-c", url);
    }

    @Test
    void wscatFollowsPausesAndResumesWithItsCursor() throws Exception {
        String node = RealClients.program("node", "nodejs");
        String wscat = RealClients.wscat();
        append("by wscat", 0, 5);
        String cursor;
        try (LineProgram first = wscat(node, wscat, "tail=3")) {
            first.awaitNumbers(numbers(2, 5));
            first.say("{\"type\":\"pause\"}");
            first.say("what?");
            first.await("the answer to rubbish", program -> has(program, "error"));
            append("by wscat", 5, 7);
            Thread.sleep(500);
            assertEquals(numbers(2, 5), first.numbers(), "paused");
            first.say("{\"type\":\"resume\"}");
            first.awaitNumbers(numbers(2, 7));
            cursor = first.cursor();
            SERVER.stopAndRestart();
            first.await(
                    "the stopping server's last word",
                    program -> program.objects().stream()
                            .anyMatch(json -> "urn:tidemark:problem:unavailable".equals(json.getString("problem"))));
            first.awaitEnd();
        }
        append("by wscat", 7, 9);
        try (LineProgram second = wscat(node, wscat, "after=" + cursor)) {
            second.awaitNumbers(numbers(7, 9));
            append("by wscat", 9, 11);
            second.awaitNumbers(numbers(7, 11));
        }
    }

    private static boolean has(LineProgram program, String type) {
        return program.objects().stream().anyMatch(json -> type.equals(json.getString("type")));
    }

    @Test
    void vertxsWebSocketResumesAfterAStopAndAfterAKill() throws Exception {
        SERVER.api().put("by Vert.x", "{}");
        try (ResumingFollower follower = new ResumingFollower("by Vert.x", SERVER::api)) {
            for (int round = 0; round < 3; round++) {
                List<String> lines = IntStream.range(round * 10, round * 10 + 10)
                        .mapToObj(n -> "{\"w\":0,\"n\":" + n + ",\"x\":0}")
                        .toList();
                assertEquals(201, SERVER.api().append("by Vert.x", lines).status());
                List<Seen> whole = Seen.ofLines(
                        SERVER.api().ndjson(Api.stream("by Vert.x") + "/events").text());
                assertEquals(round * 10 + 10, whole.size());
                follower.assertSaw(whole);
                if (round == 0) {
                    SERVER.stopAndRestart();
                } else if (round == 1) {
                    SERVER.killAndRestart();
                }
            }
            assertTrue(follower.connections() >= 3, follower.connections() + " connections");
        }
    }
}
