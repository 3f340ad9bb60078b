package dev.tidemark.archive;

import dev.tidemark.archive.ExcerptReader.Found;
import dev.tidemark.event.Chunk;
import dev.tidemark.event.EventExtras;
import dev.tidemark.event.Limits;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import dev.tidemark.event.StoredRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Appends to one archive and forces it. Called by one thread at a time. After anything it throws, what was appended since the last
 * publication is in doubt: the owner repairs the files and calls {@link #startAt}.
 */
final class SliceWriter {
    /** The queue library's: a page has 4,096 places, one for every 256th excerpt. */
    private static final long EXCERPTS_PER_INDEX_PAGE = 256L * 4_096;

    private final OpenFiles files;
    private final Archive archive;
    private final ArchiveFolder folder;
    private Tail appended = new Tail();
    private Tail forced = new Tail();
    private final TreeSet<Integer> touched = new TreeSet<>();
    private boolean directoryTouched;

    SliceWriter(OpenFiles files, Archive archive, ArchiveFolder folder) {
        this.files = files;
        this.archive = archive;
        this.folder = folder;
    }

    /** What is on disk, all of it forced. */
    void startAt(Tail end) {
        appended = end.copy();
        forced = end.copy();
        touched.clear();
        directoryTouched = false;
    }

    /** Id of the last event that is forced. */
    Position forcedThrough() {
        return forced.last;
    }

    /** The end of what is forced. */
    Tail forced() {
        return forced.copy();
    }

    /** As {@link ArchiveAppender#append}. */
    void append(List<Slice> slices) throws IOException {
        int events = 0;
        for (Slice slice : slices) {
            events += slice.count();
        }
        if (events > 0) {
            appendSlices(slices, events, refuseUnlessFits(slices, events));
        }
    }

    /** As {@link ArchiveAppender#appendMissing}. */
    void missing(int stripe, OrdinalRange ordinals, boolean lost, Position after, Position through) throws IOException {
        Position at = appended.last;
        Position time = at.equals(Position.ZERO) ? Position.max(after, firstTime(through)) : at;
        prepare(cycleFor(time), 1, ExcerptCodec.MISSING_BYTES);
        try (Lease lease = files.lease()) {
            lease.queue().codec().missing(stripe, ordinals, lost, after, through, at);
            write(lease.queue());
        }
        appended.missing(stripe, ordinals, lost);
    }

    /** As {@link ArchiveAppender#appendProducers}. */
    void producers(Map<Integer, List<StoredRequest>> requests) throws IOException {
        List<ProducerCheckpoint.Part> parts = ProducerCheckpoint.parts(requests);
        long bytes = 0;
        for (ProducerCheckpoint.Part part : parts) {
            bytes += part.bytesMax() + 8;
        }
        Position at = appended.last;
        prepare(cycleFor(at), parts.size(), bytes);
        try (Lease lease = files.lease()) {
            for (ProducerCheckpoint.Part part : parts) {
                lease.queue().codec().producers(part, at);
                write(lease.queue());
                appended.producers.part(part.number(), part.of(), at);
            }
            lease.queue().codec().trim();
        }
    }

    private static Position firstTime(Position through) {
        return through.equals(Position.MAX) ? Position.ZERO : through;
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

    /** The file that a position goes to: never one below the newest. */
    int cycleFor(Position position) {
        return Math.max(folder.files().cycleOf(position), files.newestCycle());
    }

    private void appendSlices(List<Slice> slices, int events, int cycle) throws IOException {
        long bytes = 0;
        for (Slice slice : slices) {
            for (int i = slice.from(); i < slice.to(); i++) {
                bytes += ExcerptCodec.bytesMax(slice.chunk(), i) + 8;
            }
        }
        prepare(cycle, events, bytes);
        try (Lease lease = files.lease()) {
            OpenQueue into = lease.queue();
            ExcerptCodec codec = into.codec();
            for (Slice slice : slices) {
                Chunk chunk = slice.chunk();
                for (int i = slice.from(); i < slice.to(); i++) {
                    codec.event(chunk, i);
                    appended.wrote(into.write(cycle, codec.bytes(), codec.length()));
                    appended.event(chunk.position(i), chunk.stripe(i), chunk.ordinal(i));
                    EventExtras extras = chunk.extras(i);
                    if (extras != null && extras.producer() != null) {
                        appended.producers.event(chunk.position(i));
                    }
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
            force();
        }
        if (!Files.isDirectory(folder.path())) {
            Disk.createDirectories(folder.path());
        }
        files.reopenIfReadOnly();
        try (Lease lease = files.lease()) {
            OpenQueue into = lease.queue();
            if (into.isReadOnly()) {
                throw new ArchiveException(
                        into.isDiskFull() ? ArchiveException.Kind.DISK_FULL : ArchiveException.Kind.IO,
                        folder + " can't be written");
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
        return ExcerptCodec.WAYPOINT_BYTES
                + 8
                + (12 + ExcerptCodec.COUNT_BYTES) * appended.ordinals().size()
                + ExcerptCodec.BOUNDS_BYTES;
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
        files.add(cycle);
        appended.roll(cycle);
    }

    private void writeWaypoint(OpenQueue into) {
        into.codec()
                .waypoint(
                        appended.last,
                        appended.events,
                        appended.earlierBytes,
                        appended.fileBefore,
                        appended.ordinals(),
                        appended.counts(),
                        appended.producers);
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

    /** Forces every file touched since the last force, and the directory for a new one, and reads the last excerpt back. */
    void force() throws IOException {
        if (touched.isEmpty()) {
            return;
        }
        for (int cycle : touched) {
            archive.disk().force(folder.file(cycle));
        }
        if (directoryTouched) {
            archive.disk().forceDirectory(folder.path());
        }
        try (Lease lease = files.lease()) {
            lease.queue().throwUnlessInPlace();
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
}
