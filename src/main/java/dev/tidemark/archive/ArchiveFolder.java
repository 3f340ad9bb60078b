package dev.tidemark.archive;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
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

    private static final int NOT_COMPLETE = 0x8000_0000;
    private static final int META_DATA = 0x4000_0000;
    private static final int HEADER_BYTES_MAX = 4 << 10;
    private static final byte[] HEADER_TYPE = "SCQStore".getBytes(StandardCharsets.US_ASCII);

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
        } catch (NoSuchFileException | NotDirectoryException e) {
            return new int[0];
        }
        return cycles.build().sorted().toArray();
    }

    /**
     * Moves away what would stop the queue library, or make it wait or throw good files away: roll files that were not finished
     * being made, whose start isn't one, and foreign files with a roll file's suffix.
     */
    void tidy() throws IOException {
        if (!Files.isDirectory(path)) {
            return;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(path, "*" + RollFiles.SUFFIX)) {
            for (Path entry : entries) {
                if (files.cycleOf(String.valueOf(entry.getFileName())) == RollFiles.NONE) {
                    moveAside(entry, FOREIGN);
                } else if (!startsAsRollFile(entry)) {
                    moveAside(entry, DAMAGED);
                }
            }
        }
    }

    private static boolean startsAsRollFile(Path file) throws IOException {
        ByteBuffer start = ByteBuffer.allocate(HEADER_BYTES_MAX).order(ByteOrder.nativeOrder());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            int read;
            do {
                read = channel.read(start);
            } while (read > 0 && start.hasRemaining());
        }
        if (start.position() < 64) {
            return false;
        }
        int header = start.getInt(0);
        int length = header & ~(NOT_COMPLETE | META_DATA);
        if ((header & NOT_COMPLETE) != 0 || (header & META_DATA) == 0 || length < 64 || length > start.position() - 4) {
            return false;
        }
        return indexOf(start.array(), 4, 64, HEADER_TYPE) >= 0;
    }

    private static int indexOf(byte[] bytes, int from, int to, byte[] wanted) {
        for (int i = from; i + wanted.length <= to; i++) {
            if (Arrays.equals(bytes, i, i + wanted.length, wanted, 0, wanted.length)) {
                return i;
            }
        }
        return -1;
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
