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

    private final int node;
    private long lastMs = EventId.EPOCH_MS - 1;
    private int lastSequence = SEQUENCES - 1;

    Mint(int node) {
        this.node = node;
    }

    /** The next id at a time of at least {@code clockMs}: the smallest above the last one. */
    Position next(long clockMs) {
        if (clockMs > lastMs) {
            lastMs = clockMs;
            lastSequence = 0;
        } else if (lastSequence + 1 < SEQUENCES) {
            lastSequence++;
        } else {
            lastMs++;
            lastSequence = 0;
        }
        return new Position(lastMs, ((long) node << EventId.SEQUENCE_BITS) | lastSequence);
    }

    /** Whether the next {@code count} ids at {@code clockMs} are all at a time below {@code limitMs}. */
    boolean staysBelow(long limitMs, long clockMs, int count) {
        long startMs = Math.max(clockMs, lastMs);
        return startMs + count / SEQUENCES + 1 < limitMs;
    }

    /** From now on ids are in a later millisecond than {@code position}: what may stand at or below it is somebody else's. */
    void startAfter(Position position) {
        if (position.ms() >= lastMs) {
            lastMs = position.ms();
            lastSequence = SEQUENCES - 1;
        }
    }

    /** Takes an imported id as the last one. It must be {@link #accepts accepted}. */
    void imported(Position id) {
        lastMs = id.ms();
        lastSequence = (int) (id.seq() & (SEQUENCES - 1));
    }

    /** Whether {@code id} could be given as the next one. An id of another node in the last millisecond can't: order would depend on it. */
    boolean accepts(Position id) {
        return id.isAfter(last()) && (id.ms() > lastMs || id.seq() >>> EventId.SEQUENCE_BITS == node);
    }

    /** The last id given out; below every possible one at first. */
    Position last() {
        return new Position(lastMs, ((long) node << EventId.SEQUENCE_BITS) | lastSequence);
    }
}
