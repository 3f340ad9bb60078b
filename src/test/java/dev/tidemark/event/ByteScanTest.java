package dev.tidemark.event;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ByteScanTest {
    private static final byte[] MARKS = {
        '\n',
        '\r',
        '"',
        '\\',
        0,
        0x1f,
        0x20,
        0x21,
        0x23,
        0x5b,
        0x5d,
        0x7f,
        (byte) 0x80,
        (byte) 0xff,
        0x09,
        0x0b,
        0x0c,
        0x0e
    };

    private static int slowly(byte[] bytes, int from, int to, java.util.function.IntPredicate wanted) {
        for (int i = from; i < to; i++) {
            if (wanted.test(bytes[i])) {
                return i;
            }
        }
        return to;
    }

    /** Each place of each mark, alone and before another one, from every alignment. */
    @Test
    void everyMarkIsFoundAtEveryPlaceAndNothingElse() {
        for (byte mark : MARKS) {
            for (byte other : MARKS) {
                for (int place = 0; place < 20; place++) {
                    byte[] bytes = "abcdefghijklmnopqrstuvw".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
                    bytes[place] = mark;
                    bytes[place + 1] = other;
                    for (int from = 0; from < 9; from++) {
                        check(bytes, from, bytes.length);
                        check(bytes, from, Math.max(from, place + 1));
                    }
                }
            }
        }
    }

    @Test
    void bytesOfEveryKindAreJudgedAsOneByOne() {
        long seed = Long.getLong("tidemark.seed", System.nanoTime());
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = new byte[random.nextInt(1, 40)];
            random.nextBytes(bytes);
            if (random.nextBoolean()) {
                for (int i = 0; i < bytes.length; i++) {
                    bytes[i] = (byte) ('a' + (bytes[i] & 15));
                }
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            int from = random.nextInt(bytes.length);
            check(bytes, from, random.nextInt(from, bytes.length + 1));
        }
    }

    private static void check(byte[] bytes, int from, int to) {
        assertEquals(slowly(bytes, from, to, b -> b == '\n'), ByteScan.lineFeed(bytes, from, to));
        assertEquals(slowly(bytes, from, to, b -> b == '\n' || b == '\r') < to, ByteScan.hasLineBreak(bytes, from, to));
        assertEquals(
                slowly(bytes, from, to, b -> b < 0x20 || b == '"' || b == '\\'), ByteScan.ordinary(bytes, from, to));
    }
}
