package dev.tidemark.loadtest;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A server of our own with a Redis of its own, on free ports and a data directory that is removed at the end. */
final class Tidemark implements AutoCloseable {
    private static final long START_SECONDS_MAX = 60;
    private static final long STOP_SECONDS_MAX = 30;
    private static final int LOG_LINES = 30;

    /** How the server notes where its Redis is, in its data directory. */
    private static final Pattern CHILD = Pattern.compile("port=(\\d+)\\s+pid=(\\d+)");

    private final Process process;
    private final Path data;
    private final int port;
    private final Thread atExit = new Thread(this::stop);

    private Tidemark(Process process, Path data, int port) {
        this.process = process;
        this.data = data;
        this.port = port;
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /** Starts the server and waits until it is ready. */
    static Tidemark start(Options options) throws IOException, InterruptedException {
        Path data = Files.createTempDirectory(options.data(), "tidemark-loadtest-");
        int port = freePort();
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-jar",
                options.jar().toString(),
                "serve",
                "--port",
                String.valueOf(port),
                "--data",
                data.toString()));
        command.addAll(options.serverArgs());
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(data.resolve("server.log").toFile())
                .start();
        Tidemark server = new Tidemark(process, data, port);
        try {
            server.awaitReady();
            return server;
        } catch (IOException | InterruptedException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private void awaitReady() throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS_MAX);
        while (!isReady()) {
            if (!process.isAlive() || System.nanoTime() - end > 0) {
                throw new IOException("the server didn't get ready:\n" + logEnd());
            }
            Thread.sleep(100);
        }
    }

    private boolean isReady() {
        try (Http http = new Http(port)) {
            return http.send(Http.get("/health/ready")).status() == 200;
        } catch (IOException e) {
            return false;
        }
    }

    /** The last lines of the server's log. */
    String logEnd() throws IOException {
        List<String> lines = Files.readAllLines(data.resolve("server.log"));
        return String.join("\n", lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size()));
    }

    int port() {
        return port;
    }

    /** Kind of file system that the data lies on: forces are free on {@code tmpfs}. */
    String fileSystem() throws IOException {
        return Files.getFileStore(data).type();
    }

    /** Port of the server's own Redis. */
    int redisPort() throws IOException {
        return Integer.parseInt(child().group(1));
    }

    private Matcher child() throws IOException {
        Path file = data.resolve("redis").resolve("child");
        Matcher matcher = CHILD.matcher(Files.isReadable(file) ? Files.readString(file) : "");
        if (!matcher.find()) {
            throw new IOException("the server has no Redis of its own; the load test needs one");
        }
        return matcher;
    }

    /** The server's Redis: it may outlive a server that was killed. */
    private Optional<ProcessHandle> redisProcess() {
        try {
            return ProcessHandle.of(Long.parseLong(child().group(2)));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private void stop() {
        Optional<ProcessHandle> redis = redisProcess();
        process.destroy();
        try {
            if (!process.waitFor(STOP_SECONDS_MAX, TimeUnit.SECONDS)) {
                System.err.println("the server didn't stop within " + STOP_SECONDS_MAX + " s; killed");
                Process unused = process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        redis.filter(ProcessHandle::isAlive).ifPresent(child -> {
            System.err.println("Redis (process " + child.pid() + ") outlived the server; ended");
            boolean unused = child.destroy();
            awaitEnd(child);
        });
        removeData();
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

    private void removeData() {
        try (Stream<Path> paths = Files.walk(data)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                boolean unused = Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            System.err.println("couldn't remove " + data + ": " + e);
        }
    }

    @Override
    public void close() {
        boolean unused = Runtime.getRuntime().removeShutdownHook(atExit);
        stop();
    }
}
