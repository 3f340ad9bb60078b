package dev.tidemark.read;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Sees by the ordinals that nothing is missing between the events that one reader is given in rising order: what memory and live
 * log should hold and don't is a gap, however it came about. The archive announces its own gaps. Where order isn't final on arrival,
 * ordinals don't rise with the ids: there it sees nothing, and keepers hold in memory whatever isn't archived.
 */
final class Continuity {
    /** The ordinal of the event at or before the reader's position has to be looked up. */
    private static final long UNKNOWN = -1;
    /** Whatever comes next is taken: what lies before it has been announced, or can't be known. */
    private static final long ANY = -2;

    private final BooleanSupplier ordinalsRise;
    private long last = UNKNOWN;
    private Position at;

    /** @param ordinalsRise whether they rise with the ids in what is read */
    Continuity(Position start, BooleanSupplier ordinalsRise) {
        at = start;
        this.ordinalsRise = ordinalsRise;
    }

    boolean isUnknown() {
        return last == UNKNOWN && ordinalsRise.getAsBoolean();
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
        return ordinalsRise.getAsBoolean() ? last : ANY;
    }

    /** What is missing before and within the next events, in order; nothing is changed. */
    List<Hole> holes(List<Slice> slices) {
        List<Hole> holes = List.of();
        if (!ordinalsRise.getAsBoolean()) {
            return holes;
        }
        Position position = at;
        long ordinal = last;
        for (Slice slice : slices) {
            Chunk chunk = slice.chunk();
            int end = slice.to() - 1;
            boolean whole = chunk.ordinal(end) - chunk.ordinal(slice.from()) == end - slice.from();
            int checked = whole ? slice.from() + 1 : slice.to();
            for (int i = slice.from(); i < checked; i++) {
                if (ordinal >= 0 && !Neighbour.follows(ordinal, chunk, i)) {
                    holes = plus(holes, new Hole(position, ordinal, Neighbour.of(chunk, i)));
                }
                position = chunk.position(i);
                ordinal = chunk.ordinal(i);
            }
            position = slice.last();
            ordinal = chunk.ordinal(end);
        }
        return holes;
    }

    /** The next events are taken as given. */
    void take(List<Slice> slices) {
        Slice slice = slices.get(slices.size() - 1);
        isAt(slice.last(), slice.chunk().ordinal(slice.to() - 1));
    }

    /** Whether something is missing before what comes next. */
    boolean isBroken(Neighbour next) {
        return last >= 0 && ordinalsRise.getAsBoolean() && !next.follows(last);
    }

    /** What is missing before what comes next, if {@link #isBroken}. */
    Hole hole(Neighbour next) {
        return new Hole(at, last, next);
    }

    private static List<Hole> plus(List<Hole> holes, Hole hole) {
        List<Hole> more = new ArrayList<>(holes);
        more.add(hole);
        return more;
    }
}
