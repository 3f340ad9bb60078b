package dev.tidemark.archive;

import dev.tidemark.event.Gap;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Setting;
import dev.tidemark.event.Slice;
import dev.tidemark.event.StoredRequest;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The archive of one stream's incarnation on disk. Reads run on several threads at once, beside the one that appends; every call
 * but the figures blocks. It costs little while nothing is open, and opens its files when it is used.
 */
public final class StreamArchive implements ArchiveAppender {
    /** With less space on its disk than this nothing is appended. */
    public static final long FREE_BYTES_MIN = FileRewrite.FREE_BYTES_MIN;

    private final Archive archive;
    private final StreamId id;
    private final int stripe;
    private final ArchiveFolder folder;
    private final FolderLook look;
    /** Ordinals that a clean stop had proven and that are gone; empty if none are. */
    private volatile Map<Integer, Long> provenOrdinals = Map.of();

    /** Whether its own settings may have removed its oldest files. */
    private final boolean pruned;

    /** Held for the whole of a call that writes, and while the end is first looked for. */
    private final ReentrantLock writing = new ReentrantLock();

    // Under `writing`.
    private final SliceWriter writer;
    private Tail publishedTail = new Tail();
    private boolean inDoubt;
    /** What was there when files were missed for the first time since W moved last: they may come back. */
    private @Nullable Tail beforeFilesWentAway;

    private volatile long eventsRemoved;
    private long bytesRemoved;
    /** Of the removed ones, those that nobody had asked to remove. */
    private volatile long eventsMissing;

    // Written under `writing`, read by any thread.
    private volatile boolean opened;
    private volatile Published published = Published.EMPTY;

    // Under the lock of `opening`, which is held shortly.
    private final Object opening = new Object();
    private @Nullable OpenQueue queue;
    private Layout layout = Layout.EMPTY;
    private boolean deleted;

    StreamArchive(Archive archive, StreamRecord record, Path path) {
        this.archive = archive;
        id = record.id();
        StreamSettings fixed = StreamSettings.DEFAULT.with(fixedAtCreation(record));
        stripe = fixed.stripes() == 1 ? 0 : -1;
        pruned = record.settings().containsKey(Setting.ARCHIVE_MAX_AGE)
                || record.settings().containsKey(Setting.ARCHIVE_MAX_BYTES);
        folder = new ArchiveFolder(path, filesOf(record));
        look = new FolderLook(folder, pruned);
        writer = new SliceWriter(this, archive, folder);
    }

    /** How its roll files are called. */
    static RollFiles filesOf(StreamRecord record) {
        return RollFiles.of(StreamSettings.DEFAULT.with(fixedAtCreation(record)).roll());
    }

    private static Map<Setting, Long> fixedAtCreation(StreamRecord record) {
        Map<Setting, Long> fixed = new EnumMap<>(Setting.class);
        record.settings().forEach((setting, value) -> {
            if (setting.fixedAtCreation()) {
                fixed.put(setting, value);
            }
        });
        return fixed;
    }

    public StreamId id() {
        return id;
    }

    /** Folder of its files. */
    public Path path() {
        return folder.path();
    }

    @Override
    public Position watermark() {
        return published.watermark();
    }

    @Override
    public Position earliest() {
        return published.earliest();
    }

    @Override
    public long events() {
        return published.events();
    }

    @Override
    public long eventsRemoved() {
        return eventsRemoved;
    }

    @Override
    public long bytes() {
        return published.bytes();
    }

    @Override
    public void open() {
        if (opened) {
            return;
        }
        writing.lock();
        try {
            if (!opened) {
                recover();
            }
        } finally {
            writing.unlock();
        }
    }

    private void recover() {
        throwIfDeleted();
        Tail marker = CleanClose.read(folder.path());
        Tail end = recovery().run();
        if (marker != null && end.last.isBefore(marker.last)) {
            shortened(marker, end);
        }
        synchronized (opening) {
            layout = Layout.of(cycles());
        }
        writer.startAt(end);
        publishedTail = end;
        published = published(Position.ZERO);
        findRemoved();
        opened = true;
    }

    /** Files, or the end of one, were taken away since the last clean stop. */
    private void shortened(Tail marker, Tail end) {
        provenOrdinals = Map.copyOf(marker.ordinals());
        archive.troubles()
                .add(
                        id,
                        folder.files().fileName(marker.cycle),
                        "lacks what it held at the last clean stop: W was " + ArchiveWalk.id(marker.last)
                                + ", what is left ends at " + ArchiveWalk.id(end.last));
    }

    @Override
    public long provenOrdinal(int ofStripe) {
        open();
        return provenOrdinals.getOrDefault(ofStripe, 0L);
    }

    /**
     * Looks whether files are missing, quickly, and notes that in {@link Archive#troubles}. Of an archive that isn't open only what a
     * clean stop left is looked at.
     *
     * @param before what this gave when it was called last: nothing is looked at if nothing changed since
     */
    long look(long before) {
        boolean isOpen = opened;
        Published now = published;
        try {
            long stamp = look.stamp(isOpen ? now.cycle() : RollFiles.NONE);
            if (stamp != before) {
                Proven proven = isOpen ? Proven.by(now) : Proven.byMarker(folder.path());
                Map<String, String> wrong = look.run(proven);
                if (!deleted()) {
                    archive.troubles()
                            .looked(
                                    id,
                                    wrong,
                                    file -> Files.exists(folder.path().resolve(file)));
                }
            }
            return stamp;
        } catch (IOException e) {
            throw Disk.failed("the archive in " + folder + " can't be looked at", e);
        }
    }

    private boolean deleted() {
        synchronized (opening) {
            return deleted;
        }
    }

    /** A reader came upon a part of a file that can't be read. */
    void damaged(int cycle, String what) {
        archive.troubles().add(id, folder.files().fileName(cycle), what);
    }

    private void findRemoved() {
        if (publishedTail.cycle == RollFiles.NONE) {
            eventsRemoved = publishedTail.events - publishedTail.eventsLost;
            bytesRemoved = publishedTail.earlierBytes;
            eventsMissing = 0;
            return;
        }
        try (Lease lease = lease()) {
            Removed removed = Removed.find(lease);
            eventsRemoved = removed.events();
            bytesRemoved = removed.bytes();
            eventsMissing = pruned ? removed.inTheMiddle() : removed.inTheMiddle() + removed.atTheFront();
            published = published(removed.earliest());
        }
    }

    private Recovery recovery() {
        return new Recovery(folder, archive.blockBytes(), archive.disk());
    }

    private int[] cycles() {
        try {
            return folder.cycles();
        } catch (IOException e) {
            throw Disk.failed("the archive in " + folder + " can't be listed", e);
        }
    }

    private Published published(Position earliest) {
        Tail tail = publishedTail;
        return new Published(
                tail.last,
                tail.events == 0 ? Position.ZERO : earliest,
                Math.max(0, tail.events - tail.eventsLost - eventsRemoved),
                Math.max(0, tail.earlierBytes + tail.end - bytesRemoved),
                tail.ordinals(),
                tail.counts(),
                tail.cycle,
                tail.count,
                tail.producers.from(),
                tail.producers.through());
    }

    private void throwIfDeleted() {
        synchronized (opening) {
            if (deleted) {
                throw new ArchiveException(ArchiveException.Kind.CLOSED, "the archive of " + id + " is deleted");
            }
        }
    }

    /** The highest cycle that has a file, or {@link RollFiles#NONE}. */
    int newestCycle() {
        synchronized (opening) {
            return layout.newest();
        }
    }

    /** A file comes above those that are there. */
    void addFile(int cycle) {
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
                current = OpenQueue.open(folder, layout.newest(), archive.blockBytes());
                queue = current;
                if (!current.retain()) {
                    throw new IllegalStateException("a queue that was just opened is closed");
                }
            }
            try {
                lease = new Lease(current, layout, published, this);
            } catch (RuntimeException | Error e) {
                current.release();
                throw e;
            }
        }
        archive.used(this);
        return lease;
    }

    /** Closes the files unless somebody uses them; false if so. */
    boolean closeIfIdle() {
        synchronized (opening) {
            OpenQueue current = queue;
            if (current != null && !current.isIdle()) {
                return false;
            }
            retireQueue();
            return true;
        }
    }

    /** What was opened for reading, while there was no space, may be writable now. */
    void reopenIfReadOnly() {
        synchronized (opening) {
            OpenQueue current = queue;
            if (current != null && current.isReadOnly()) {
                retireQueue();
            }
        }
    }

    private void retireQueue() {
        synchronized (opening) {
            OpenQueue current = queue;
            queue = null;
            if (current != null) {
                current.release();
            }
        }
    }

    @Override
    public ArchivePage read(Position after, Position through, int eventsMax, int bytesMax) {
        open();
        if (published.cycle() == RollFiles.NONE) {
            return nothing(after, through);
        }
        try (Lease lease = lease()) {
            return new ArchiveRead(lease, id.generation(), stripe).forward(after, through, eventsMax, bytesMax);
        }
    }

    @Override
    public ArchivePage readReverse(Position before, Position from, int eventsMax, int bytesMax) {
        open();
        if (published.cycle() == RollFiles.NONE) {
            return nothing(from.previous(), before.previous());
        }
        try (Lease lease = lease()) {
            return new ArchiveRead(lease, id.generation(), stripe).reverse(before, from, eventsMax, bytesMax);
        }
    }

    /** There is no file: nothing was archived yet, or all of it was taken away from outside. */
    private ArchivePage nothing(Position after, Position through) {
        throwIfDeleted();
        Position limit = Position.min(through, published.watermark());
        ArchivePage empty = ArchiveRead.empty(id.generation(), stripe);
        return limit.isAfter(after)
                ? new ArchivePage(empty.events(), List.of(new Gap(after, limit, Gap.Reason.DAMAGED)), false)
                : empty;
    }

    @Override
    public ArchiveCheck check() {
        open();
        throwIfDeleted();
        return new ArchiveCheck(folder, archive.excerptBytesMax(), Proven.by(published), pruned, finding -> {
            if (finding.isDamage() && !finding.file().isEmpty()) {
                archive.troubles().add(id, finding.file(), finding.what());
            }
        });
    }

    @Override
    public ArchiveEnd end() {
        open();
        Published now = published;
        return new ArchiveEnd(now.watermark(), now.ordinals());
    }

    @Override
    public ArchiveCount count() {
        Published now = published;
        return new ArchiveCount(now.watermark(), now.counts(), now.ordinals(), eventsMissing);
    }

    @Override
    public Position sliceEnd(Position first) {
        open();
        return folder.files().last(writer.cycleFor(first));
    }

    @Override
    public void append(List<Slice> slices) {
        change(() -> writer.append(slices));
    }

    @Override
    public void appendMissing(int stripe, OrdinalRange ordinals, boolean lost, Position after, Position through) {
        change(() -> writer.missing(stripe, ordinals, lost, after, through));
    }

    @Override
    public void appendProducers(Map<Integer, List<StoredRequest>> requests) {
        change(() -> writer.producers(requests));
    }

    @Override
    public Map<Integer, List<StoredRequest>> producers() {
        open();
        if (!hasProducers() || published.cycle() == RollFiles.NONE) {
            return Map.of();
        }
        try (Lease lease = lease()) {
            return new ProducerScan(lease).run();
        }
    }

    @Override
    public Map<Integer, ArchivedOrdinals> ordinalsAbove(Position after) {
        open();
        if (published.cycle() == RollFiles.NONE) {
            return Map.of();
        }
        try (Lease lease = lease()) {
            return new OrdinalScan(lease).above(after);
        }
    }

    @Override
    public Position entryOf(int stripe, long ordinal, Position after) {
        open();
        if (published.cycle() == RollFiles.NONE) {
            return Position.ZERO;
        }
        try (Lease lease = lease()) {
            return new OrdinalScan(lease).entryOf(stripe, ordinal, after);
        }
    }

    @Override
    public boolean hasProducers() {
        open();
        return !published.producersThrough().equals(Position.ZERO);
    }

    private interface Change {
        void run() throws IOException;
    }

    /** Runs what writes; after a failure what wasn't published is in doubt. */
    private void change(Change change) {
        writing.lock();
        try {
            open();
            throwIfDeleted();
            repair();
            try {
                change.run();
            } catch (Throwable t) {
                inDoubt = true;
                throw Disk.failed("the archive of " + id + " can't be written", t);
            }
        } finally {
            writing.unlock();
        }
    }

    @Override
    public void force() {
        writing.lock();
        try {
            open();
            throwIfDeleted();
            if (inDoubt) {
                throw new ArchiveException(
                        ArchiveException.Kind.IO,
                        "the last append to the archive of " + id + " failed: nothing can be forced");
            }
            writer.force();
        } catch (Throwable t) {
            inDoubt = true;
            throw Disk.failed("the archive of " + id + " can't be forced", t);
        } finally {
            writing.unlock();
        }
    }

    @Override
    public void publish(Position watermark) {
        writing.lock();
        try {
            open();
            if (watermark.equals(writer.forcedThrough())) {
                Position earliest = published.earliest();
                beforeFilesWentAway = null;
                publishedTail = writer.forced();
                published = published(earliest.equals(Position.ZERO) ? firstEvent() : earliest);
            } else if (!watermark.equals(published.watermark())) {
                throw new IllegalArgumentException("W of " + id + " is " + published.watermark() + ", forced is up to "
                        + writer.forcedThrough() + ": it can't become " + watermark);
            }
        } finally {
            writing.unlock();
        }
    }

    private Position firstEvent() {
        try (Lease lease = lease()) {
            return Removed.firstEvent(lease.reader(), publishedTail.cycle, publishedTail.count);
        }
    }

    /** After a failure: everything behind W is taken away, so that it is written again. */
    private void repair() {
        if (!inDoubt) {
            return;
        }
        Tail away = beforeFilesWentAway;
        Tail wanted = away != null && recovery().isBack(away) ? away : publishedTail;
        Tail left = recovery().cut(wanted);
        boolean whole = left == wanted;
        if (wanted == away && whole) {
            beforeFilesWentAway = null;
        } else if (!whole && away == null) {
            beforeFilesWentAway = publishedTail;
        }
        int[] cycles = cycles();
        synchronized (opening) {
            publishedTail = left;
            layout = Layout.of(cycles);
            published = published(whole && away == null ? published.earliest() : Position.ZERO);
            retireQueue();
        }
        if (!whole || away != null) {
            findRemoved();
        }
        writer.startAt(publishedTail);
        inDoubt = false;
    }

    @Override
    public void close() {
        writing.lock();
        try {
            if (opened && publishedTail.cycle != RollFiles.NONE && !inDoubt && Files.isDirectory(folder.path())) {
                CleanClose.write(folder.path(), publishedTail);
            }
            retireQueue();
        } finally {
            writing.unlock();
        }
        archive.closed(this);
    }

    /** Closes it for good and removes its files. */
    void delete() {
        synchronized (opening) {
            deleted = true;
        }
        writing.lock();
        try {
            retireQueue();
            published = Published.EMPTY;
        } finally {
            writing.unlock();
        }
        archive.closed(this);
    }

    @Override
    public String toString() {
        return "archive of " + id;
    }
}
