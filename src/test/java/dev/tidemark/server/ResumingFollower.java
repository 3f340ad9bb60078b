package dev.tidemark.server;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A WebSocket subscriber from the earliest event on, that comes back with its last cursor whenever its connection ends. */
final class ResumingFollower implements AutoCloseable {
    private final String stream;
    private final Supplier<Api> server;
    private final List<Seen> seen = Collections.synchronizedList(new ArrayList<>());
    private final List<String> unexpected = Collections.synchronizedList(new ArrayList<>());
    private final Thread thread;
    private final String query;

    private volatile String after = "earliest";
    private volatile int connections;
    private volatile boolean stopping;
    private volatile @Nullable VertxWebSocket socket;

    /** Connects at once, and again until it is closed. */
    ResumingFollower(String stream, Supplier<Api> server) {
        this(stream, server, "");
    }

    /** @param query more parameters, such as {@code &view=sealed}; or empty */
    ResumingFollower(String stream, Supplier<Api> server, String query) {
        this.stream = stream;
        this.server = server;
        this.query = query;
        thread = new Thread(this::follow, "resuming-follower");
        thread.setDaemon(true);
        thread.start();
    }

    /** What came so far, in the order of arrival. */
    List<Seen> seen() {
        synchronized (seen) {
            return List.copyOf(seen);
        }
    }

    /** How often it was connected. */
    int connections() {
        return connections;
    }

    /** Messages that a whole stream without losses doesn't give. */
    List<String> unexpected() {
        synchronized (unexpected) {
            return List.copyOf(unexpected);
        }
    }

    /** Waits until it has seen as many events as {@code whole} has, and checks that it saw just these. */
    void assertSaw(List<Seen> whole) throws InterruptedException {
        long untilNs = System.nanoTime() + 30_000_000_000L;
        while (seen.size() < whole.size() && System.nanoTime() < untilNs) {
            Thread.sleep(10);
        }
        List<Seen> got = seen();
        for (int i = 0; i < Math.min(got.size(), whole.size()); i++) {
            if (!got.get(i).equals(whole.get(i))) {
                throw new AssertionError("the subscriber's event " + i + " is " + got.get(i) + ", the stream's "
                        + whole.get(i) + "; connections " + connections);
            }
        }
        if (got.size() != whole.size()) {
            throw new AssertionError("the subscriber saw " + got.size() + " of " + whole.size() + " events in "
                    + connections + " connections; its cursor is " + after);
        }
        if (!unexpected.isEmpty()) {
            throw new AssertionError("the subscriber was told: " + unexpected());
        }
    }

    private void follow() {
        while (!stopping) {
            Session session = new Session();
            String path = Api.stream(stream) + "/subscribe?after=" + after + query;
            try {
                socket = VertxWebSocket.open(server.get().url(), path, session);
                connections = connections() + 1;
                session.ended.await();
            } catch (IOException e) {
                pause();
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void take(JsonObject message) {
        switch (String.valueOf(message.getString("type"))) {
            case "event" -> event(message);
            case "events" -> {
                JsonArray events = message.getJsonArray("events");
                for (int i = 0; i < events.size(); i++) {
                    event(events.getJsonObject(i));
                }
            }
            case "hello", "caught_up", "fell_behind", "heartbeat", "sealed" -> {}
            default -> {
                boolean comeBack = Boolean.TRUE.equals(message.getBoolean("retryable"));
                if (!comeBack) {
                    unexpected.add(message.encode());
                }
            }
        }
    }

    private void event(JsonObject event) {
        seen.add(Seen.of(event));
        after = String.valueOf(event.getString("cursor"));
    }

    @Override
    public void close() {
        stopping = true;
        VertxWebSocket open = socket;
        if (open != null) {
            open.close();
        }
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private final class Session implements VertxWebSocket.Listener {
        private final CountDownLatch ended = new CountDownLatch(1);

        @Override
        public void message(String text) {
            try {
                take(new JsonObject(text));
            } catch (RuntimeException e) {
                unexpected.add(e + " at " + text);
            }
        }

        @Override
        public void closed(int code, String reason) {
            boolean comeBack = code == VertxWebSocket.BROKEN || (code >= 4000 && code < 4500);
            if (!comeBack && !stopping) {
                unexpected.add("closed with " + code + " " + reason);
            }
            ended.countDown();
        }
    }
}
