package dev.tidemark.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code tail -f} against a server that stops, starts, closes and refuses. */
@Tag("T14")
class FollowIT {
    private final FakeServer server = new FakeServer();
    private final Run run = new Run();
    private final AtomicInteger exitCode = new AtomicInteger(-1);

    @AfterEach
    void stop() {
        server.close();
    }

    @CanIgnoreReturnValue
    private Thread follow(String... more) {
        List<String> args = new java.util.ArrayList<>(List.of("tail", "s", "-f", "--output", "data"));
        args.addAll(List.of(more));
        Thread command = new Thread(() -> exitCode.set(run.at(server, args.toArray(String[]::new))));
        command.setDaemon(true);
        command.start();
        return command;
    }

    private static void hello(FakeServer.EventStream stream, String cursor) {
        stream.send("hello", "{\"type\":\"hello\",\"stream\":\"s\",\"cursor\":\"" + cursor + "\"}");
    }

    private static void event(FakeServer.EventStream stream, int i) {
        event(stream, i, String.valueOf(i));
    }

    private static void event(FakeServer.EventStream stream, int i, String data) {
        stream.send("", "{\"id\":\"EVT" + i + "\",\"cursor\":\"c" + i + "\",\"at\":1,\"data\":" + data + "}");
    }

    private void awaitOut(String text) {
        Awaitility.await().untilAsserted(() -> assertEquals(text, run.out()));
    }

    private List<String> uris() {
        return server.requests().stream().map(FakeServer.Request::uri).toList();
    }

    @Test
    void printsTheLastOnesAndThenWhatComesAtOnce() {
        server.onStream(stream -> {
            hello(stream, "c0");
            event(stream, 1);
            stream.send("caught_up", "{\"type\":\"caught_up\",\"cursor\":\"c1\"}");
            stream.send("heartbeat", "{\"type\":\"heartbeat\",\"cursor\":\"c1\",\"live\":\"ok\"}");
        });
        Thread command = follow("-n", "3", "--view", "live");
        awaitOut("1\n");
        assertEquals(List.of("/v1/streams/s/events?tail=3&view=live&heartbeat=15"), uris());
        assertTrue(command.isAlive());
        assertEquals("", run.err());
    }

    @Test
    void anEventIsPrintedLikeInEveryOtherAnswer() {
        server.onStream(stream -> {
            hello(stream, "c0");
            event(stream, 7);
            stream.send("error", "{\"type\":\"error\",\"title\":\"Gone\",\"status\":404,\"detail\":\"deleted\"}");
            stream.end();
        });
        assertEquals(1, run.at(server, "tail", "s", "-f"));
        assertEquals("{\"id\":\"EVT7\",\"cursor\":\"c7\",\"at\":1,\"data\":7}\n", run.out());
        assertEquals("tidemark: the server ended the subscription: 404 gone: deleted\n", run.err());
    }

    @Test
    void goesOnAfterTheLastCursorWhenTheServerWasRestarted() {
        server.onStream(stream -> {
            hello(stream, "c0");
            event(stream, 1);
            event(stream, 2);
        });
        Thread command = follow();
        awaitOut("1\n2\n");
        server.onStream(stream -> {
            hello(stream, "c2");
            event(stream, 3);
        });
        server.stop();
        Awaitility.await().until(() -> run.err().contains("trying again"));
        server.startAgain();
        awaitOut("1\n2\n3\n");
        assertEquals(
                List.of("/v1/streams/s/events?tail=10&heartbeat=15", "/v1/streams/s/events?after=c2&heartbeat=15"),
                uris());
        assertEquals(1, run.err().lines().count(), run.err());
        assertTrue(command.isAlive());
    }

    @Test
    void goesOnFromHelloWhenNothingCameYet() {
        AtomicInteger connections = new AtomicInteger();
        server.onStream(stream -> {
            hello(stream, "c0");
            if (connections.incrementAndGet() == 1) {
                stream.send(
                        "error",
                        "{\"type\":\"error\",\"title\":\"Too much in flight\",\"status\":503,\"detail\":\"too slow\"}");
                stream.end();
            } else {
                event(stream, 1);
            }
        });
        follow();
        awaitOut("1\n");
        assertEquals("/v1/streams/s/events?after=c0&heartbeat=15", uris().get(1));
    }

    @Test
    void goesOnWheneverTheConnectionEnds() {
        AtomicInteger connections = new AtomicInteger();
        server.onStream(stream -> {
            int nth = connections.incrementAndGet();
            hello(stream, "c" + (nth - 1));
            event(stream, nth);
        });
        follow();
        for (String printed : List.of("1\n", "1\n2\n", "1\n2\n3\n")) {
            awaitOut(printed);
            server.endConnections();
        }
        awaitOut("1\n2\n3\n4\n");
    }

    @Test
    void everyLossIsNotedOnceWithItsOwnReason() {
        AtomicInteger connections = new AtomicInteger();
        server.onStream(stream -> {
            int nth = connections.incrementAndGet();
            hello(stream, "c" + nth);
            event(stream, nth);
            if (nth == 1) {
                stream.send(
                        "error",
                        "{\"type\":\"error\",\"title\":\"Unavailable\",\"status\":503,\"detail\":\"stopping\"}");
                stream.end();
            }
        });
        follow();
        awaitOut("1\n2\n");
        server.endConnections();
        awaitOut("1\n2\n3\n");
        List<String> notes = run.err().lines().toList();
        assertEquals(
                "tidemark: the server ended the subscription: 503 unavailable: stopping; trying again", notes.get(0));
        String broken = "tidemark: the connection to " + server.url() + " was lost: ";
        assertTrue(notes.get(1).startsWith(broken) && notes.get(1).endsWith("; trying again"), notes.get(1));
        assertEquals(2, notes.size(), notes::toString);
    }

    @Test
    void manyEventsComeInOrderThroughASlowReader() {
        int count = 20_000;
        server.onStream(stream -> {
            hello(stream, "c0");
            IntStream.rangeClosed(1, count).forEach(i -> event(stream, i));
        });
        follow();
        StringBuilder all = new StringBuilder();
        IntStream.rangeClosed(1, count).forEach(i -> all.append(i).append('\n'));
        Awaitility.await().until(() -> run.out().length() >= all.length());
        assertTrue(run.out().contentEquals(all), () -> "of " + run.out().length() + " bytes");
    }

    @Test
    void aMessageOfManyBuffersIsPutTogether() {
        String large = "\"" + "ä".repeat(300_000) + "\"";
        server.onStream(stream -> {
            hello(stream, "c0");
            event(stream, 1, large);
        });
        follow();
        Awaitility.await().until(() -> run.out().equals(large + "\n"));
    }

    @Test
    void gapsAreNoted() {
        server.onStream(stream -> {
            hello(stream, "c0");
            stream.send("gap", "{\"type\":\"gap\",\"from\":\"c0\",\"to\":\"c4\",\"reason\":\"lost\"}");
            event(stream, 5);
        });
        follow();
        awaitOut("5\n");
        assertEquals("tidemark: gap: events from c0 to c4 can't be given (lost)\n", run.err());
    }

    @Test
    void aClosedPipeEndsQuietly() {
        server.onStream(stream -> {
            hello(stream, "c0");
            event(stream, 1);
            var unused = io.vertx.core.Vertx.currentContext().owner().setTimer(50, again -> event(stream, 2));
        });
        run.outputClosedAfter(1);
        Thread command = follow();
        Awaitility.await().until(() -> !command.isAlive());
        assertEquals(0, exitCode.get());
        assertEquals("1\n", run.out());
        assertEquals("", run.err());
    }

    @Test
    void aRefusalIsNotTriedAgain() {
        server.refuseStreams(FakeServer.Answer.json(403, "no"));
        assertEquals(1, run.at(server, "tail", "s", "-f"));
        assertEquals("tidemark: the server refused the subscription with HTTP status 403\n", run.err());
        assertEquals(1, server.requests().size());
    }

    @Test
    void aRefusalIsToldInTheServersOwnWords() {
        server.refuseStreams(
                FakeServer.Answer.problem(
                        416,
                        "\"type\":\"urn:tidemark:problem:position_ahead\",\"title\":\"Position is ahead\",\"detail\":\"far\",\"retryable\":false"));
        assertEquals(1, run.at(server, "tail", "s", "-f"));
        assertEquals("tidemark: the server ended the subscription: 416 position is ahead: far\n", run.err());
    }

    @Test
    void aServerThatWasNeverThereIsNotWaitedFor() {
        server.refuseStreams(FakeServer.Answer.json(502, "<html>"));
        assertEquals(1, run.at(server, "tail", "s", "-f"));
        assertEquals("tidemark: the server refused the subscription with HTTP status 502\n", run.err());
        server.stop();
        Run other = new Run();
        assertEquals(3, other.at(server, "tail", "s", "-f"));
        assertEquals("tidemark: can't reach " + server.url() + "; is the server running there?\n", other.err());
        assertEquals(1, server.requests().size());
    }

    @Test
    void aServerThatIsNotReadyYetIsWaitedFor() {
        server.refuseStreams(
                FakeServer.Answer.problem(
                        503,
                        "\"type\":\"urn:tidemark:problem:unavailable\",\"title\":\"Unavailable\",\"detail\":\"soon\",\"retryable\":true"));
        follow();
        Awaitility.await().until(() -> server.requests().size() >= 2);
        server.onStream(stream -> {
            hello(stream, "c0");
            event(stream, 1);
        });
        awaitOut("1\n");
        assertEquals("tidemark: the server ended the subscription: 503 unavailable: soon; trying again\n", run.err());
    }
}
