package dev.tidemark.event;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.text.Normalizer;
import java.util.HexFormat;

/**
 * A legal stream name: 1 to 200 bytes of UTF-8 in Unicode NFC, no control characters, not {@code .} or {@code ..};
 * case-sensitive; {@code /} is allowed.
 *
 * @param value the name as users see it
 */
public record StreamName(String value) implements Comparable<StreamName> {
    private static final int DISK_NAME_MAX = 200;
    private static final int DISK_NAME_KEPT = 150;
    private static final HexFormat HEX = HexFormat.of();

    /** @throws Problem {@link Problem.Kind#BAD_REQUEST} naming the rule that the name breaks */
    public StreamName {
        String wrong = whatIsWrong(value);
        if (wrong != null) {
            throw Problem.badParameter(
                    "stream",
                    "not a stream name: '" + Problem.quote(value) + "' " + wrong + "; allowed are 1 to "
                            + Limits.STREAM_NAME_BYTES_MAX
                            + " bytes of UTF-8 in Unicode NFC without control characters, except '.' and '..'");
        }
    }

    private static @org.jspecify.annotations.Nullable String whatIsWrong(String value) {
        if (value.isEmpty()) {
            return "is empty";
        }
        if (value.equals(".") || value.equals("..")) {
            return "is reserved";
        }
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (Character.isISOControl(c)) {
                return "has a control character";
            }
            if (Character.isSurrogate(c)) {
                if (i + 1 >= value.length() || !Character.isSurrogatePair(c, value.charAt(i + 1))) {
                    return "isn't valid Unicode";
                }
                i++;
            }
        }
        if (value.getBytes(StandardCharsets.UTF_8).length > Limits.STREAM_NAME_BYTES_MAX) {
            return "is too long";
        }
        return Normalizer.isNormalized(value, Normalizer.Form.NFC) ? null : "isn't in Unicode NFC";
    }

    /**
     * Name of the stream's folder on disk: {@code a-z 0-9 - _} stay, every other byte becomes {@code %xx}; above 200
     * characters the first 150, {@code ~} and the SHA-256 of the name in hex. Different names never meet, also on a file
     * system that folds case.
     */
    public String diskName() {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        StringBuilder name = new StringBuilder(bytes.length);
        for (byte b : bytes) {
            char c = (char) (b & 0xff);
            if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_') {
                name.append(c);
            } else {
                name.append('%').append(HEX.toHexDigits(b));
            }
        }
        if (name.length() <= DISK_NAME_MAX) {
            return name.toString();
        }
        return name.substring(0, DISK_NAME_KEPT) + "~" + HEX.formatHex(sha256(bytes));
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /** The name inside a Redis key: {@code %}, <code>{</code> and <code>}</code> are percent-encoded, so that the hash tag is never cut short. */
    public String redisName() {
        return value.replace("%", "%25").replace("{", "%7B").replace("}", "%7D");
    }

    @Override
    public int compareTo(StreamName other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
