package dev.tidemark.livelog;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.tidemark.archive.Trees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A Redis of a test's own, with any configuration. The one that is shipped, or the one in the folder that {@code tidemark.redis.path}
 * names.
 */
public final class RedisProcess implements AutoCloseable {
    private final Path directory;
    private final boolean temporary;
    private final Process process;
    private final int port;

    private RedisProcess(Path directory, boolean temporary, Process process, int port) {
        this.directory = directory;
        this.temporary = temporary;
        this.process = process;
        this.port = port;
    }

    /** Starts one with an append-only file that is synced always; {@code more} is configuration as on its command line. */
    public static RedisProcess start(String... more) {
        try {
            return start(Files.createTempDirectory("tidemark-redis"), true, freePort(), more);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts one on files that are the caller's. */
    public static RedisProcess start(Path directory, int port, String... more) throws IOException {
        return start(directory, false, port, more);
    }

    private static RedisProcess start(Path directory, boolean temporary, int port, String... more) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                binary().executable().toString(),
                "--port",
                Integer.toString(port),
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--appendonly",
                "yes",
                "--appendfsync",
                "always"));
        command.addAll(List.of(more));
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("out").toFile())
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        RedisProcess redis = new RedisProcess(directory, temporary, process, port);
        redis.awaitReady();
        return redis;
    }

    static RedisBinary binary() throws IOException {
        return RedisBinary.find(System.getProperty("tidemark.redis.path", ""), Path.of("target", "redis-bin"));
    }

    public static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private void awaitReady() throws IOException {
        for (int i = 0; i < 500 && process.isAlive(); i++) {
            try (RedisProbe probe = new RedisProbe(port)) {
                String answer = probe.ask("PING").toString();
                if (answer.contains("PONG") || answer.contains("NOAUTH")) {
                    return;
                }
            } catch (IOException notYet) {
                pause();
            }
        }
        throw new IOException("Redis doesn't start: " + Files.readString(directory.resolve("out")));
    }

    private static void pause() {
        try {
            Thread.sleep(10);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    public int port() {
        return port;
    }

    public Path directory() {
        return directory;
    }

    long pid() {
        return process.pid();
    }

    public RedisAddress address() {
        return RedisAddress.parse("redis://127.0.0.1:" + port);
    }

    /** Sends a command on a connection of its own; parts of the answer as text, an error begins with a minus. */
    @CanIgnoreReturnValue
    public List<String> ask(String... command) {
        try (RedisProbe probe = new RedisProbe(port)) {
            return probe.ask(command);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends SIGKILL and waits. */
    public void kill() {
        process.destroyForcibly();
        awaitEnd();
    }

    private void awaitEnd() {
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                throw new AssertionError("Redis doesn't end");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        kill();
        if (temporary) {
            Trees.delete(directory);
        }
    }
}
