package dev.tidemark.livelog;

import dev.tidemark.event.Clock;
import dev.tidemark.livelog.LiveLogException.Kind;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection to Redis, confined to the event loop on which it was made: pipelined, answered in the order of the calls, bounded in
 * flight, watched. Every failure is a {@link LiveLogException} that says whether the command may have been executed.
 *
 * <p>It has a Redis client of its own, since only closing the client closes a pooled connection for certain. What it promises doesn't
 * depend on the client noticing that a connection is gone: it keeps its own queue, and fails it itself.
 */
final class RedisLink {
    private static final Logger LOG = LoggerFactory.getLogger(RedisLink.class);
    private static final int PING_BYTES = 14;
    /** Once the oldest command is overdue, answers that wait in the socket (after a pause of this process) get this long. */
    private static final long GRACE_MS = 50;

    private final ContextInternal context;
    private final Redis client;
    private final RedisConnection connection;
    private final RedisSettings settings;
    private final long timeoutMs;
    private final Clock clock;
    private final Runnable onClosed;
    private final ArrayDeque<Pending> queue = new ArrayDeque<>();
    private long bytesInFlight;
    /** When the command at the head of the queue became the one that Redis has to answer next. */
    private long waitingSinceNs;

    private @Nullable Pending overdue;
    private boolean watched;
    private long pings = -1;
    private boolean open = true;
    private boolean retiring;
    private boolean delivering;

    private static final class Pending {
        private final Request request;
        private final long bytes;
        private final @Nullable Script script;
        private final Promise<@Nullable Response> promise;
        private boolean resent;
        private boolean settled;
        private @Nullable Response response;
        private @Nullable LiveLogException error;

        Pending(Request request, long bytes, @Nullable Script script, Promise<@Nullable Response> promise) {
            this.request = request;
            this.bytes = bytes;
            this.script = script;
            this.promise = promise;
        }

        void settle(@Nullable Response answer, @Nullable LiveLogException failure) {
            settled = true;
            response = answer;
            error = failure;
        }

        void deliver() {
            if (error != null) {
                promise.fail(error);
            } else {
                promise.complete(response);
            }
        }
    }

    private RedisLink(
            ContextInternal context,
            Redis client,
            RedisConnection connection,
            RedisSettings settings,
            long timeoutMs,
            Clock clock,
            Runnable onClosed) {
        this.context = context;
        this.client = client;
        this.connection = connection;
        this.settings = settings;
        this.timeoutMs = timeoutMs;
        this.clock = clock;
        this.onClosed = onClosed;
    }

    /**
     * Connects and logs in, on the current event loop. Takes at most the connect timeout.
     *
     * @param timeoutMs longest silence of Redis while a command is unanswered
     * @param onClosed called once on that loop when the connection is gone for whatever reason but {@link #close}
     */
    static Future<RedisLink> connect(
            Vertx vertx, RedisSettings settings, long timeoutMs, Clock clock, Runnable onClosed) {
        ContextInternal context = ((VertxInternal) vertx).getOrCreateContext();
        if (!context.isEventLoopContext()) {
            return context.failedFuture(new IllegalStateException("a connection to Redis belongs to an event loop"));
        }
        Redis client = Redis.createClient(vertx, settings.clientOptions(timeoutMs));
        Promise<RedisLink> promise = context.promise();
        long timer = vertx.setTimer(settings.connectTimeoutMs(), id -> {
            client.close();
            promise.tryFail(new LiveLogException(
                    Kind.NOT_SENT,
                    "Redis at " + settings.address() + " didn't take a connection within " + settings.connectTimeoutMs()
                            + " ms"));
        });
        client.connect().onComplete(done -> {
            vertx.cancelTimer(timer);
            if (done.failed()) {
                client.close();
                promise.tryFail(RedisErrors.ofConnect(done.cause(), settings.address()));
                return;
            }
            boolean unused = JoinedWrites.on(done.result());
            RedisLink link = new RedisLink(context, client, done.result(), settings, timeoutMs, clock, onClosed);
            link.listen();
            if (!promise.tryComplete(link)) {
                link.close();
            }
        });
        return promise.future();
    }

    private void listen() {
        connection.endHandler(none -> lost("Redis closed it"));
        connection.exceptionHandler(cause -> lost(String.valueOf(cause.getMessage())));
        pings = context.setPeriodic(settings.silenceMsMax(timeoutMs) / 3, id -> ping());
    }

    /** An idle connection is asked now and then: the client closes one on which nothing comes in. */
    private void ping() {
        if (isOpen() && queue.isEmpty()) {
            send(Request.cmd(Command.PING), PING_BYTES).onFailure(error -> LOG.debug("No answer to a PING", error));
        }
    }

    ContextInternal context() {
        return context;
    }

    boolean isOpen() {
        return open && !retiring;
    }

    int inFlight() {
        return queue.size();
    }

    Future<@Nullable Response> send(Request request, long bytes) {
        return send(request, bytes, null);
    }

    /**
     * Sends a command, or refuses it at once.
     *
     * @param bytes what it takes on the wire, roughly
     * @param script the script that an {@code EVALSHA} needs: if Redis has forgotten it, nothing was executed, and the script and the
     *     command are sent again
     */
    Future<@Nullable Response> send(Request request, long bytes, @Nullable Script script) {
        if (!isOpen()) {
            return notSent("the connection to Redis is closed");
        }
        if (queue.size() >= settings.commandsInFlightMax()) {
            return notSent("too much in flight to Redis: " + queue.size() + " commands");
        }
        if (bytesInFlight > 0 && bytesInFlight + bytes > settings.bytesInFlightMax()) {
            return notSent("too much in flight to Redis: " + bytesInFlight + " bytes");
        }
        Pending sent = new Pending(request, bytes, script, context.promise());
        if (queue.isEmpty()) {
            waitingSinceNs = clock.monotonicNs();
        }
        queue.add(sent);
        bytesInFlight += bytes;
        transmit(sent);
        watch(timeoutMs);
        return sent.promise.future();
    }

    private Future<@Nullable Response> notSent(String why) {
        return context.failedFuture(new LiveLogException(Kind.NOT_SENT, why));
    }

    private void transmit(Pending sent) {
        connection.send(sent.request).onComplete(done -> answered(sent, done));
    }

    private void answered(Pending sent, AsyncResult<Response> done) {
        if (sent.settled) {
            return;
        }
        Throwable cause = done.cause();
        if (done.succeeded()) {
            sent.settle(done.result(), null);
        } else if (!RedisErrors.isAnswer(cause)) {
            lost(String.valueOf(cause.getMessage()));
            return;
        } else if (sent.script != null && !sent.resent && RedisErrors.isNoScript(cause)) {
            resend(sent, sent.script);
            return;
        } else {
            sent.settle(null, RedisErrors.of(cause));
            retiring |= RedisErrors.asksForNewConnection(cause);
        }
        deliver();
    }

    /** Later commands may be executed first, but are answered after it. */
    private void resend(Pending sent, Script script) {
        sent.resent = true;
        connection.send(Scripts.load(script)).onComplete(done -> {
            if (done.failed() && !RedisErrors.isAnswer(done.cause())) {
                lost(String.valueOf(done.cause().getMessage()));
            }
        });
        transmit(sent);
    }

    private void deliver() {
        if (delivering) {
            return;
        }
        delivering = true;
        try {
            Pending head = queue.peek();
            while (head != null && head.settled) {
                queue.remove();
                bytesInFlight -= head.bytes;
                waitingSinceNs = clock.monotonicNs();
                head.deliver();
                head = queue.peek();
            }
        } finally {
            delivering = false;
        }
        if (retiring && open && queue.isEmpty()) {
            lost("Redis asks for another one");
        }
    }

    private void watch(long afterMs) {
        if (!watched) {
            watched = true;
            context.setTimer(Math.max(1, afterMs), id -> look());
        }
    }

    /** Closes the connection if Redis has been silent for too long. Runs only while something is unanswered. */
    private void look() {
        watched = false;
        Pending head = queue.peek();
        if (!open || head == null) {
            overdue = null;
            return;
        }
        long silentMs = TimeUnit.NANOSECONDS.toMillis(clock.monotonicNs() - waitingSinceNs);
        long allowedMs = timeoutMs + head.bytes / RedisSettings.BYTES_PER_MS;
        if (silentMs < allowedMs) {
            overdue = null;
            watch(allowedMs - silentMs);
        } else if (overdue != head) {
            overdue = head;
            watch(GRACE_MS);
        } else {
            lost("Redis has been silent for " + silentMs + " ms");
        }
    }

    private void lost(String why) {
        if (open) {
            shut("the connection to Redis at " + settings.address() + " broke: " + why);
            onClosed.run();
        }
    }

    /** Closes the connection; what is unanswered is unknown. */
    void close() {
        if (open) {
            shut("the connection to Redis was closed");
        }
    }

    private void shut(String why) {
        open = false;
        List<Pending> unanswered = List.copyOf(queue);
        queue.clear();
        bytesInFlight = 0;
        client.close();
        context.owner().cancelTimer(pings);
        LiveLogException unknown = new LiveLogException(Kind.UNKNOWN, why);
        for (Pending sent : unanswered) {
            if (!sent.settled) {
                sent.settle(null, unknown);
            }
            sent.deliver();
        }
    }
}
