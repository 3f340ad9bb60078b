package dev.tidemark.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** A small disk of its own, in memory, on a folder of a test; it can become read-only. Needs the right to mount. */
final class MountedDisk implements AutoCloseable {
    private final Path path;

    private MountedDisk(Path path) {
        this.path = path;
    }

    /** Mounts it; where that isn't possible, the test that wants it is skipped and says so. */
    static MountedDisk on(Path path, int megabytes) {
        try {
            Files.createDirectories(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        int exit = run(List.of("mount", "-t", "tmpfs", "-o", "size=" + megabytes + "m", "tmpfs", path.toString()));
        Assumptions.assumeTrue(exit == 0, "a tmpfs can't be mounted here (that needs root): this case isn't tried");
        return new MountedDisk(path);
    }

    Path path() {
        return path;
    }

    /** From now on nothing can be written; no file may be open. */
    void readOnly() {
        int exit = run(List.of("mount", "-o", "remount,ro", path.toString()));
        if (exit != 0) {
            throw new IllegalStateException("remount: exit " + exit);
        }
    }

    long freeBytes() {
        return path.toFile().getUsableSpace();
    }

    /** Takes space away until only so much is left. */
    Path fill(long leaveBytes) throws IOException {
        Path ballast = path.resolve("ballast");
        byte[] zeros = new byte[1 << 20];
        try (var out = Files.newOutputStream(ballast)) {
            while (freeBytes() > leaveBytes + zeros.length) {
                out.write(zeros);
            }
        }
        return ballast;
    }

    private static int run(List<String> command) {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return process.waitFor(20, TimeUnit.SECONDS) ? process.exitValue() : -1;
        } catch (IOException e) {
            return -1;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        for (int i = 0; i < 50 && run(List.of("umount", path.toString())) != 0; i++) {
            try {
                Thread.sleep(100);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }
    }
}
