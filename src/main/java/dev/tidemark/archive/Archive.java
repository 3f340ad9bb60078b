package dev.tidemark.archive;

import dev.tidemark.event.Limits;
import dev.tidemark.event.StreamId;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import net.openhft.chronicle.core.io.BackgroundResourceReleaser;

/**
 * The archives of all streams, in {@code <data>/archive}. It keeps about {@value #OPEN_MAX} of them open, the ones used last; the
 * others open again when they are used. Any thread; everything but {@link #stream} may block.
 */
public final class Archive implements AutoCloseable {
    /** Archives whose files are open at a time. */
    public static final int OPEN_MAX = 200;

    private static final int BLOCK_BYTES_MIN = 8 << 20;
    private static final int BLOCK_BYTES_MAX = 64 << 20;
    /** No excerpt is larger, whatever the limits are. */
    static final int EXCERPT_BYTES_CEILING = BLOCK_BYTES_MAX / 4;

    private final Path root;
    private final int blockBytes;
    private final int openMax;
    private final Storage disk;
    private final Map<StreamId, StreamArchive> streams = new ConcurrentHashMap<>();
    private final ArchiveTroubles troubles = new ArchiveTroubles();
    /** What the last look at each folder gave. */
    private final Map<StreamId, Long> looks = new ConcurrentHashMap<>();

    /** Those whose files may be open, the one used last at the end, with whether it was used since {@link #closeUnused}. Under its own lock. */
    private final LinkedHashMap<StreamArchive, Boolean> open = new LinkedHashMap<>(16, 0.75f, true);

    /**
     * @param root {@code <data>/archive}; made when the first stream is written
     * @param limits checked as {@link #checkLimits} does
     */
    public Archive(Path root, Limits limits) {
        this(root, limits, OPEN_MAX, Storage.REAL);
    }

    Archive(Path root, Limits limits, int openMax, Storage disk) {
        registerWithJvm();
        this.root = root;
        this.openMax = openMax;
        this.disk = disk;
        blockBytes = checkedBlockBytes(limits);
    }

    /**
     * The queue library registers a shutdown hook when it is first used. Once the JVM is stopping that fails, and the library with it:
     * a server stopped before its first fold couldn't fold what it has. So this is called before anything else can stop the JVM in order.
     */
    public static void registerWithJvm() {
        BackgroundResourceReleaser.releasePendingResources();
    }

    /**
     * Checks that the greatest event fits an excerpt.
     *
     * @throws IllegalArgumentException naming the limit and what is allowed
     */
    public static void checkLimits(Limits limits) {
        if (checkedBlockBytes(limits) < BLOCK_BYTES_MIN) {
            throw new IllegalStateException("blocks are never that small");
        }
    }

    /** An excerpt may be as large as a quarter of a block; a block is a power of two. */
    private static int checkedBlockBytes(Limits limits) {
        long excerpt = (long) limits.eventBytesMax() + ExcerptCodec.OVERHEAD_BYTES_MAX;
        long block = BLOCK_BYTES_MIN;
        while (block / 4 < excerpt) {
            block *= 2;
        }
        if (block > BLOCK_BYTES_MAX) {
            throw new IllegalArgumentException("limits.event_bytes is " + limits.eventBytesMax()
                    + ", which the archive can't hold; allowed is 1 to "
                    + (BLOCK_BYTES_MAX / 4 - ExcerptCodec.OVERHEAD_BYTES_MAX));
        }
        return (int) block;
    }

    int blockBytes() {
        return blockBytes;
    }

    int excerptBytesMax() {
        return blockBytes / 4;
    }

    Storage disk() {
        return disk;
    }

    /** Files that are missing or damaged. */
    public ArchiveTroubles troubles() {
        return troubles;
    }

    /**
     * Looks whether files of a stream are missing and notes it in {@link #troubles}; cheap, above all where nothing changed since the
     * last look. Blocks; one thread at a time.
     *
     * @throws ArchiveException if the folder can't be read
     */
    public void look(StreamRecord record) {
        StreamArchive used = streams.get(record.id());
        StreamArchive stream = used == null ? new StreamArchive(this, record, folderOf(root, record.id())) : used;
        looks.merge(record.id(), stream.look(looks.getOrDefault(record.id(), Long.MIN_VALUE)), (old, now) -> now);
    }

    /** The archive of a stream: cheap, the same object for the same incarnation until it is deleted. */
    public StreamArchive stream(StreamRecord record) {
        return streams.computeIfAbsent(record.id(), id -> new StreamArchive(this, record, folderOf(root, id)));
    }

    static Path folderOf(Path root, StreamId id) {
        return root.resolve(id.name().diskName()).resolve(id.generation().toString());
    }

    /**
     * Removes what an incarnation has archived; {@link StreamRecords#remove} removes the rest. Nothing there is no error.
     *
     * @throws ArchiveException if files can't be removed
     */
    public void delete(StreamId id) {
        StreamArchive stream = streams.get(id);
        if (stream != null) {
            stream.delete();
        }
        Path folder = folderOf(root, id);
        try {
            if (Files.isDirectory(folder)) {
                deleteAllButRecord(folder);
                disk.forceDirectory(folder);
            }
        } catch (IOException e) {
            throw Disk.failed("the archive of " + id + " can't be removed", e);
        }
        streams.remove(id);
        troubles.forget(id);
        looks.remove(id);
    }

    /** The record goes last: as long as it is there, a delete that was cut short is known of. */
    private static void deleteAllButRecord(Path folder) throws IOException {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            for (Path entry : entries) {
                if (!StreamRecords.FILE.equals(String.valueOf(entry.getFileName()))) {
                    Disk.deleteTree(entry);
                }
            }
        }
    }

    /** A stream's files are in use: closes those of others if there are too many. */
    void used(StreamArchive stream) {
        List<StreamArchive> victims = new ArrayList<>();
        synchronized (open) {
            open.put(stream, true);
            int surplus = open.size() - openMax;
            Iterator<StreamArchive> oldest = open.keySet().iterator();
            while (surplus > 0 && oldest.hasNext()) {
                StreamArchive victim = oldest.next();
                if (victim != stream) {
                    victims.add(victim);
                    oldest.remove();
                }
                surplus--;
            }
        }
        for (StreamArchive victim : victims) {
            if (!victim.closeIfIdle()) {
                synchronized (open) {
                    open.putIfAbsent(victim, true);
                }
            }
        }
    }

    /**
     * Closes the files of all that weren't used since the last call, and leaves the markers of a clean stop. The next use opens them
     * again.
     */
    public void closeUnused() {
        List<StreamArchive> unused = new ArrayList<>();
        synchronized (open) {
            for (Map.Entry<StreamArchive, Boolean> entry : open.entrySet()) {
                if (!entry.setValue(false)) {
                    unused.add(entry.getKey());
                }
            }
        }
        unused.forEach(StreamArchive::close);
    }

    void closed(StreamArchive stream) {
        synchronized (open) {
            open.remove(stream);
        }
    }

    /** Archives whose files may be open now. */
    public int openCount() {
        synchronized (open) {
            return open.size();
        }
    }

    /** Closes all of them and leaves the markers of a clean stop; those that are used again open again. */
    @Override
    public void close() {
        streams.values().forEach(StreamArchive::close);
    }
}
