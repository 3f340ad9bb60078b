package dev.tidemark.benchmark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A directory on the disk that {@code -Ddata} names; removed when it is closed, or when the process ends before that. */
public final class TemporaryDirectory implements AutoCloseable {
    private final Path path;
    private final Thread atExit = new Thread(this::remove);

    public TemporaryDirectory() {
        Path parent = Path.of(System.getProperty("data", System.getProperty("java.io.tmpdir")));
        try {
            path = Files.createTempDirectory(parent, "tidemark-benchmark-");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    public Path path() {
        return path;
    }

    private void remove() {
        try (Stream<Path> paths = Files.walk(path)) {
            for (Path each : paths.sorted(Comparator.reverseOrder()).toList()) {
                boolean unused = Files.deleteIfExists(each);
            }
        } catch (IOException e) {
            System.err.println("couldn't remove " + path + ": " + e);
        }
    }

    @Override
    public void close() {
        boolean unused = Runtime.getRuntime().removeShutdownHook(atExit);
        remove();
    }
}
