package dev.tidemark.read;

import dev.tidemark.event.Cursor;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The range that a request asks for, as positions.
 *
 * @param after exclusive
 * @param floors what the reader was given before it, in the order of arrival
 * @param through inclusive; {@link Position#MAX} for the tail
 * @param start what decides where the range starts
 */
record ReadRange(Position after, Floors floors, Position through, Start start) {
    /** What a range starts at. */
    enum Start {
        /** Wherever the stream starts. */
        EARLIEST,
        /** A position that a reader has reached. */
        CURSOR,
        /** A time. */
        TIME
    }

    /**
     * Reads a request.
     *
     * @throws Problem bad request naming the parameter, or generation changed
     */
    static ReadRange of(ReadRequest request, Generation generation) {
        if (request.limit() < 0) {
            throw Problem.badParameter("limit", "limit is " + request.limit() + "; allowed is 0 and above");
        }
        String after = request.after();
        Cursor given = after == null ? null : Positions.cursor("after", after, generation);
        Position cursor = given == null ? null : given.position();
        Position before = parse("before", request.before(), generation);
        if (cursor != null && before != null && cursor.isAfter(before)) {
            throw Problem.badParameter("before", "the range is inverted: 'before' lies below 'after'");
        }
        Long fromMs = request.fromMs();
        Long toMs = request.toMs();
        if (fromMs != null && toMs != null && fromMs > toMs) {
            throw Problem.badParameter("to", "the range is inverted: 'to' is " + toMs + ", before 'from', " + fromMs);
        }
        Position time = fromMs == null ? null : Position.before(fromMs);
        Position through = Position.min(
                before == null ? Position.MAX : before.previous(), toMs == null ? Position.MAX : Position.before(toMs));
        if (cursor != null && (time == null || cursor.compareTo(time) >= 0)) {
            return new ReadRange(cursor, Floors.of(given == null ? List.of() : given.floors()), through, Start.CURSOR);
        }
        return time == null
                ? new ReadRange(Position.ZERO, Floors.NONE, through, Start.EARLIEST)
                : new ReadRange(time, Floors.NONE, through, Start.TIME);
    }

    private static @Nullable Position parse(String parameter, @Nullable String text, Generation generation) {
        return text == null ? null : Positions.parse(parameter, text, generation);
    }

    boolean isEmpty() {
        return through.compareTo(after) <= 0;
    }
}
