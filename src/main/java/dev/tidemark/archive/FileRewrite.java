package dev.tidemark.archive;

import dev.tidemark.archive.ExcerptReader.Found;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.jspecify.annotations.Nullable;

/** Writes the good prefix of a roll file into a new one that takes its place. */
final class FileRewrite {
    /** The new file is made in this directory, below the archive's. */
    static final String DIRECTORY = "rewrite.tmp";

    /** Space that is left alone, so that a mapped write never meets a full disk. */
    static final long FREE_BYTES_MIN = 64L << 20;

    private static final int RESERVE_STEP = 4 << 20;

    private final ArchiveFolder folder;
    private final int blockBytes;
    private final Storage disk;

    FileRewrite(ArchiveFolder folder, int blockBytes, Storage disk) {
        this.folder = folder;
        this.blockBytes = blockBytes;
        this.disk = disk;
    }

    /**
     * Keeps the readable excerpts below {@code tail.count} of a file.
     *
     * @param tail its count is set to what was kept, which is less if there were holes
     * @param kept the name that the old file gets; if null it isn't kept, unless it has holes
     * @return where the last excerpt ends in the new file
     */
    long keep(ExcerptReader from, int cycle, Tail tail, @Nullable Path kept) throws IOException {
        Path directory = folder.path().resolve(DIRECTORY);
        Disk.deleteTree(directory);
        if (disk.usableBytes(folder.path()) < tail.end + FREE_BYTES_MIN) {
            throw new ArchiveException(
                    ArchiveException.Kind.DISK_FULL, "no space to write " + folder.file(cycle) + " anew");
        }
        Disk.createDirectories(directory);
        ArchiveFolder aside = new ArchiveFolder(directory, folder.files());
        Copy copy = new Copy(from, aside, cycle, tail.count);
        OpenQueue queue = OpenQueue.open(aside, cycle, blockBytes);
        try {
            copy.run(queue);
        } catch (IOException | RuntimeException | Error e) {
            throw Disk.failed(folder.file(cycle) + " can't be written anew", e);
        } finally {
            queue.release();
        }
        disk.force(aside.file(cycle));
        Path old = folder.file(cycle);
        if (kept != null || copy.holes) {
            keepOld(old, kept == null ? folder.freeName(old, ArchiveFolder.DAMAGED) : kept);
        }
        Files.move(aside.file(cycle), old, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        disk.forceDirectory(folder.path());
        Disk.deleteTree(directory);
        tail.count = copy.written;
        return copy.end;
    }

    /** Under a second name before the first one is given away, so that there is no moment without the file. */
    private void keepOld(Path old, Path kept) throws IOException {
        try {
            Files.createLink(kept, old);
        } catch (UnsupportedOperationException e) {
            Files.copy(old, kept);
            disk.force(kept);
        }
        disk.forceDirectory(folder.path());
    }

    private static final class Copy {
        private final ExcerptReader from;
        private final ArchiveFolder to;
        private final int cycle;
        private final long count;
        private long written;
        private long end;
        private long reserved;
        private boolean holes;

        Copy(ExcerptReader from, ArchiveFolder to, int cycle, long count) {
            this.from = from;
            this.to = to;
            this.cycle = cycle;
            this.count = count;
        }

        void run(OpenQueue queue) throws IOException {
            long at = 0;
            while (at >= 0 && at < count) {
                Found found = from.read(cycle, at);
                if (found == Found.EXCERPT) {
                    write(queue);
                    at++;
                } else {
                    holes = true;
                    at = found == Found.DAMAGED ? at + 1 : from.jump(cycle, at, count);
                }
            }
            if (written == 0) {
                throw new IOException("nothing of it can be read");
            }
        }

        private void write(OpenQueue queue) throws IOException {
            int length = from.excerpt().length();
            if (written > 0 && end + length + 4 > reserved) {
                reserved = end + Math.max(length, RESERVE_STEP);
                queue.space(cycle).reserve(end, reserved - end, 1);
            }
            end = queue.write(cycle, from.excerpt().bytes(), length);
            written++;
            if (queue.lastIndexWritten(cycle) != written - 1) {
                throw new IOException("an excerpt went elsewhere in " + to);
            }
        }
    }
}
