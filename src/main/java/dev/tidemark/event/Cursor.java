package dev.tidemark.event;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An opaque position token: where a reader is in one generation of a stream. Resuming after it is exclusive.
 *
 * <pre>
 *  text   1 GGGGGGGGGGG PPPPPPPPPPP                    23 ASCII characters, safe in a URL
 *         2 GGGGGGGGGGG PPPPPPPPPPP EEEEEEEEEEE …      and 11 more for each stripe
 *         |      |           |           `-- arrival floor of a stripe: an entry id's number, base62
 *         |      |           `-- event id's number, base62
 *         |      `-- generation, base62
 *         `-- form of the token: 1 = final order, 2 = with arrival floors
 * </pre>
 *
 * The start of a stream ({@link Position#ZERO}) is written as number 0.
 *
 * @param generation the incarnation that it belongs to
 * @param position everything at or below it has been given; never above the frontier
 * @param floors of a reader that was given provisional events, by stripe: what had arrived by then (entry id at or below the floor)
 *     has been given too; empty where order is final
 */
public record Cursor(Generation generation, Position position, List<Position> floors) {
    /** Length of the text in ASCII bytes where order is final. */
    public static final int LENGTH = 1 + 2 * Base62.DIGITS;

    private static final char FORM_FINAL = '1';
    private static final char FORM_FLOORS = '2';

    public Cursor {
        floors = List.copyOf(floors);
    }

    /** A cursor where order is final. */
    public Cursor(Generation generation, Position position) {
        this(generation, position, List.of());
    }

    /** The cursor that {@code text} is, or null if it is none. */
    public static @Nullable Cursor parseOrNull(CharSequence text) {
        int floors = (text.length() - LENGTH) / Base62.DIGITS;
        if (text.length() < LENGTH
                || text.length() != LENGTH + floors * Base62.DIGITS
                || text.charAt(0) != (floors == 0 ? FORM_FINAL : FORM_FLOORS)) {
            return null;
        }
        long generation = Base62.parse(text, 1);
        if (generation <= 0) {
            return null;
        }
        List<Position> positions = new ArrayList<>();
        for (int at = 1 + Base62.DIGITS; at < text.length(); at += Base62.DIGITS) {
            long number = Base62.parse(text, at);
            if (number < 0) {
                return null;
            }
            positions.add(number == 0 ? Position.ZERO : new EventId(number).position());
        }
        return new Cursor(new Generation(generation), positions.get(0), positions.subList(1, positions.size()));
    }

    /** Writes the {@link #LENGTH} bytes of a cursor where order is final. */
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

    /** The text as ASCII bytes. */
    public byte[] bytes() {
        byte[] text = new byte[LENGTH + floors.size() * Base62.DIGITS];
        write(generation, position.ms(), position.seq(), text, 0);
        if (!floors.isEmpty()) {
            text[0] = FORM_FLOORS;
        }
        int at = LENGTH;
        for (Position floor : floors) {
            Base62.write(clampedNumber(floor.ms(), floor.seq()), text, at);
            at += Base62.DIGITS;
        }
        return text;
    }

    @Override
    public String toString() {
        return new String(bytes(), StandardCharsets.US_ASCII);
    }
}
