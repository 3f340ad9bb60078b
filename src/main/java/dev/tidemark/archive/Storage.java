package dev.tidemark.archive;

import java.io.IOException;
import java.nio.file.Path;

/** What the archive needs of the disk to be sure of what it wrote; a port so that tests can make it fail. All calls block. */
interface Storage {
    /** Waits until everything written to the file is on disk. */
    void force(Path file) throws IOException;

    /** Waits until the directory's entries are on disk. */
    void forceDirectory(Path directory) throws IOException;

    /** Bytes that can still be written there. */
    long usableBytes(Path directory);

    Storage REAL = new Storage() {
        @Override
        public void force(Path file) throws IOException {
            Disk.force(file);
        }

        @Override
        public void forceDirectory(Path directory) throws IOException {
            Disk.forceDirectory(directory);
        }

        @Override
        public long usableBytes(Path directory) {
            return directory.toFile().getUsableSpace();
        }
    };
}
