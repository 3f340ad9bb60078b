package dev.tidemark.archive;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The folder of one stream's incarnation and the roll files in it. All calls block. */
final class ArchiveFolder {
    static final String DAMAGED = ".damaged";
    static final String FOREIGN = ".foreign";
    /** The queue library's table of locks and names: it is made anew at every open, so that a dead process's locks don't count. */
    static final String METADATA = "metadata.cq4t";

    private static final Logger LOG = LoggerFactory.getLogger(ArchiveFolder.class);

    /** Where a file is tried alone. */
    private static final String TRIAL = "trial.tmp";

    private final Path path;
    private final RollFiles files;

    ArchiveFolder(Path path, RollFiles files) {
        this.path = path;
        this.files = files;
    }

    Path path() {
        return path;
    }

    RollFiles files() {
        return files;
    }

    Path file(int cycle) {
        return path.resolve(files.fileName(cycle));
    }

    /** The cycles that have a file, rising. */
    int[] cycles() throws IOException {
        IntStream.Builder cycles = IntStream.builder();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(path, "*" + RollFiles.SUFFIX)) {
            for (Path entry : entries) {
                int cycle = files.cycleOf(String.valueOf(entry.getFileName()));
                if (cycle != RollFiles.NONE) {
                    cycles.add(cycle);
                }
            }
        } catch (NoSuchFileException e) {
            return new int[0];
        }
        return cycles.build().sorted().toArray();
    }

    /**
     * Moves away what would stop the queue library, or make it wait or throw good files away: roll files that were not finished
     * being made, whose start isn't one, and foreign files with a roll file's suffix.
     */
    void tidy(int blockBytes) throws IOException {
        if (!Files.isDirectory(path)) {
            return;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(path, "*" + RollFiles.SUFFIX)) {
            for (Path entry : entries) {
                if (files.cycleOf(String.valueOf(entry.getFileName())) == RollFiles.NONE) {
                    moveAside(entry, FOREIGN);
                } else if (!startsAsRollFile(entry, blockBytes)) {
                    moveAside(entry, DAMAGED);
                }
            }
        }
    }

    private boolean startsAsRollFile(Path file, int blockBytes) throws IOException {
        return switch (RollFileHeader.check(file)) {
            case GOOD -> true;
            case BAD -> false;
            case UNKNOWN -> opensAlone(file, blockBytes);
        };
    }

    /** Whether the queue library reads a file that stands in a directory of its own, under a second name. */
    private boolean opensAlone(Path file, int blockBytes) throws IOException {
        Path directory = path.resolve(TRIAL);
        Disk.deleteTree(directory);
        Disk.createDirectories(directory);
        try {
            int cycle = files.cycleOf(String.valueOf(file.getFileName()));
            ArchiveFolder alone = new ArchiveFolder(directory, files);
            Files.createLink(alone.file(cycle), file);
            OpenQueue queue = OpenQueue.open(alone, cycle, blockBytes);
            try {
                ExcerptReader reader = queue.borrow();
                boolean read = reader.read(cycle, 0) == ExcerptReader.Found.EXCERPT;
                reader.close();
                return read;
            } finally {
                queue.release();
            }
        } catch (ArchiveException | UnsupportedOperationException e) {
            LOG.warn("{} was tried alone: {}", file, e.toString());
            return false;
        } finally {
            Disk.deleteTree(directory);
        }
    }

    /** Renames a file so that the queue library doesn't see it, and forces that. */
    void moveAside(Path file, String suffix) throws IOException {
        Path aside = freeName(file, suffix);
        Files.move(file, aside);
        Disk.forceDirectory(path);
        LOG.warn("{} can't be used as it is: kept as {}", file, aside.getFileName());
    }

    /** A name beside {@code file} that isn't taken. */
    Path freeName(Path file, String suffix) {
        Path name = file.resolveSibling(file.getFileName() + suffix);
        for (int i = 2; Files.exists(name); i++) {
            name = file.resolveSibling(file.getFileName() + suffix + "-" + i);
        }
        return name;
    }

    /** Removes the queue library's table. In a folder that can't be written it stays, and the queue is opened for reading. */
    void dropMetadata() {
        try {
            Files.deleteIfExists(path.resolve(METADATA));
        } catch (IOException e) {
            LOG.warn("{} can't be removed: {}", path.resolve(METADATA), e.toString());
        }
    }

    @Override
    public String toString() {
        return path.toString();
    }
}
