package dev.tidemark.archive;

import static dev.tidemark.archive.Sample.DAY_MS;

import dev.tidemark.event.Event;
import dev.tidemark.event.Limits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Archives in a directory of a test, their copies, and damage done to their files. */
final class ArchiveFiles implements AutoCloseable {
    static final int PAGE = 4 << 10;

    private final List<Archive> archives = new ArrayList<>();

    /** An archive as a new process opens it. */
    StreamArchive open(Path root) {
        return open(root, Storage.REAL);
    }

    StreamArchive open(Path root, Storage disk) {
        Archive archive = new Archive(root, Limits.DEFAULT, 200, disk);
        archives.add(archive);
        return archive.stream(StreamArchiveIT.RECORD);
    }

    @Override
    public void close() {
        archives.forEach(Archive::close);
    }

    /** Folds {@code each} events on each of {@code days} days, all of it closed cleanly afterwards. */
    List<Event> days(Path root, int days, int each) {
        StreamArchive archive = open(root);
        List<Event> events = new ArrayList<>();
        for (int day = 0; day < days; day++) {
            List<Event> one = Sample.run(day * DAY_MS, events.size() + 1, each);
            ArchiveContract.fold(archive, one);
            events.addAll(one);
        }
        archive.close();
        return events;
    }

    static Path folder(Path root) {
        return Archive.folderOf(root, StreamArchiveIT.RECORD.id());
    }

    /** The file of a day of {@link Sample}. */
    static Path file(Path root, int day) {
        int cycle = RollFiles.DAILY.cycleOf(Sample.at(day * DAY_MS, 0));
        return folder(root).resolve(RollFiles.DAILY.fileName(cycle));
    }

    static void zero(Path file, long at, int length) {
        write(file, at, new byte[length]);
    }

    static void write(Path file, long at, byte[] bytes) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            if (channel.write(ByteBuffer.wrap(bytes), at) != bytes.length) {
                throw new IOException("short write");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static byte[] read(Path file, long at, int length) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer bytes = ByteBuffer.allocate(length);
            int read = channel.read(bytes, at);
            if (read < length) {
                java.util.Arrays.fill(bytes.array(), Math.max(0, read), length, (byte) 0);
            }
            return bytes.array();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void flip(Path file, long at) {
        byte[] one = read(file, at, 1);
        one[0] ^= 0x10;
        write(file, at, one);
    }

    /** Where text stands in the file for the first time. */
    static int find(Path file, String text) {
        byte[] wanted = text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        byte[] bytes = read(file, 0, 12 << 20);
        for (int i = 0; i + wanted.length <= bytes.length; i++) {
            if (java.util.Arrays.equals(bytes, i, i + wanted.length, wanted, 0, wanted.length)) {
                return i;
            }
        }
        throw new IllegalStateException(text + " isn't in " + file);
    }

    static List<String> names(Path root) {
        try (Stream<Path> files = Files.list(folder(root))) {
            return files.map(path -> String.valueOf(path.getFileName()))
                    .sorted(Comparator.naturalOrder())
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
