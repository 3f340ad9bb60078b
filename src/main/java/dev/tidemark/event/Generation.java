package dev.tidemark.event;

import java.nio.charset.StandardCharsets;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Random identity of one incarnation of a stream: part of its Redis keys, its archive path and its cursors, so that what
 * belongs to a deleted stream is never taken for the new one of the same name.
 *
 * @param number 1 to 2^63 - 1
 */
public record Generation(long number) {
    /** Length of the text: base62 digits. */
    public static final int LENGTH = Base62.DIGITS;

    public Generation {
        if (number <= 0) {
            throw new IllegalArgumentException("a generation is above zero: " + number);
        }
    }

    public static Generation random(RandomGenerator random) {
        return new Generation(random.nextLong(1, Long.MAX_VALUE));
    }

    /** The generation that {@code text} is, or null if it is none. */
    public static @Nullable Generation parseOrNull(CharSequence text) {
        long number = text.length() == LENGTH ? Base62.parse(text, 0) : -1;
        return number <= 0 ? null : new Generation(number);
    }

    @Override
    public String toString() {
        byte[] digits = new byte[LENGTH];
        Base62.write(number, digits, 0);
        return new String(digits, StandardCharsets.US_ASCII);
    }
}
