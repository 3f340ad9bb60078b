package dev.tidemark.read;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import java.util.ArrayList;
import java.util.List;

/**
 * Sees by the ordinals that nothing is missing between the events that one reader is given in rising order: what memory and live
 * log should hold and don't is a gap, however it came about. The archive announces its own gaps. One stripe without acceptance
 * window, where ordinals rise with the ids.
 */
final class Continuity {
    /** The ordinal of the event at or before the reader's position has to be looked up. */
    private static final long UNKNOWN = -1;
    /** Whatever comes next is taken: what lies before it has been announced, or can't be known. */
    private static final long ANY = -2;

    private long last = UNKNOWN;
    private Position at;

    Continuity(Position start) {
        at = start;
    }

    boolean isUnknown() {
        return last == UNKNOWN;
    }

    /** Everything up to {@code position} has been given; the event at or before it has this ordinal. */
    void isAt(Position position, long ordinal) {
        at = position;
        last = ordinal;
    }

    /** Everything up to {@code position} has been given or announced. */
    void isAt(Position position) {
        at = position;
        last = ANY;
    }

    /** The ordinal of the last event given or known; 0 at the start of a stream; negative if it isn't known. */
    long last() {
        return last;
    }

    /** The gaps before and within the next events, which are taken as given. */
    List<Gap> take(List<Slice> slices) {
        List<Gap> gaps = List.of();
        for (Slice slice : slices) {
            if (slice.isEmpty()) {
                continue;
            }
            Chunk chunk = slice.chunk();
            int end = slice.to() - 1;
            boolean whole = chunk.ordinal(end) - chunk.ordinal(slice.from()) == end - slice.from();
            int checked = whole ? slice.from() + 1 : slice.to();
            for (int i = slice.from(); i < checked; i++) {
                if (last >= 0 && Neighbour.missing(last, chunk, i) > 0) {
                    gaps = plus(gaps, new Gap(at, Positions.below(chunk.position(i)), Gap.Reason.LOST));
                }
                isAt(chunk.position(i), chunk.ordinal(i));
            }
            isAt(slice.last(), chunk.ordinal(end));
        }
        return gaps;
    }

    /**
     * The gap before what comes next, if there is one, as far as the reader is concerned with it.
     *
     * @param through the reader's bound
     */
    List<Gap> before(Neighbour next, Position through) {
        if (last < 0 || next.missingAfter(last) == 0) {
            return List.of();
        }
        Position to = Position.min(Positions.below(next.position()), through);
        return to.isAfter(at) ? List.of(new Gap(at, to, Gap.Reason.LOST)) : List.of();
    }

    private static List<Gap> plus(List<Gap> gaps, Gap gap) {
        List<Gap> more = new ArrayList<>(gaps);
        more.add(gap);
        return more;
    }
}
