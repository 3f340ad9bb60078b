package dev.tidemark.ingest;

import java.util.Arrays;

/** Reads the text out of a JSON string that {@link JsonScanner} has passed. */
final class JsonStrings {
    private JsonStrings() {}

    /**
     * The text of a string as UTF-8, escapes resolved.
     *
     * @param from index of the opening quote
     * @param to index behind the closing one
     * @throws MalformedBody at an escaped surrogate without its other half: no UTF-8 can hold it
     */
    static byte[] utf8(byte[] bytes, int from, int to) {
        byte[] text = new byte[to - from - 2];
        int length = 0;
        int at = from + 1;
        while (at < to - 1) {
            byte b = bytes[at];
            if (b != '\\') {
                text[length++] = b;
                at++;
            } else if (bytes[at + 1] != 'u') {
                text[length++] = unescaped(bytes[at + 1]);
                at += 2;
            } else {
                int point = codePoint(bytes, at, to - 1);
                length = put(point, text, length);
                at += Character.isSupplementaryCodePoint(point) ? 12 : 6;
            }
        }
        return length == text.length ? text : Arrays.copyOf(text, length);
    }

    private static byte unescaped(byte escape) {
        return switch (escape) {
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            default -> escape;
        };
    }

    private static int codePoint(byte[] bytes, int at, int end) {
        char first = unit(bytes, at);
        if (!Character.isSurrogate(first)) {
            return first;
        }
        boolean escapeFollows = at + 12 <= end && bytes[at + 6] == '\\' && bytes[at + 7] == 'u';
        char second = escapeFollows ? unit(bytes, at + 6) : 0;
        if (!Character.isSurrogatePair(first, second)) {
            throw new MalformedBody(at, "half of a surrogate pair can't be stored as text");
        }
        return Character.toCodePoint(first, second);
    }

    private static char unit(byte[] bytes, int backslash) {
        int unit = 0;
        for (int i = backslash + 2; i < backslash + 6; i++) {
            unit = (unit << 4) | Character.digit(bytes[i], 16);
        }
        return (char) unit;
    }

    /** Writes a code point; never longer than its escape. */
    private static int put(int point, byte[] text, int start) {
        int at = start;
        if (point < 0x80) {
            text[at++] = (byte) point;
        } else if (point < 0x800) {
            text[at++] = (byte) (0xc0 | point >> 6);
            text[at++] = continuation(point);
        } else if (point < 0x10000) {
            text[at++] = (byte) (0xe0 | point >> 12);
            text[at++] = continuation(point >> 6);
            text[at++] = continuation(point);
        } else {
            text[at++] = (byte) (0xf0 | point >> 18);
            text[at++] = continuation(point >> 12);
            text[at++] = continuation(point >> 6);
            text[at++] = continuation(point);
        }
        return at;
    }

    private static byte continuation(int bits) {
        return (byte) (0x80 | (bits & 0x3f));
    }
}
