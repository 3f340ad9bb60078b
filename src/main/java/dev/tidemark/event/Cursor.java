package dev.tidemark.event;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * An opaque position token: where a reader is in one generation of a stream. Resuming after it is exclusive.
 *
 * <pre>
 *  text   1 GGGGGGGGGGG PPPPPPPPPPP       23 ASCII characters, safe in a URL
 *         |      |           `-- event id's number, base62
 *         |      `-- generation, base62
 *         `-- form of the token: 1 = final order
 * </pre>
 *
 * The start of a stream ({@link Position#ZERO}) is written as number 0.
 *
 * @param generation the incarnation that it belongs to
 * @param position everything at or below it has been given
 */
public record Cursor(Generation generation, Position position) {
    /** Length of the text in ASCII bytes. */
    public static final int LENGTH = 1 + 2 * Base62.DIGITS;

    private static final char FORM_FINAL = '1';

    /** The cursor that {@code text} is, or null if it is none. */
    public static @Nullable Cursor parseOrNull(CharSequence text) {
        if (text.length() != LENGTH || text.charAt(0) != FORM_FINAL) {
            return null;
        }
        long generation = Base62.parse(text, 1);
        long number = Base62.parse(text, 1 + Base62.DIGITS);
        if (generation <= 0 || number < 0) {
            return null;
        }
        return new Cursor(new Generation(generation), number == 0 ? Position.ZERO : new EventId(number).position());
    }

    /** Writes the {@link #LENGTH} bytes of a cursor. */
    static void write(Generation generation, long ms, long seq, byte[] target, int at) {
        target[at] = FORM_FINAL;
        Base62.write(generation.number(), target, at + 1);
        Base62.write(clampedNumber(ms, seq), target, at + 1 + Base62.DIGITS);
    }

    private static long clampedNumber(long ms, long seq) {
        if (ms < EventId.EPOCH_MS) {
            return 0;
        }
        if (ms > EventId.LAST_MS) {
            return Long.MAX_VALUE;
        }
        return EventId.number(ms, Math.min(seq, EventId.LOW_MASK));
    }

    @Override
    public String toString() {
        byte[] text = new byte[LENGTH];
        write(generation, position.ms(), position.seq(), text, 0);
        return new String(text, StandardCharsets.US_ASCII);
    }
}
