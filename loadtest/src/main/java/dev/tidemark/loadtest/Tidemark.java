package dev.tidemark.loadtest;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A server of our own with a Redis of its own, on free ports and a data directory that is removed at the end. */
final class Tidemark implements AutoCloseable {
    private static final long START_SECONDS_MAX = 60;
    private static final long STOP_SECONDS_MAX = 30;
    /** Redis writes its address into its process title: {@code redis-server 127.0.0.1:6379}. */
    private static final Pattern REDIS_TITLE = Pattern.compile("(?:redis|valkey)\\S*\\s+\\S*:(\\d+)");

    private static final Pattern REDIS_ARGUMENT = Pattern.compile("--port\\s+(\\d+)");

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
                throw new IOException("the server didn't get ready:\n" + log());
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

    private String log() throws IOException {
        return Files.readString(data.resolve("server.log"));
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
        for (ProcessHandle child : process.descendants().toList()) {
            Path title = Path.of("/proc", String.valueOf(child.pid()), "cmdline");
            String text = Files.isReadable(title)
                    ? Files.readString(title, StandardCharsets.ISO_8859_1).replace('\0', ' ')
                    : child.info().commandLine().orElse("");
            for (Pattern pattern : List.of(REDIS_TITLE, REDIS_ARGUMENT)) {
                Matcher matcher = pattern.matcher(text);
                if (matcher.find()) {
                    return Integer.parseInt(matcher.group(1));
                }
            }
        }
        throw new IOException("found no child process of the server that is a Redis");
    }

    private void stop() {
        List<ProcessHandle> children = process.descendants().toList();
        process.destroy();
        try {
            if (!process.waitFor(STOP_SECONDS_MAX, TimeUnit.SECONDS)) {
                System.err.println("the server didn't stop within " + STOP_SECONDS_MAX + " s; killed");
                Process unused = process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        children.stream().filter(ProcessHandle::isAlive).forEach(child -> {
            System.err.println("process " + child.pid() + " outlived the server; ended");
            boolean unused = child.destroy();
        });
        removeData();
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
