package dev.tidemark.archive;

import dev.tidemark.event.Position;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The roll files of an archive and what was learned of them by reading. Any thread. It is replaced when a file comes, goes or is
 * written anew.
 */
final class Layout {
    static final Layout EMPTY = new Layout(new int[0]);

    private final int[] cycles;
    private final Map<Integer, Head> heads = new ConcurrentHashMap<>();
    private final Map<Integer, Long> counts = new ConcurrentHashMap<>();

    /** The start of a file: what was archived before it; unknown if it can't be read. */
    private record Head(@Nullable Position last) {}

    /** @param cycles rising; not changed after this */
    Layout(int[] cycles) {
        this.cycles = cycles;
    }

    private Layout(int[] cycles, Layout known) {
        this(cycles);
        heads.putAll(known.heads);
        counts.putAll(known.counts);
    }

    int count() {
        return cycles.length;
    }

    int cycle(int i) {
        return cycles[i];
    }

    /** The highest, or {@link RollFiles#NONE}. */
    int newest() {
        return cycles.length == 0 ? RollFiles.NONE : cycles[cycles.length - 1];
    }

    /** Index of the file with that cycle, or of the first above it. */
    int indexOf(int cycle) {
        int at = Arrays.binarySearch(cycles, cycle);
        return at >= 0 ? at : -at - 1;
    }

    /** The same files and {@code cycle}, which is above them. */
    Layout with(int cycle) {
        if (newest() >= cycle) {
            return this;
        }
        int[] more = Arrays.copyOf(cycles, cycles.length + 1);
        more[cycles.length] = cycle;
        Layout layout = new Layout(more, this);
        layout.counts.remove(newest());
        return layout;
    }

    /** These files without what was learned of them. */
    static Layout of(int[] cycles) {
        return new Layout(cycles);
    }

    /** The id of the last event before the file; null if that can't be read. */
    @Nullable
    Position head(int cycle, ExcerptReader reader) {
        return heads.computeIfAbsent(cycle, c -> new Head(readHead(c, reader))).last;
    }

    private static @Nullable Position readHead(int cycle, ExcerptReader reader) {
        boolean there = reader.read(cycle, 0) == ExcerptReader.Found.EXCERPT;
        return there && reader.excerpt().isWaypoint() ? reader.excerpt().key() : null;
    }

    /** Excerpts in a file that is no longer written. */
    long count(int cycle, ExcerptReader reader) {
        return counts.computeIfAbsent(cycle, reader::count);
    }
}
