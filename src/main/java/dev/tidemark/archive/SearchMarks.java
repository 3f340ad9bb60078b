package dev.tidemark.archive;

import dev.tidemark.event.Position;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Keys at the places that most searches come by, so that the next search needn't map those parts of the file again: mapping and
 * unmapping costs more than all else. What is below W never changes as long as a queue is open. Any thread; a mark that is forgotten, for
 * another one that came to its slot, costs a read.
 */
final class SearchMarks {
    private static final int SLOTS = 4_096;
    /** A file is divided in at most so many parts, of at least {@link #PART_MIN} excerpts. */
    private static final int PARTS_MAX = 2_048;

    private static final long PART_MIN = 4_096;

    private record Mark(int cycle, long number, Position key) {}

    private final AtomicReferenceArray<Mark> marks = new AtomicReferenceArray<>(SLOTS);

    /** Whether searches in a file of {@code count} excerpts come by {@code number} often. */
    static boolean isMark(long number, long count) {
        long part = Math.max(PART_MIN, Long.highestOneBit(count) / (PARTS_MAX / 2));
        return (number & (part - 1)) == 0;
    }

    void remember(int cycle, long number, Position key) {
        marks.set(slotOf(cycle, number), new Mark(cycle, number, key));
    }

    /** The key of an excerpt, or null if it isn't remembered. */
    @Nullable
    Position find(int cycle, long number) {
        Mark mark = marks.get(slotOf(cycle, number));
        return mark != null && mark.number == number && mark.cycle == cycle ? mark.key : null;
    }

    private static int slotOf(int cycle, long number) {
        int hash = Long.hashCode((number + 1) * 0x9e3779b97f4a7c15L + cycle * 0xbf58476d1ce4e5b9L);
        return (hash ^ (hash >>> 15)) & (SLOTS - 1);
    }
}
