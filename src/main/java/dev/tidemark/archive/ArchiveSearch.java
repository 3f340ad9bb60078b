package dev.tidemark.archive;

import dev.tidemark.archive.ExcerptReader.Found;
import dev.tidemark.event.Position;

/** Finds places by position: the file by its head, then by binary search inside it. */
final class ArchiveSearch {
    private static final int SPACING = 256;
    /** Places of a hole that are tried one by one. */
    private static final int HOLE_STEPS_MAX = 1_024;

    private final Lease lease;
    private final ExcerptReader reader;

    ArchiveSearch(Lease lease) {
        this.lease = lease;
        reader = lease.reader();
    }

    /**
     * Where a walk has to start that wants everything above {@code after}: behind the last good event at or below it. What lies
     * between, holes and missing ordinals, belongs to what follows.
     */
    Slot startAfter(Position after) {
        Slot hint = lease.hints().find(after);
        if (hint != null) {
            return hint;
        }
        Slot above = firstAbove(after);
        int file = lease.fileOf(above.cycle());
        return beforeHoles(file, above.index());
    }

    /** The first place whose key is above {@code after}, or that can't be read and lies before one; or the end of the file before. */
    Slot firstAbove(Position after) {
        int file = fileFor(after);
        int cycle = lease.cycle(file);
        long count = lease.count(file);
        long low = 0;
        long high = count;
        while (low < high) {
            long middle = roundest(low, high);
            boolean isMark = SearchMarks.isMark(middle, count);
            long probe = middle;
            Position key = isMark ? lease.marks().find(cycle, middle) : null;
            if (key == null) {
                probe = readable(cycle, middle, high, after);
                key = probe < 0 ? null : reader.excerpt().key();
                if (key != null && isMark && probe == middle) {
                    lease.marks().remember(cycle, middle, key);
                }
            }
            if (key != null && key.compareTo(after) <= 0) {
                low = probe + 1;
            } else {
                high = middle;
            }
        }
        return new Slot(cycle, low);
    }

    /**
     * The first number from {@code start}, below {@code high}, that can be read, and reads it; or, behind a long hole, any one whose key is
     * at or below {@code after}. Negative if there is none.
     */
    private long readable(int cycle, long start, long high, Position after) {
        long near = firstReadable(cycle, start, Math.min(high, start + SPACING + 1));
        if (near >= 0) {
            return near;
        }
        long behind = reader.jump(cycle, start + SPACING, high);
        if (behind >= 0 && reader.excerpt().compareKey(after) <= 0) {
            return behind;
        }
        // The jump may have passed over some that can be read.
        long end = behind < 0 ? high : behind;
        return firstReadable(cycle, start + SPACING + 1, Math.min(end, start + HOLE_STEPS_MAX));
    }

    private long firstReadable(int cycle, long start, long end) {
        for (long at = start; at < end; at++) {
            if (reader.read(cycle, at) == Found.EXCERPT) {
                return at;
            }
        }
        return -1;
    }

    /**
     * The number from {@code low}, below {@code high}, that ends in the most zero bits. It halves a range at the powers of two: no more
     * steps than in the middle, but all searches come by the same places, however the file grows, and most of them are in the library's
     * index, so that nothing is read to get there.
     */
    static long roundest(long low, long high) {
        long last = high - 1;
        return low == last ? low : last & -Long.highestOneBit(low ^ last);
    }

    /** The last readable file that nothing at or below {@code after} lies before; the first one if there is none. */
    private int fileFor(Position after) {
        int low = 0;
        int high = lease.files() - 1;
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            int known = middle;
            while (known > low && lease.head(known) == null) {
                known--;
            }
            if (known == low) {
                known = middle + 1;
                while (known <= high && lease.head(known) == null) {
                    known++;
                }
                if (known > high) {
                    return low;
                }
            }
            Position head = lease.head(known);
            if (head != null && head.compareTo(after) <= 0) {
                low = known;
            } else {
                high = Math.min(middle, known) - 1;
            }
        }
        return low;
    }

    private Slot beforeHoles(int file, long start) {
        int cycle = lease.cycle(file);
        long at = start;
        long step = SPACING;
        while (at > 0) {
            Found found = reader.read(cycle, at - 1);
            if (found == Found.EXCERPT && reader.excerpt().isEvent()) {
                return new Slot(cycle, at);
            }
            if (found == Found.EXCERPT) {
                at--;
            } else {
                // Through a hole by the file's index, and faster and faster: single steps could be many.
                at = Math.max(0, at - step) / SPACING * SPACING;
                step *= 2;
            }
        }
        return file > 0 ? beforeMissing(file) : new Slot(cycle, 0);
    }

    /** Missing ordinals at the end of the file before, also with a checkpoint behind them, are about what starts here. */
    private Slot beforeMissing(int file) {
        int cycle = lease.cycle(file - 1);
        long count = lease.count(file - 1);
        long at = count;
        while (at > 0
                && reader.read(cycle, at - 1) == Found.EXCERPT
                && (reader.excerpt().isMissing() || reader.excerpt().isProducers())) {
            at--;
        }
        return at == count ? new Slot(lease.cycle(file), 0) : new Slot(cycle, at);
    }
}
