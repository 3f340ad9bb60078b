package dev.tidemark.archive;

import dev.tidemark.archive.ExcerptReader.Found;
import dev.tidemark.event.Limits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the end of an archive that may not have been closed cleanly, and makes it one that can be appended to.
 *
 * <p>After a power loss pages that were not forced may be missing in the middle, and then the queue library sees an end where there
 * is none, or its first excerpt as the last. So the end is read forward, with CRC, from before anything that may not have been
 * forced, and counted against the file's index and its end as seen backwards. If that doesn't agree, the good prefix is copied into
 * a new file and takes the place of the old one, which is kept as {@code .damaged}: nothing is ever appended behind an excerpt that
 * isn't trusted.
 */
final class Recovery {
    /** Most excerpts that are appended without a force. */
    static final int UNFORCED_MAX = 2 * Limits.SLICE_EVENTS_MAX;
    /** A waypoint comes at least this often, give or take a slice. */
    static final int WAYPOINT_EVERY = 8_192;

    /** How many excerpts from the end are read again: all that may be unforced, and one waypoint before that. */
    static final int WINDOW = UNFORCED_MAX + WAYPOINT_EVERY + 2 * Limits.SLICE_EVENTS_MAX;

    private static final Logger LOG = LoggerFactory.getLogger(Recovery.class);

    private final ArchiveFolder folder;
    private final int blockBytes;
    private final Storage disk;

    Recovery(ArchiveFolder folder, int blockBytes, Storage disk) {
        this.folder = folder;
        this.blockBytes = blockBytes;
        this.disk = disk;
    }

    /** The end that the archive proves; all of it is forced. */
    Tail run() {
        try {
            Disk.deleteTree(folder.path().resolve(FileRewrite.DIRECTORY));
            folder.tidy(blockBytes);
            Tail marker = CleanClose.read(folder.path());
            while (true) {
                int[] cycles = folder.cycles();
                if (cycles.length == 0) {
                    return new Tail();
                }
                Tail end = check(cycles[cycles.length - 1], marker);
                if (end != null) {
                    if (marker == null || !isSame(marker, end)) {
                        force(folder.cycles());
                    }
                    return end;
                }
            }
        } catch (IOException e) {
            throw Disk.failed("the end of the archive in " + folder + " can't be found", e);
        }
    }

    private static boolean isSame(Tail marker, Tail end) {
        return marker.cycle == end.cycle && marker.count == end.count && marker.last.equals(end.last);
    }

    /** What exists only in the page cache after a kill must be on disk before it is called archived. */
    private void force(int[] cycles) throws IOException {
        for (int i = Math.max(0, cycles.length - 2); i < cycles.length; i++) {
            disk.force(folder.file(cycles[i]));
        }
        disk.forceDirectory(folder.path());
    }

    /** The end in the newest file; null if that file was moved away, so that the one before has to be looked at. */
    private @Nullable Tail check(int cycle, @Nullable Tail marker) throws IOException {
        OpenQueue queue = OpenQueue.open(folder, cycle, blockBytes);
        try {
            ExcerptReader reader = queue.borrow();
            long indexed = reader.count(cycle);
            Scan scan = scan(reader, cycle, indexed, marker);
            boolean good = scan.tail.count >= indexed
                    && scan.stop == Found.NOTHING
                    && reader.lastFromEnd(cycle) == scan.tail.count - 1;
            if (scan.tail.count == 0 || scan.onlyWaypoints) {
                reader.close();
                folder.moveAside(folder.file(cycle), good ? ".empty" : ArchiveFolder.DAMAGED);
                return null;
            }
            if (!good) {
                LOG.warn(
                        "{} is good up to its excerpt {}, {}, and holds something else behind it",
                        folder.file(cycle),
                        scan.tail.count,
                        scan.tail.last);
                Path kept = folder.freeName(folder.file(cycle), ArchiveFolder.DAMAGED);
                scan.tail.end = new FileRewrite(folder, blockBytes, disk).keep(reader, cycle, scan.tail, kept);
            }
            reader.close();
            return scan.tail;
        } finally {
            queue.release();
        }
    }

    private static final class Scan {
        Tail tail = new Tail();
        Found stop = Found.NOTHING;
        boolean onlyWaypoints = true;
        boolean totalsKnown;
    }

    private Scan scan(ExcerptReader reader, int cycle, long indexed, @Nullable Tail marker) {
        if (marker != null && marker.cycle == cycle && marker.count <= indexed) {
            long last = marker.count - 1;
            if (reader.read(cycle, last) == Found.EXCERPT && reader.excerpt().compareKey(marker.last) == 0) {
                Scan scan = new Scan();
                scan.tail = marker.copy();
                scan.tail.end = reader.end();
                scan.totalsKnown = true;
                scan.onlyWaypoints = false;
                scanOn(scan, reader, marker.count);
                return scan;
            }
        }
        long start = indexed - WINDOW;
        if (start > 0 && reader.read(cycle, start) != Found.EXCERPT) {
            start = reader.jump(cycle, start, indexed - UNFORCED_MAX - WAYPOINT_EVERY - Limits.SLICE_EVENTS_MAX);
        }
        if (start > 0) {
            Scan scan = scanFrom(reader, cycle, start, indexed - UNFORCED_MAX);
            if (scan.totalsKnown) {
                return scan;
            }
        }
        return scanFrom(reader, cycle, 0, indexed - UNFORCED_MAX);
    }

    private static Scan scanFrom(ExcerptReader reader, int cycle, long start, long forced) {
        Scan scan = new Scan();
        scan.tail.cycle = cycle;
        scan.tail.count = start;
        scan.onlyWaypoints = start == 0;
        scanOn(scan, reader, forced);
        return scan;
    }

    /**
     * Reads on to the end, or to what isn't good. What lies below {@code forced} was forced: damage there isn't from a power loss, and
     * nothing behind it is in doubt; readers are told of the hole.
     */
    private static void scanOn(Scan scan, ExcerptReader reader, long forced) {
        Tail tail = scan.tail;
        while (true) {
            scan.stop = reader.read(tail.cycle, tail.count);
            if (scan.stop == Found.EXCERPT) {
                Excerpt excerpt = reader.excerpt();
                int order = excerpt.compareKey(tail.last);
                if (order < 0 || (order == 0 && excerpt.isEvent())) {
                    scan.stop = Found.DAMAGED;
                    return;
                }
                tail.read(excerpt, reader.end());
                scan.totalsKnown |= excerpt.isWaypoint();
                scan.onlyWaypoints &= excerpt.isWaypoint();
            } else {
                long next = scan.stop == Found.DAMAGED ? tail.count + 1 : reader.jump(tail.cycle, tail.count, forced);
                if (next < 0 || next > forced) {
                    return;
                }
                tail.count = next;
            }
        }
    }

    /**
     * Takes away what the newest file holds behind {@code to}, and all files above it: none of it was published.
     *
     * @return {@code to}; or, if files were taken away from outside, the same totals at the place where what is left ends
     */
    Tail cut(Tail to) {
        try {
            Disk.deleteTree(folder.path().resolve(FileRewrite.DIRECTORY));
            boolean removed = false;
            int[] cycles = folder.cycles();
            if (holdArchived(cycles, to)) {
                return goOnFromWhatIsLeft(to);
            }
            for (int cycle : cycles) {
                if (cycle > to.cycle) {
                    Files.delete(folder.file(cycle));
                    removed = true;
                }
            }
            if (removed) {
                disk.forceDirectory(folder.path());
            }
            if (to.cycle == RollFiles.NONE) {
                return to;
            }
            return Files.exists(folder.file(to.cycle)) && cutFile(to) ? to : goOnFromWhatIsLeft(to);
        } catch (IOException e) {
            throw Disk.failed("the archive in " + folder + " can't be repaired to " + to.last, e);
        }
    }

    /** Whether the file in which the archive ended once is there again, with its last excerpt. */
    boolean isBack(Tail end) {
        if (end.cycle == RollFiles.NONE || !Files.exists(folder.file(end.cycle))) {
            return false;
        }
        OpenQueue queue = OpenQueue.open(folder, end.cycle, blockBytes);
        try {
            ExcerptReader reader = queue.borrow();
            boolean there = reader.read(end.cycle, end.count - 1) == Found.EXCERPT
                    && reader.excerpt().compareKey(end.last) == 0;
            reader.close();
            return there;
        } finally {
            queue.release();
        }
    }

    /** Whether files above the end hold what was archived before it: they were away, with their disk perhaps, and are back. */
    private boolean holdArchived(int[] cycles, Tail to) {
        CheckedFiles files = new CheckedFiles(folder, blockBytes / 4);
        for (int cycle : cycles) {
            if (cycle > to.cycle) {
                CheckedFiles.Start start = files.start(cycle);
                if (start.isUsable() && start.eventsBefore() >= 0 && start.eventsBefore() < to.events) {
                    return true;
                }
            }
        }
        return false;
    }

    /** False if the file doesn't hold what it did. */
    private boolean cutFile(Tail to) throws IOException {
        OpenQueue queue = OpenQueue.open(folder, to.cycle, blockBytes);
        try {
            ExcerptReader reader = queue.borrow();
            boolean there = reader.read(to.cycle, to.count - 1) == Found.EXCERPT
                    && reader.excerpt().compareKey(to.last) == 0;
            if (there) {
                to.end = reader.end();
                if (reader.read(to.cycle, to.count) != Found.NOTHING || reader.count(to.cycle) != to.count) {
                    to.end = new FileRewrite(folder, blockBytes, disk).keep(reader, to.cycle, to, null);
                }
            }
            reader.close();
            return there;
        } finally {
            queue.release();
        }
    }

    /** W stays: what is gone becomes a hole that the waypoint, which is written next, tells of. */
    private Tail goOnFromWhatIsLeft(Tail to) {
        LOG.warn("{} isn't what was archived up to {}: files were removed or exchanged", folder, to.last);
        Tail left = run();
        if (left.last.equals(to.last) && left.events == to.events) {
            left.eventsLost = 0;
            return left;
        }
        if (left.last.isAfter(to.last)) {
            throw new ArchiveException(
                    ArchiveException.Kind.DAMAGED,
                    "files came back to " + folder + " that go up to " + left.last + ", above W, " + to.last
                            + "; a restart of the server finds out what is good");
        }
        Tail tail = to.copy();
        tail.cycle = left.cycle;
        tail.count = left.count;
        tail.end = left.end;
        tail.earlierBytes = left.earlierBytes;
        tail.eventsLost = to.eventsLost + to.events - left.events;
        tail.takeCounts(left.counts());
        tail.sinceWaypoint = WAYPOINT_EVERY;
        return tail;
    }
}
