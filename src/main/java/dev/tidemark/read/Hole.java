package dev.tidemark.read;

import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;

/**
 * Ordinals that are missing between two events: lost, or of refused appends that something else accounts for.
 *
 * @param at position of the older event, or where the reader stands
 * @param ordinal of the older event
 * @param next the newer event
 */
record Hole(Position at, long ordinal, Neighbour next) {
    /** What a reader is told of it. */
    Gap gap() {
        return new Gap(at, Positions.below(next.position()), Gap.Reason.LOST);
    }
}
