package dev.tidemark.ingest;

import dev.tidemark.event.BodyHash;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Stands for what a request says: format and type, claimed time, and body, unpacked. SHA-256, the first half. */
final class RequestHash {
    private RequestHash() {}

    static BodyHash of(BodyFormat format, long time, byte[] body) {
        MessageDigest digest = sha256();
        digest.update((format.form().name() + " " + format.type()).getBytes(StandardCharsets.UTF_8));
        digest.update(ByteBuffer.allocate(9).putLong(time).array());
        digest.update(body);
        return BodyHash.of(digest);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
