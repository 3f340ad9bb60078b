package dev.tidemark.event;

/**
 * A place in a stream: Unix milliseconds and a sequence within them, ordered by both.
 *
 * <p>For an event that Tidemark minted it is the same information as its {@link EventId}: {@code ms} is the id's time and
 * {@code seq} the lower 22 bits (node and sequence) of its number. As a pair of longs it also holds any Redis entry id
 * below 2^63.
 *
 * @param ms Unix milliseconds, not negative
 * @param seq sequence within the millisecond, not negative
 */
public record Position(long ms, long seq) implements Comparable<Position> {
    /** Below every event. */
    public static final Position ZERO = new Position(0, 0);
    /** At or above every event. */
    public static final Position MAX = new Position(Long.MAX_VALUE, Long.MAX_VALUE);

    public Position {
        if (ms < 0 || seq < 0) {
            throw new IllegalArgumentException("a position has no negative parts: " + ms + "-" + seq);
        }
    }

    /** The highest position of the millisecond before {@code ms}: everything at or after {@code ms} is above it. */
    public static Position before(long ms) {
        return ms <= 0 ? ZERO : new Position(ms - 1, Long.MAX_VALUE);
    }

    /**
     * Parses a Redis entry id, {@code ms-seq}.
     *
     * @throws IllegalArgumentException if it isn't one
     */
    public static Position ofEntryId(String entryId) {
        int dash = entryId.indexOf('-');
        if (dash < 1) {
            throw new IllegalArgumentException("not an entry id (ms-seq): " + entryId);
        }
        return new Position(
                Long.parseLong(entryId, 0, dash, 10), Long.parseLong(entryId, dash + 1, entryId.length(), 10));
    }

    public static int compare(long leftMs, long leftSeq, long rightMs, long rightSeq) {
        int byMs = Long.compare(leftMs, rightMs);
        return byMs != 0 ? byMs : Long.compare(leftSeq, rightSeq);
    }

    @Override
    public int compareTo(Position other) {
        return compare(ms, seq, other.ms, other.seq);
    }

    public boolean isAfter(Position other) {
        return compareTo(other) > 0;
    }

    public boolean isBefore(Position other) {
        return compareTo(other) < 0;
    }

    /** The smallest position above this one. */
    public Position next() {
        return seq == Long.MAX_VALUE ? new Position(ms + 1, 0) : new Position(ms, seq + 1);
    }

    /** The greatest position below this one; {@link #ZERO} has none and stays. */
    public Position previous() {
        if (seq > 0) {
            return new Position(ms, seq - 1);
        }
        return before(ms);
    }

    public static Position max(Position left, Position right) {
        return left.compareTo(right) >= 0 ? left : right;
    }

    public static Position min(Position left, Position right) {
        return left.compareTo(right) <= 0 ? left : right;
    }

    /** As Redis writes it: {@code ms-seq}. */
    public String entryId() {
        return ms + "-" + seq;
    }

    @Override
    public String toString() {
        return entryId();
    }
}
