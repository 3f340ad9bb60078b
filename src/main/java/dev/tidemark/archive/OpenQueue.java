package dev.tidemark.archive;

import java.io.IOException;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;
import net.openhft.chronicle.core.Jvm;
import net.openhft.chronicle.core.io.IORuntimeException;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueue;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.wire.DocumentContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The open files of one archive. Whoever uses it keeps it open with {@link #retain}; it closes when the owner has given it up and
 * the last user has released it. Readers are borrowed, by any thread; appending is one thread's at a time, which the owner sees to.
 */
final class OpenQueue {
    /** A queue that is left open may wait that long for something another process holds; nobody else should be there. */
    private static final long TIMEOUT_MS = 500;

    /** For the library's table and some more. */
    private static final long FREE_BYTES_MIN = 1 << 20;

    private static final int IDLE_READERS_MAX = 4;
    private static final Logger LOG = LoggerFactory.getLogger(OpenQueue.class);

    static {
        System.setProperty("chronicle.disk.monitor.disable", "true");
        System.setProperty("chronicle.announcer.disable", "true");
        Jvm.disableDebugHandler();
        Jvm.disablePerfHandler();
    }

    private final ArchiveFolder folder;
    private final QueueClock clock;
    private final SingleChronicleQueue queue;
    private final int excerptBytesMax;
    private final boolean full;
    private final AtomicInteger users = new AtomicInteger(1);
    private final ConcurrentLinkedDeque<ExcerptReader> idle = new ConcurrentLinkedDeque<>();
    private final ReadHints hints = new ReadHints();
    private final SearchMarks marks = new SearchMarks();

    // The appending thread's.
    private final ExcerptCodec codec = new ExcerptCodec();
    private @Nullable ExcerptAppender appender;
    private @Nullable SpaceAhead space;

    private OpenQueue(
            ArchiveFolder folder, QueueClock clock, SingleChronicleQueue queue, int excerptBytesMax, boolean full) {
        this.folder = folder;
        this.clock = clock;
        this.queue = queue;
        this.excerptBytesMax = excerptBytesMax;
        this.full = full;
    }

    /**
     * Opens what is in the folder, which must have been tidied. On a full disk it is opened for reading only: already the library's
     * table is written through a mapping, which ends a process that finds no space.
     *
     * @param newest the highest cycle there is, or {@link RollFiles#NONE}
     */
    static OpenQueue open(ArchiveFolder folder, int newest, int blockBytes) {
        boolean full = folder.path().toFile().getUsableSpace() < FREE_BYTES_MIN;
        if (!full) {
            folder.dropMetadata();
        }
        QueueClock clock = new QueueClock(folder.files().startMs(Math.max(newest, 0)));
        try {
            SingleChronicleQueue queue = SingleChronicleQueueBuilder.binary(folder.path())
                    .rollCycle(folder.files().rollCycle())
                    .timeProvider(clock)
                    .blockSize(blockBytes)
                    .timeoutMS(TIMEOUT_MS)
                    .readOnly(full)
                    .build();
            return new OpenQueue(folder, clock, queue, blockBytes / 4, full);
        } catch (RuntimeException | Error e) {
            throw Disk.failed("the archive in " + folder + " can't be opened", e);
        }
    }

    /** False if it is closed, or about to be. */
    boolean retain() {
        return users.getAndUpdate(n -> n == 0 ? 0 : n + 1) > 0;
    }

    void release() {
        if (users.decrementAndGet() == 0) {
            close();
        }
    }

    /** Whether only the owner holds it. */
    boolean isIdle() {
        return users.get() == 1;
    }

    SearchMarks marks() {
        return marks;
    }

    ReadHints hints() {
        return hints;
    }

    ExcerptReader borrow() {
        ExcerptReader reader = idle.pollFirst();
        return reader == null ? new ExcerptReader(queue, folder, excerptBytesMax) : reader;
    }

    void giveBack(ExcerptReader reader) {
        reader.excerpt().trim();
        if (idle.size() < IDLE_READERS_MAX) {
            idle.addFirst(reader);
        } else {
            reader.close();
        }
    }

    /** The appending thread's. */
    ExcerptCodec codec() {
        return codec;
    }

    /** Whether it is only open for reading; the library, which does that when it can't write its table, doesn't say so by itself. */
    boolean isReadOnly() {
        return full || queue.metaStore().readOnly();
    }

    /** Whether that is for want of space. */
    boolean isDiskFull() {
        return full;
    }

    /** Writes one excerpt into the file of {@code cycle}, which may be a new one; returns where it ends in the file. */
    long write(int cycle, byte[] bytes, int length) {
        clock.set(folder.files().startMs(cycle));
        DocumentContext document = appender().writingDocument();
        try (document) {
            try {
                document.wire().bytes().write(bytes, 0, length);
                return document.wire().bytes().writePosition();
            } catch (Throwable t) {
                document.rollbackOnClose();
                throw t;
            }
        }
    }

    /** Number within its file of what {@link #write} wrote last. */
    long lastIndexWritten(int cycle) {
        long index = appender().lastIndexAppended();
        if (queue.rollCycle().toCycle(index) != cycle) {
            throw new IllegalStateException("an excerpt went to cycle "
                    + queue.rollCycle().toCycle(index) + " of " + folder + " instead of " + cycle);
        }
        return queue.rollCycle().toSequenceNumber(index);
    }

    private ExcerptAppender appender() {
        ExcerptAppender current = appender;
        if (current == null) {
            current = queue.createAppender();
            current.singleThreadedCheckDisabled(true);
            appender = current;
        }
        return current;
    }

    /** The space behind the last excerpt of a file that exists. */
    SpaceAhead space(int cycle) throws IOException {
        SpaceAhead current = space;
        if (current == null || !current.file().equals(folder.file(cycle))) {
            if (current != null) {
                current.close();
            }
            current = SpaceAhead.open(folder.file(cycle));
            space = current;
        }
        return current;
    }

    /** Fails if the file that was appended to last isn't the one in the folder any more. */
    void throwUnlessInPlace() throws IOException {
        SpaceAhead current = space;
        if (current != null) {
            current.throwUnlessInPlace();
        }
    }

    private void close() {
        try {
            if (appender != null) {
                appender.close();
            }
            for (ExcerptReader reader = idle.pollFirst(); reader != null; reader = idle.pollFirst()) {
                reader.close();
            }
            queue.close();
            if (space != null) {
                space.close();
            }
        } catch (IOException | IORuntimeException | IllegalStateException e) {
            LOG.warn("closing the archive in {}: {}", folder, e.toString());
        }
    }
}
