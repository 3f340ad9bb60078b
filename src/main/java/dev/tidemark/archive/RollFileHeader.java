package dev.tidemark.archive;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * The start of a roll file as the queue library writes it. A file that doesn't start like this must be kept from the library: it
 * waits for one that seems unfinished, and takes a damaged one for a reason to open nothing, or to put an empty file in its place.
 */
final class RollFileHeader {
    /** What the start of a file tells. */
    enum Verdict {
        /** As this version of the library writes it. */
        GOOD,
        /** Perhaps of another version: to be tried alone. */
        UNKNOWN,
        /** Not finished being made, or no roll file at all. */
        BAD
    }

    private static final int NOT_COMPLETE = 0x8000_0000;
    private static final int META_DATA = 0x4000_0000;
    private static final int LENGTH_MIN = 64;
    private static final int LENGTH_MAX = 4 << 10;
    private static final byte[] TYPE = "SCQStore".getBytes(StandardCharsets.US_ASCII);

    /** Of version 2026.4: the store with write position, index count 4,096, spacing 256, and data format 1. */
    private static final byte[] KNOWN = HexFormat.of()
            .parseHex("c1000040b906686561646572b608534351"
                    + "53746f726582aa000000cd7772697465506f736974696f6e8e01000000008d"
                    + "02000000000000000200000000000000" + "00000000000000000000000000000000"
                    + "c8696e646578696e67b60c53435153496e646578696e67824c000000ca696e646578436f756e74a50010"
                    + "cc696e64657853706163696e67a50001cb696e64657832496e6465788fa7c800000000000000"
                    + "c96c617374496e6465788e00000000a70000000000000000ca64617461466f726d6174a101000000");

    private static final int WRITE_POSITION_AT = 0x40;
    private static final int WRITE_POSITION_END = 0x50;
    private static final int LAST_INDEX_AT = 0xb0;
    private static final int LAST_INDEX_END = 0xb8;

    /** Where the first level of the index has its addresses of pages. */
    private static final int INDEX_AT = 0xf0;
    /** Each is for a million excerpts. */
    private static final int PAGES_CHECKED = 256;
    /** A page: its header, name and a type; then, at a multiple of 8, capacity and count, of 8 bytes each, and the places. */
    private static final int PAGE_NAME_BYTES = 4 + 7 + 1;

    private static final int PLACES = 4 << 10;

    private RollFileHeader() {}

    static Verdict check(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer start = read(channel, 0);
            if (start.limit() < LENGTH_MIN) {
                return Verdict.BAD;
            }
            int word = start.getInt(0);
            int length = word & ~(NOT_COMPLETE | META_DATA);
            boolean ready = (word & NOT_COMPLETE) == 0 && (word & META_DATA) != 0;
            byte[] bytes = new byte[start.limit()];
            start.get(0, bytes);
            if (!ready || length < LENGTH_MIN || length > bytes.length - 4 || !hasType(bytes)) {
                return Verdict.BAD;
            }
            if (!isKnown(bytes)) {
                return Verdict.UNKNOWN;
            }
            return pointsInside(start.getLong(WRITE_POSITION_AT), channel.size()) && isIndexSound(channel, start)
                    ? Verdict.GOOD
                    : Verdict.BAD;
        }
    }

    private static ByteBuffer read(FileChannel channel, long at) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(LENGTH_MAX).order(ByteOrder.nativeOrder());
        int read;
        do {
            read = channel.read(bytes, at + bytes.position());
        } while (read > 0 && bytes.hasRemaining());
        return bytes.flip();
    }

    /** The library follows the index's addresses unchecked, and takes a wild one for a file of that size. */
    private static boolean isIndexSound(FileChannel channel, ByteBuffer start) throws IOException {
        for (int page = 0; page < PAGES_CHECKED; page++) {
            long address = start.getLong(INDEX_AT + 8 * page);
            if (!pointsInside(address, channel.size())) {
                return false;
            }
            if (address != 0 && !isPageSound(channel, address)) {
                return false;
            }
        }
        return true;
    }

    private static boolean isPageSound(FileChannel channel, long address) throws IOException {
        long values = align(address + PAGE_NAME_BYTES) + 16;
        long places = 8L * PLACES;
        for (long at = values; at < values + places; at += LENGTH_MAX) {
            ByteBuffer part = read(channel, at);
            int end = (int) Math.min(part.limit(), values + places - at);
            long sum = 0;
            for (int i = 0; i + 8 <= end; i += 8) {
                long place = part.getLong(i);
                sum |= place;
                if (!pointsInside(place, channel.size())) {
                    return false;
                }
            }
            if (sum == 0) {
                return true;
            }
        }
        return true;
    }

    private static long align(long at) {
        return (at + 7) & ~7L;
    }

    private static boolean pointsInside(long address, long size) {
        return address >= 0 && address < size;
    }

    private static boolean hasType(byte[] start) {
        for (int i = 4; i + TYPE.length <= LENGTH_MIN; i++) {
            if (Arrays.equals(start, i, i + TYPE.length, TYPE, 0, TYPE.length)) {
                return true;
            }
        }
        return false;
    }

    /** All but what changes as excerpts are added. */
    private static boolean isKnown(byte[] start) {
        return isKnown(start, 0, WRITE_POSITION_AT)
                && isKnown(start, WRITE_POSITION_END, LAST_INDEX_AT)
                && isKnown(start, LAST_INDEX_END, KNOWN.length);
    }

    private static boolean isKnown(byte[] start, int from, int to) {
        return Arrays.equals(start, from, to, KNOWN, from, to);
    }
}
