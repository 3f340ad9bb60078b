package dev.tidemark.archive;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What the archive does with the file system besides the queue's own files. All calls block. */
final class Disk {
    private Disk() {}

    /** Waits until everything written to the file, also through mappings, is on disk. */
    static void force(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
    }

    /** Waits until the directory's entries are on disk. */
    static void forceDirectory(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** Makes a directory and those above it that are missing; each new one's entry is forced. */
    static void createDirectories(Path directory) throws IOException {
        Path absolute = directory.toAbsolutePath();
        if (Files.isDirectory(absolute)) {
            return;
        }
        Path parent = absolute.getParent();
        if (parent != null) {
            createDirectories(parent);
        }
        Files.createDirectory(absolute);
        if (parent != null) {
            forceDirectory(parent);
        }
    }

    /** Gives a file new content, all of it or nothing, and waits until it is on disk. */
    static void replace(Path file, byte[] content) throws IOException {
        writeAside(file, content, true);
        forceDirectory(directoryOf(file));
    }

    /** As {@link #replace}, but it doesn't wait: after a power loss the file may be the old one, torn or gone. */
    static void replaceUnforced(Path file, byte[] content) throws IOException {
        writeAside(file, content, false);
    }

    private static void writeAside(Path file, byte[] content, boolean forced) throws IOException {
        Path aside = file.resolveSibling(file.getFileName() + ".tmp");
        try (FileChannel channel = FileChannel.open(
                aside, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            ByteBuffer buffer = ByteBuffer.wrap(content);
            while (buffer.hasRemaining()) {
                if (channel.write(buffer) == 0) {
                    throw new IOException("nothing could be written to " + aside);
                }
            }
            if (forced) {
                channel.force(true);
            }
        }
        Files.move(aside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    static Path directoryOf(Path file) {
        Path parent = file.toAbsolutePath().getParent();
        if (parent == null) {
            throw new IllegalArgumentException("no directory holds " + file);
        }
        return parent;
    }

    /** Removes a file or a directory with all that is in it; what is gone already is no error. */
    static void deleteTree(Path root) throws IOException {
        if (!Files.exists(root, java.nio.file.LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
                if (e instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE;
                }
                throw e;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e) throws IOException {
                if (e != null) {
                    throw e;
                }
                Files.deleteIfExists(directory);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    /** The exception that says what failed, with a full disk told apart. */
    static ArchiveException failed(String what, Throwable cause) {
        if (cause instanceof ArchiveException told) {
            return told;
        }
        ArchiveException.Kind kind = isFull(cause) ? ArchiveException.Kind.DISK_FULL : ArchiveException.Kind.IO;
        String reason = cause.getMessage();
        return new ArchiveException(
                kind,
                what + ": " + (reason == null ? cause.getClass().getSimpleName() : describe(cause, reason)),
                cause);
    }

    private static String describe(Throwable cause, String reason) {
        return cause instanceof java.nio.file.FileSystemException
                ? cause.getClass().getSimpleName().replace("Exception", "") + " " + reason
                : reason;
    }

    private static boolean isFull(Throwable cause) {
        for (Throwable t = cause; t != null; t = t.getCause()) {
            String message = t.getMessage();
            if ((t instanceof IOException || t instanceof UncheckedIOException) && message != null) {
                String text = message.toLowerCase(Locale.ROOT);
                if (text.contains("no space left") || text.contains("quota exceeded")) {
                    return true;
                }
            }
        }
        return false;
    }
}
