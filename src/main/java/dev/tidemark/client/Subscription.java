package dev.tidemark.client;

import dev.tidemark.client.wire.Backoff;
import dev.tidemark.client.wire.JsonFields;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A stream that is being followed. It goes on until it is closed, the server says that it is over (close codes from 4500 on), or the
 * subscriber throws; everything else it meets by connecting again, behind the last event that the subscriber took.
 *
 * <pre>
 *  connect ──> listen ──broken, silent, or closed with a code below 4500──> pause ──> connect
 *     `── refused: 4xx ──> ended      listen ──4500 and above, or the subscriber throws──> ended
 * </pre>
 *
 * <p>Any thread may call its methods.
 */
public final class Subscription implements AutoCloseable {
    private static final int CODE_FINAL_MIN = 4500;
    private static final long FIRST_WAIT_MS = 100;
    private static final long LONGEST_WAIT_MS = 10_000;
    private static final long CONNECT_MS_MAX = 10_000;

    private final Http http;
    private final String path;
    private final Follow from;
    private final Subscriber subscriber;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private final CountDownLatch closing = new CountDownLatch(1);

    // used by the subscription's thread only
    private final Backoff backoff = new Backoff(FIRST_WAIT_MS, LONGEST_WAIT_MS, new SplittableRandom());
    private @Nullable TidemarkException problem;

    // written by the subscription's thread, read by any
    private volatile String cursor = "";
    private volatile Inbox inbox = new Inbox();
    private volatile @Nullable Thread thread;

    Subscription(Http http, String path, Follow from, Subscriber subscriber) {
        this.http = http;
        this.path = path;
        this.from = from;
        this.subscriber = subscriber;
    }

    void start(String name) {
        Thread own = new Thread(this::run, name);
        own.setDaemon(true);
        thread = own;
        own.start();
    }

    // ---- for users

    /**
     * Behind the last event that the subscriber took: {@link Follow#after} of it goes on with the next one, in this process or another.
     * Empty before the first connection.
     */
    public String cursor() {
        return cursor;
    }

    /** Ends when the subscription does, after the subscriber's last call; with a {@link TidemarkException} unless it was closed. */
    public CompletableFuture<Void> done() {
        return done.copy();
    }

    /** Ends it. Returns when the subscriber's last call has returned, except from within one of its calls: then at once. */
    @Override
    public void close() {
        closing.countDown();
        inbox.stop();
        Thread own = thread;
        if (own != null && own != Thread.currentThread()) {
            boolean interrupted = false;
            while (own.isAlive()) {
                try {
                    own.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    // ---- the subscription's thread

    private void run() {
        TidemarkException end = null;
        try {
            while (!closed()) {
                TidemarkException why = oneConnection();
                if (why != null && !closed()) {
                    long waitMs = backoff.nextMs();
                    subscriber.disconnected(why, Duration.ofMillis(waitMs));
                    boolean unused = closing.await(waitMs, TimeUnit.MILLISECONDS);
                }
            }
        } catch (TidemarkException e) {
            end = e;
        } catch (InterruptedException e) {
            end = Http.interrupted(e);
        } catch (Throwable e) {
            end = TidemarkException.of(TidemarkException.SUBSCRIBER_FAILED, "the subscriber threw " + e, false, e);
        }
        end(end);
    }

    private void end(@Nullable TidemarkException why) {
        try {
            subscriber.ended(why);
        } finally {
            if (why == null) {
                done.complete(null);
            } else {
                done.completeExceptionally(why);
            }
        }
    }

    private boolean closed() {
        return closing.getCount() == 0;
    }

    /** Why it ended, if it may be made again; null if this side closed it. */
    private @Nullable TidemarkException oneConnection() throws Exception {
        Inbox signals = new Inbox();
        inbox = signals;
        if (closed()) {
            return null;
        }
        HttpClient client = http.client();
        CompletableFuture<WebSocket> opening =
                http.webSocket(client, Http.withQuery(path, from.query(cursor)), signals);
        var unused = opening.whenComplete((socket, failure) -> {
            if (failure != null) {
                signals.fail(failure);
            }
        });
        try {
            TidemarkException why = listen(signals, opening);
            if (why != null && why.type().equals(TidemarkException.CONNECTION_DEAD)) {
                http.renew(client);
            }
            return why;
        } finally {
            abort(opening);
        }
    }

    private static void abort(CompletableFuture<WebSocket> opening) {
        var unused = opening.whenComplete((socket, failure) -> {
            if (socket != null) {
                socket.abort();
            }
        });
    }

    private @Nullable TidemarkException listen(Inbox signals, CompletableFuture<WebSocket> opening) throws Exception {
        problem = null;
        while (!closed()) {
            boolean connecting = !opening.isDone();
            long waitMs = connecting ? CONNECT_MS_MAX : from.silenceMsMax();
            Inbox.Signal signal = signals.take(waitMs, opening);
            if (signal instanceof Inbox.Signal.Message message) {
                receive(message.json());
                message.socket().request(1);
            } else if (signal instanceof Inbox.Signal.Closed closed) {
                return closed(closed);
            } else if (signal instanceof Inbox.Signal.Failed failed) {
                return failed(failed.cause());
            } else if (signal == null && !(connecting && opening.isDone())) {
                return dead("nothing came from " + http + " for " + waitMs / 1_000 + " s", null);
            }
        }
        return null;
    }

    private void receive(String json) throws Exception {
        JsonFields fields;
        try {
            fields = JsonFields.of(json.getBytes(StandardCharsets.UTF_8));
        } catch (JsonFields.Malformed e) {
            throw notUnderstood(e);
        }
        String type = fields.text("type", "");
        if (!type.equals("hello") && !type.equals("error")) {
            backoff.reset();
        }
        switch (type) {
            case "hello" -> {
                if (cursor.isEmpty()) {
                    // Of tail=N it lies before these N.
                    cursor = fields.text("cursor", "");
                }
                subscriber.connected();
            }
            case "event" -> event(fields);
            case "events" -> events(fields.raw("events"));
            case "gap" -> subscriber.gap(Gap.of(fields));
            case "sealed" -> subscriber.sealed(fields.text("through", ""));
            case "caught_up" -> subscriber.caughtUp(moved(fields));
            case "fell_behind" -> subscriber.fellBehind(moved(fields));
            case "heartbeat" -> {
                String unused = moved(fields);
            }
            case "error" -> problem = TidemarkException.ofMessage(fields);
            default -> {
                // A kind of message that later servers may have.
            }
        }
    }

    private void events(byte @Nullable [] array) throws Exception {
        if (array == null) {
            throw notUnderstood(new JsonFields.Malformed("no events in it"));
        }
        for (byte[] event : JsonFields.elements(array)) {
            if (closed()) {
                return;
            }
            event(JsonFields.of(event));
        }
    }

    private void event(JsonFields fields) throws Exception {
        Event event;
        try {
            event = Event.of(fields);
        } catch (JsonFields.Malformed e) {
            throw notUnderstood(e);
        }
        subscriber.event(event);
        cursor = event.cursor();
    }

    private String moved(JsonFields fields) {
        cursor = fields.text("cursor", cursor);
        return cursor;
    }

    private static TidemarkException notUnderstood(JsonFields.Malformed e) {
        return TidemarkException.of(
                TidemarkException.NOT_UNDERSTOOD,
                "the server sent what isn't its protocol: " + e.getMessage(),
                false,
                e);
    }

    private static TidemarkException dead(String detail, @Nullable Throwable cause) {
        return TidemarkException.of(TidemarkException.CONNECTION_DEAD, detail, true, cause);
    }

    private TidemarkException closed(Inbox.Signal.Closed closed) {
        TidemarkException why = problem != null
                ? problem
                : TidemarkException.of(
                        TidemarkException.CONNECTION_LOST,
                        "the connection to " + http + " was closed with code " + closed.code()
                                + (closed.reason().isEmpty() ? "" : ": " + closed.reason()),
                        closed.code() < CODE_FINAL_MIN,
                        null);
        if (closed.code() >= CODE_FINAL_MIN) {
            throw why;
        }
        return why;
    }

    private TidemarkException failed(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof WebSocketHandshakeException refused) {
            int status = refused.getResponse().statusCode();
            TidemarkException why = TidemarkException.ofAnswer(status, 0, new byte[0]);
            if (status < 500 && status != 429 && status != 408) {
                throw why;
            }
            return why;
        }
        if (cause instanceof Error || String.valueOf(cause.getMessage()).contains("selector manager closed")) {
            return dead("the connection to " + http + " failed: " + cause, cause);
        }
        return problem != null ? problem : http.lost(cause);
    }
}
