package dev.tidemark.archive;

import dev.tidemark.event.Gap;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import dev.tidemark.event.StoredRequest;
import dev.tidemark.event.StreamId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
    private final OpenFiles files;
    private final Publication publication;
    /** Ordinals that a clean stop had proven and that are gone; empty if none are. */
    private volatile Map<Integer, Long> provenOrdinals = Map.of();

    /** Whether its own settings may have removed its oldest files. */
    private final boolean pruned;

    /** Held for the whole of a call that writes, and while the end is first looked for. */
    private final ReentrantLock writing = new ReentrantLock();

    // Under `writing`.
    private final SliceWriter writer;
    private boolean inDoubt;
    /** What was there when files were missed for the first time since W moved last: they may come back. */
    private @Nullable Tail beforeFilesWentAway;

    /** Set under `writing`, read by any thread. */
    private volatile boolean opened;

    StreamArchive(Archive archive, StreamRecord record, Path path) {
        this.archive = archive;
        id = record.id();
        stripe = record.fixed().stripes() == 1 ? 0 : -1;
        pruned = record.isPruned();
        folder = new ArchiveFolder(path, record.rollFiles());
        look = new FolderLook(folder, pruned);
        publication = new Publication(pruned);
        files = new OpenFiles(
                id, folder, archive.blockBytes(), archive.troubles(), publication::now, () -> archive.used(this));
        writer = new SliceWriter(files, archive, folder);
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
        return publication.now().watermark();
    }

    @Override
    public Position earliest() {
        return publication.now().earliest();
    }

    @Override
    public long events() {
        return publication.now().events();
    }

    @Override
    public long eventsRemoved() {
        return publication.eventsRemoved();
    }

    @Override
    public long bytes() {
        return publication.now().bytes();
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
        files.throwIfDeleted();
        Tail marker = CleanClose.read(folder.path());
        Tail end = recovery().run();
        if (marker != null && end.last.isBefore(marker.last)) {
            shortened(marker, end);
        }
        files.found(cycles());
        writer.startAt(end);
        publication.endsAt(end);
        publication.show(Position.ZERO);
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
        Published now = publication.now();
        try {
            long stamp = look.stamp(isOpen ? now.cycle() : RollFiles.NONE);
            if (stamp != before) {
                Proven proven = isOpen ? Proven.by(now) : Proven.byMarker(folder.path());
                Map<String, String> wrong = look.run(proven);
                if (!files.isDeleted()) {
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

    private void findRemoved() {
        if (publication.isEmpty()) {
            publication.nothingLeft();
            return;
        }
        try (Lease lease = files.lease()) {
            publication.lacks(Removed.find(lease));
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

    /** Closes the files unless somebody uses them; false if so. */
    boolean closeIfIdle() {
        return files.closeIfIdle();
    }

    @Override
    public ArchivePage read(Position after, Position through, int eventsMax, int bytesMax) {
        open();
        if (publication.now().cycle() == RollFiles.NONE) {
            return nothing(after, through);
        }
        try (Lease lease = files.lease()) {
            return new ArchiveRead(lease, id.generation(), stripe).forward(after, through, eventsMax, bytesMax);
        }
    }

    @Override
    public ArchivePage readReverse(Position before, Position from, int eventsMax, int bytesMax) {
        open();
        if (publication.now().cycle() == RollFiles.NONE) {
            return nothing(from.previous(), before.previous());
        }
        try (Lease lease = files.lease()) {
            return new ArchiveRead(lease, id.generation(), stripe).reverse(before, from, eventsMax, bytesMax);
        }
    }

    /** There is no file: nothing was archived yet, or all of it was taken away from outside. */
    private ArchivePage nothing(Position after, Position through) {
        files.throwIfDeleted();
        Position limit = Position.min(through, publication.now().watermark());
        ArchivePage empty = ArchiveRead.empty(id.generation(), stripe);
        return limit.isAfter(after)
                ? new ArchivePage(empty.events(), List.of(new Gap(after, limit, Gap.Reason.DAMAGED)), false)
                : empty;
    }

    @Override
    public ArchiveCheck check() {
        open();
        files.throwIfDeleted();
        return new ArchiveCheck(folder, archive.excerptBytesMax(), Proven.by(publication.now()), pruned, finding -> {
            if (finding.isDamage() && !finding.file().isEmpty()) {
                archive.troubles().add(id, finding.file(), finding.what());
            }
        });
    }

    @Override
    public ArchiveEnd end() {
        open();
        Published now = publication.now();
        return new ArchiveEnd(now.watermark(), now.ordinals());
    }

    @Override
    public ArchiveCount count() {
        return publication.count();
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
        if (!hasProducers() || publication.now().cycle() == RollFiles.NONE) {
            return Map.of();
        }
        try (Lease lease = files.lease()) {
            return new ProducerScan(lease).run();
        }
    }

    @Override
    public Map<Integer, ArchivedOrdinals> ordinalsAbove(Position after) {
        open();
        if (publication.now().cycle() == RollFiles.NONE) {
            return Map.of();
        }
        try (Lease lease = files.lease()) {
            return new OrdinalScan(lease).above(after);
        }
    }

    @Override
    public Position entryOf(int stripe, long ordinal, Position after) {
        open();
        if (publication.now().cycle() == RollFiles.NONE) {
            return Position.ZERO;
        }
        try (Lease lease = files.lease()) {
            return new OrdinalScan(lease).entryOf(stripe, ordinal, after);
        }
    }

    @Override
    public boolean hasProducers() {
        open();
        return !publication.now().producersThrough().equals(Position.ZERO);
    }

    private interface Change {
        void run() throws IOException;
    }

    /** Runs what writes; after a failure what wasn't published is in doubt. */
    private void change(Change change) {
        writing.lock();
        try {
            open();
            files.throwIfDeleted();
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
            files.throwIfDeleted();
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
                Tail forced = writer.forced();
                Position shown = publication.now().earliest();
                Position earliest = shown.equals(Position.ZERO) ? firstEvent(forced) : shown;
                beforeFilesWentAway = null;
                publication.endsAt(forced);
                publication.show(earliest);
            } else if (!watermark.equals(publication.now().watermark())) {
                throw new IllegalArgumentException(
                        "W of " + id + " is " + publication.now().watermark() + ", forced is up to "
                                + writer.forcedThrough() + ": it can't become " + watermark);
            }
        } finally {
            writing.unlock();
        }
    }

    private Position firstEvent(Tail end) {
        try (Lease lease = files.lease()) {
            return Removed.firstEvent(lease.reader(), end.cycle, end.count);
        } catch (RuntimeException | Error failure) {
            inDoubt = true;
            throw failure;
        }
    }

    /** After a failure: everything behind W is taken away, so that it is written again. */
    private void repair() {
        if (!inDoubt) {
            return;
        }
        Tail away = beforeFilesWentAway;
        Tail wanted = away != null && recovery().isBack(away) ? away : publication.end();
        Tail left = recovery().cut(wanted);
        boolean whole = left == wanted;
        if (wanted == away && whole) {
            beforeFilesWentAway = null;
        } else if (!whole && away == null) {
            beforeFilesWentAway = publication.end();
        }
        int[] cycles = cycles();
        files.rewritten(cycles, () -> {
            publication.endsAt(left);
            publication.show(whole && away == null ? publication.now().earliest() : Position.ZERO);
        });
        if (!whole || away != null) {
            findRemoved();
        }
        writer.startAt(publication.end());
        inDoubt = false;
    }

    @Override
    public void close() {
        writing.lock();
        try {
            if (opened && !publication.isEmpty() && !inDoubt && Files.isDirectory(folder.path())) {
                CleanClose.write(folder.path(), publication.end());
            }
            files.retire();
        } finally {
            writing.unlock();
        }
        archive.closed(this);
    }

    /** Closes it for good and removes its files. */
    void delete() {
        files.delete();
        writing.lock();
        try {
            files.retire();
            publication.clear();
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
