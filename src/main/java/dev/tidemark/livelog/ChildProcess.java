package dev.tidemark.livelog;

import dev.tidemark.event.Clock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds, starts and stops the one Redis process of a directory. Blocking, for worker threads; the caller holds the lock of the data
 * directory, so that nobody else does the same.
 */
final class ChildProcess {
    private static final Logger LOG = LoggerFactory.getLogger(ChildProcess.class);
    private static final long POLL_MS = 20;
    private static final long TERMINATE_MS = 2_000;
    private static final int PORTS_TRIED = 3;
    private static final int LOG_LINES = 6;
    private static final int LOG_BYTES = 16 << 10;
    private static final List<Path> SETSID = List.of(Path.of("/usr/bin/setsid"), Path.of("/bin/setsid"));

    private final ChildRedis.Settings settings;
    private final Path directory;
    private final Clock clock;
    private volatile boolean givingUp;

    /**
     * A Redis that answers.
     *
     * @param handle its process
     * @param port on the loopback interface
     * @param reused whether it was running already
     */
    record Running(ProcessHandle handle, int port, boolean reused) {}

    ChildProcess(ChildRedis.Settings settings, Clock clock) {
        this.settings = settings;
        this.directory = settings.dataDirectory().toAbsolutePath().resolve("redis");
        this.clock = clock;
    }

    /** Whoever waits for a Redis gives up; nothing is started any more. Any thread. */
    void giveUp() {
        givingUp = true;
    }

    /**
     * Makes sure that one Redis runs on the directory and answers: one that is there already is used again.
     *
     * @param port where it has to listen; 0 for where it did last, or any free one
     * @throws IOException saying what is wrong, with the end of Redis's log
     */
    Running ensure(int port) throws IOException {
        Files.createDirectories(directory);
        ChildFile known = ChildFile.read(directory);
        int knownPort = known.port() > 0 ? known.port() : configuredPort();
        Optional<ProcessHandle> process = processOf(known.pid());
        if (process.isPresent()
                || (knownPort > 0 && RedisProbe.look(knownPort, directory) != RedisProbe.Answer.NOTHING)) {
            Optional<Running> running = awaitRunning(process, knownPort);
            if (running.isPresent()) {
                return running.get();
            }
        }
        return start(port, knownPort);
    }

    private int configuredPort() throws IOException {
        Path conf = directory.resolve("redis.conf");
        if (!Files.exists(conf)) {
            return 0;
        }
        return Files.readAllLines(conf).stream()
                .filter(line -> line.matches("port \\d{1,5}"))
                .mapToInt(line -> Integer.parseInt(line.substring(5)))
                .findFirst()
                .orElse(0);
    }

    /** The living Redis of this directory: the one with the pid that was noted, or one that works in it. */
    private Optional<ProcessHandle> processOf(long pid) throws IOException {
        if (pid > 0) {
            Optional<ProcessHandle> noted =
                    ProcessHandle.of(pid).filter(ProcessHandle::isAlive).filter(this::isRedisHere);
            if (noted.isPresent()) {
                return noted;
            }
        }
        Path proc = Path.of("/proc");
        if (!Files.isDirectory(proc)) {
            return Optional.empty();
        }
        try (Stream<ProcessHandle> all = ProcessHandle.allProcesses()) {
            return all.filter(handle -> worksHere(handle).orElse(false))
                    .filter(this::isRedisHere)
                    .findFirst();
        }
    }

    private boolean isRedisHere(ProcessHandle handle) {
        String command = commandLine(handle);
        boolean redis = command.contains("redis-server") || command.contains("valkey-server");
        return redis && worksHere(handle).orElse(true);
    }

    /** As the process shows itself, so that the forks that rewrite a file are told apart. */
    private static String commandLine(ProcessHandle handle) {
        Path shown = Path.of("/proc/" + handle.pid() + "/cmdline");
        try {
            return Files.exists(shown)
                    ? Files.readString(shown, StandardCharsets.ISO_8859_1)
                    : handle.info().command().orElse("");
        } catch (IOException gone) {
            return "";
        }
    }

    /** Whether the process's working directory is ours; empty if the system doesn't tell. */
    private Optional<Boolean> worksHere(ProcessHandle handle) {
        try {
            Path link = Path.of("/proc/" + handle.pid() + "/cwd");
            return Optional.of(Files.readSymbolicLink(link).equals(directory.toRealPath()));
        } catch (IOException | UnsupportedOperationException e) {
            return Optional.empty();
        }
    }

    /** Waits for a Redis that is there already; empty if it goes away or the port is another program's. */
    private Optional<Running> awaitRunning(Optional<ProcessHandle> process, int port) throws IOException {
        long started = clock.monotonicNs();
        while (true) {
            RedisProbe.Answer answer = port > 0 ? RedisProbe.look(port, directory) : RedisProbe.Answer.NOTHING;
            if (answer == RedisProbe.Answer.READY) {
                return Optional.of(reuse(port));
            }
            boolean loading = answer == RedisProbe.Answer.LOADING;
            if (!loading && process.filter(ProcessHandle::isAlive).isEmpty()) {
                return Optional.empty();
            }
            if (!loading && elapsedMs(started) > settings.startTimeoutMs()) {
                throw new IOException(
                        "a Redis (pid " + process.map(ProcessHandle::pid).orElse(0L) + ") works in " + directory
                                + " but doesn't answer on port " + port + "; end it, and start again");
            }
            pause();
        }
    }

    private Running reuse(int port) throws IOException {
        long pid = RedisProbe.processId(port);
        ProcessHandle handle = ProcessHandle.of(pid)
                .orElseThrow(() -> new IOException("the Redis of " + directory + " has no process " + pid));
        try (RedisProbe probe = new RedisProbe(port)) {
            configure(probe, "appendfsync", settings.appendfsync());
            configure(probe, "maxmemory", Long.toString(settings.maxmemory()));
        }
        new ChildFile(port, pid).write(directory);
        return new Running(handle, port, true);
    }

    private static void configure(RedisProbe probe, String name, String value) throws IOException {
        List<String> answer = probe.ask("CONFIG", "SET", name, value);
        if (!answer.equals(List.of("OK"))) {
            throw new IOException("the child Redis doesn't take " + name + " " + value + ": " + answer);
        }
    }

    private Running start(int port, int lastPort) throws IOException {
        RedisBinary binary = RedisBinary.find(settings.path(), directory.resolve("bin"));
        checkReadable(binary);
        IOException failure = null;
        for (int i = 0; i < PORTS_TRIED && !givingUp; i++) {
            int chosen = port > 0 ? port : i == 0 && lastPort > 0 && isFree(lastPort) ? lastPort : freePort();
            try {
                return start(binary, chosen);
            } catch (PortTakenException e) {
                failure = e;
            }
        }
        throw failure != null ? failure : new IOException("the child Redis isn't started any more");
    }

    /** Redis 7 moves its append-only files into a folder that older ones don't look into: they would start empty. */
    private void checkReadable(RedisBinary binary) throws IOException {
        if (Files.isDirectory(directory.resolve("appendonlydir"))
                && !RedisRequirements.isAtLeast(binary.version(), 7, 0)) {
            throw new IOException(
                    "the data in " + directory + " was written by Redis 7 or newer, and " + binary.executable() + " is "
                            + binary.version() + ", which can't read it: put redis-server 7 or newer into the PATH");
        }
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return true;
        } catch (IOException taken) {
            return false;
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static final class PortTakenException extends IOException {
        private static final long serialVersionUID = 1L;

        PortTakenException(String message) {
            super(message);
        }
    }

    private Running start(RedisBinary binary, int port) throws IOException {
        Files.write(directory.resolve("redis.conf"), configuration(port));
        new ChildFile(port, 0).write(directory);
        Path log = directory.resolve("redis.log");
        long logStart = Files.exists(log) ? Files.size(log) : 0;
        Process process = new ProcessBuilder(command(binary))
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
        long started = clock.monotonicNs();
        while (true) {
            RedisProbe.Answer answer = RedisProbe.look(port, directory);
            if (answer == RedisProbe.Answer.READY) {
                new ChildFile(port, process.pid()).write(directory);
                return new Running(process.toHandle(), port, false);
            }
            boolean late = answer != RedisProbe.Answer.LOADING && elapsedMs(started) > settings.startTimeoutMs();
            if (!process.isAlive() || late || givingUp) {
                process.destroyForcibly();
                throw notStarted(binary, port, process, logEnd(log, logStart));
            }
            pause();
        }
    }

    private static IOException notStarted(RedisBinary binary, int port, Process process, String log) {
        String what = process.isAlive() ? "doesn't answer on port " + port : "ended";
        String message = "the child Redis (" + binary.executable() + ", " + binary.version() + ") " + what
                + "; the end of its log:\n" + log;
        return log.contains("Address already in use") ? new PortTakenException(message) : new IOException(message);
    }

    private static String logEnd(Path log, long from) throws IOException {
        if (!Files.exists(log)) {
            return "";
        }
        try (SeekableByteChannel channel = Files.newByteChannel(log)) {
            ByteBuffer end = ByteBuffer.allocate(LOG_BYTES);
            channel.position(Math.max(Math.min(from, channel.size()), channel.size() - LOG_BYTES));
            int length = channel.read(end);
            List<String> lines = new String(end.array(), 0, Math.max(0, length), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
            return String.join("\n", lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size()));
        }
    }

    /** In a session of its own, so that Ctrl-C on the terminal reaches the server only. */
    private static List<String> command(RedisBinary binary) {
        List<String> command = new ArrayList<>();
        SETSID.stream().filter(Files::isExecutable).findFirst().ifPresent(setsid -> command.add(setsid.toString()));
        command.add(binary.executable().toString());
        command.add("redis.conf");
        return command;
    }

    private List<String> configuration(int port) {
        return List.of(
                "# Written by Tidemark at every start.",
                "port " + port,
                "bind 127.0.0.1",
                "protected-mode yes",
                "dir ./",
                "logfile redis.log",
                "daemonize no",
                "save \"\"",
                "appendonly yes",
                "appendfsync " + settings.appendfsync(),
                "aof-load-truncated yes",
                "maxmemory " + settings.maxmemory(),
                "maxmemory-policy noeviction");
    }

    /** Stops a Redis: asks it, then ends its process. */
    void stop(Running running) throws IOException {
        ProcessHandle handle = running.handle();
        RedisProbe.Answer answer = RedisProbe.look(running.port(), directory);
        if (answer == RedisProbe.Answer.READY || answer == RedisProbe.Answer.LOADING) {
            shutDown(running.port());
        }
        if (!isGone(handle, settings.stopTimeoutMs())) {
            handle.destroy();
            if (!isGone(handle, TERMINATE_MS)) {
                handle.destroyForcibly();
            }
        }
        ChildFile.delete(directory);
    }

    private static void shutDown(int port) {
        try (RedisProbe probe = new RedisProbe(port)) {
            LOG.warn("The child Redis doesn't shut down: {}", probe.ask("SHUTDOWN"));
        } catch (IOException closed) {
            LOG.debug("The child Redis closed the connection, as it should.");
        }
    }

    private boolean isGone(ProcessHandle handle, long withinMs) throws IOException {
        long started = clock.monotonicNs();
        while (handle.isAlive()) {
            if (elapsedMs(started) > withinMs) {
                return false;
            }
            pause();
        }
        return true;
    }

    private long elapsedMs(long sinceNs) {
        return TimeUnit.NANOSECONDS.toMillis(clock.monotonicNs() - sinceNs);
    }

    private static void pause() throws IOException {
        try {
            Thread.sleep(POLL_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for the child Redis", e);
        }
    }
}
