package dev.tidemark.read;

import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import org.jspecify.annotations.Nullable;

/**
 * The range that a request asks for, as positions.
 *
 * @param after exclusive
 * @param through inclusive; {@link Position#MAX} for the tail
 * @param start what decides where the range starts
 */
record ReadRange(Position after, Position through, Start start) {
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
        Position cursor = parse("after", request.after(), generation);
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
            return new ReadRange(cursor, through, Start.CURSOR);
        }
        return time == null
                ? new ReadRange(Position.ZERO, through, Start.EARLIEST)
                : new ReadRange(time, through, Start.TIME);
    }

    private static @Nullable Position parse(String parameter, @Nullable String text, Generation generation) {
        return text == null ? null : Positions.parse(parameter, text, generation);
    }

    boolean isEmpty() {
        return through.compareTo(after) <= 0;
    }
}
