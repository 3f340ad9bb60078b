package dev.tidemark.client;

import dev.tidemark.client.wire.Backoff;
import dev.tidemark.client.wire.JsonFields;
import dev.tidemark.client.wire.ServerSentEvents;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.http.HttpClient;
import java.net.http.HttpResponse.ResponseInfo;
import java.time.Duration;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A stream that is being followed, as an event stream (Server-Sent Events). It goes on until it is closed, the server says that it is
 * over, or the subscriber throws; everything else it meets by connecting again, behind the last event that the subscriber took.
 *
 * <pre>
 *  connect ──head──> listen ──broken, silent, ended, or an error that may pass──> pause ──> connect
 *     `──an error that doesn't pass──> ended      listen ──such an error, or the subscriber throws──> ended
 * </pre>
 *
 * <p>An error may pass if it says so ({@code retryable}), or by its status: 408, 429 and from 500 on.
 *
 * <p>Any thread may call its methods.
 */
public final class Subscription implements AutoCloseable {
    private static final long FIRST_WAIT_MS = 100;
    private static final long LONGEST_WAIT_MS = 10_000;
    private static final long HEAD_MS_MAX = 10_000;
    private static final int MESSAGE_BYTES_MAX = 256 << 20;
    /** What the JDK's client says when the thread that serves its connections is gone. */
    private static final String NO_SELECTOR = "selector manager closed";

    private final Http http;
    private final String path;
    private final Follow from;
    private final Subscriber subscriber;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private final CountDownLatch closing = new CountDownLatch(1);

    // used by the subscription's thread only
    private final Backoff backoff = new Backoff(FIRST_WAIT_MS, LONGEST_WAIT_MS, new SplittableRandom());
    private boolean everGreeted;

    // written by the subscription's thread, read by any
    private volatile String cursor = "";
    private volatile @Nullable Inbox inbox;
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
        Inbox open = inbox;
        if (open != null) {
            open.stop();
        }
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
                    long waitMs = why.retryAfterMs() + backoff.nextMs();
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
        // The head comes with the first message, which may take a busy server as long as any other.
        Inbox answer = new Inbox(Math.max(HEAD_MS_MAX, from.silenceMsMax()), from.silenceMsMax());
        inbox = answer;
        if (closed()) {
            return null;
        }
        HttpClient client = http.client();
        var exchange = http.follow(client, Http.withQuery(path, from.query(cursor)), answer);
        try {
            TidemarkException why = listen(answer);
            if (why != null && why.type().equals(TidemarkException.CONNECTION_DEAD)) {
                http.renew(client);
            }
            return why;
        } finally {
            answer.stop();
            boolean unused = exchange.cancel(true);
        }
    }

    private @Nullable TidemarkException listen(Inbox answer) throws Exception {
        TidemarkException refused;
        try {
            refused = refusal(answer);
        } catch (IOException e) {
            return broken(e);
        }
        if (refused != null) {
            return unlessFinal(refused);
        }
        ServerSentEvents messages = new ServerSentEvents(answer, MESSAGE_BYTES_MAX);
        while (!closed()) {
            ServerSentEvents.Message message;
            try {
                message = messages.next();
            } catch (IOException e) {
                return broken(e);
            }
            if (message == null) {
                return closed() ? null : ended();
            }
            TidemarkException error = receive(message);
            if (error != null) {
                return unlessFinal(error);
            }
        }
        return null;
    }

    /** What the answer is if it isn't an event stream. */
    private @Nullable TidemarkException refusal(Inbox answer) throws IOException {
        ResponseInfo head = answer.head();
        if (head == null) {
            return null;
        }
        if (head.statusCode() != 200) {
            return Http.refusal(head, answer);
        }
        String contentType = head.headers().firstValue("Content-Type").orElse("");
        if (contentType.toLowerCase(Locale.ROOT).startsWith(Http.EVENT_STREAM)) {
            return null;
        }
        // A wrong address, which is to be seen at once. Where Tidemark was before, it is something in between, such as
        // the sign-in page of a network, and goes away again.
        return TidemarkException.of(
                TidemarkException.NOT_UNDERSTOOD,
                "what answered at " + http + " isn't Tidemark: it sent "
                        + (contentType.isEmpty() ? "no content type" : contentType) + " instead of an event stream",
                everGreeted,
                null);
    }

    /** Gives back an error that may pass; throws any other. */
    private static TidemarkException unlessFinal(TidemarkException error) {
        if (error.retryable() || error.status() >= 500 || error.status() == 408) {
            return error;
        }
        throw error;
    }

    /** The server's error, if it is one. */
    private @Nullable TidemarkException receive(ServerSentEvents.Message message) throws Exception {
        JsonFields fields;
        try {
            fields = JsonFields.of(message.data());
        } catch (JsonFields.Malformed e) {
            throw notUnderstood(e);
        }
        if (message.type().equals("error")) {
            return TidemarkException.ofMessage(fields);
        }
        if (!message.type().equals("hello")) {
            backoff.reset();
        }
        switch (message.type()) {
            case "hello" -> hello(fields);
            case ServerSentEvents.UNNAMED -> event(fields, message.data());
            case "gap" -> subscriber.gap(Gap.of(fields));
            case "sealed" -> subscriber.sealed(fields.text("through", ""));
            case "caught_up" -> subscriber.caughtUp(moved(fields));
            case "fell_behind" -> subscriber.fellBehind(moved(fields));
            case "heartbeat" -> {
                String unused = moved(fields);
            }
            default -> {
                // A kind of message that later servers may have.
            }
        }
        return null;
    }

    private void hello(JsonFields fields) throws Exception {
        everGreeted = true;
        if (cursor.isEmpty()) {
            // Of tail=N it lies before these N.
            cursor = fields.text("cursor", "");
        }
        subscriber.connected();
    }

    private void event(JsonFields fields, byte[] json) throws Exception {
        Event event;
        try {
            event = Event.of(fields, json);
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

    private TidemarkException ended() {
        return TidemarkException.of(
                TidemarkException.CONNECTION_LOST, "the connection to " + http + " was ended", true, null);
    }

    private TidemarkException broken(IOException e) {
        boolean silent = e instanceof SocketTimeoutException;
        if (silent
                || e.getCause() instanceof Error
                || String.valueOf(e.getMessage()).contains(NO_SELECTOR)) {
            return TidemarkException.of(
                    TidemarkException.CONNECTION_DEAD,
                    "the connection to " + http + " is dead: " + e.getMessage(),
                    true,
                    e);
        }
        return http.lost(e);
    }
}
