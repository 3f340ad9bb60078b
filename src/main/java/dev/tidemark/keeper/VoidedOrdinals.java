package dev.tidemark.keeper;

import dev.tidemark.event.OrdinalRange;
import java.util.ArrayList;
import java.util.List;

/**
 * Ordinals that refused appends had, so that nobody takes them for a loss. Those at the end are simply given again; others are
 * written with the next append. Owned by the stripe's keeper.
 */
final class VoidedOrdinals {
    private final List<OrdinalRange> unwritten = new ArrayList<>();
    private final List<OrdinalRange> written = new ArrayList<>();
    private long archivedCount;

    void add(OrdinalRange range) {
        unwritten.add(range);
    }

    /** With nothing in flight: takes back the ranges that end right below {@code next}; returns the ordinal to give next. */
    long takeBack(long next) {
        long first = next;
        boolean found = true;
        while (found) {
            found = false;
            for (OrdinalRange range : List.copyOf(unwritten)) {
                if (range.last() == first - 1) {
                    first = range.first();
                    unwritten.remove(range);
                    found = true;
                }
            }
        }
        return first;
    }

    /** What the next append is to carry; it is on its way from now on. */
    List<OrdinalRange> takeUnwritten() {
        if (unwritten.isEmpty()) {
            return List.of();
        }
        List<OrdinalRange> taken = List.copyOf(unwritten);
        written.addAll(taken);
        unwritten.clear();
        return taken;
    }

    /** What an append carried that wasn't stored itself: to be carried by the next one, unless the archive accounts for it already. */
    void giveBack(List<OrdinalRange> taken) {
        for (OrdinalRange range : taken) {
            if (written.remove(range)) {
                unwritten.add(range);
            }
        }
    }

    /** Ordinals from {@code next} on will be given, again or for the first time. */
    void givenFrom(long next) {
        unwritten.removeIf(range -> range.first() >= next);
    }

    /** All that the archive doesn't account for yet, written or not. */
    List<OrdinalRange> all() {
        List<OrdinalRange> all = new ArrayList<>(written);
        all.addAll(unwritten);
        return all;
    }

    /** Forgets those at or below {@code ordinal}: the archive accounts for them. */
    void archived(long ordinal) {
        written.removeIf(range -> {
            boolean accounted = range.last() <= ordinal;
            archivedCount += accounted ? range.count() : 0;
            return accounted;
        });
    }

    /** How many have been forgotten so. */
    long archivedCount() {
        return archivedCount;
    }
}
