package dev.tidemark.keeper;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The newest arrivals of a stripe with an acceptance window, in the order of arrival, at one moment. Immutable; any thread.
 */
final class ArrivalsView {
    /** Shared with later views, which only add behind {@link #to}. */
    private final Chunk[] runs;

    private final int from;
    private final int to;
    private final @Nullable Chunk active;
    private final Position floor;
    private final Position droppedMax;
    private final Position last;

    /**
     * @param runs chunks in the order of arrival, at indexes {@code from} to {@code to - 1}, none empty
     * @param active what came since; null if that is nothing
     * @param floor entry id: what arrived above it is here
     * @param droppedMax highest event id of what arrived at or below the floor
     * @param last entry id of the newest arrival
     */
    ArrivalsView(
            Chunk[] runs,
            int from,
            int to,
            @Nullable Chunk active,
            Position floor,
            Position droppedMax,
            Position last) {
        this.runs = runs;
        this.from = from;
        this.to = to;
        this.active = active;
        this.floor = floor;
        this.droppedMax = droppedMax;
        this.last = last;
    }

    private int count() {
        return to - from + (active == null ? 0 : 1);
    }

    private Chunk run(int i) {
        return i < to - from || active == null ? runs[from + i] : active;
    }

    /** Whether all that arrived above {@code entry} with an id above {@code through} is here. */
    boolean covers(Position entry, Position through) {
        return entry.compareTo(floor) >= 0 || droppedMax.compareTo(through) <= 0;
    }

    Position last() {
        return last;
    }

    /** What arrived above {@code entry}, oldest first: at most {@code eventsMax}, ending behind the one that reaches {@code bytesMax} of JSON. */
    List<Slice> after(Position entry, int eventsMax, long bytesMax) {
        List<Slice> slices = new ArrayList<>();
        int wanted = eventsMax;
        long room = bytesMax;
        for (int r = firstRunAfter(entry); r < count() && wanted > 0 && room > 0; r++) {
            Chunk run = run(r);
            int start = run.firstArrivedAfter(entry);
            int end = start;
            while (end < run.count() && wanted > 0 && room > 0) {
                room -= run.jsonLength(end);
                wanted--;
                end++;
            }
            if (end > start) {
                slices.add(new Slice(run, start, end));
            }
        }
        return slices;
    }

    private int firstRunAfter(Position entry) {
        int low = 0;
        int high = count();
        while (low < high) {
            int middle = (low + high) >>> 1;
            Chunk run = run(middle);
            if (run.entry(run.count() - 1).isAfter(entry)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    /** Adds the events with an id above {@code position}, each as a slice of its own, in no order. */
    void addAbove(Position position, List<Slice> slices) {
        for (int r = firstRunAfter(position); r < count(); r++) {
            Chunk run = run(r);
            for (int i = 0; i < run.count(); i++) {
                if (Position.compare(run.ms(i), run.seq(i), position.ms(), position.seq()) > 0) {
                    slices.add(new Slice(run, i, i + 1));
                }
            }
        }
    }
}
