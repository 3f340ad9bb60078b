package dev.tidemark.loadtest.driver;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Counts a sequence of bytes in a stream of them, however it is cut. One thread. */
final class Occurrences {
    private final byte[] pattern;
    private final int hop;
    private int matched;
    private int toSkip;

    /**
     * @param pattern after a mismatch it can only begin anew, with the byte that didn't match
     * @param hop so many bytes after it hold no other and aren't looked at
     */
    Occurrences(String pattern, int hop) {
        this.pattern = pattern.getBytes(StandardCharsets.US_ASCII);
        this.hop = hop;
    }

    /** Consumes that many bytes and tells how often the pattern ended in them. */
    int in(ByteBuffer bytes, int length) {
        int at = bytes.position();
        int end = at + length;
        int found = 0;
        while (at < end) {
            if (toSkip > 0) {
                int skipped = Math.min(toSkip, end - at);
                toSkip -= skipped;
                at += skipped;
                continue;
            }
            byte next = bytes.get(at++);
            if (next == pattern[matched]) {
                matched++;
            } else {
                matched = next == pattern[0] ? 1 : 0;
            }
            if (matched == pattern.length) {
                found++;
                matched = 0;
                toSkip = hop;
            }
        }
        ByteBuffer unused = bytes.position(end);
        return found;
    }
}
