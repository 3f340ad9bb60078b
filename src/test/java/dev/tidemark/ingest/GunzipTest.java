package dev.tidemark.ingest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.tidemark.event.Problem;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("R52")
class GunzipTest {
    private static final int MAX = 1 << 20;

    static byte[] gzip(byte[] plain) throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
            gzip.write(plain);
        }
        return packed.toByteArray();
    }

    private static byte[] concat(byte[]... parts) {
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            whole.writeBytes(part);
        }
        return whole.toByteArray();
    }

    private static Problem.Kind refusal(byte[] packed) {
        return assertThrows(Problem.class, () -> decode(packed)).kind();
    }

    @Test
    void givesBackWhatWasPacked() throws IOException {
        long seed = Long.getLong("seed", 20_260_105L);
        Random random = new Random(seed);
        for (int size : new int[] {0, 1, 100, 8191, 8192, 8193, 16_384, 100_000, MAX - 1, MAX}) {
            byte[] plain = new byte[size];
            random.nextBytes(plain);
            Arrays.fill(plain, size / 2, size, (byte) 'x');
            assertArrayEquals(plain, decode(gzip(plain)), "seed " + seed + ", size " + size);
        }
    }

    @Test
    void stopsOneByteAboveTheLimit() throws IOException {
        Problem problem = assertThrows(Problem.class, () -> decode(gzip(new byte[MAX + 1])));
        assertEquals(Problem.Kind.TOO_LARGE, problem.kind());
        assertEquals("limits.body_bytes", problem.fields().get("limit"));
        assertEquals(
                Problem.Kind.TOO_LARGE, refusal(concat(gzip(new byte[MAX]), gzip(new byte[0]), gzip(new byte[1]))));
    }

    @Test
    void sixtyMegabytesOfZerosCostNoMoreMemoryThanTheLimit() throws IOException {
        byte[] bomb = gzip(new byte[60 << 20]);
        assertTrue(bomb.length < 100_000);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        assertEquals(Problem.Kind.TOO_LARGE, refusal(bomb));
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertTrue(allocated < 4L * MAX, "allocated " + allocated);
    }

    @Test
    void takesMembersOneBehindTheOther() throws IOException {
        byte[] packed = concat(
                gzip("ab\n".getBytes(StandardCharsets.UTF_8)),
                gzip(new byte[0]),
                gzip("cd".getBytes(StandardCharsets.UTF_8)));
        assertEquals("ab\ncd", new String(decode(packed), StandardCharsets.UTF_8));
    }

    @Test
    void takesEveryOptionalHeaderField() throws IOException {
        byte[] packed = gzip("x".getBytes(StandardCharsets.UTF_8));
        byte[] head = Arrays.copyOf(packed, 10);
        head[3] = 1 | 2 | 4 | 8 | 16;
        byte[] fields = concat(head, new byte[] {3, 0, 1, 2, 3}, "name\0comment\0".getBytes(StandardCharsets.UTF_8));
        CRC32 crc = new CRC32();
        crc.update(fields);
        byte[] crc16 = {(byte) crc.getValue(), (byte) (crc.getValue() >> 8)};
        byte[] rest = Arrays.copyOfRange(packed, 10, packed.length);
        assertEquals("x", new String(decode(concat(fields, crc16, rest)), StandardCharsets.UTF_8));
        crc16[0]++;
        assertEquals(Problem.Kind.BAD_BODY, refusal(concat(fields, crc16, rest)));
    }

    @Test
    void refusesItCutOffAnywhere() throws IOException {
        byte[] packed = gzip("some text that is packed, some text".getBytes(StandardCharsets.UTF_8));
        for (int length = 0; length < packed.length; length++) {
            assertEquals(Problem.Kind.BAD_BODY, refusal(Arrays.copyOf(packed, length)), "cut at " + length);
        }
    }

    @Test
    void refusesJunkBehindTheLastMember() throws IOException {
        byte[] packed = gzip("x".getBytes(StandardCharsets.UTF_8));
        for (String junk :
                new String[] {"\0", "\n", "junk that is longer than a header", "\0\0\0\0\0\0\0\0\0\0\0\0", "\u001f"}) {
            assertEquals(Problem.Kind.BAD_BODY, refusal(concat(packed, junk.getBytes(StandardCharsets.UTF_8))));
        }
    }

    @Test
    void refusesPlainTextUnderTheNameOfGzip() {
        assertEquals(Problem.Kind.BAD_BODY, refusal("{\"a\":1}".getBytes(StandardCharsets.UTF_8)));
        assertEquals(
                Problem.Kind.BAD_BODY,
                refusal("{\"a\":\"longer than a gzip header\"}".getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void aChangedByteNeverGoesUnnoticed() throws IOException {
        byte[] plain =
                "{\"mag\":2.3,\"place\":\"81km WNW of Skagway\"}".repeat(5).getBytes(StandardCharsets.UTF_8);
        byte[] packed = gzip(plain);
        for (int i = 0; i < packed.length; i++) {
            boolean timeFlagsOrSystem = i >= 4 && i < 10;
            for (int bit = 0; bit < 8 && !timeFlagsOrSystem; bit++) {
                byte[] changed = packed.clone();
                changed[i] ^= (byte) (1 << bit);
                boolean textHint = i == 3 && bit == 0;
                if (textHint) {
                    assertArrayEquals(plain, decode(changed));
                } else {
                    assertThrows(Problem.class, () -> decode(changed), "byte " + i + ", bit " + bit);
                }
            }
        }
    }

    private static byte[] decode(byte[] packed) {
        return Gunzip.decode(packed, Gunzip.decodedLength(packed, MAX));
    }
}
