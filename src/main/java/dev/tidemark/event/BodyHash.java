package dev.tidemark.event;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * 128 bits that stand for the body of a request: who repeats a request must send the same body.
 *
 * @param high first half
 * @param low second half
 */
public record BodyHash(long high, long low) {
    /** Length of the text. */
    public static final int TEXT_LENGTH = 32;

    /** The first 128 bits of a digest of at least that length. */
    public static BodyHash of(MessageDigest digest) {
        ByteBuffer bytes = ByteBuffer.wrap(digest.digest());
        return new BodyHash(bytes.getLong(), bytes.getLong());
    }

    /** The hash that {@code text} is, 32 lower-case hex digits; null if it is none. */
    public static @Nullable BodyHash parseOrNull(String text) {
        if (text.length() != TEXT_LENGTH) {
            return null;
        }
        for (int i = 0; i < TEXT_LENGTH; i++) {
            char c = text.charAt(i);
            if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
                return null;
            }
        }
        return new BodyHash(
                HexFormat.fromHexDigitsToLong(text, 0, TEXT_LENGTH / 2),
                HexFormat.fromHexDigitsToLong(text, TEXT_LENGTH / 2, TEXT_LENGTH));
    }

    @Override
    public String toString() {
        return HexFormat.of().toHexDigits(high) + HexFormat.of().toHexDigits(low);
    }
}
