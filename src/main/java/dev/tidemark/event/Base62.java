package dev.tidemark.event;

/**
 * Base62 over {@code 0-9A-Za-z}, whose byte order is the numeric order: fixed-width numbers sort as text.
 *
 * <p>Eleven digits hold every non-negative {@code long}; the greatest is {@code AzL8n0Y58m7}.
 */
final class Base62 {
    static final int DIGITS = 11;

    private static final byte[] ALPHABET = new byte[62];
    private static final byte[] VALUES = new byte[128];

    static {
        java.util.Arrays.fill(VALUES, (byte) -1);
        int value = 0;
        for (char c = '0'; c <= '9'; c++) {
            value = put(c, value);
        }
        for (char c = 'A'; c <= 'Z'; c++) {
            value = put(c, value);
        }
        for (char c = 'a'; c <= 'z'; c++) {
            value = put(c, value);
        }
    }

    private Base62() {}

    private static int put(char c, int value) {
        ALPHABET[value] = (byte) c;
        VALUES[c] = (byte) value;
        return value + 1;
    }

    /** Writes {@code number} (not negative) as eleven digits at {@code target[at]}. */
    static void write(long number, byte[] target, int at) {
        long rest = number;
        for (int i = at + DIGITS - 1; i >= at; i--) {
            target[i] = ALPHABET[(int) (rest % 62)];
            rest /= 62;
        }
    }

    /** The number that eleven digits from {@code start} stand for, or -1 if they are malformed or above 2^63 - 1. */
    static long parse(CharSequence text, int start) {
        if (text.length() < start + DIGITS) {
            return -1;
        }
        long number = 0;
        for (int i = start; i < start + DIGITS; i++) {
            char c = text.charAt(i);
            int value = c < VALUES.length ? VALUES[c] : -1;
            if (value < 0 || number > (Long.MAX_VALUE - value) / 62) {
                return -1;
            }
            number = number * 62 + value;
        }
        return number;
    }
}
