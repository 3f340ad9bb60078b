package dev.tidemark.archive;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Writes zeros through a {@link FileChannel} where mapped writes will follow: on a full disk that is an {@link IOException}, while the
 * mapped write would be a signal that ends the process. One thread at a time.
 */
final class SpaceAhead implements AutoCloseable {
    /** Besides the slice: the end mark of a file, and what rounds up to a page. */
    private static final int MARGIN = 8 << 10;
    /** The queue library puts a page of its index between the excerpts now and then. */
    private static final int INDEX_BYTES = 40 << 10;

    private static final int NOT_COMPLETE = 0x8000_0000;
    private static final int LENGTH_MASK = 0x3fff_ffff;
    private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(256 << 10);

    private final Path file;
    private final FileChannel channel;
    /** Tells this file from another one that gets its name. */
    private final @Nullable Object key;

    private final ByteBuffer header = ByteBuffer.allocate(4).order(ByteOrder.nativeOrder());
    private long zeroedTo;

    private SpaceAhead(Path file, FileChannel channel, @Nullable Object key) {
        this.file = file;
        this.key = key;
        this.channel = channel;
    }

    static SpaceAhead open(Path file) throws IOException {
        Object key = key(file);
        return new SpaceAhead(file, FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE), key);
    }

    private static @Nullable Object key(Path file) throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    }

    /**
     * Fails if another file has the name now: what is appended would go to one that nobody finds again. It happens when a disk is
     * mounted over a folder, or taken away.
     */
    void throwUnlessInPlace() throws IOException {
        if (!Objects.equals(key, key(file))) {
            throw new IOException(file + " was exchanged for another file while it was open");
        }
    }

    Path file() {
        return file;
    }

    /**
     * Makes room for {@code bytes} behind the last excerpt.
     *
     * @param end where it ends in the file
     * @param indexPages how many pages of the index may come along
     */
    void reserve(long end, long bytes, int indexPages) throws IOException {
        long wanted = end + bytes + MARGIN + (long) indexPages * INDEX_BYTES;
        if (wanted <= zeroedTo) {
            return;
        }
        long at = Math.max(firstFree(end), zeroedTo);
        while (at < wanted) {
            ByteBuffer zeros = ZEROS.duplicate();
            zeros.limit((int) Math.min(zeros.capacity(), wanted - at));
            while (zeros.hasRemaining()) {
                int written = channel.write(zeros, at);
                if (written <= 0) {
                    throw new IOException("nothing could be written to " + file);
                }
                at += written;
            }
        }
        zeroedTo = Math.max(zeroedTo, wanted);
    }

    /** The first place behind {@code end} that holds nothing finished: the library's index pages may follow the last excerpt. */
    private long firstFree(long end) throws IOException {
        long at = align(end);
        while (true) {
            header.clear();
            if (channel.read(header, at) < 4) {
                return at;
            }
            int word = header.getInt(0);
            if (word == 0 || (word & NOT_COMPLETE) != 0) {
                return at;
            }
            at = align(at + 4 + (word & LENGTH_MASK));
        }
    }

    private static long align(long at) {
        return (at + 3) & ~3L;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
