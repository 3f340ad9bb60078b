package dev.tidemark.archive;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.StandardOpenOption;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.core.io.ClosedIllegalStateException;
import net.openhft.chronicle.queue.ExcerptTailer;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueue;
import net.openhft.chronicle.wire.DocumentContext;
import net.openhft.chronicle.wire.Wire;
import org.jspecify.annotations.Nullable;

/**
 * Reads excerpts by file and number, one after the other cheaply. It never leaves a file by itself, and what can't be read is told
 * apart from what can't be opened: damage is an answer, an error of the system is an {@link ArchiveException}. One thread at a time.
 */
final class ExcerptReader {
    /** What is at a place. */
    enum Found {
        /** An excerpt, in {@link #excerpt}. */
        EXCERPT,
        /** Something whose CRC or form is wrong; the next one may be good. */
        DAMAGED,
        /** The end of the file, or what looks like it. */
        NOTHING
    }

    private static final int INDEX_SPACING = 256;
    private static final int JUMPS_MAX = 256;

    private final SingleChronicleQueue queue;
    private final ArchiveFolder folder;
    private final int excerptBytesMax;
    private final Excerpt excerpt = new Excerpt();
    private @Nullable ExcerptTailer tailer;
    private long next = -1;
    private long end;

    ExcerptReader(SingleChronicleQueue queue, ArchiveFolder folder, int excerptBytesMax) {
        this.queue = queue;
        this.folder = folder;
        this.excerptBytesMax = excerptBytesMax;
    }

    /** What was read last. */
    Excerpt excerpt() {
        return excerpt;
    }

    /** Where in its file that ends. */
    long end() {
        return end;
    }

    Found read(int cycle, long number) {
        long index = queue.rollCycle().toIndex(cycle, number);
        try {
            return read(index);
        } catch (Throwable t) {
            dropTailer();
            throwUnlessDamage(cycle, t);
            return Found.NOTHING;
        }
    }

    private Found read(long index) {
        ExcerptTailer from = tailer();
        boolean there = next == index || from.moveToIndex(index);
        next = -1;
        if (!there) {
            return Found.NOTHING;
        }
        try (DocumentContext document = from.readingDocument()) {
            Wire wire = document.isPresent() ? document.wire() : null;
            if (wire == null || document.index() != index) {
                return Found.NOTHING;
            }
            next = index + 1;
            Bytes<?> bytes = wire.bytes();
            long available = bytes.readRemaining();
            if (available > excerptBytesMax) {
                return Found.DAMAGED;
            }
            int length = (int) available;
            end = bytes.readLimit();
            bytes.read(excerpt.room(length), 0, length);
            return excerpt.check(length) ? Found.EXCERPT : Found.DAMAGED;
        }
    }

    /** How many excerpts the file's index knows of; 0 if that can't be told. */
    long count(int cycle) {
        try {
            next = -1;
            return Math.max(0, tailer().excerptsInCycle(cycle));
        } catch (Throwable t) {
            dropTailer();
            throwUnlessDamage(cycle, t);
            return 0;
        }
    }

    /** Number of the last excerpt of the newest file as the file's end tells it; -1 if there is none, or it is in another file. */
    long lastFromEnd(int cycle) {
        try {
            next = -1;
            long last = queue.lastIndex();
            return last >= 0 && queue.rollCycle().toCycle(last) == cycle
                    ? queue.rollCycle().toSequenceNumber(last)
                    : -1;
        } catch (Throwable t) {
            dropTailer();
            throwUnlessDamage(cycle, t);
            return -1;
        }
    }

    /** The next place behind {@code number} that the file's index leads to and that is good; -1 if there is none below {@code count}. */
    long jump(int cycle, long number, long count) {
        long step = INDEX_SPACING;
        long at = (number / INDEX_SPACING + 1) * INDEX_SPACING;
        for (int i = 0; i < JUMPS_MAX && at < count; i++) {
            if (read(cycle, at) == Found.EXCERPT) {
                return at;
            }
            at += step;
            step = i < 16 ? step : step * 2;
        }
        return -1;
    }

    private ExcerptTailer tailer() {
        ExcerptTailer current = tailer;
        if (current == null) {
            current = createTailer();
            current.singleThreadedCheckDisabled(true);
            tailer = current;
            next = -1;
        }
        return current;
    }

    /** It looks at the oldest file, whichever is wanted: a failure says nothing about that one. */
    private ExcerptTailer createTailer() {
        try {
            return queue.createTailer();
        } catch (ClosedIllegalStateException e) {
            throw e;
        } catch (RuntimeException | AssertionError | InternalError e) {
            throw new ArchiveException(
                    ArchiveException.Kind.DAMAGED, "the archive in " + folder + " can't be opened for reading", e);
        }
    }

    private void dropTailer() {
        close();
    }

    void close() {
        ExcerptTailer current = tailer;
        tailer = null;
        next = -1;
        if (current != null) {
            try {
                current.close();
            } catch (RuntimeException | AssertionError e) {
                // It was broken already: what it maps is released with the queue.
            }
        }
    }

    /** Damage shows as all kinds of throwables; but one that has another cause must not be taken for damage. */
    private void throwUnlessDamage(int cycle, Throwable t) {
        if (t instanceof ArchiveException told) {
            throw told;
        }
        if (t instanceof ClosedIllegalStateException) {
            throw new ArchiveException(ArchiveException.Kind.CLOSED, "the archive in " + folder + " is closed", t);
        }
        if (t instanceof VirtualMachineError error && !(t instanceof InternalError)) {
            throw error;
        }
        try (FileChannel probe = FileChannel.open(folder.file(cycle), StandardOpenOption.READ)) {
            if (probe.size() < 0) {
                throw new IOException("no size");
            }
        } catch (NoSuchFileException gone) {
            return;
        } catch (IOException e) {
            throw Disk.failed("the archive file " + folder.file(cycle) + " can't be read", e);
        }
    }
}
