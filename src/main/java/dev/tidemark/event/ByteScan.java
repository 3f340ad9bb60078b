package dev.tidemark.event;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Looks for bytes eight at a time: every byte of an append passes here several times. Any thread.
 *
 * <p>Finding a zero byte in a word: Warren, Hacker's Delight, 2nd edition, 6-1. Of what it finds, the lowest byte is exact, and in
 * little-endian order that is the first one.
 */
public final class ByteScan {
    private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGHS = 0x8080808080808080L;
    private static final long LINE_FEEDS = ONES * '\n';
    private static final long CARRIAGE_RETURNS = ONES * '\r';
    private static final long QUOTES = ONES * '"';
    private static final long BACKSLASHES = ONES * '\\';
    private static final long SPACES = ONES * ' ';

    private ByteScan() {}

    /** Marks the zero bytes of a word by their highest bit; bytes above the first one may be marked without being zero. */
    private static long zeros(long word) {
        return (word - ONES) & ~word & HIGHS;
    }

    private static long word(byte[] bytes, int at) {
        return (long) WORD.get(bytes, at);
    }

    /** Index of the first line feed from {@code from} on, or {@code to} if there is none. */
    public static int lineFeed(byte[] bytes, int from, int to) {
        int at = from;
        for (; at + 8 <= to; at += 8) {
            long found = zeros(word(bytes, at) ^ LINE_FEEDS);
            if (found != 0) {
                return at + (Long.numberOfTrailingZeros(found) >> 3);
            }
        }
        while (at < to && bytes[at] != '\n') {
            at++;
        }
        return at;
    }

    /** Whether there is a line feed or a carriage return. */
    public static boolean hasLineBreak(byte[] bytes, int from, int to) {
        int at = from;
        for (; at + 8 <= to; at += 8) {
            long word = word(bytes, at);
            if ((zeros(word ^ LINE_FEEDS) | zeros(word ^ CARRIAGE_RETURNS)) != 0) {
                return true;
            }
        }
        for (; at < to; at++) {
            if (bytes[at] == '\n' || bytes[at] == '\r') {
                return true;
            }
        }
        return false;
    }

    /**
     * Index of the first byte that isn't an ordinary character of a JSON string, or {@code to} if there is none: a quote, a backslash, a
     * control character, or a byte that isn't ASCII.
     */
    public static int ordinary(byte[] bytes, int from, int to) {
        int at = from;
        for (; at + 8 <= to; at += 8) {
            long word = word(bytes, at);
            long found = zeros(word ^ QUOTES)
                    | zeros(word ^ BACKSLASHES)
                    | ((word - SPACES) & ~word & HIGHS)
                    | (word & HIGHS);
            if (found != 0) {
                return at + (Long.numberOfTrailingZeros(found) >> 3);
            }
        }
        while (at < to && isOrdinary(bytes[at])) {
            at++;
        }
        return at;
    }

    private static boolean isOrdinary(byte b) {
        return b >= 0x20 && b != '"' && b != '\\';
    }
}
