package dev.tidemark.gatling;

import java.nio.charset.StandardCharsets;

/** Events of 256 bytes of JSON, each with the time when it was sent. */
final class Payloads {
    private static final int BYTES = 256;
    private static final String HEAD = "{\"t\":\"";
    private static final String MIDDLE =
            "\",\"place\":\"81km WNW of Skagway, Alaska\",\"mag\":2.3,\"lon\":-136.5559,\"pad\":\"";
    private static final String TAIL = "\"}";
    private static final int DIGITS = 20;

    private Payloads() {}

    /** An event that is sent now. */
    static String event() {
        String digits = String.valueOf(System.currentTimeMillis());
        String start = HEAD + "0".repeat(DIGITS - digits.length()) + digits + MIDDLE;
        return start + "x".repeat(BYTES - start.length() - TAIL.length()) + TAIL;
    }

    /** So many events as NDJSON. */
    static byte[] lines(int count) {
        return (event() + "\n").repeat(count).getBytes(StandardCharsets.UTF_8);
    }

    /** When the event in a text was sent, Unix milliseconds; -1 if there is none. */
    static long sentMs(String text) {
        int at = text.indexOf(HEAD);
        return at < 0 ? -1 : Long.parseLong(text, at + HEAD.length(), at + HEAD.length() + DIGITS, 10);
    }
}
