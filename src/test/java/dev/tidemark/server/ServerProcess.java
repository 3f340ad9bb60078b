package dev.tidemark.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A server as users start it: the jar in a process of its own, with its own child Redis, on a free port. */
public final class ServerProcess implements AutoCloseable {
    private static final Pattern READY = Pattern.compile("ready on (http://\\S+)");
    private static final long START_SECONDS = 120;

    /** Exit code of a JVM that has stopped in order because of SIGTERM. */
    static final int TERMINATED = 143;

    /** What a healthy server never logs, whatever happens around it. */
    private static final Pattern TROUBLE =
            Pattern.compile(" ERROR |^\\s+at [\\w.$/]+\\(|^(Caused by: )?[\\w.$]+(Exception|Error)(:|$)"
                    + "|Exception in thread|OutOfMemory|LEAK:|^# A fatal error");

    private static final Pattern BLOCKED = Pattern.compile("has been blocked");

    /** How a line of the log begins that isn't the rest of the one before. */
    private static final Pattern LOG_LINE = Pattern.compile("^\\d{4}-\\d\\d-\\d\\dT");

    private final Path data;
    private final Process process;
    private final Thread reader;
    private final List<String> log = Collections.synchronizedList(new ArrayList<>());
    private final CompletableFuture<String> ready = new CompletableFuture<>();

    private ServerProcess(Path data, Process process) {
        this.data = data;
        this.process = process;
        reader = new Thread(this::readLog, "server-log");
        reader.setDaemon(true);
        reader.start();
    }

    /** Starts it and waits until it is ready. */
    public static ServerProcess start(Path data, Map<String, String> environment, String... flags) {
        ServerProcess server = launch(data, environment, List.of(), flags);
        server.awaitReady();
        return server;
    }

    public static ServerProcess start(Path data) {
        return start(data, Map.of());
    }

    /** As {@link #start(Path, Map, String...)}, with flags for the JVM, such as a smaller heap. */
    static ServerProcess startJvm(Path data, Map<String, String> environment, List<String> jvm) {
        List<String> command = new ArrayList<>(List.of(java(), "-XX:+ExitOnOutOfMemoryError"));
        command.addAll(jvm);
        command.addAll(List.of("-jar", jar(), "serve", "--port", "0", "--data", data.toString()));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(environment);
        ServerProcess server = of(data, builder);
        server.awaitReady();
        return server;
    }

    /**
     * Starts it and doesn't wait.
     *
     * @param before words before {@code java}, such as a tracer's
     */
    public static ServerProcess launch(
            Path data, Map<String, String> environment, List<String> before, String... flags) {
        List<String> command = new ArrayList<>(before);
        command.add(java());
        command.add("-Xmx512m");
        command.add("-jar");
        command.add(jar());
        command.addAll(List.of("serve", "--port", "0", "--data", data.toString()));
        command.addAll(List.of(flags));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(environment);
        return of(data, builder);
    }

    /** Starts a server by a command of one's own and doesn't wait. */
    static ServerProcess of(Path data, ProcessBuilder builder) {
        try {
            return new ServerProcess(data, builder.redirectErrorStream(true).start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The built jar; set by the build. */
    public static String jar() {
        String jar = System.getProperty("tidemark.jar", "target/tidemark.jar");
        if (!Files.isRegularFile(Path.of(jar))) {
            throw new IllegalStateException("no jar at " + jar + "; build it first: mvn -DskipTests package");
        }
        return jar;
    }

    static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    private void readLog() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                log.add(line);
                Matcher matcher = READY.matcher(line);
                if (matcher.find()) {
                    ready.complete(matcher.group(1));
                }
            }
        } catch (IOException e) {
            log.add("the log ended: " + e.getMessage());
        }
        ready.completeExceptionally(new IllegalStateException("the server ended before it was ready: " + log()));
    }

    public void awaitReady() {
        try {
            ready.get(START_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("not ready: " + log(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    public String url() {
        awaitReady();
        return ready.join();
    }

    public Api api() {
        return new Api(url());
    }

    public Path data() {
        return data;
    }

    public long pid() {
        return process.pid();
    }

    public Process process() {
        return process;
    }

    /** What it printed so far. */
    public List<String> log() {
        synchronized (log) {
            return List.copyOf(log);
        }
    }

    /** Waits until all that an ended process printed is in the log. */
    public void awaitLogEnd() {
        try {
            reader.join(10_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** What in its log should not be there: exceptions, errors, event loops that were blocked. */
    public List<String> troubles() {
        return troubles(log());
    }

    /** As {@link #troubles}, of a server that was stopped and continued from outside: it may say, with stack traces, that threads stood still. */
    List<String> troublesBesidesBlocks() {
        List<String> rest = new ArrayList<>();
        boolean block = false;
        for (String line : log()) {
            if (LOG_LINE.matcher(line).find()) {
                block = BLOCKED.matcher(line).find();
            }
            if (!block) {
                rest.add(line);
            }
        }
        return troubles(rest);
    }

    private static List<String> troubles(List<String> all) {
        int ready = 0;
        while (ready < all.size() && !READY.matcher(all.get(ready)).find()) {
            ready++;
        }
        List<String> troubles = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            // Until it is ready, it is the machine that blocks: it loads classes.
            boolean blocked = i > ready && BLOCKED.matcher(all.get(i)).find();
            if (blocked || TROUBLE.matcher(all.get(i)).find()) {
                troubles.add(all.get(i));
            }
        }
        return troubles;
    }

    /** @throws AssertionError with the log, if there is any trouble in it */
    public void assertCleanLog() {
        if (!process.isAlive()) {
            awaitLogEnd();
        }
        List<String> troubles = troubles();
        if (!troubles.isEmpty()) {
            List<String> all = log();
            int first = Math.max(0, all.indexOf(troubles.get(0)) - 5);
            throw new AssertionError("the server's log isn't clean:\n"
                    + String.join("\n", all.subList(first, Math.min(all.size(), first + 30))));
        }
    }

    /** SIGKILL; returns when the process is gone. */
    public void kill() {
        boolean unused = process.toHandle().destroyForcibly();
        awaitEnd();
    }

    /** SIGTERM; returns its exit code when it has ended and its whole log is there. */
    public int terminate() {
        // Process.destroy would close the output too, and with it the end of the log.
        if (!process.toHandle().destroy()) {
            throw new IllegalStateException("the server can't be asked to end");
        }
        awaitEnd();
        awaitLogEnd();
        return process.exitValue();
    }

    public void awaitEnd() {
        try {
            if (!process.waitFor(60, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IllegalStateException("the server doesn't end: " + log());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** The child Redis that the data directory knows of, if it lives. */
    public Optional<ProcessHandle> redis() {
        return redis(data);
    }

    static Optional<ProcessHandle> redis(Path data) {
        try {
            Path child = data.resolve("redis").resolve("child");
            if (!Files.isRegularFile(child)) {
                return Optional.empty();
            }
            Matcher pid = Pattern.compile("pid=(\\d+)").matcher(Files.readString(child));
            return pid.find() ? ProcessHandle.of(Long.parseLong(pid.group(1))) : Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** SIGKILL to the child Redis; returns when it is gone. */
    public void killRedis() {
        killRedis(data);
    }

    static void killRedis(Path data) {
        redis(data).ifPresent(child -> {
            child.destroyForcibly();
            child.onExit().join();
        });
    }

    /** Closes all of them in order, whatever the others throw, looks into the servers' logs, and throws the first failure. */
    static void closeAll(List<AutoCloseable> resources) throws Exception {
        Exception failure = null;
        for (AutoCloseable resource : resources) {
            try {
                resource.close();
                if (resource instanceof ServerProcess server) {
                    server.assertCleanLog();
                }
            } catch (Exception | AssertionError e) {
                failure = failure == null ? new Exception("while closing", e) : failure;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** Ends server and child, whatever state they are in. */
    @Override
    public void close() {
        kill();
        killRedis(data);
    }
}
