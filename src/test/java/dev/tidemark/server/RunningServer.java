package dev.tidemark.server;

import dev.tidemark.archive.Trees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * One server for all tests of a class: started before them; after them stopped in order, and its log must be clean, restarts
 * included.
 */
public final class RunningServer implements BeforeAllCallback, AfterAllCallback {
    private final Map<String, String> environment;

    private @Nullable Path root;
    private @Nullable Path data;
    private @Nullable ServerProcess process;

    /** @param environment configuration, as {@code TIDEMARK_…} variables */
    public RunningServer(Map<String, String> environment) {
        this.environment = Map.copyOf(environment);
    }

    @Override
    public void beforeAll(ExtensionContext context) throws IOException {
        root = Files.createTempDirectory("tidemark-it");
        data = Files.createDirectories(root.resolve("some/where/data"));
        process = ServerProcess.start(data, environment);
    }

    @Override
    public void afterAll(ExtensionContext context) throws IOException {
        try (ServerProcess last = process()) {
            if (last.process().isAlive()) {
                var unused = last.terminate();
            }
            last.assertCleanLog();
        } finally {
            Trees.delete(Objects.requireNonNull(root));
        }
    }

    public ServerProcess process() {
        return Objects.requireNonNull(process, "started before all tests");
    }

    public Api api() {
        return process().api();
    }

    public String url() {
        return process().url();
    }

    public Path data() {
        return Objects.requireNonNull(data, "made before all tests");
    }

    /** SIGKILL and a new start on the same data. */
    public void killAndRestart() {
        process().kill();
        startAgain();
    }

    /** SIGTERM and a new start on the same data. */
    public void stopAndRestart() {
        var unused = process().terminate();
        startAgain();
    }

    private void startAgain() {
        process().assertCleanLog();
        process = ServerProcess.start(data(), environment);
    }

    /** A plain client of the child Redis. */
    public PlainRedis redis() {
        return PlainRedis.ofChild(data());
    }

    /** Paths of all files and folders below the data directory, relative, with {@code /}; Redis's own files left out. */
    public List<String> files() {
        return files(data());
    }

    /** What lies beside the data directory and above it, where nothing may be. */
    public List<String> outside() {
        Path top = Objects.requireNonNull(root);
        try (Stream<Path> all = Files.walk(top)) {
            return all.filter(path -> !path.startsWith(data()) && !data().startsWith(path))
                    .map(Path::toString)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<String> files(Path data) {
        try (Stream<Path> all = Files.walk(data)) {
            return all.map(path -> data.relativize(path).toString().replace('\\', '/'))
                    .filter(path -> !path.isEmpty() && !path.startsWith("redis"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
