package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.http.RawWebSocket;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What clients send that they shouldn't hurts nobody but them: another subscriber gets every event, and the log stays clean. */
@Tag("R39")
class SocketRubbishIT {
    @RegisterExtension
    static final RunningServer SERVER = new RunningServer(Map.of());

    private Follower other;
    private int expected;

    @BeforeEach
    void follow() {
        assertTrue(List.of(200, 201).contains(SERVER.api().put("s", "{}").status()));
        other = Follower.of(SERVER.url(), "s", "");
        var unused = other.await("hello");
        expected = 0;
    }

    @AfterEach
    void othersGotEverything() {
        assertEquals(expected, other.awaitEvents(expected).size());
        other.close();
    }

    private RawWebSocket open() throws IOException {
        RawWebSocket socket = new RawWebSocket(URI.create(SERVER.url()).getPort(), "/v1/streams/s/subscribe").open();
        assertEquals("hello", socket.message().getString("type"));
        assertEquals("caught_up", socket.message().getString("type"));
        return socket;
    }

    private void append() {
        expected++;
        assertEquals(
                201,
                SERVER.api().append("s", List.of("{\"n\":" + expected + "}")).status());
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void whatIsNotUnderstoodIsAnsweredAndTheSubscriptionGoesOn() throws Exception {
        try (RawWebSocket socket = open()) {
            for (String rubbish : List.of(
                    "]",
                    "null",
                    "\"x\"",
                    "",
                    "{\"type\":\"launch\"}",
                    "{\"type\":\"subscribe\",\"stream\":\"s\"}",
                    "{\"type\":\"subscribe\",\"stream\":\"s\"}",
                    "{\"type\":",
                    "[".repeat(30_000))) {
                JsonObject error = socket.send(rubbish).message();
                assertEquals("error", error.getString("type"), rubbish);
                assertEquals(400, error.getInteger("status"));
                assertFalse(
                        error.encode().contains("Exception") || error.encode().contains("at dev."), error.encode());
                append();
                assertEquals(expected, socket.message().getJsonObject("data").getInteger("n"));
            }
        }
    }

    @Test
    void fragmentsWithAPingBetweenAreOneMessage() throws Exception {
        try (RawWebSocket socket = open()) {
            socket.frame(false, RawWebSocket.TEXT, utf8("{\"type\":"))
                    .frame(true, RawWebSocket.PING, utf8("between"))
                    .frame(false, RawWebSocket.CONTINUATION, utf8("\"pau"))
                    .frame(true, RawWebSocket.CONTINUATION, utf8("se\"}"));
            RawWebSocket.Frame pong = socket.next();
            assertEquals(RawWebSocket.PONG, pong.opcode());
            assertEquals("between", pong.text());
            // Messages and events go different ways: by the answer to the second one, the first was obeyed.
            assertEquals("error", socket.send("nonsense").message().getString("type"));
            append();
            append();
            var seen = other.awaitEvents(2);
            assertEquals(2, seen.size());
            assertEquals(
                    "error", socket.send("nonsense").message().getString("type"), "nothing comes while it is paused");
            socket.frame(false, RawWebSocket.TEXT, utf8("{\"type\":\"res"))
                    .frame(true, RawWebSocket.PING, new byte[0])
                    .frame(true, RawWebSocket.CONTINUATION, utf8("ume\"}"));
            assertEquals(RawWebSocket.PONG, socket.next().opcode());
            assertEquals(1, socket.message().getJsonObject("data").getInteger("n"));
            assertEquals(2, socket.message().getJsonObject("data").getInteger("n"));
            // A command nobody knows is one message too, however it is cut.
            socket.frame(false, RawWebSocket.TEXT, utf8("{\"type\":\"sub"))
                    .frame(false, RawWebSocket.CONTINUATION, utf8("scr"))
                    .frame(true, RawWebSocket.CONTINUATION, utf8("ibe\"}"));
            assertEquals("error", socket.message().getString("type"));
            append();
            assertEquals(3, socket.message().getJsonObject("data").getInteger("n"));
        }
    }

    /** Sends what closes a socket. */
    private interface Rubbish {
        void send(RawWebSocket socket) throws IOException;
    }

    @Test
    void whatCanNotBeTakenClosesThatSocketWithItsCode() throws Exception {
        Map<String, Integer> codes = new LinkedHashMap<>();
        Map<String, Rubbish> all = new LinkedHashMap<>();
        add(all, codes, "a binary frame", 1003, s -> s.frame(true, RawWebSocket.BINARY, new byte[] {1}));
        add(all, codes, "1 MB of text", 1009, s -> s.frame(true, RawWebSocket.TEXT, new byte[1 << 20]));
        add(all, codes, "1 MB in fragments", 1009, s -> {
            s.frame(false, RawWebSocket.TEXT, new byte[30_000]);
            for (int i = 0; i < 35; i++) {
                s.frame(i == 34, RawWebSocket.CONTINUATION, new byte[30_000]);
            }
        });
        add(all, codes, "invalid UTF-8", 1007, s -> s.frame(true, RawWebSocket.TEXT, new byte[] {'a', (byte) 0xff}));
        add(all, codes, "UTF-8 cut at its end", 1007, s -> s.frame(true, RawWebSocket.TEXT, new byte[] {(byte) 0xc3}));
        add(all, codes, "a continuation of nothing", 1002, s -> s.frame(true, RawWebSocket.CONTINUATION, utf8("x")));
        add(all, codes, "an unknown opcode", 1002, s -> s.frame(true, 5, utf8("x")));
        for (var rubbish : all.entrySet()) {
            try (RawWebSocket socket = open()) {
                rubbish.getValue().send(socket);
                assertEquals(codes.get(rubbish.getKey()), socket.closeCode(), rubbish.getKey());
            }
            append();
        }
    }

    private static void add(
            Map<String, Rubbish> all, Map<String, Integer> codes, String what, int code, Rubbish rubbish) {
        all.put(what, rubbish);
        codes.put(what, code);
    }

    @Test
    void randomBytesBehindTheUpgradeHurtNobody() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            byte[] bytes = new byte[1 + random.nextInt(300)];
            random.nextBytes(bytes);
            if (random.nextBoolean()) {
                bytes[0] = (byte) (0x80 | random.nextInt(11));
            }
            try (RawWebSocket socket = open()) {
                socket.raw.send(bytes);
                socket.raw.socket.shutdownOutput();
                String rest = new String(socket.raw.in.readAllBytes(), StandardCharsets.ISO_8859_1);
                assertFalse(rest.contains("Exception"), "seed " + seed + ": " + rest);
            } catch (java.net.SocketException reset) {
                assertFalse(reset.toString().contains("refused"), "seed " + seed);
            }
            if (round % 20 == 0) {
                append();
            }
        }
    }
}
