package dev.tidemark.event;

/** Strict UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF). */
public final class Utf8 {
    private Utf8() {}

    /** Index of the first byte that isn't part of a valid sequence, or -1 if all are valid. */
    public static int firstInvalid(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to) {
            byte lead = bytes[i];
            if (lead >= 0) {
                i++;
                continue;
            }
            int length = sequenceLength(bytes, i, to);
            if (length == 0) {
                return i;
            }
            i += length;
        }
        return -1;
    }

    public static boolean isValid(byte[] bytes, int from, int to) {
        return firstInvalid(bytes, from, to) < 0;
    }

    private static int sequenceLength(byte[] bytes, int at, int to) {
        int lead = bytes[at] & 0xff;
        int length = lead >= 0xc2 && lead <= 0xdf
                ? 2
                : lead >= 0xe0 && lead <= 0xef ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
        if (length == 0 || at + length > to) {
            return 0;
        }
        for (int i = 1; i < length; i++) {
            if ((bytes[at + i] & 0xc0) != 0x80) {
                return 0;
            }
        }
        int second = bytes[at + 1] & 0xff;
        boolean overlongOrSurrogate = (lead == 0xe0 && second < 0xa0)
                || (lead == 0xed && second > 0x9f)
                || (lead == 0xf0 && second < 0x90)
                || (lead == 0xf4 && second > 0x8f);
        return overlongOrSurrogate ? 0 : length;
    }
}
