package dev.tidemark.loadtest;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Events of 256 bytes of JSON. */
public final class Payloads {
    public static final int BYTES = 256;

    /** How an event begins; its number follows. */
    public static final String HEAD = "{\"t\":\"";

    /** Of the number. */
    public static final int DIGITS = 20;

    private static final String MIDDLE =
            "\",\"place\":\"81km WNW of Skagway, Alaska\",\"mag\":2.3,\"lon\":-136.5559,\"pad\":\"";
    private static final String TAIL = "\"}";

    private Payloads() {}

    /** One event that carries a number, such as when it was sent; not negative. */
    public static String event(long number) {
        String digits = String.valueOf(number);
        String start = HEAD + "0".repeat(DIGITS - digits.length()) + digits + MIDDLE;
        return start + "x".repeat(BYTES - start.length() - TAIL.length()) + TAIL;
    }

    /** Writes another number over that of an event. */
    public static void putNumber(ByteBuffer event, int digitsAt, long number) {
        long rest = number;
        for (int i = digitsAt + DIGITS - 1; i >= digitsAt; i--) {
            ByteBuffer unused = event.put(i, (byte) ('0' + rest % 10));
            rest /= 10;
        }
    }

    /** The number that an event or a text around it carries; -1 if there is none. */
    public static long number(CharSequence text) {
        int at = text.toString().indexOf(HEAD);
        return at < 0 ? -1 : Long.parseLong(text, at + HEAD.length(), at + HEAD.length() + DIGITS, 10);
    }

    public static byte[] lines(int count) {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < count; i++) {
            lines.append(event(i)).append('\n');
        }
        return lines.toString().getBytes(StandardCharsets.UTF_8);
    }
}
