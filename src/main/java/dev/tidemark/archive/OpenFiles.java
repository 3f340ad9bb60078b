package dev.tidemark.archive;

import dev.tidemark.event.StreamId;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The files of one archive: which there are, and the queue in which they are open while somebody uses them. A {@link StreamArchive}
 * owns it; any thread takes a {@link Lease} of it.
 */
final class OpenFiles {
    private final StreamId id;
    private final ArchiveFolder folder;
    private final int blockBytes;
    private final ArchiveTroubles troubles;
    private final Supplier<Published> published;
    private final Runnable used;

    // Under the lock of `opening`, which is held shortly.
    private final Object opening = new Object();
    private @Nullable OpenQueue queue;
    private Layout layout = Layout.EMPTY;
    private boolean deleted;

    /**
     * @param published what readers see now; asked under the lock, so that it fits the files
     * @param used called at each lease, without the lock
     */
    OpenFiles(
            StreamId id,
            ArchiveFolder folder,
            int blockBytes,
            ArchiveTroubles troubles,
            Supplier<Published> published,
            Runnable used) {
        this.id = id;
        this.folder = folder;
        this.blockBytes = blockBytes;
        this.troubles = troubles;
        this.published = published;
        this.used = used;
    }

    /** The files were listed for the first time. */
    void found(int[] cycles) {
        synchronized (opening) {
            layout = Layout.of(cycles);
        }
    }

    /**
     * The files were written anew: who leases them from now on opens them again.
     *
     * @param publish publishes what they hold; readers see both or neither
     */
    void rewritten(int[] cycles, Runnable publish) {
        synchronized (opening) {
            layout = Layout.of(cycles);
            publish.run();
            retire();
        }
    }

    /** The highest cycle that has a file, or {@link RollFiles#NONE}. */
    int newestCycle() {
        synchronized (opening) {
            return layout.newest();
        }
    }

    /** A file comes above those that are there. */
    void add(int cycle) {
        synchronized (opening) {
            layout = layout.with(cycle);
        }
    }

    /** Opens the files if they aren't. */
    Lease lease() {
        Lease lease;
        synchronized (opening) {
            throwIfDeleted();
            OpenQueue current = queue;
            if (current == null || !current.retain()) {
                current = OpenQueue.open(folder, layout.newest(), blockBytes);
                queue = current;
                if (!current.retain()) {
                    throw new IllegalStateException("a queue that was just opened is closed");
                }
            }
            try {
                lease = new Lease(current, layout, published.get(), this);
            } catch (RuntimeException | Error e) {
                current.release();
                throw e;
            }
        }
        used.run();
        return lease;
    }

    /** Closes the files unless somebody uses them; false if so. */
    boolean closeIfIdle() {
        synchronized (opening) {
            OpenQueue current = queue;
            if (current != null && !current.isIdle()) {
                return false;
            }
            retire();
            return true;
        }
    }

    /** What was opened for reading, while there was no space, may be writable now. */
    void reopenIfReadOnly() {
        synchronized (opening) {
            OpenQueue current = queue;
            if (current != null && current.isReadOnly()) {
                retire();
            }
        }
    }

    /** Closes the files once nobody uses them; the next lease opens them again. */
    void retire() {
        synchronized (opening) {
            OpenQueue current = queue;
            queue = null;
            if (current != null) {
                current.release();
            }
        }
    }

    /** A reader came upon a part of a file that can't be read. */
    void damaged(int cycle, String what) {
        troubles.add(id, folder.files().fileName(cycle), what);
    }

    /** From now on there are no leases. */
    void delete() {
        synchronized (opening) {
            deleted = true;
        }
    }

    boolean isDeleted() {
        synchronized (opening) {
            return deleted;
        }
    }

    void throwIfDeleted() {
        synchronized (opening) {
            if (deleted) {
                throw new ArchiveException(ArchiveException.Kind.CLOSED, "the archive of " + id + " is deleted");
            }
        }
    }
}
