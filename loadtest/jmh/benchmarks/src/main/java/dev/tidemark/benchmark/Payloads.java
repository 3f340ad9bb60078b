package dev.tidemark.benchmark;

import java.nio.charset.StandardCharsets;

/** Events of 256 bytes of JSON. */
public final class Payloads {
    public static final int BYTES = 256;

    private static final String HEAD = "{\"t\":\"";
    private static final String MIDDLE =
            "\",\"place\":\"81km WNW of Skagway, Alaska\",\"mag\":2.3,\"lon\":-136.5559,\"pad\":\"";
    private static final String TAIL = "\"}";
    private static final int DIGITS = 20;

    private Payloads() {}

    /** One event that carries a number; not negative. */
    public static byte[] event(long number) {
        String digits = String.valueOf(number);
        String start = HEAD + "0".repeat(DIGITS - digits.length()) + digits + MIDDLE;
        String event = start + "x".repeat(BYTES - start.length() - TAIL.length()) + TAIL;
        return event.getBytes(StandardCharsets.US_ASCII);
    }

    /** So many events as NDJSON. */
    public static byte[] lines(int count) {
        byte[] lines = new byte[count * (BYTES + 1)];
        for (int i = 0; i < count; i++) {
            System.arraycopy(event(i), 0, lines, i * (BYTES + 1), BYTES);
            lines[(i + 1) * (BYTES + 1) - 1] = '\n';
        }
        return lines;
    }
}
