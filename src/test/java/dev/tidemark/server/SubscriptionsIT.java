package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.http.RawClient;
import dev.tidemark.http.RawWebSocket;
import io.vertx.core.Vertx;
import io.vertx.core.http.WebSocketClientOptions;
import io.vertx.core.http.WebSocketConnectOptions;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The protocol of subscriptions on the whole server: what the contract says, sentence by sentence. */
class SubscriptionsIT {
    @RegisterExtension
    static final RunningServer SERVER = new RunningServer(Map.of("TIDEMARK_HTTP_WEBSOCKET_COMPRESSION", "true"));

    private static URI url() {
        return URI.create(SERVER.url());
    }

    private static Api api() {
        return SERVER.api();
    }

    private static RawWebSocket follow(String stream, String query, String... headers) throws IOException {
        return new RawWebSocket(url().getPort(), Api.stream(stream) + "/subscribe?" + query, headers).open();
    }

    private static void numbers(String stream, int from, int to) {
        List<String> lines = new ArrayList<>();
        for (int n = from; n <= to; n++) {
            lines.add("{\"n\":" + n + "}");
        }
        assertEquals(201, api().append(stream, lines).status());
    }

    private static int number(JsonObject event) {
        return event.getJsonObject("data").getInteger("n");
    }

    @Test
    void theCursorOfAnEmptyStreamIsUsableAtOnce() throws Exception {
        assertEquals(201, api().put("empty", "{}").status());
        String cursor;
        try (RawWebSocket socket = follow("empty", "")) {
            JsonObject hello = socket.message();
            assertEquals(
                    List.of("type", "stream", "generation", "session", "cursor", "seam"),
                    List.copyOf(hello.fieldNames()));
            cursor = hello.getString("cursor");
            assertEquals("caught_up", socket.message().getString("type"));
        }
        numbers("empty", 1, 3);
        try (RawWebSocket socket = follow("empty", "after=" + cursor);
                EventStream events = new EventStream(url(), "empty", "", "Last-Event-ID: " + cursor)) {
            assertEquals("hello", socket.message().getString("type"));
            for (int n = 1; n <= 3; n++) {
                assertEquals(n, number(socket.message()));
            }
            assertEquals("caught_up", socket.message().getString("type"));
            assertEquals(3, events.awaitEvents(3).size());
        }
    }

    @Test
    @Tag("R18")
    void anEventOfExactlyAMebibyteArrivesOnEveryWay() throws Exception {
        String text = "\"" + "x".repeat((1 << 20) - 2) + "\"";
        assertEquals(
                201,
                api().append("large", "application/json", Follower.utf8(text)).status());
        assertEquals(
                413,
                api().append("large", "application/json", Follower.utf8(" " + text))
                        .status());
        for (String query : List.of("tail=1", "tail=1&batch=true", "after=earliest")) {
            try (RawWebSocket socket = follow("large", query)) {
                assertEquals("hello", socket.message().getString("type"));
                JsonObject message = socket.message();
                JsonObject event =
                        query.contains("batch") ? message.getJsonArray("events").getJsonObject(0) : message;
                assertEquals(text.length() - 2, event.getString("data").length());
            }
            if (!query.contains("batch")) {
                try (EventStream events = new EventStream(url(), "large", query)) {
                    String data =
                            Objects.requireNonNull(events.awaitEvents(1).get(0).data());
                    assertEquals(
                            text.length() - 2,
                            new JsonObject(data).getString("data").length());
                }
            }
        }
        // While it is followed, too.
        try (RawWebSocket socket = follow("large", "");
                EventStream events = new EventStream(url(), "large", "")) {
            assertEquals("hello", socket.message().getString("type"));
            assertEquals("caught_up", socket.message().getString("type"));
            var unused = events.await("caught_up");
            assertEquals(
                    201,
                    api().append("large", "application/json", Follower.utf8(text))
                            .status());
            assertEquals(text.length() - 2, socket.message().getString("data").length());
            assertEquals(1, events.awaitEvents(1).size());
        }
    }

    @Test
    void batchesAreBoundedAndComplete() throws Exception {
        for (int from = 1; from <= 30_000; from += 10_000) {
            numbers("batches", from, from + 9_999);
        }
        try (RawWebSocket socket = follow("batches", "after=earliest&batch=true")) {
            assertEquals("hello", socket.message().getString("type"));
            int seen = 0;
            while (seen < 30_000) {
                RawWebSocket.Frame frame = socket.next();
                assertTrue(
                        frame.payload().length() < 64 << 10,
                        "a frame of " + frame.payload().length());
                JsonArray events = frame.json().getJsonArray("events");
                for (int i = 0; i < events.size(); i++) {
                    assertEquals(++seen, number(events.getJsonObject(i)));
                }
            }
            assertEquals("caught_up", socket.message().getString("type"));
        }
    }

    @Test
    void tailThenFollowIsOneCutWhileEventsCome() throws Exception {
        numbers("cut", 1, 100);
        AtomicBoolean writing = new AtomicBoolean(true);
        Thread writer = new Thread(() -> {
            for (int n = 101; writing.get(); n++) {
                numbers("cut", n, n);
            }
        });
        writer.start();
        for (int round = 0; round < 20; round++) {
            try (RawWebSocket socket = follow("cut", "tail=50")) {
                assertEquals("hello", socket.message().getString("type"));
                int first = number(socket.message());
                int next = first + 1;
                while (next < first + 60) {
                    JsonObject message = socket.message();
                    if (message.getString("type").equals("event")) {
                        assertEquals(next++, number(message));
                    }
                }
            }
        }
        writing.set(false);
        writer.join();
    }

    @Test
    void everyErrorBehindTheUpgradeIsSaidAndHasItsCode() throws Exception {
        numbers("errors", 1, 2);
        String ahead = "EVTAzL8n0Y58m6";
        Map<String, Integer> codes = Map.of(
                "errors?after=" + ahead,
                4500,
                "errors?after=nonsense",
                4500,
                "errors?tail=-1",
                4500,
                "errors?slow=never",
                4500,
                "nowhere?",
                4504);
        for (var entry : codes.entrySet()) {
            String[] parts = entry.getKey().split("\\?", 2);
            try (RawWebSocket socket = follow(parts[0], parts.length > 1 ? parts[1] : "")) {
                JsonObject error = socket.message();
                assertEquals("error", error.getString("type"), entry.getKey());
                assertEquals(entry.getValue(), socket.closeCode(), entry.getKey());
            }
        }
        try (RawWebSocket socket = follow("errors", "")) {
            assertEquals("hello", socket.message().getString("type"));
            assertEquals("caught_up", socket.message().getString("type"));
            assertEquals(204, api().delete("errors").status());
            assertEquals("error", socket.message().getString("type"));
            assertEquals(4504, socket.closeCode());
        }
    }

    @Test
    void subprotocolsAndUnknownOnesAreDealtWith() throws Exception {
        numbers("protocols", 1, 1);
        for (String offered : List.of("tidemark.v1", "other, tidemark.v1")) {
            try (RawWebSocket socket = new RawWebSocket(
                    url().getPort(), "/v1/streams/protocols/subscribe", "Sec-WebSocket-Protocol: " + offered)) {
                RawClient.Answer answer = socket.raw.answer();
                assertEquals(101, answer.status());
                assertEquals("tidemark.v1", answer.header("sec-websocket-protocol"));
            }
        }
        try (RawWebSocket socket =
                new RawWebSocket(url().getPort(), "/v1/streams/protocols/subscribe", "Sec-WebSocket-Protocol: other")) {
            RawClient.Answer answer = socket.raw.answer();
            assertEquals(101, answer.status());
            assertEquals("", answer.header("sec-websocket-protocol"), "the client decides whether it does without");
        }
    }

    @Test
    void anEventStreamResumesByItsIds() throws Exception {
        numbers("resume", 1, 10);
        String id;
        try (EventStream events = new EventStream(url(), "resume", "after=earliest")) {
            var unused = events.await("hello");
            assertEquals(List.of("retry: 2000"), events.blocks().get(0).lines());
            id = Objects.requireNonNull(events.awaitEvents(10).get(3).id());
            assertNull(events.events().get(3).event(), "onmessage gets it");
            JsonObject event =
                    new JsonObject(Objects.requireNonNull(events.events().get(3).data()));
            assertEquals(id, event.getString("cursor"));
        }
        for (String way : List.of("last_event_id=" + id, "after=" + id)) {
            try (EventStream events = new EventStream(url(), "resume", way)) {
                String data =
                        Objects.requireNonNull(events.awaitEvents(6).get(0).data());
                assertEquals(5, number(new JsonObject(data)), way);
            }
        }
        try (EventStream events = new EventStream(url(), "resume", "after=earliest", "Last-Event-ID: " + id)) {
            String data = Objects.requireNonNull(events.awaitEvents(6).get(0).data());
            assertEquals(
                    5, number(new JsonObject(data)), "what the browser knows comes before what the page asked for");
        }
    }

    @Test
    void aClientThatOffersCompressionGetsTheSameEvents() throws Exception {
        for (int n = 1; n <= 500; n++) {
            String body = "{\"n\":" + n + ",\"text\":\"" + "abc".repeat(n % 90) + "\"}";
            assertEquals(
                    201,
                    api().append("deflated", "application/json", Follower.utf8(body))
                            .status());
        }
        Vertx vertx = Vertx.vertx();
        try {
            BlockingQueue<String> messages = new LinkedBlockingQueue<>();
            var client = vertx.createWebSocketClient(new WebSocketClientOptions()
                    .setTryUsePerMessageCompression(true)
                    .setCompressionAllowClientNoContext(true));
            var unused = client.connect(new WebSocketConnectOptions()
                            .setHost("127.0.0.1")
                            .setPort(url().getPort())
                            .setURI("/v1/streams/deflated/subscribe?after=earliest"))
                    .onSuccess(socket -> {
                        assertTrue(
                                socket.headers().get("sec-websocket-extensions").startsWith("permessage-deflate"));
                        socket.textMessageHandler(messages::add);
                        socket.writeTextMessage("{\"type\":\"pause\"}");
                        socket.writeTextMessage("{\"type\":\"resume\"}");
                        socket.writeTextMessage("rubbish, compressed ".repeat(20));
                    })
                    .onFailure(failure -> messages.add(failure.toString()));
            int seen = 0;
            boolean complained = false;
            while (seen < 500 || !complained) {
                String text = messages.poll(20, TimeUnit.SECONDS);
                JsonObject message = new JsonObject(Objects.requireNonNull(text));
                complained |= message.getString("type").equals("error");
                if (message.getString("type").equals("event")) {
                    assertEquals(++seen, number(message));
                    assertEquals(
                            "abc".repeat(seen % 90),
                            message.getJsonObject("data").getString("text"));
                }
            }
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
        }
    }
}
