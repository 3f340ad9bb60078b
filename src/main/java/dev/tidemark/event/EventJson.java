package dev.tidemark.event;

import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * The JSON object of an event, as every answer gives it (API.md, "An event in answers"), written once when the event enters a
 * {@link Chunk}:
 *
 * <pre>
 *  {"id":"EVT…","cursor":"…","at":1764440000123,"time":…,"content_type":"…","late":true,"data":…}
 *  |<-------------- HEAD_BYTES ------------->|<--------- where the event has them -------->|
 * </pre>
 *
 * The head has the same length in every event, so that a reader can put {@code "provisional":true} behind it.
 */
final class EventJson {
    private static final byte[] BEFORE_ID = ascii("{\"id\":\"");
    private static final byte[] BEFORE_CURSOR = ascii("\",\"cursor\":\"");
    private static final byte[] BEFORE_AT = ascii("\",\"at\":");
    private static final byte[] BEFORE_TIME = ascii(",\"time\":");
    private static final byte[] BEFORE_TYPE = ascii(",\"content_type\":");
    private static final byte[] LATE = ascii(",\"late\":true");
    private static final byte[] BEFORE_DATA = ascii(",\"data\":");
    private static final byte[] BEFORE_TEXT = ascii(",\"text\":");
    private static final byte[] BEFORE_BASE64 = ascii(",\"base64\":");
    private static final byte[] PROVISIONAL = ascii(",\"provisional\":true");
    private static final byte[] HEX = ascii("0123456789abcdef");
    private static final int AT_DIGITS = 13;

    static final int HEAD_BYTES =
            BEFORE_ID.length + EventId.LENGTH + BEFORE_CURSOR.length + Cursor.LENGTH + BEFORE_AT.length + AT_DIGITS;
    private static final int CURSOR_AT = BEFORE_ID.length + EventId.LENGTH + BEFORE_CURSOR.length;
    /** More than anything but type and payload takes. */
    private static final int FIXED_BYTES_MAX = HEAD_BYTES + 64;

    private EventJson() {}

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** An upper bound of the bytes that the writers below need, the payload of a JSON type included. */
    static int bytesMax(String type, byte[] source, int from, int length) {
        int fixed = FIXED_BYTES_MAX + 6 * type.length();
        if (ContentType.isJson(type)) {
            return fixed + length;
        }
        if (ContentType.isText(type) && Utf8.isValid(source, from, from + length)) {
            return fixed + 2 + escapedLength(source, from, length);
        }
        return fixed + 2 + (length + 2) / 3 * 4;
    }

    private static int escapedLength(byte[] source, int from, int length) {
        int escaped = length;
        for (int i = from; i < from + length; i++) {
            byte b = source[i];
            if (b == '"' || b == '\\') {
                escaped++;
            } else if (b >= 0 && b < 0x20) {
                escaped += 5;
            }
        }
        return escaped;
    }

    /** Writes what stands before the payload's key; returns the end. */
    static int writeHead(
            Generation generation, long ms, long seq, long time, boolean late, String type, byte[] target, int start) {
        int at = put(BEFORE_ID, target, start);
        EventId.write(ms, seq, target, at);
        at = put(BEFORE_CURSOR, target, at + EventId.LENGTH);
        Cursor.write(generation, ms, seq, target, at);
        at = put(BEFORE_AT, target, at + Cursor.LENGTH);
        at = putFixed(ms, AT_DIGITS, target, at);
        if (time != Event.NO_TIME) {
            at = put(ascii(Long.toString(time)), target, put(BEFORE_TIME, target, at));
        }
        if (!type.equals(ContentType.JSON)) {
            at = putString(ascii(type), 0, type.length(), target, put(BEFORE_TYPE, target, at));
        }
        return late ? put(LATE, target, at) : at;
    }

    /** Length of the cursor in an object that starts at {@code start}. */
    static int cursorLength(byte[] json, int start) {
        int at = start + CURSOR_AT;
        int end = at;
        while (json[end] != '"') {
            end++;
        }
        return end - at;
    }

    /** Bytes that {@link #rewrite} adds, at most. */
    static int rewrittenBytesMax(int jsonLength, byte[] cursor) {
        return jsonLength + cursor.length + PROVISIONAL.length;
    }

    /** Writes an object anew with another cursor, and marked if it is to be; returns the end. */
    static int rewrite(
            byte[] json, int from, int length, byte[] cursor, boolean provisional, byte[] target, int start) {
        int afterCursor = from + CURSOR_AT + cursorLength(json, from);
        int afterHead = afterCursor + BEFORE_AT.length + AT_DIGITS;
        System.arraycopy(json, from, target, start, CURSOR_AT);
        int at = put(cursor, target, start + CURSOR_AT);
        System.arraycopy(json, afterCursor, target, at, afterHead - afterCursor);
        at += afterHead - afterCursor;
        if (provisional) {
            at = put(PROVISIONAL, target, at);
        }
        System.arraycopy(json, afterHead, target, at, from + length - afterHead);
        return at + from + length - afterHead;
    }

    /** Writes {@code ,"data":}, behind which the payload goes; returns the end. */
    static int writeDataKey(byte[] target, int at) {
        return put(BEFORE_DATA, target, at);
    }

    /** Writes a payload that isn't JSON, under {@code text} or {@code base64}, and the closing brace; returns the end. */
    static int writeEncoded(String type, byte[] source, int from, int length, byte[] target, int start) {
        int at;
        if (ContentType.isText(type) && Utf8.isValid(source, from, from + length)) {
            at = putString(source, from, length, target, put(BEFORE_TEXT, target, start));
        } else {
            byte[] encoded = Base64.getEncoder().encode(java.util.Arrays.copyOfRange(source, from, from + length));
            at = putString(encoded, 0, encoded.length, target, put(BEFORE_BASE64, target, start));
        }
        target[at] = '}';
        return at + 1;
    }

    private static int put(byte[] bytes, byte[] target, int at) {
        System.arraycopy(bytes, 0, target, at, bytes.length);
        return at + bytes.length;
    }

    private static int putFixed(long number, int digits, byte[] target, int at) {
        long rest = number;
        for (int i = at + digits - 1; i >= at; i--) {
            target[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        return at + digits;
    }

    private static int putString(byte[] source, int from, int length, byte[] target, int start) {
        int at = start;
        target[at++] = '"';
        for (int i = from; i < from + length; i++) {
            byte b = source[i];
            if (b == '"' || b == '\\') {
                target[at++] = '\\';
                target[at++] = b;
            } else if (b >= 0 && b < 0x20) {
                target[at++] = '\\';
                target[at++] = 'u';
                target[at++] = '0';
                target[at++] = '0';
                target[at++] = HEX[b >> 4];
                target[at++] = HEX[b & 0xf];
            } else {
                target[at++] = b;
            }
        }
        target[at++] = '"';
        return at;
    }
}
