package dev.tidemark.keeper;

import dev.tidemark.event.Event;
import dev.tidemark.event.Position;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * What became of the appends whose outcome was open. Nothing can change any more below the fence: what Redis holds there decides. Pure.
 *
 * @param stored Redis has them, in order
 * @param notStored Redis certainly hasn't and won't, in order
 */
record OpenOutcomes(List<PendingAppend> stored, List<PendingAppend> notStored) {
    /**
     * @param open in the order in which they were sent
     * @param found the keeper's entries above the last acknowledged one
     */
    static OpenOutcomes of(List<PendingAppend> open, List<Event> found) {
        Deque<Event> rest = new ArrayDeque<>(found);
        List<PendingAppend> stored = new ArrayList<>();
        List<PendingAppend> notStored = new ArrayList<>();
        for (PendingAppend append : open) {
            dropBelow(rest, append.firstEntry());
            // It was stored as a whole; others may have removed some of it since.
            if (takeThrough(rest, append.lastEntry())) {
                stored.add(append);
            } else {
                notStored.add(append);
            }
        }
        return new OpenOutcomes(stored, notStored);
    }

    /** Drops what lies at or below a position; whether there was something. */
    private static boolean takeThrough(Deque<Event> rest, Position last) {
        boolean any = false;
        for (Event first = rest.peek(); first != null && !first.entry().isAfter(last); first = rest.peek()) {
            rest.remove();
            any = true;
        }
        return any;
    }

    private static void dropBelow(Deque<Event> rest, Position entry) {
        while (!rest.isEmpty() && rest.element().entry().isBefore(entry)) {
            rest.remove();
        }
    }
}
