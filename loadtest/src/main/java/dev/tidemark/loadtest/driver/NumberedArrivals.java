package dev.tidemark.loadtest.driver;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.function.LongConsumer;

/** Finds the numbers that stand behind a sequence of bytes, as digits of a fixed count, in a stream of bytes, however it is cut. One thread. */
final class NumberedArrivals {
    private final byte[] pattern;
    private final int digits;
    private final LongConsumer each;
    private int matched;
    private int read;
    private long number;

    /**
     * @param pattern after a mismatch it can only begin anew, with the byte that didn't match
     * @param digits so many follow it
     * @param each gets every number
     */
    NumberedArrivals(String pattern, int digits, LongConsumer each) {
        this.pattern = pattern.getBytes(StandardCharsets.US_ASCII);
        this.digits = digits;
        this.each = each;
    }

    /** Consumes what remains. */
    void in(ByteBuffer bytes) {
        while (bytes.hasRemaining()) {
            byte next = bytes.get();
            if (matched < pattern.length) {
                matched = next == pattern[matched] ? matched + 1 : next == pattern[0] ? 1 : 0;
                continue;
            }
            number = number * 10 + next - '0';
            if (++read == digits) {
                each.accept(number);
                matched = 0;
                read = 0;
                number = 0;
            }
        }
    }
}
