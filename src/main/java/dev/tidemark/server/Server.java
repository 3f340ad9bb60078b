package dev.tidemark.server;

import dev.tidemark.archive.Archive;
import dev.tidemark.event.Clock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running server. {@link #start} and {@link #awaitStop} block: they are for the main thread, never for an event loop.
 */
public final class Server {
    private static final long CLOCK_LOOK_MS = 50;
    private static final Logger LOG = LoggerFactory.getLogger(Server.class);
    private static final long START_TIMEOUT_MS = 120_000;
    /** Event loops for retention and for what comes from no loop. */
    private static final int LOOPS_BESIDES = 2;

    /** Beyond {@code shutdown_timeout}: for what has to end in any case. */
    private static final long STOP_EXTRA_MS = 20_000;

    private final Vertx vertx;
    private final Assembly assembly;
    private final long stopTimeoutMs;
    private final CountDownLatch stopped = new CountDownLatch(1);
    /** Whether the start has ended well; a stop hook may come before that. */
    private volatile boolean ready;

    private Server(Vertx vertx, Assembly assembly, long stopTimeoutMs) {
        this.vertx = vertx;
        this.assembly = assembly;
        this.stopTimeoutMs = stopTimeoutMs;
    }

    /**
     * Starts the server; returns when it is ready. It stops in order when the JVM is told to end.
     *
     * @throws StartException saying what is in the way
     */
    public static Server start(Configuration configuration) {
        long beganNs = Clock.system().monotonicNs();
        // Each keeper and each edge has a loop of its own: one that is held doesn't hold others.
        int loops = configuration.keepers() + Runtime.getRuntime().availableProcessors() + LOOPS_BESIDES;
        // Files come from the class path as they are: nothing is unpacked to a temporary folder, which a kill would
        // leave behind.
        VertxOptions options = new VertxOptions()
                .setPreferNativeTransport(true)
                .setEventLoopPoolSize(loops)
                .setFileSystemOptions(new FileSystemOptions()
                        .setClassPathResolvingEnabled(false)
                        .setFileCachingEnabled(false));
        Vertx vertx = Vertx.vertx(options);
        Clock clock = TestClock.of(configuration.testClock());
        if (clock instanceof TestClock test) {
            test.look();
            long unused = vertx.setPeriodic(
                    CLOCK_LOOK_MS,
                    timer -> vertx.executeBlocking(() -> {
                        test.look();
                        return null;
                    }));
        }
        Assembly assembly = new Assembly(vertx, configuration, clock);
        Server server = new Server(vertx, assembly, configuration.shutdownTimeoutMs() + STOP_EXTRA_MS);
        Archive.registerWithJvm();
        Thread hook = new Thread(server::stop, "tidemark-stop");
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            wait(assembly.start(), START_TIMEOUT_MS);
        } catch (ExecutionException | TimeoutException failure) {
            server.stop();
            Throwable cause =
                    failure instanceof ExecutionException && failure.getCause() != null ? failure.getCause() : failure;
            throw new StartException(reason(cause), cause);
        } catch (InterruptedException interrupted) {
            server.stop();
            Thread.currentThread().interrupt();
            throw new StartException("the start was interrupted", interrupted);
        }
        long tookMs = TimeUnit.NANOSECONDS.toMillis(Clock.system().monotonicNs() - beganNs);
        server.ready = true;
        LOG.info("ready on {} after {} ms", server.url(), tookMs);
        return server;
    }

    private static String reason(Throwable cause) {
        String message = cause.getMessage();
        return message == null ? cause.toString() : message;
    }

    /** Where it listens. */
    public String url() {
        return assembly.url();
    }

    /** The port it listens on. */
    public int port() {
        return assembly.port();
    }

    /** Stops in order and returns when everything has ended, or the time for it is over. May be called more than once. */
    public synchronized void stop() {
        if (stopped.getCount() == 0) {
            return;
        }
        if (ready) {
            LOG.info("stopping: no more appends, folding what is open");
        }
        try {
            wait(assembly.stop(), stopTimeoutMs);
            LOG.info(ready ? "stopped" : "not started");
        } catch (ExecutionException | TimeoutException failure) {
            LOG.error("the server didn't stop in order", failure);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        } finally {
            stopped.countDown();
        }
        try {
            wait(vertx.close(), STOP_EXTRA_MS);
        } catch (ExecutionException | TimeoutException failure) {
            LOG.warn("the event loops didn't end in time", failure);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until the server has stopped. */
    public void awaitStop() {
        try {
            stopped.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void wait(Future<?> future, long timeoutMs)
            throws ExecutionException, TimeoutException, InterruptedException {
        Object unused = future.toCompletionStage().toCompletableFuture().get(timeoutMs, TimeUnit.MILLISECONDS);
    }
}
