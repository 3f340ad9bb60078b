package dev.tidemark.ingest;

import dev.tidemark.event.Problem;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * Decodes gzip (RFC 1952) of one or more members, strictly: every header, checksum and length is checked, nothing may follow the
 * last member. The size is limited while decoding, so that a small body can't take much memory.
 *
 * <p>Not {@link java.util.zip.GZIPInputStream}: that one takes whatever follows a member in silence.
 */
final class Gunzip {
    private static final int HEADER_BYTES = 10;
    private static final int TRAILER_BYTES = 8;
    private static final int HEADER_CRC = 2;
    private static final int EXTRA = 4;
    private static final int NAME = 8;
    private static final int COMMENT = 16;
    private static final int RESERVED = 0xe0;
    private static final int SCRATCH_BYTES = 16 << 10;

    private final byte[] source;
    private final int bytesMax;
    private final Inflater inflater = new Inflater(true);
    private final CRC32 crc = new CRC32();
    private final byte[] scratch = new byte[SCRATCH_BYTES];
    private int length;

    private Gunzip(byte[] source, int bytesMax) {
        this.source = source;
        this.bytesMax = bytesMax;
    }

    /**
     * Length of the decoded bytes, at most {@code bytesMax}; everything is checked, and nothing of that size is held. Takes up to some
     * ten milliseconds for large bodies: not for event loops.
     *
     * @throws Problem {@link Problem.Kind#TOO_LARGE} naming {@code limits.body_bytes}, or {@link Problem.Kind#BAD_BODY} if it isn't gzip
     */
    static int decodedLength(byte[] source, int bytesMax) {
        Gunzip gunzip = new Gunzip(source, bytesMax);
        gunzip.members(null);
        return gunzip.length;
    }

    /**
     * The decoded bytes. As slow as {@link #decodedLength}.
     *
     * @param decodedLength of {@link #decodedLength} for the same bytes
     */
    static byte[] decode(byte[] source, int decodedLength) {
        byte[] decoded = new byte[decodedLength];
        new Gunzip(source, decodedLength).members(decoded);
        return decoded;
    }

    /** @param target where the decoded bytes go; null for nowhere */
    private void members(byte @Nullable [] target) {
        try {
            int at = 0;
            do {
                at = member(at, target);
            } while (at < source.length);
        } finally {
            inflater.end();
        }
    }

    /** Decodes the member that starts at {@code start}; returns the index behind it. */
    private int member(int start, byte @Nullable [] target) {
        int deflated = header(start);
        int from = length;
        inflater.reset();
        inflater.setInput(source, deflated, source.length - deflated);
        crc.reset();
        while (!inflater.finished()) {
            inflate(target);
        }
        int trailer = source.length - inflater.getRemaining();
        need(trailer, TRAILER_BYTES);
        if (int32(trailer) != (int) crc.getValue() || int32(trailer + 4) != length - from) {
            throw malformed("its checksum or length is wrong");
        }
        return trailer + TRAILER_BYTES;
    }

    private void inflate(byte @Nullable [] target) {
        try {
            int count = inflater.inflate(scratch, 0, scratch.length);
            if (count > bytesMax - length) {
                throw BodyParser.bodyTooLarge(bytesMax, "the decoded body");
            }
            crc.update(scratch, 0, count);
            if (target != null) {
                System.arraycopy(scratch, 0, target, length, count);
            }
            length += count;
            if (count == 0 && inflater.needsInput() && !inflater.finished()) {
                throw cutOff();
            }
            if (inflater.needsDictionary()) {
                throw malformed("it needs a dictionary");
            }
        } catch (DataFormatException e) {
            throw malformed("its data is damaged").causedBy(e);
        }
    }

    private int header(int start) {
        need(start, HEADER_BYTES);
        if (unsigned(start) != 0x1f || unsigned(start + 1) != 0x8b) {
            throw malformed(start == 0 ? "it doesn't start as gzip does" : "something follows its last member");
        }
        int flags = unsigned(start + 3);
        if (unsigned(start + 2) != 8 || (flags & RESERVED) != 0) {
            throw malformed("its header is unknown");
        }
        int at = start + HEADER_BYTES;
        if ((flags & EXTRA) != 0) {
            need(at, 2);
            int extra = unsigned(at) | unsigned(at + 1) << 8;
            need(at + 2, extra);
            at += 2 + extra;
        }
        at = (flags & NAME) != 0 ? behindZero(at) : at;
        at = (flags & COMMENT) != 0 ? behindZero(at) : at;
        if ((flags & HEADER_CRC) != 0) {
            need(at, 2);
            crc.reset();
            crc.update(source, start, at - start);
            if ((unsigned(at) | unsigned(at + 1) << 8) != (crc.getValue() & 0xffff)) {
                throw malformed("the checksum of its header is wrong");
            }
            at += 2;
        }
        return at;
    }

    private int behindZero(int start) {
        int at = start;
        while (at < source.length && source[at] != 0) {
            at++;
        }
        need(at, 1);
        return at + 1;
    }

    private void need(int at, int count) {
        if (at + count > source.length) {
            throw cutOff();
        }
    }

    private int unsigned(int at) {
        return source[at] & 0xff;
    }

    private int int32(int at) {
        return unsigned(at) | unsigned(at + 1) << 8 | unsigned(at + 2) << 16 | unsigned(at + 3) << 24;
    }

    private static Problem cutOff() {
        return malformed("it is cut off");
    }

    private static Problem malformed(String why) {
        return new Problem(Problem.Kind.BAD_BODY, "the body isn't valid gzip: " + why);
    }
}
