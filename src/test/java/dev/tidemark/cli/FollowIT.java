package dev.tidemark.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.vertx.core.http.ServerWebSocket;
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

    private static void hello(ServerWebSocket socket, String cursor) {
        send(socket, "{\"type\":\"hello\",\"stream\":\"s\",\"cursor\":\"" + cursor + "\"}");
    }

    private static void event(ServerWebSocket socket, int i) {
        send(
                socket,
                "{\"type\":\"event\",\"id\":\"EVT" + i + "\",\"cursor\":\"c" + i + "\",\"at\":1,\"data\":" + i + "}");
    }

    private static void send(ServerWebSocket socket, String json) {
        var unused = socket.writeTextMessage(json);
    }

    private void awaitOut(String text) {
        Awaitility.await().untilAsserted(() -> assertEquals(text, run.out()));
    }

    private List<String> uris() {
        return server.requests().stream().map(FakeServer.Request::uri).toList();
    }

    @Test
    void printsTheLastOnesAndThenWhatComesAtOnce() {
        server.onSocket(socket -> {
            hello(socket, "c0");
            event(socket, 1);
            send(socket, "{\"type\":\"caught_up\",\"cursor\":\"c1\"}");
            send(socket, "{\"type\":\"heartbeat\",\"cursor\":\"c1\",\"live\":\"ok\"}");
            socket.textMessageHandler(unexpected -> event(socket, 99));
        });
        Thread command = follow("-n", "3", "--view", "live");
        awaitOut("1\n");
        assertEquals(List.of("/v1/streams/s/subscribe?view=live&tail=3"), uris());
        assertTrue(command.isAlive());
        assertEquals("", run.err());
    }

    @Test
    void anEventIsPrintedLikeInEveryOtherAnswer() {
        server.onSocket(socket -> {
            hello(socket, "c0");
            event(socket, 7);
            send(socket, "{\"type\":\"error\",\"title\":\"Gone\",\"status\":404,\"detail\":\"deleted\"}");
            var unused = socket.close((short) 4504, "deleted");
        });
        assertEquals(1, run.at(server, "tail", "s", "-f"));
        assertEquals("{\"id\":\"EVT7\",\"cursor\":\"c7\",\"at\":1,\"data\":7}\n", run.out());
        assertEquals("tidemark: the server ended the subscription with code 4504: 404 gone: deleted\n", run.err());
    }

    @Test
    void goesOnAfterTheLastCursorWhenTheServerWasRestarted() {
        server.onSocket(socket -> {
            hello(socket, "c0");
            event(socket, 1);
            event(socket, 2);
        });
        Thread command = follow();
        awaitOut("1\n2\n");
        server.onSocket(socket -> {
            hello(socket, "c2");
            event(socket, 3);
        });
        server.stop(4000);
        Awaitility.await().until(() -> run.err().contains("trying again"));
        server.startAgain();
        awaitOut("1\n2\n3\n");
        assertEquals(List.of("/v1/streams/s/subscribe?tail=10", "/v1/streams/s/subscribe?after=c2"), uris());
        assertEquals(1, run.err().lines().count(), run.err());
        assertTrue(command.isAlive());
    }

    @Test
    void goesOnFromHelloWhenNothingCameYet() {
        AtomicInteger connections = new AtomicInteger();
        server.onSocket(socket -> {
            hello(socket, "c0");
            if (connections.incrementAndGet() == 1) {
                var unused = socket.close((short) 4001, "too slow");
            } else {
                event(socket, 1);
            }
        });
        follow();
        awaitOut("1\n");
        assertEquals("/v1/streams/s/subscribe?after=c0", uris().get(1));
    }

    @Test
    void goesOnWheneverTheConnectionEnds() {
        AtomicInteger connections = new AtomicInteger();
        server.onSocket(socket -> {
            int nth = connections.incrementAndGet();
            hello(socket, "c" + (nth - 1));
            event(socket, nth);
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
        server.onSocket(socket -> {
            int nth = connections.incrementAndGet();
            hello(socket, "c" + nth);
            event(socket, nth);
            if (nth == 1) {
                send(socket, "{\"type\":\"error\",\"title\":\"Unavailable\",\"status\":503,\"detail\":\"stopping\"}");
                var unused = socket.close((short) 4000, "");
            }
        });
        follow();
        awaitOut("1\n2\n");
        server.endConnections();
        awaitOut("1\n2\n3\n");
        List<String> notes = run.err().lines().toList();
        assertEquals(
                "tidemark: the server closed the subscription with code 4000: 503 unavailable: stopping; trying again",
                notes.get(0));
        assertEquals("tidemark: the server closed the subscription with code 1000; trying again", notes.get(1));
        assertEquals(2, notes.size(), notes::toString);
    }

    @Test
    void manyEventsComeInOrderThroughASlowReader() {
        int count = 20_000;
        server.onSocket(socket -> {
            hello(socket, "c0");
            IntStream.rangeClosed(1, count).forEach(i -> event(socket, i));
        });
        follow();
        StringBuilder all = new StringBuilder();
        IntStream.rangeClosed(1, count).forEach(i -> all.append(i).append('\n'));
        Awaitility.await().until(() -> run.out().length() >= all.length());
        assertTrue(run.out().contentEquals(all), () -> "of " + run.out().length() + " bytes");
    }

    @Test
    void aMessageLargerThanAFrameIsPutTogether() {
        String large = "\"" + "ä".repeat(300_000) + "\"";
        server.onSocket(socket -> {
            hello(socket, "c0");
            send(socket, "{\"type\":\"event\",\"cursor\":\"c1\",\"at\":1,\"data\":" + large + "}");
        });
        follow();
        Awaitility.await().until(() -> run.out().equals(large + "\n"));
    }

    @Test
    void gapsAreNoted() {
        server.onSocket(socket -> {
            hello(socket, "c0");
            send(socket, "{\"type\":\"gap\",\"from\":\"c0\",\"to\":\"c4\",\"reason\":\"lost\"}");
            event(socket, 5);
        });
        follow();
        awaitOut("5\n");
        assertEquals("tidemark: gap: events from c0 to c4 can't be given (lost)\n", run.err());
    }

    @Test
    void aClosedPipeEndsQuietly() {
        server.onSocket(socket -> {
            hello(socket, "c0");
            event(socket, 1);
            var unused = io.vertx.core.Vertx.currentContext().owner().setTimer(50, again -> event(socket, 2));
        });
        run.outputClosedAfter(1);
        Thread command = follow();
        Awaitility.await().until(() -> !command.isAlive());
        assertEquals(0, exitCode.get());
        assertEquals("1\n", run.out());
        assertEquals("", run.err());
    }

    @Test
    void aRefusedHandshakeIsNotTriedAgain() {
        server.stop(4000);
        try (FakeServer other = new FakeServer()) {
            other.refuseSockets(403);
            assertEquals(1, run.at(other, "tail", "s", "-f"));
            assertEquals("tidemark: the server refused the subscription with HTTP status 403\n", run.err());
        }
    }
}
