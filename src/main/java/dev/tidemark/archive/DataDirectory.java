package dev.tidemark.archive;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The data directory, held by this process alone: a file lock on {@code lock} keeps others out for as long as the process lives, and
 * {@code id} holds the directory's random name. All calls block.
 */
public final class DataDirectory implements AutoCloseable {
    private static final String LOCK = "lock";
    private static final String ID = "id";
    private static final String ARCHIVE = "archive";
    /** No stream's folder is called so. */
    private static final String PROBE = ".probe";

    private static final int ID_BYTES = 16;

    /**
     * Those that this process holds. The lock file of one of them must not be opened again: when any channel to it closes, the system
     * gives up the lock.
     */
    private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

    private final Path path;
    private final FileChannel lockFile;
    private final String id;
    private boolean closed;

    /** The directory can't be used; the message says which and why. */
    public static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final boolean locked;

        Refused(boolean locked, String message, @Nullable Throwable cause) {
            super(message, cause);
            this.locked = locked;
        }

        /** Whether another process holds it: waiting may help. */
        public boolean locked() {
            return locked;
        }
    }

    private DataDirectory(Path path, FileChannel lockFile, String id) {
        this.path = path;
        this.lockFile = lockFile;
        this.id = id;
    }

    /**
     * Makes the directory if it is missing and takes its lock; doesn't wait.
     *
     * @throws Refused if another process holds it, or it can't be written
     */
    public static DataDirectory open(Path directory) {
        Path path;
        try {
            Disk.createDirectories(directory);
            path = directory.toRealPath();
        } catch (IOException e) {
            throw unusable(directory, e);
        }
        if (!HELD.add(path)) {
            throw new Refused(true, "the data directory " + path + " is in use by this process", null);
        }
        boolean opened = false;
        try {
            DataDirectory data = open(
                    path,
                    FileChannel.open(
                            path.resolve(LOCK),
                            StandardOpenOption.CREATE,
                            StandardOpenOption.READ,
                            StandardOpenOption.WRITE));
            opened = true;
            return data;
        } catch (IOException e) {
            throw unusable(path, e);
        } finally {
            if (!opened) {
                HELD.remove(path);
            }
        }
    }

    private static DataDirectory open(Path path, FileChannel lockFile) throws IOException {
        boolean opened = false;
        try {
            if (!tryLock(lockFile)) {
                throw new Refused(
                        true, "the data directory " + path + " is in use by another process" + owner(lockFile), null);
            }
            writePid(lockFile);
            tryArchive(path);
            DataDirectory data = new DataDirectory(path, lockFile, id(path));
            opened = true;
            return data;
        } finally {
            if (!opened) {
                lockFile.close();
            }
        }
    }

    /** Otherwise an archive that can't be written would show at the first fold only. */
    private static void tryArchive(Path path) throws IOException {
        Path archive = path.resolve(ARCHIVE);
        Disk.createDirectories(archive);
        Path probe = archive.resolve(PROBE);
        Files.write(probe, new byte[0]);
        Files.delete(probe);
    }

    private static Refused unusable(Path directory, IOException e) {
        ArchiveException why = Disk.failed("the data directory " + directory + " can't be used", e);
        return new Refused(false, String.valueOf(why.getMessage()), e);
    }

    /** A data directory that no server may open while it is read; nothing in it is written. */
    public static final class Reading implements AutoCloseable {
        private final Path path;
        private final @Nullable FileChannel lockFile;

        private Reading(Path path, @Nullable FileChannel lockFile) {
            this.path = path;
            this.lockFile = lockFile;
        }

        /** Root of the archives. */
        public Path archive() {
            return path.resolve(ARCHIVE);
        }

        @Override
        public void close() {
            try {
                if (lockFile != null) {
                    lockFile.close();
                }
            } catch (IOException e) {
                throw Disk.failed("the lock of " + path + " can't be given up", e);
            }
        }
    }

    /**
     * Keeps servers off the directory while it is read. Several may read at a time. A copy without lock file, or on a disk that can't
     * be written, can be read as well.
     *
     * @throws Refused if a server has it, or there is no data directory
     */
    public static Reading openToRead(Path directory) {
        Path path;
        try {
            path = directory.toRealPath();
        } catch (IOException e) {
            throw new Refused(false, "there is no data directory at " + directory, e);
        }
        if (!Files.isDirectory(path.resolve(ARCHIVE))) {
            throw new Refused(false, "there is no data directory at " + path + ": it has no folder " + ARCHIVE, null);
        }
        if (HELD.contains(path)) {
            throw new Refused(true, "the data directory " + path + " is in use by this process", null);
        }
        try {
            FileChannel lockFile = FileChannel.open(path.resolve(LOCK), StandardOpenOption.READ);
            boolean locked = false;
            try {
                locked = lockFile.tryLock(0, Long.MAX_VALUE, true) != null;
                if (!locked) {
                    throw new Refused(
                            true, "the data directory " + path + " is in use by a server" + owner(lockFile), null);
                }
                return new Reading(path, lockFile);
            } finally {
                if (!locked) {
                    lockFile.close();
                }
            }
        } catch (NoSuchFileException e) {
            return new Reading(path, null);
        } catch (OverlappingFileLockException e) {
            throw new Refused(true, "the data directory " + path + " is in use by this process", e);
        } catch (IOException e) {
            throw unusable(path, e);
        }
    }

    private static boolean tryLock(FileChannel lockFile) throws IOException {
        try {
            FileLock lock = lockFile.tryLock();
            return lock != null;
        } catch (OverlappingFileLockException e) {
            return false;
        }
    }

    private static String owner(FileChannel lockFile) throws IOException {
        ByteBuffer text = ByteBuffer.allocate(32);
        if (lockFile.read(text, 0) <= 0) {
            return "";
        }
        String pid = new String(text.array(), 0, text.position(), StandardCharsets.US_ASCII).trim();
        return pid.matches("\\d+") ? ", pid " + pid : "";
    }

    private static void writePid(FileChannel lockFile) throws IOException {
        byte[] pid = (ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII);
        lockFile.truncate(0);
        if (lockFile.write(ByteBuffer.wrap(pid), 0) < pid.length) {
            throw new IOException("nothing could be written to " + LOCK);
        }
        lockFile.force(true);
    }

    private static String id(Path path) throws IOException {
        Path file = path.resolve(ID);
        try {
            String id = Files.readString(file).trim();
            if (!id.matches("[0-9a-f]{" + 2 * ID_BYTES + "}")) {
                throw new IOException(file + " doesn't hold an id; it was changed from outside");
            }
            return id;
        } catch (NoSuchFileException e) {
            byte[] bytes = new byte[ID_BYTES];
            new SecureRandom().nextBytes(bytes);
            String id = HexFormat.of().formatHex(bytes);
            Disk.replace(file, (id + "\n").getBytes(StandardCharsets.US_ASCII));
            return id;
        }
    }

    /** Where it is, as a real path. */
    public Path path() {
        return path;
    }

    /** Random, of 32 hex digits; the same for as long as the directory lives. */
    public String id() {
        return id;
    }

    /** Root of the archives. */
    public Path archive() {
        return path.resolve(ARCHIVE);
    }

    public ReservationFile reservation() {
        return new ReservationFile(path.resolve("reservation"));
    }

    /** Gives the lock up. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            lockFile.close();
        } catch (IOException e) {
            throw Disk.failed("the lock of " + path + " can't be given up", e);
        } finally {
            HELD.remove(path);
        }
    }
}
