package dev.tidemark.gatling;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The server that is loaded: one that runs already, or one of our own with a Redis of its own, on free ports and a data directory that is
 * removed at the end.
 */
final class Server implements AutoCloseable {
    private static final long START_SECONDS_MAX = 60;
    private static final long STOP_SECONDS_MAX = 30;
    private static final int LOG_LINES = 30;

    /** How the server notes where its Redis is, in its data directory. */
    private static final Pattern CHILD = Pattern.compile("pid=(\\d+)");

    private final HttpClient client = HttpClient.newHttpClient();
    private final String url;
    private final @Nullable Child child;

    /** A server of our own. */
    private record Child(Process process, Path data) {}

    private Server(String url, @Nullable Child child) {
        this.url = url;
        this.child = child;
    }

    /** The one that {@code -Durl} names, or one that is started now and ready when this returns. */
    static Server open() {
        String url = Options.url();
        if (!url.isEmpty()) {
            return new Server(url, null);
        }
        try {
            return start(Options.jar(), Files.createTempDirectory(Options.data(), "tidemark-gatling-"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Server start(Path jar, Path data) throws IOException {
        int port = freePort();
        Process process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-jar",
                        jar.toString(),
                        "serve",
                        "--port",
                        String.valueOf(port),
                        "--data",
                        data.toString()))
                .redirectErrorStream(true)
                .redirectOutput(data.resolve("server.log").toFile())
                .start();
        Server server = new Server("http://127.0.0.1:" + port, new Child(process, data));
        Runtime.getRuntime().addShutdownHook(new Thread(server::close));
        server.awaitReady(process, data);
        return server;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private void awaitReady(Process process, Path data) throws IOException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS_MAX);
        while (!isReady()) {
            if (!process.isAlive() || System.nanoTime() - end > 0) {
                List<String> log = Files.readAllLines(data.resolve("server.log"));
                throw new IOException("the server didn't get ready:\n"
                        + String.join("\n", log.subList(Math.max(0, log.size() - LOG_LINES), log.size())));
            }
            pause();
        }
    }

    private boolean isReady() {
        try {
            return send("GET", "/health/ready", "", BodyPublishers.noBody()).statusCode() == 200;
        } catch (IOException e) {
            return false;
        }
    }

    private static void pause() {
        try {
            Thread.sleep(100);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private HttpResponse<String> send(String method, String path, String type, BodyPublisher body) throws IOException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(url + path)).method(method, body);
        if (!type.isEmpty()) {
            request = request.header("Content-Type", type);
        }
        try {
            return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** {@code http://HOST:PORT}. */
    String url() {
        return url;
    }

    /** Makes the stream if it isn't there, with a live log so short that events are folded and trimmed all the time. */
    void createStream(String stream) {
        expect(
                "PUT",
                "/v1/streams/" + stream,
                "application/json",
                BodyPublishers.ofString("{\"live_max_events\":1000}"));
    }

    /** Appends so many events. */
    void append(String stream, int count) {
        expect(
                "POST",
                "/v1/streams/" + stream + "/events",
                "application/x-ndjson",
                BodyPublishers.ofByteArray(Payloads.lines(count)));
    }

    private void expect(String method, String path, String type, BodyPublisher body) {
        try {
            HttpResponse<String> answer = send(method, path, type, body);
            if (answer.statusCode() / 100 != 2) {
                throw new IOException(method + " " + path + ": status " + answer.statusCode() + ", " + answer.body());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the server at " + url + " can't be used", e);
        }
    }

    /** Stops a server of our own and removes its data; may be called again. */
    @Override
    public synchronized void close() {
        if (child == null || !Files.exists(child.data)) {
            return;
        }
        Optional<ProcessHandle> redis = redis(child.data);
        end(child.process.toHandle());
        redis.filter(ProcessHandle::isAlive).ifPresent(Server::end);
        try (Stream<Path> paths = Files.walk(child.data)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                boolean unused = Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            System.err.println("couldn't remove " + child.data + ": " + e);
        }
    }

    /** The server's Redis: it may outlive a server that was killed. */
    private static Optional<ProcessHandle> redis(Path data) {
        try {
            Matcher matcher =
                    CHILD.matcher(Files.readString(data.resolve("redis").resolve("child")));
            return matcher.find() ? ProcessHandle.of(Long.parseLong(matcher.group(1))) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static void end(ProcessHandle process) {
        boolean unused = process.destroy();
        if (!hasEnded(process)) {
            System.err.println("process " + process.pid() + " didn't stop within " + STOP_SECONDS_MAX + " s; killed");
            unused = process.destroyForcibly();
        }
    }

    private static boolean hasEnded(ProcessHandle process) {
        try {
            return !process.onExit().get(STOP_SECONDS_MAX, TimeUnit.SECONDS).isAlive();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } catch (ExecutionException | TimeoutException e) {
            return false;
        }
    }
}
