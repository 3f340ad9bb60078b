package dev.tidemark.livelog;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** A Lua script that Redis keeps by its SHA-1. */
final class Script {
    private final byte[] source;
    private final byte[] sha1;

    Script(String source) {
        this.source = source.getBytes(StandardCharsets.US_ASCII);
        this.sha1 = EntryCodec.ascii(HexFormat.of().formatHex(digest(this.source)));
    }

    private static byte[] digest(byte[] source) {
        try {
            return MessageDigest.getInstance("SHA-1").digest(source);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-1", e);
        }
    }

    byte[] source() {
        return source;
    }

    /** In hex. */
    byte[] sha1() {
        return sha1;
    }
}
