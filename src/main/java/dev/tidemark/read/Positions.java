package dev.tidemark.read;

import dev.tidemark.event.Cursor;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;

/** Positions as readers write and see them. */
final class Positions {
    private Positions() {}

    /**
     * The position that a cursor or a bare event id stands for.
     *
     * @param parameter what it was given as, for the problem
     * @throws Problem bad request naming the parameter, or generation changed
     */
    static Position parse(String parameter, String text, Generation generation) {
        return cursor(parameter, text, generation).position();
    }

    /** As {@link #parse}, with the arrival floors that the cursor may have. */
    static Cursor cursor(String parameter, String text, Generation generation) {
        Cursor cursor = Cursor.parseOrNull(text);
        if (cursor != null) {
            if (!cursor.generation().equals(generation)) {
                throw new Problem(
                                Problem.Kind.GENERATION_CHANGED,
                                "the cursor in '" + parameter + "' is of generation " + cursor.generation()
                                        + "; the stream was deleted and made anew and is now " + generation)
                        .with("parameter", parameter)
                        .with("generation", generation.toString());
            }
            return cursor;
        }
        EventId id = EventId.parseOrNull(text);
        if (id == null) {
            throw Problem.badParameter(
                    parameter,
                    "not a position: '" + Problem.quote(text) + "'; allowed is a cursor that this server gave, or "
                            + EventId.PREFIX + " and 11 digits of 0-9A-Za-z");
        }
        return new Cursor(generation, id.position());
    }

    /** The greatest position below {@code position} that a cursor can carry: no event lies between the two. */
    static Position below(Position position) {
        if (position.seq() == 0 && position.ms() > 0) {
            return new Position(position.ms() - 1, EventId.LOW_MASK);
        }
        return position.previous();
    }

    /** Whether {@code position} lies below {@code other} with room for an event between them. */
    static boolean isFarBelow(Position position, Position other) {
        return position.isBefore(below(other));
    }

    /** As answers show it. */
    static String text(Position position) {
        return EventId.fits(position) ? EventId.of(position).toString() : position.entryId();
    }
}
