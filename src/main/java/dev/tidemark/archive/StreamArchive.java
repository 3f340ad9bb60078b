package dev.tidemark.archive;

import dev.tidemark.archive.ExcerptReader.Found;
import dev.tidemark.event.Chunk;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Limits;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Setting;
import dev.tidemark.event.Slice;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The archive of one stream's incarnation on disk. Reads run on several threads at once, beside the one that appends; every call
 * but the figures blocks. It costs little while nothing is open, and opens its files when it is used.
 */
public final class StreamArchive implements ArchiveAppender {
    /** The queue library's: a page has 4,096 places, one for every 256th excerpt. */
    private static final long EXCERPTS_PER_INDEX_PAGE = 256L * 4_096;

    private final Archive archive;
    private final StreamId id;
    private final int stripe;
    private final ArchiveFolder folder;

    /** Held for the whole of a call that writes, and while the end is first looked for. */
    private final ReentrantLock writing = new ReentrantLock();

    // Written under `writing`: the end of what was appended, of what of it is forced, and of what is published.
    private Tail appended = new Tail();
    private Tail forced = new Tail();
    private Tail publishedTail = new Tail();
    private final TreeSet<Integer> touched = new TreeSet<>();
    private boolean directoryTouched;
    private boolean inDoubt;
    private long eventsRemoved;
    private long bytesRemoved;

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
        folder = new ArchiveFolder(path, RollFiles.of(fixed.roll()));
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
        Tail end = recovery().run();
        synchronized (opening) {
            layout = Layout.of(cycles());
        }
        appended = end;
        forced = end.copy();
        publishedTail = end.copy();
        published = published(Position.ZERO);
        findRemoved();
        opened = true;
    }

    private void findRemoved() {
        if (publishedTail.cycle == RollFiles.NONE) {
            eventsRemoved = publishedTail.events - publishedTail.eventsLost;
            bytesRemoved = publishedTail.earlierBytes;
            return;
        }
        try (Lease lease = lease()) {
            Removed removed = Removed.find(lease);
            eventsRemoved = removed.events();
            bytesRemoved = removed.bytes();
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
                tail.cycle,
                tail.count);
    }

    private void throwIfDeleted() {
        synchronized (opening) {
            if (deleted) {
                throw new ArchiveException(ArchiveException.Kind.CLOSED, "the archive of " + id + " is deleted");
            }
        }
    }

    /** Opens the files if they aren't. */
    private Lease lease() {
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
                lease = new Lease(current, layout, published);
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
    public ArchiveEnd end() {
        open();
        Published now = published;
        return new ArchiveEnd(now.watermark(), now.ordinals());
    }

    @Override
    public Position sliceEnd(Position first) {
        open();
        int newest;
        synchronized (opening) {
            newest = layout.newest();
        }
        return folder.files().last(Math.max(folder.files().cycleOf(first), newest));
    }

    @Override
    public void append(List<Slice> slices) {
        change("append", () -> {
            int events = 0;
            for (Slice slice : slices) {
                events += slice.count();
            }
            if (events > 0) {
                int cycle = refuseUnlessFits(slices, events);
                appendSlices(slices, events, cycle);
            }
        });
    }

    @Override
    public void appendMissing(int stripe, OrdinalRange ordinals, boolean lost, Position after, Position through) {
        change("append to", () -> {
            Position at = appended.last;
            Position time = at.equals(Position.ZERO) ? Position.max(after, firstTime(through)) : at;
            prepare(cycleFor(time), 1, ExcerptCodec.MISSING_BYTES);
            try (Lease lease = lease()) {
                lease.queue().codec().missing(stripe, ordinals, lost, after, through, at);
                write(lease.queue());
            }
            appended.missing(stripe, ordinals.last());
        });
    }

    private static Position firstTime(Position through) {
        return through.equals(Position.MAX) ? Position.ZERO : through;
    }

    private interface Change {
        void run() throws IOException;
    }

    /** Runs what writes; after a failure what wasn't published is in doubt. */
    private void change(String what, Change change) {
        writing.lock();
        try {
            open();
            throwIfDeleted();
            repair();
            try {
                change.run();
            } catch (Throwable t) {
                inDoubt = true;
                throw Disk.failed("can't " + what + " the archive of " + id, t);
            }
        } finally {
            writing.unlock();
        }
    }

    /** The file that the slice goes to. */
    private int refuseUnlessFits(List<Slice> slices, int events) {
        if (events > Limits.SLICE_EVENTS_MAX) {
            throw refused("a slice of " + events + " events is too large; allowed are " + Limits.SLICE_EVENTS_MAX);
        }
        Position last = appended.last;
        int cycle = RollFiles.NONE;
        Position end = Position.MAX;
        for (Slice slice : slices) {
            Chunk chunk = slice.chunk();
            for (int i = slice.from(); i < slice.to(); i++) {
                if (Position.compare(chunk.ms(i), chunk.seq(i), last.ms(), last.seq()) <= 0) {
                    throw refused("ids must rise: " + chunk.position(i) + " after " + last);
                }
                last = chunk.position(i);
                if (cycle == RollFiles.NONE) {
                    cycle = cycleFor(last);
                    end = folder.files().last(cycle);
                }
                int bytes = ExcerptCodec.bytesMax(chunk, i);
                if (bytes > archive.excerptBytesMax()) {
                    throw refused("event " + last + " takes up to " + bytes + " bytes; allowed are "
                            + archive.excerptBytesMax());
                }
            }
        }
        if (last.isAfter(end)) {
            throw refused(last + " isn't in the same roll file as the slice's first event");
        }
        return cycle;
    }

    private static ArchiveException refused(String message) {
        return new ArchiveException(ArchiveException.Kind.SLICE_REFUSED, message);
    }

    private int cycleFor(Position position) {
        int newest;
        synchronized (opening) {
            newest = layout.newest();
        }
        return Math.max(folder.files().cycleOf(position), newest);
    }

    private void appendSlices(List<Slice> slices, int events, int cycle) throws IOException {
        long bytes = 0;
        for (Slice slice : slices) {
            for (int i = slice.from(); i < slice.to(); i++) {
                bytes += ExcerptCodec.bytesMax(slice.chunk(), i) + 8;
            }
        }
        prepare(cycle, events, bytes);
        try (Lease lease = lease()) {
            OpenQueue into = lease.queue();
            ExcerptCodec codec = into.codec();
            for (Slice slice : slices) {
                Chunk chunk = slice.chunk();
                for (int i = slice.from(); i < slice.to(); i++) {
                    codec.event(chunk, i);
                    appended.wrote(into.write(cycle, codec.bytes(), codec.length()));
                    appended.event(chunk.position(i), chunk.stripe(), chunk.ordinal(i));
                }
            }
            codec.trim();
            checkPlace(into);
        }
    }

    /** Makes room in the file of {@code cycle}, which may be new, for excerpts of so many bytes. */
    private void prepare(int cycle, int excerpts, long bytes) throws IOException {
        if (archive.disk().usableBytes(folder.path()) < bytes + FileRewrite.FREE_BYTES_MIN
                && Files.isDirectory(folder.path())) {
            throw new ArchiveException(
                    ArchiveException.Kind.DISK_FULL,
                    "less than " + (FileRewrite.FREE_BYTES_MIN >> 20) + " MiB would be left on the disk of " + folder);
        }
        boolean rolls = cycle != appended.cycle;
        if (rolls || unforced() + excerpts > Recovery.UNFORCED_MAX) {
            forceTouched();
        }
        if (!Files.isDirectory(folder.path())) {
            Disk.createDirectories(folder.path());
        }
        try (Lease lease = lease()) {
            OpenQueue into = lease.queue();
            if (into.isReadOnly()) {
                throw new IOException(folder + " can't be written");
            }
            if (rolls) {
                roll(cycle);
                writeWaypoint(into);
            }
            into.space(cycle).reserve(appended.end, bytes + waypointBytes(), indexPages(excerpts));
            touched.add(cycle);
            if (appended.sinceWaypoint >= Recovery.WAYPOINT_EVERY) {
                writeWaypoint(into);
            }
        }
    }

    private int waypointBytes() {
        return ExcerptCodec.WAYPOINT_BYTES + 8 + 12 * appended.ordinals().size();
    }

    private int indexPages(int excerpts) {
        long first = appended.count / EXCERPTS_PER_INDEX_PAGE;
        return (int) ((appended.count + excerpts + 1) / EXCERPTS_PER_INDEX_PAGE - first);
    }

    private void roll(int cycle) {
        if (appended.cycle != RollFiles.NONE) {
            touched.add(appended.cycle);
        }
        touched.add(cycle);
        directoryTouched = true;
        synchronized (opening) {
            layout = layout.with(cycle);
        }
        appended.roll(cycle);
    }

    private void writeWaypoint(OpenQueue into) {
        into.codec()
                .waypoint(
                        appended.last,
                        appended.events,
                        appended.earlierBytes,
                        appended.fileBefore,
                        appended.ordinals());
        touched.add(appended.cycle);
        write(into);
        appended.waypoint();
    }

    private void write(OpenQueue into) {
        appended.wrote(
                into.write(appended.cycle, into.codec().bytes(), into.codec().length()));
        checkPlace(into);
    }

    private void checkPlace(OpenQueue into) {
        long index = into.lastIndexWritten(appended.cycle);
        if (index != appended.count - 1) {
            throw new IllegalStateException(
                    "an excerpt became number " + index + " instead of " + (appended.count - 1) + " of its file");
        }
    }

    private long unforced() {
        return appended.cycle == forced.cycle ? appended.count - forced.count : appended.count;
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
            forceTouched();
        } catch (Throwable t) {
            inDoubt = true;
            throw Disk.failed("the archive of " + id + " can't be forced", t);
        } finally {
            writing.unlock();
        }
    }

    private void forceTouched() throws IOException {
        if (touched.isEmpty()) {
            return;
        }
        for (int cycle : touched) {
            archive.disk().force(folder.file(cycle));
        }
        if (directoryTouched) {
            archive.disk().forceDirectory(folder.path());
        }
        try (Lease lease = lease()) {
            ExcerptReader reader = lease.reader();
            if (reader.read(appended.cycle, appended.count - 1) != Found.EXCERPT
                    || reader.excerpt().compareKey(appended.last) != 0) {
                throw new ArchiveException(
                        ArchiveException.Kind.DAMAGED, "what was just forced can't be read back from " + folder);
            }
        }
        touched.clear();
        directoryTouched = false;
        forced = appended.copy();
    }

    @Override
    public void publish(Position watermark) {
        writing.lock();
        try {
            open();
            if (watermark.equals(forced.last)) {
                Position earliest = published.earliest();
                publishedTail = forced.copy();
                published = published(earliest.equals(Position.ZERO) ? firstEvent() : earliest);
            } else if (!watermark.equals(published.watermark())) {
                throw new IllegalArgumentException("W of " + id + " is " + published.watermark() + ", forced is up to "
                        + forced.last + ": it can't become " + watermark);
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
        Tail left = recovery().cut(publishedTail);
        boolean whole = left == publishedTail;
        int[] cycles = cycles();
        synchronized (opening) {
            publishedTail = left;
            layout = Layout.of(cycles);
            published = published(whole ? published.earliest() : Position.ZERO);
            retireQueue();
        }
        if (!whole) {
            findRemoved();
        }
        appended = publishedTail.copy();
        forced = publishedTail.copy();
        touched.clear();
        directoryTouched = false;
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
