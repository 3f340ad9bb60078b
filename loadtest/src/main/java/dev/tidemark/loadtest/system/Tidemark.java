package dev.tidemark.loadtest.system;

import dev.tidemark.loadtest.Http;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A server of our own with a Redis of its own, on free ports and a data directory that is removed at the end. Any thread. */
public final class Tidemark implements AutoCloseable {
    /** How the server notes where its Redis is, in its data directory. */
    private static final Pattern CHILD = Pattern.compile("port=(\\d+)\\s+pid=(\\d+)");

    private final ServerProcess process;
    private final int port;

    private Tidemark(ServerProcess process, int port) {
        this.process = process;
        this.port = port;
    }

    /**
     * How to start it.
     *
     * @param jar the server
     * @param parent directory in which its data directory is made
     * @param jvmArguments for its JVM, such as {@code -Xmx2g}
     * @param arguments after those that are given anyhow ({@code serve}, port and data directory)
     * @param environment variables, such as {@code TIDEMARK_REDIS_FSYNC}
     */
    public record Start(
            Path jar,
            Path parent,
            List<String> jvmArguments,
            List<String> arguments,
            Map<String, String> environment) {}

    /** Starts the server and waits until it is ready. */
    public static Tidemark start(Start start) throws IOException, InterruptedException {
        return start(start, ServerProcess.newDirectory(start.parent(), "tidemark"));
    }

    /** Starts the server on a directory that is removed at the end, whatever is in it already. */
    public static Tidemark start(Start start, Path data) throws IOException, InterruptedException {
        int port = ServerProcess.freePort();
        List<String> command = new ArrayList<>();
        command.add(javaExecutable());
        command.addAll(start.jvmArguments());
        command.addAll(List.of("-jar", start.jar().toString(), "serve"));
        command.addAll(List.of("--port", String.valueOf(port), "--data", data.toString()));
        command.addAll(start.arguments());
        ServerProcess process = ServerProcess.start(
                "Tidemark", data, command, start.environment(), () -> isReady(port), () -> redisProcess(data));
        return new Tidemark(process, port);
    }

    /** The java of this JVM. */
    static String javaExecutable() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    private static boolean isReady(int port) throws IOException {
        try (Http http = new Http(port)) {
            return http.send(Http.get("/health/ready")).status() == 200;
        }
    }

    /**
     * Makes a stream, or gives it settings.
     *
     * @param settings a JSON object
     */
    public void putStream(String stream, String settings) throws IOException {
        byte[] body = settings.getBytes(StandardCharsets.UTF_8);
        try (Http http = new Http(port)) {
            Http.Answer answer = http.send(Http.request("PUT", "/v1/streams/" + stream, "application/json", body));
            if (answer.status() / 100 != 2) {
                throw new IOException("the stream wasn't made: " + answer.text());
            }
        }
    }

    /** The last lines of the server's log. */
    public String logEnd() throws IOException {
        return process.logEnd();
    }

    public int port() {
        return port;
    }

    public long pid() {
        return process.pid();
    }

    /** Kind of file system that the data lies on: forces are free on {@code tmpfs}. */
    public String fileSystem() throws IOException {
        return Files.getFileStore(process.directory()).type();
    }

    /** Port of the server's own Redis. */
    public int redisPort() throws IOException {
        return Integer.parseInt(child(process.directory()).group(1));
    }

    /** Process id of the server's own Redis. */
    public long redisPid() throws IOException {
        return Long.parseLong(child(process.directory()).group(2));
    }

    private static Matcher child(Path data) throws IOException {
        Path file = data.resolve("redis").resolve("child");
        Matcher matcher = CHILD.matcher(Files.isReadable(file) ? Files.readString(file) : "");
        if (!matcher.find()) {
            throw new IOException("the server has no Redis of its own; the load test needs one");
        }
        return matcher;
    }

    /** The server's Redis: it may outlive a server that was killed. */
    private static Optional<ProcessHandle> redisProcess(Path data) {
        try {
            return ProcessHandle.of(Long.parseLong(child(data).group(2)));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** From the start of the process until it was ready. */
    public double secondsToReady() {
        return process.secondsToReady();
    }

    /** Stops it and starts it again on the same data. */
    public Tidemark restart(Start start) throws IOException, InterruptedException {
        process.closeAndKeepDirectory();
        return start(start, process.directory());
    }

    @Override
    public void close() {
        process.close();
    }
}
