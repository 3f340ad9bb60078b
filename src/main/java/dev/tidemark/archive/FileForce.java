package dev.tidemark.archive;

import java.io.IOException;
import java.nio.file.Path;

/** Waits until what was written is on disk; a port so that tests can make it fail. */
interface FileForce {
    void force(Path file) throws IOException;

    void forceDirectory(Path directory) throws IOException;

    FileForce REAL = new FileForce() {
        @Override
        public void force(Path file) throws IOException {
            Disk.force(file);
        }

        @Override
        public void forceDirectory(Path directory) throws IOException {
            Disk.forceDirectory(directory);
        }
    };
}
