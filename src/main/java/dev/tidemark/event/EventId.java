package dev.tidemark.event;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The branded id of an event: {@code EVT} and eleven base62 digits of a 63-bit number.
 *
 * <pre>
 *   62            22 21      12 11        0
 *  +----------------+----------+-----------+
 *  | ms since 2024  |   node   | sequence  |
 *  +----------------+----------+-----------+
 *       41 bits        10 bits    12 bits
 * </pre>
 *
 * The text sorts as the numbers do, and the numbers are THE order of a stream. The entry id in Redis of the same number
 * is {@code <unix ms>-<number & 0x3FFFFF>}; {@link #position()} is that pair.
 *
 * @param number 0 to 2^63 - 1
 */
public record EventId(long number) implements Comparable<EventId> {
    public static final String PREFIX = "EVT";
    /** Length of the text in ASCII bytes. */
    public static final int LENGTH = PREFIX.length() + Base62.DIGITS;
    /** 2024-01-01T00:00:00Z in Unix milliseconds: the first time an id can have. */
    public static final long EPOCH_MS = 1_704_067_200_000L;
    /** The last time an id can have, Unix milliseconds (in the year 2093). */
    public static final long LAST_MS = EPOCH_MS + (1L << 41) - 1;

    public static final int SEQUENCE_BITS = 12;
    public static final int NODE_BITS = 10;
    /** Node and sequence together: the {@code seq} of the entry id. */
    public static final int LOW_BITS = SEQUENCE_BITS + NODE_BITS;

    public static final long LOW_MASK = (1L << LOW_BITS) - 1;

    public EventId {
        if (number < 0) {
            throw new IllegalArgumentException("an event id's number is not negative: " + number);
        }
    }

    /** Whether {@code position} can be written as an event id. */
    public static boolean fits(Position position) {
        return position.ms() >= EPOCH_MS && position.ms() <= LAST_MS && position.seq() <= LOW_MASK;
    }

    /**
     * The id at a position.
     *
     * @throws IllegalArgumentException if the position is outside the range of ids
     */
    public static EventId of(Position position) {
        if (!fits(position)) {
            throw new IllegalArgumentException("no event id can stand at " + position);
        }
        return new EventId(number(position.ms(), position.seq()));
    }

    static long number(long ms, long seq) {
        return ((ms - EPOCH_MS) << LOW_BITS) | seq;
    }

    /** The id that {@code text} is, or null if it is none: prefix, length, alphabet and range are checked. */
    public static @Nullable EventId parseOrNull(CharSequence text) {
        return parseOrNull(text, PREFIX);
    }

    /** As {@link #parseOrNull(CharSequence)} under another three-letter brand. */
    static @Nullable EventId parseOrNull(CharSequence text, String prefix) {
        if (text.length() != prefix.length() + Base62.DIGITS
                || !prefix.contentEquals(text.subSequence(0, prefix.length()))) {
            return null;
        }
        long number = Base62.parse(text, prefix.length());
        return number < 0 ? null : new EventId(number);
    }

    /**
     * Parses the text of an id.
     *
     * @throws Problem {@link Problem.Kind#BAD_REQUEST} naming what an id looks like
     */
    public static EventId parse(CharSequence text) {
        EventId id = parseOrNull(text);
        if (id == null) {
            throw Problem.badRequest("not an event id: '" + Problem.quote(text) + "'; allowed is " + PREFIX
                    + " and 11 digits of 0-9A-Za-z, at most AzL8n0Y58m7");
        }
        return id;
    }

    /** The time in the id, Unix milliseconds. */
    public long ms() {
        return EPOCH_MS + (number >>> LOW_BITS);
    }

    /** The stripe that minted it. */
    public int node() {
        return (int) ((number >>> SEQUENCE_BITS) & ((1 << NODE_BITS) - 1));
    }

    public Position position() {
        return new Position(ms(), number & LOW_MASK);
    }

    /** Writes the {@link #LENGTH} bytes of the id at a position. */
    static void write(long ms, long seq, byte[] target, int at) {
        target[at] = 'E';
        target[at + 1] = 'V';
        target[at + 2] = 'T';
        Base62.write(number(ms, seq), target, at + 3);
    }

    @Override
    public int compareTo(EventId other) {
        return Long.compare(number, other.number);
    }

    @Override
    public String toString() {
        return toString(PREFIX);
    }

    String toString(String prefix) {
        byte[] digits = new byte[Base62.DIGITS];
        Base62.write(number, digits, 0);
        return prefix + new String(digits, StandardCharsets.US_ASCII);
    }
}
