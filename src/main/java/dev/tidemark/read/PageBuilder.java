package dev.tidemark.read;

import dev.tidemark.event.Gap;
import dev.tidemark.event.Slice;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A page that is being filled, from one place after the other. */
final class PageBuilder {
    private final List<Slice> events = new ArrayList<>();
    private final List<Gap> gaps = new ArrayList<>();
    private int eventsRoom;
    private long bytesRoom;

    /**
     * @param eventsMax at most so many events
     * @param bytesMax full behind the event that reaches so many bytes of JSON
     */
    PageBuilder(int eventsMax, long bytesMax) {
        eventsRoom = eventsMax;
        bytesRoom = bytesMax;
    }

    boolean isEmpty() {
        return events.isEmpty() && gaps.isEmpty();
    }

    boolean isFull() {
        return eventsRoom <= 0 || bytesRoom <= 0;
    }

    int eventsRoom() {
        return eventsRoom;
    }

    long bytesRoom() {
        return bytesRoom;
    }

    /** Slices in reading order. */
    void add(Slice slice) {
        if (!slice.isEmpty()) {
            events.add(slice);
            eventsRoom -= slice.count();
            bytesRoom -= slice.jsonBytes();
        }
    }

    void addAll(List<Slice> slices) {
        slices.forEach(this::add);
    }

    /** The slices of a descending page's next part, which are in rising order. */
    void addReversed(List<Slice> slices) {
        for (int i = slices.size() - 1; i >= 0; i--) {
            add(slices.get(i));
        }
    }

    void announce(List<Gap> more) {
        gaps.addAll(more);
    }

    void announce(Gap gap) {
        gaps.add(gap);
    }

    MergePage rising(MergePage.End end) {
        return new MergePage(events, gaps, end, end != MergePage.End.AWAY);
    }

    /** The page of a descending read: its slices were added newest first. */
    MergePage falling(MergePage.End end, boolean complete) {
        Collections.reverse(events);
        return new MergePage(events, gaps, end, complete && end != MergePage.End.AWAY);
    }
}
