package dev.tidemark.keeper;

import dev.tidemark.event.EventId;
import dev.tidemark.event.Position;

/**
 * Gives out the ids of one stripe: rising, each once. A cell (millisecond, sequence) with a fixed node; the sequence carries into the
 * millisecond, never into the node, so a burst borrows from the next millisecond, and a clock that steps back neither stops it nor
 * makes it repeat. Owned by the stripe's keeper.
 */
final class Mint {
    private static final int SEQUENCES = 1 << EventId.SEQUENCE_BITS;
    /** The last one of a millisecond is for fences: so a key tells a fence from an entry that is gone. */
    private static final int FENCE = SEQUENCES - 1;

    private final int node;
    private long cellMs = EventId.EPOCH_MS - 1;
    private int cellSequence = FENCE;
    private Position last = Position.ZERO;

    Mint(int node) {
        this.node = node;
    }

    /** The next id at a time of at least {@code clockMs}: the smallest above the last one. */
    Position next(long clockMs) {
        if (clockMs > cellMs) {
            cellMs = clockMs;
            cellSequence = 0;
        } else if (cellSequence + 1 < FENCE) {
            cellSequence++;
        } else {
            cellMs++;
            cellSequence = 0;
        }
        return at();
    }

    /** A position above all ids given out, at a time of at least {@code atLeastMs}, that no entry ever has. */
    Position fence(long atLeastMs) {
        if (atLeastMs > cellMs) {
            cellMs = atLeastMs;
        } else if (cellSequence == FENCE) {
            cellMs++;
        }
        cellSequence = FENCE;
        return at();
    }

    /** Whether a position is one of {@link #fence}, of whatever stripe. */
    static boolean isFence(Position position) {
        return position.seq() <= EventId.LOW_MASK && (position.seq() & FENCE) == FENCE;
    }

    private Position at() {
        last = new Position(cellMs, ((long) node << EventId.SEQUENCE_BITS) | cellSequence);
        return last;
    }

    /** Whether the next {@code count} ids at {@code clockMs} are all at a time below {@code limitMs}. */
    boolean staysBelow(long limitMs, long clockMs, int count) {
        long startMs = Math.max(clockMs, cellMs);
        return startMs + count / FENCE + 1 < limitMs;
    }

    /** From now on ids are in a later millisecond than {@code position}: what may stand at or below it is somebody else's. */
    void startAfter(Position position) {
        last = Position.max(last, position);
        if (position.ms() >= cellMs) {
            cellMs = position.ms();
            cellSequence = FENCE;
        }
    }

    /** Takes an imported id, which must be above {@link #last}, as the last one. */
    void imported(Position id) {
        last = id;
        boolean ours = id.seq() >>> EventId.SEQUENCE_BITS == node;
        cellMs = id.ms();
        cellSequence = ours ? (int) (id.seq() & FENCE) : FENCE;
    }

    /** The last id given out, imported or passed over; {@link Position#ZERO} at first. */
    Position last() {
        return last;
    }
}
