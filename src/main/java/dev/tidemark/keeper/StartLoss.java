package dev.tidemark.keeper;

import dev.tidemark.event.Event;
import dev.tidemark.event.EventExtras;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;

/**
 * What a start found missing of a stripe whose order isn't final on arrival: it was acknowledged, and is neither archived nor in the live
 * log. Nothing that comes later lies at or below it.
 *
 * @param from it lies above this position: W at the start
 * @param through and at or below this one
 * @param lastOrdinal ordinals up to it belong to what came before the start
 */
public record StartLoss(Position from, Position through, long lastOrdinal) {
    /** What two stripes miss of their stream. */
    StartLoss and(StartLoss other) {
        return new StartLoss(
                Position.min(from, other.from),
                Position.max(through, other.through),
                Math.max(lastOrdinal, other.lastOrdinal));
    }

    /**
     * Up to where something below the newest ordinal may be missing; {@link Position#ZERO} if nothing is.
     *
     * @param archived what the archive says of the stripe
     * @param found the entries above W
     * @param lastPossible no earlier process has given an id above it
     */
    static Position below(ArchivedState.Archived archived, Collection<Event> found, Position lastPossible) {
        TreeSet<Long> there = new TreeSet<>();
        List<OrdinalRange> voided = new ArrayList<>();
        Position lastEntry = archived.watermark();
        for (Event event : found) {
            there.add(event.ordinal());
            lastEntry = Position.max(lastEntry, event.entry());
            EventExtras extras = event.extras();
            if (extras != null) {
                voided.addAll(extras.voided());
            }
        }
        for (OrdinalRange open : archived.open()) {
            for (long ordinal = open.first(); ordinal <= open.last(); ordinal++) {
                if (!isKnown(ordinal, there, voided)) {
                    return lastPossible;
                }
            }
        }
        long next = archived.lastOrdinal() + 1;
        for (long ordinal : there.tailSet(next)) {
            for (; next < ordinal; next++) {
                if (!isKnown(next, there, voided)) {
                    return lastEntry;
                }
            }
            next = ordinal + 1;
        }
        return Position.ZERO;
    }

    private static boolean isKnown(long ordinal, TreeSet<Long> there, List<OrdinalRange> voided) {
        return there.contains(ordinal)
                || voided.stream().anyMatch(range -> range.first() <= ordinal && ordinal <= range.last());
    }
}
