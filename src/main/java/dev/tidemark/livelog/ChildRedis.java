package dev.tidemark.livelog;

import dev.tidemark.event.Clock;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Redis that Tidemark starts for itself when no other is named: append-only, on the loopback interface, in {@code <data>/redis}, in a
 * session of its own. It outlives a killed server and is used again; it is restarted if it dies, and stopped with the server.
 *
 * <p>Any thread may call; its state belongs to one event loop, what blocks runs on workers.
 */
public final class ChildRedis {
    private static final Logger LOG = LoggerFactory.getLogger(ChildRedis.class);
    private static final long BACK_OFF_MS_MIN = 100;
    private static final long BACK_OFF_MS_MAX = 5_000;
    /** A child that lived so long died of something new. */
    private static final long STEADY_MS = 10_000;

    private final Vertx vertx;
    private final Context context;
    private final ChildProcess process;
    private final Clock clock;
    private final Runnable onRestart;
    private final int port;
    private final boolean reused;

    // Written on the context only.
    private volatile ChildProcess.Running running;
    private long runningSinceNs;
    private long backOffMs = BACK_OFF_MS_MIN;
    private boolean stopping;
    private Future<?> starting = Future.succeededFuture();

    /**
     * How the child runs.
     *
     * @param dataDirectory the server's; its lock is held
     * @param appendfsync {@code redis.fsync}: {@code always}, {@code everysec} or {@code no}
     * @param maxmemory {@code redis.maxmemory}, bytes; 0 for no limit
     * @param path the PATH in which a Redis is looked for; may be empty
     * @param startTimeoutMs until it answers; loading its data may take longer
     * @param stopTimeoutMs until it has shut down; then it is ended
     */
    public record Settings(
            Path dataDirectory,
            String appendfsync,
            long maxmemory,
            String path,
            int startTimeoutMs,
            int stopTimeoutMs) {
        private static final Set<String> FSYNCS = Set.of("always", "everysec", "no");

        public Settings {
            if (!FSYNCS.contains(appendfsync)) {
                throw new IllegalArgumentException(
                        "redis.fsync is '" + appendfsync + "'; allowed are always, everysec and no");
            }
            if (maxmemory < 0) {
                throw new IllegalArgumentException(
                        "redis.maxmemory is " + maxmemory + "; allowed is 0 (no limit) or more");
            }
        }

        /** The defaults: {@code always}, 1 GiB, this process's PATH. */
        public static Settings of(Path dataDirectory) {
            String path = System.getenv("PATH");
            return new Settings(dataDirectory, "always", 1L << 30, path == null ? "" : path, 10_000, 10_000);
        }
    }

    private ChildRedis(
            Vertx vertx,
            Context context,
            ChildProcess process,
            Clock clock,
            Runnable onRestart,
            ChildProcess.Running running) {
        this.vertx = vertx;
        this.context = context;
        this.process = process;
        this.clock = clock;
        this.onRestart = onRestart;
        this.running = running;
        this.port = running.port();
        this.reused = running.reused();
    }

    /**
     * Starts the child, or finds the one that a killed server left, and waits until it answers.
     *
     * @param onRestart called on an event loop each time when it had died and answers again
     */
    public static Future<ChildRedis> start(Vertx vertx, Settings settings, Clock clock, Runnable onRestart) {
        Context context = ((VertxInternal) vertx).createEventLoopContext();
        ChildProcess process = new ChildProcess(settings, clock);
        Promise<ChildRedis> started =
                ((VertxInternal) vertx).getOrCreateContext().promise();
        context.runOnContext(none -> vertx.executeBlocking(() -> process.ensure(0), false)
                .map(running -> {
                    ChildRedis child = new ChildRedis(vertx, context, process, clock, onRestart, running);
                    child.watch();
                    return child;
                })
                .onComplete(started));
        return started.future();
    }

    /** Where it listens. The same for as long as the server runs. */
    public RedisAddress address() {
        return RedisAddress.parse("redis://127.0.0.1:" + port);
    }

    /** Process id of the child that runs now, or ran last. */
    public long pid() {
        return running.handle().pid();
    }

    /** Whether it was running already. */
    public boolean reused() {
        return reused;
    }

    private void watch() {
        ChildProcess.Running watched = running;
        runningSinceNs = clock.monotonicNs();
        CompletableFuture<Void> unused =
                watched.handle().onExit().thenRun(() -> context.runOnContext(none -> ended(watched)));
    }

    private void ended(ChildProcess.Running which) {
        if (stopping || !which.equals(running)) {
            return;
        }
        if (TimeUnit.NANOSECONDS.toMillis(clock.monotonicNs() - runningSinceNs) >= STEADY_MS) {
            backOffMs = BACK_OFF_MS_MIN;
        }
        LOG.warn(
                "The child Redis (pid {}) ended; it is started again.",
                which.handle().pid());
        restartAfter(backOffMs);
    }

    private void restartAfter(long delayMs) {
        backOffMs = Math.min(backOffMs * 2, BACK_OFF_MS_MAX);
        vertx.setTimer(delayMs, id -> {
            if (!stopping) {
                starting = vertx.executeBlocking(() -> process.ensure(port), false)
                        .onComplete(done -> {
                            if (done.succeeded()) {
                                restarted(done.result());
                            } else {
                                LOG.error(
                                        "The child Redis can't be started; it is tried again: {}",
                                        done.cause().getMessage());
                                restartAfter(backOffMs);
                            }
                        });
            }
        });
    }

    private void restarted(ChildProcess.Running again) {
        running = again;
        watch();
        if (!stopping) {
            onRestart.run();
        }
    }

    /** Shuts the child down: completes when its process has ended, within the stop timeout and a few seconds. */
    public Future<Void> stop() {
        Promise<Void> stopped = ((VertxInternal) vertx).getOrCreateContext().promise();
        context.runOnContext(none -> {
            stopping = true;
            process.giveUp();
            starting.transform(done -> vertx.<Void>executeBlocking(this::stopBlocking, false))
                    .onComplete(stopped);
        });
        return stopped.future();
    }

    @SuppressWarnings("NullAway") // Void has no other value
    private Void stopBlocking() throws IOException {
        process.stop(running);
        return null;
    }
}
