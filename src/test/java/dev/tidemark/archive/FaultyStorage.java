package dev.tidemark.archive;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The real disk with faults. Fault model: the next forces (of files or directories) fail before they do anything; the space that is
 * left is what the test says. It keeps a list of what was forced.
 */
final class FaultyStorage implements Storage {
    int failForces;
    boolean full;
    final List<String> forced = new ArrayList<>();

    @Override
    public void force(Path file) throws IOException {
        count(file);
        Storage.REAL.force(file);
    }

    @Override
    public void forceDirectory(Path directory) throws IOException {
        count(directory);
        Storage.REAL.forceDirectory(directory);
    }

    private void count(Path path) throws IOException {
        if (failForces > 0) {
            failForces--;
            throw new IOException("injected: Input/output error");
        }
        forced.add(String.valueOf(path.getFileName()));
    }

    @Override
    public long usableBytes(Path directory) {
        return full ? 1 << 20 : Storage.REAL.usableBytes(directory);
    }
}
