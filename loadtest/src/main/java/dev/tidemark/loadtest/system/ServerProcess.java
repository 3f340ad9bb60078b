package dev.tidemark.loadtest.system;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** A process of our own with a temporary directory; both end with {@link #close}, or with this JVM. Any thread. */
public final class ServerProcess implements AutoCloseable {
    private static final long START_SECONDS_MAX = 60;
    private static final long STOP_SECONDS_MAX = 60;
    private static final long POLL_MS = 5;
    private static final int LOG_LINES = 30;
    private static final String LOG = "server.log";

    /** Directories in which no server runs yet. */
    private static final Set<Path> UNUSED = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> UNUSED.forEach(ServerProcess::remove)));
    }

    private final String name;
    private final Process process;
    private final Path directory;
    /** Processes that the server started and may leave behind. */
    private final Supplier<Optional<ProcessHandle>> child;

    private final long startedNs;
    private volatile long readyNs;
    private volatile boolean keepsDirectory;
    private final Thread atExit = new Thread(this::stop);

    /** Whether the server can be used. */
    public interface Ready {
        /** @throws IOException if it isn't there yet; the same as false */
        boolean isReady() throws IOException;
    }

    private ServerProcess(
            String name, Process process, long startedNs, Path directory, Supplier<Optional<ProcessHandle>> child) {
        this.startedNs = startedNs;
        this.name = name;
        this.process = process;
        this.directory = directory;
        this.child = child;
        Runtime.getRuntime().addShutdownHook(atExit);
        boolean unused = UNUSED.remove(directory);
    }

    /** A new directory for a server's data, to be given to {@link #start}; removed with this JVM if it never is. */
    public static Path newDirectory(Path parent, String name) throws IOException {
        Path directory = Files.createTempDirectory(parent, "tidemark-loadtest-" + name + "-");
        boolean unused = UNUSED.add(directory);
        return directory;
    }

    public static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** Starts a command in the directory, with what it prints in {@code server.log} there, and waits until it is ready. */
    public static ServerProcess start(
            String name, Path directory, List<String> command, Map<String, String> environment, Ready ready)
            throws IOException, InterruptedException {
        return start(name, directory, command, environment, ready, Optional::empty);
    }

    /** @param child the process that the server started and may leave behind when it is killed, if there is one */
    static ServerProcess start(
            String name,
            Path directory,
            List<String> command,
            Map<String, String> environment,
            Ready ready,
            Supplier<Optional<ProcessHandle>> child)
            throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve(LOG).toFile());
        builder.environment().putAll(environment);
        Process process;
        long startedNs = System.nanoTime();
        try {
            process = builder.start();
        } catch (IOException e) {
            remove(directory);
            throw e;
        }
        ServerProcess server = new ServerProcess(name, process, startedNs, directory, child);
        try {
            server.await(ready);
            return server;
        } catch (IOException | InterruptedException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    private void await(Ready ready) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS_MAX);
        while (!isReady(ready)) {
            if (!process.isAlive() || System.nanoTime() - end > 0) {
                throw new IOException(name + " didn't get ready:\n" + logEnd());
            }
            Thread.sleep(POLL_MS);
        }
        readyNs = System.nanoTime();
    }

    /** From the start of the process until it was ready. */
    double secondsToReady() {
        return (readyNs - startedNs) / 1e9;
    }

    private static boolean isReady(Ready ready) {
        try {
            return ready.isReady();
        } catch (IOException e) {
            return false;
        }
    }

    /** Whether somebody listens on the port of loopback. */
    public static boolean listens(int port) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        }
    }

    /** The last lines of what the server printed. */
    public String logEnd() throws IOException {
        String[] lines = Files.readString(directory.resolve(LOG)).split("\n");
        return String.join("\n", List.of(lines).subList(Math.max(0, lines.length - LOG_LINES), lines.length));
    }

    public Path directory() {
        return directory;
    }

    public long pid() {
        return process.pid();
    }

    private void stop() {
        Optional<ProcessHandle> left = child.get();
        process.destroy();
        try {
            if (!process.waitFor(STOP_SECONDS_MAX, TimeUnit.SECONDS)) {
                System.err.println(name + " didn't stop within " + STOP_SECONDS_MAX + " s; killed");
                boolean unused = process.destroyForcibly().waitFor(STOP_SECONDS_MAX, TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        left.filter(ProcessHandle::isAlive).ifPresent(handle -> {
            System.err.println("process " + handle.pid() + " outlived " + name + "; ended");
            boolean unused = handle.destroy();
            awaitEnd(handle);
        });
        if (!keepsDirectory) {
            remove(directory);
        }
    }

    /** Ends the process, but leaves its directory, for another one to start on. */
    void closeAndKeepDirectory() {
        keepsDirectory = true;
        boolean unused = UNUSED.add(directory);
        close();
    }

    private static void awaitEnd(ProcessHandle child) {
        try {
            ProcessHandle unused = child.onExit().get(STOP_SECONDS_MAX, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            System.err.println("it doesn't end: " + e);
        }
    }

    private static void remove(Path directory) {
        try (Stream<Path> paths = Files.walk(directory)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                boolean unused = Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            System.err.println("couldn't remove " + directory + ": " + e);
        }
    }

    @Override
    public void close() {
        try {
            boolean unused = Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException shuttingDown) {
            return; // the hook ends it
        }
        stop();
    }
}
