package dev.tidemark.server;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A server under load on a data directory of its own, to which faults are done: an ordinary stream and one of four stripes with a
 * window, each with writers that send again only what was not stored, writers with producer headers, subscribers and a reader.
 */
final class CrashScene implements AutoCloseable {
    private static final String ORDINARY = "{\"live_max_events\":300,\"chunk_duration\":\"50ms\"}";
    private static final int WINDOW_MS = 300;
    private static final String WINDOW = "{\"live_max_events\":300,\"chunk_duration\":\"50ms\",\"stripes\":4,"
            + "\"acceptance_window\":\"" + WINDOW_MS + "ms\"}";
    private static final int BATCH_MAX = 20;
    private static final long PAUSE_MS = 20;
    private static final int TAIL_TIMEOUT_MS = 1_000;

    private final Path data;
    private final Random random;
    private final Map<String, String> environment;
    private final AtomicReference<Api> api = new AtomicReference<>();
    private final List<WatchedStream> streams = new ArrayList<>();

    private ServerProcess server;
    private @Nullable Breakpoints breakpoints;
    private boolean paused;
    private int others;

    /** Starts the server and creates the streams. */
    CrashScene(Path data, long seed) {
        this.data = data;
        random = new Random(seed);
        environment = new HashMap<>(Breakpoints.ENVIRONMENT);
        environment.put("TIDEMARK_FOLD_MAX_LAG", "200ms");
        environment.put("TIDEMARK_TAIL_TIMEOUT", TAIL_TIMEOUT_MS + "ms");
        server = ServerProcess.start(data, environment);
        api.set(server.api());
        create("flights", ORDINARY);
        streams.add(new WatchedStream(
                "flights",
                true,
                this::api,
                List.of(
                        new Writer(0, "flights", this::api, seed, BATCH_MAX, PAUSE_MS),
                        new Writer(1, "flights", this::api, seed, 1, PAUSE_MS),
                        new ProducerWriter(2, "flights", this::port, seed, BATCH_MAX, PAUSE_MS))));
        create("quakes", WINDOW);
        // Some of the claimed times are older than the window: these are rescued.
        streams.add(new WatchedStream(
                "quakes",
                false,
                this::api,
                List.of(
                        new Writer(0, "quakes", this::api, seed, BATCH_MAX, PAUSE_MS, 2 * WINDOW_MS),
                        new Writer(1, "quakes", this::api, seed, BATCH_MAX, PAUSE_MS, WINDOW_MS / 2),
                        new Writer(2, "quakes", this::api, seed, 1, PAUSE_MS),
                        new ProducerWriter(3, "quakes", this::port, seed, BATCH_MAX, PAUSE_MS),
                        new ProducerWriter(4, "quakes", this::port, seed, BATCH_MAX, PAUSE_MS))));
    }

    private void create(String stream, String settings) {
        Api.Answer created = api().put(stream, settings);
        if (created.status() != 201) {
            throw new AssertionError(created.status() + " " + created.text());
        }
    }

    private Api api() {
        return Objects.requireNonNull(api.get());
    }

    private int port() {
        return URI.create(api().url()).getPort();
    }

    private Stream<NumberedWriter> writers() {
        return streams.stream().flatMap(stream -> stream.writers().stream());
    }

    long acked() {
        return streams.stream().mapToLong(WatchedStream::acked).sum();
    }

    List<String> log() {
        return server.log();
    }

    /** One round: load, fault, recovery, comparison. Gives the milliseconds from the end of the fault until every writer is answered. */
    long round(Fault fault, Ledger ledger) throws Exception {
        for (NumberedWriter writer : writers().toList()) {
            writer.start();
        }
        for (NumberedWriter writer : writers().toList()) {
            writer.awaitAcked(1);
        }
        long beganNs = inject(fault, ledger);
        for (NumberedWriter writer : writers().toList()) {
            writer.awaitAcked(1);
        }
        long recoveryMs = (System.nanoTime() - beganNs) / 1_000_000;
        Thread.sleep(random.nextInt(300));
        writers().forEach(NumberedWriter::stop);
        for (WatchedStream stream : streams) {
            stream.settle(ledger);
        }
        return recoveryMs;
    }

    /** Gives the time at which the fault was over and recovery began. */
    private long inject(Fault fault, Ledger ledger) throws Exception {
        NamedPoint point = fault.point();
        AtomicReference<Long> overNs = new AtomicReference<>(0L);
        if (point == null) {
            Thread.sleep(random.nextInt(800));
            overNs.set(act(fault.act(), ledger));
        } else {
            int passage = 1 + random.nextInt(point.passageMax());
            breakpoints().at(point, passage, () -> overNs.set(act(fault.act(), ledger)));
        }
        if (fault.act() == Fault.Act.KILL_SERVER || fault.act() == Fault.Act.KILL_BOTH) {
            checkLog(ledger);
            start();
        }
        return overNs.get();
    }

    /** One connection for the whole life of a server: behind its end the server would listen on another port. */
    private Breakpoints breakpoints() throws IOException {
        if (breakpoints == null) {
            breakpoints = Breakpoints.in(server);
        }
        return breakpoints;
    }

    private void letGo() {
        if (breakpoints != null) {
            breakpoints.close();
            breakpoints = null;
        }
    }

    private long act(Fault.Act act, Ledger ledger) throws Exception {
        switch (act) {
            case KILL_SERVER -> server.kill();
            case KILL_REDIS -> server.killRedis();
            case KILL_BOTH -> killBoth();
            case PAUSE_SERVER -> pauseServer(ledger);
            case PAUSE_REDIS -> pauseRedis();
        }
        return System.nanoTime();
    }

    private void killBoth() {
        if (random.nextBoolean()) {
            server.kill();
            server.killRedis();
        } else {
            server.killRedis();
            server.kill();
        }
    }

    private void start() {
        letGo();
        server = ServerProcess.start(data, environment);
        paused = false;
        api.set(server.api());
    }

    /** Longer than {@code tail_timeout}; in two of three cases somebody takes it for dead and starts a second one. */
    private void pauseServer(Ledger ledger) throws Exception {
        paused = true;
        signal("STOP", server.pid());
        try {
            Thread.sleep(TAIL_TIMEOUT_MS + random.nextInt(1_000));
            switch (random.nextInt(3)) {
                case 0 -> refused(ledger, "on the data directory", data);
                case 1 -> refused(ledger, "on the same Redis", otherDirectory(), "--redis", redisUrl());
                default -> {}
            }
        } finally {
            signal("CONT", server.pid());
        }
    }

    private void pauseRedis() throws Exception {
        long pid = server.redis().orElseThrow().pid();
        signal("STOP", pid);
        try {
            Thread.sleep(300 + random.nextInt(2_500));
        } finally {
            signal("CONT", pid);
        }
    }

    private static void signal(String name, long pid) throws IOException, InterruptedException {
        int exit = new ProcessBuilder("kill", "-" + name, Long.toString(pid))
                .start()
                .waitFor();
        if (exit != 0) {
            throw new IllegalStateException("kill -" + name + " " + pid + ": exit " + exit);
        }
    }

    private Path otherDirectory() throws IOException {
        return Files.createDirectories(data.resolveSibling(data.getFileName() + "-other-" + others++));
    }

    private String redisUrl() {
        return "redis://127.0.0.1:" + PlainRedis.portOfChild(data);
    }

    private static void refused(Ledger ledger, String where, Path directory, String... flags) {
        ServerProcess second = ServerProcess.launch(directory, Map.of(), List.of(), flags);
        try {
            second.awaitEnd();
            second.awaitLogEnd();
            if (second.process().exitValue() != 1) {
                ledger.other("a second server " + where + " ended with "
                        + second.process().exitValue() + ": " + second.log());
            }
        } catch (IllegalStateException running) {
            ledger.other("a second server " + where + " isn't refused: " + second.log());
        } finally {
            second.kill();
        }
    }

    /** A server that stood still may say that its threads did. */
    private void checkLog(Ledger ledger) {
        server.awaitLogEnd();
        List<String> troubles = paused ? server.troublesBesidesBlocks() : server.troubles();
        troubles.forEach(line -> ledger.other("the server's log: " + line));
    }

    /** A clean stop, and a check of the archive that it leaves. */
    void end(Ledger ledger) {
        for (WatchedStream stream : streams) {
            stream.settleAtEnd(ledger);
        }
        int exit = server.terminate();
        if (exit != ServerProcess.TERMINATED) {
            ledger.other("exit code of a clean stop: " + exit);
        }
        checkLog(ledger);
        Command verified = Command.run(List.of("verify", "--data", data.toString()));
        if (verified.exit() != 0) {
            ledger.other("verify: " + verified.text() + verified.err());
        }
    }

    @Override
    public void close() throws Exception {
        // Writers and readers first: they don't end while a request hangs.
        for (WatchedStream stream : streams) {
            stream.close();
        }
        letGo();
        server.close();
    }
}
