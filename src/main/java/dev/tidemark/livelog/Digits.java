package dev.tidemark.livelog;

import dev.tidemark.event.Position;
import io.vertx.core.buffer.Buffer;

/** Numbers and entry ids as Redis writes them, without a detour over text. */
final class Digits {
    /** What {@link #parse} gives for bytes that aren't the one way to write a number. */
    static final long NONE = Long.MIN_VALUE;

    private static final int LONGEST = 20;

    private Digits() {}

    static byte[] of(long number) {
        if (number == Long.MIN_VALUE) {
            throw new IllegalArgumentException("stands for no number");
        }
        byte[] scratch = new byte[LONGEST];
        int start = writeBackwards(Math.abs(number), scratch, LONGEST);
        if (number < 0) {
            scratch[--start] = '-';
        }
        return java.util.Arrays.copyOfRange(scratch, start, LONGEST);
    }

    /** {@code ms-seq}. */
    static byte[] ofEntryId(Position position) {
        byte[] scratch = new byte[2 * LONGEST + 1];
        int start = writeBackwards(position.seq(), scratch, scratch.length);
        scratch[--start] = '-';
        start = writeBackwards(position.ms(), scratch, start);
        return java.util.Arrays.copyOfRange(scratch, start, scratch.length);
    }

    private static int writeBackwards(long number, byte[] target, int end) {
        int at = end;
        long rest = number;
        do {
            target[--at] = (byte) ('0' + rest % 10);
            rest /= 10;
        } while (rest > 0);
        return at;
    }

    /** A number without a plus sign, leading zeros or anything else; {@link #NONE} otherwise. */
    static long parse(Buffer text) {
        boolean negative = text.length() > 0 && text.getByte(0) == '-';
        long number = parse(text, negative ? 1 : 0, text.length());
        return !negative || number == NONE ? number : number == 0 ? NONE : -number;
    }

    /** Digits of {@code text} from {@code from} to {@code to}: 0 to 2^63 - 1 without leading zeros; {@link #NONE} otherwise. */
    static long parse(Buffer text, int from, int to) {
        int length = to - from;
        if (length < 1 || length > LONGEST - 1 || (length > 1 && text.getByte(from) == '0')) {
            return NONE;
        }
        long number = 0;
        for (int i = from; i < to; i++) {
            int digit = text.getByte(i) - '0';
            if (digit < 0 || digit > 9 || number > (Long.MAX_VALUE - digit) / 10) {
                return NONE;
            }
            number = number * 10 + digit;
        }
        return number;
    }
}
