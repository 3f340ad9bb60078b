package dev.tidemark.archive;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Reads a roll file from its first byte to its last excerpt, without the queue library and without ever writing: nothing is mapped,
 * nothing waited for, no table made. So it may run on files of a stopped server, on a copy that can't be written, and beside a server
 * that appends. Where the chain of lengths breaks it goes on at the next place that the file's index knows, as readers do. One thread.
 */
final class RollFileScan implements AutoCloseable {
    /** What comes next. */
    enum Found {
        /** A good excerpt, in {@link #excerpt}, with number {@link #number}. */
        EXCERPT,
        /** The excerpts from {@link #number} to below {@link #next} aren't what was written. */
        DAMAGED,
        /** Nothing follows. */
        END
    }

    private static final int NOT_COMPLETE = 0x8000_0000;
    private static final int META_DATA = 0x4000_0000;
    private static final int LENGTH_MASK = 0x3fff_ffff;
    private static final int WINDOW_BYTES = 1 << 20;

    private final FileChannel channel;
    private final int excerptBytesMax;
    private final RollFileIndex index;
    private final Excerpt excerpt = new Excerpt();
    private final Excerpt peeked = new Excerpt();
    private final ByteBuffer window = ByteBuffer.allocate(WINDOW_BYTES).order(ByteOrder.nativeOrder());
    private long size;
    private long windowAt;
    private long at;
    private long place;
    private long number = -1;
    private long next;
    private String trouble = "";
    private boolean cutShort;
    private long wrongPlaces;
    private long firstWrongPlace;

    RollFileScan(Path file, int excerptBytesMax) throws IOException {
        channel = FileChannel.open(file, StandardOpenOption.READ);
        boolean opened = false;
        try {
            this.excerptBytesMax = excerptBytesMax;
            size = channel.size();
            index = new RollFileIndex(channel);
            window.limit(0);
            opened = true;
        } finally {
            if (!opened) {
                channel.close();
            }
        }
    }

    RollFileIndex index() {
        return index;
    }

    /** Valid until the next read. */
    Excerpt excerpt() {
        return excerpt;
    }

    /** Number of what was found last. */
    long number() {
        return number;
    }

    /** Number of what comes next: at the end, how many excerpts the file has. */
    long next() {
        return next;
    }

    /** Byte at which what was found last begins. */
    long place() {
        return place;
    }

    /** How far it has read. */
    long position() {
        return at;
    }

    /** What is wrong with what was found last. */
    String trouble() {
        return trouble;
    }

    /** At the end: whether the file goes on behind what could be reached. */
    boolean isCutShort() {
        return cutShort;
    }

    /** How many places of the index don't lead to the excerpt they should. */
    long wrongPlaces() {
        return wrongPlaces;
    }

    /** Number of the first excerpt that the index leads away from. */
    long firstWrongPlace() {
        return firstWrongPlace;
    }

    Found read() throws IOException {
        while (true) {
            at = align(at);
            place = at;
            number = next;
            if (at + 4 > size) {
                return breaks("the file ends at byte " + size);
            }
            int word = word(at);
            if (word == (NOT_COMPLETE | META_DATA)) {
                return breaks("");
            }
            if (word == 0 || (word & NOT_COMPLETE) != 0) {
                return breaks(word == 0 ? "there are only zeros" : "there is something unfinished");
            }
            int length = word & LENGTH_MASK;
            boolean meta = (word & META_DATA) != 0;
            if (at + 4 + length > size || (!meta && length > excerptBytesMax)) {
                return breaks("its length can't be " + length);
            }
            if (meta && (next == 0 || index.isPage(at))) {
                at += 4 + length;
                continue;
            }
            return meta ? breaks("it isn't marked as one") : excerpt(length);
        }
    }

    private Found excerpt(int length) throws IOException {
        if (next % RollFileIndex.SPACING == 0 && next > 0) {
            long known = index.place(next);
            if (known > at && isGood(known)) {
                return breaks("the index has one that is good at byte " + known);
            }
            if (known != 0 && known != at && wrongPlaces++ == 0) {
                firstWrongPlace = next;
            }
        }
        copy(at + 4, length, excerpt);
        boolean good = excerpt.check(length);
        if (!good && !isFollowed(align(at + 4 + length))) {
            return breaks("its CRC is wrong, and nothing follows it");
        }
        at += 4 + length;
        next++;
        if (good) {
            return Found.EXCERPT;
        }
        trouble = "its CRC is wrong";
        return Found.DAMAGED;
    }

    /** The chain ends at {@link #at}: here the file ends, or the index leads on. */
    private Found breaks(String reason) throws IOException {
        long last = index.lastKnown();
        for (long candidate = (next / RollFileIndex.SPACING + 1) * RollFileIndex.SPACING;
                candidate <= last;
                candidate += RollFileIndex.SPACING) {
            long known = index.place(candidate);
            if (known > at && isGood(known)) {
                trouble = reason.isEmpty() ? "there is an end mark" : reason;
                at = known;
                next = candidate;
                return Found.DAMAGED;
            }
        }
        cutShort = reason.isEmpty() ? index.lastPlace() > place : index.lastPlace() >= place;
        trouble = reason;
        return Found.END;
    }

    /** Whether a good excerpt stands there. */
    private boolean isGood(long there) throws IOException {
        if (there + 4 > size) {
            return false;
        }
        int word = word(there);
        int length = word & LENGTH_MASK;
        if ((word & (NOT_COMPLETE | META_DATA)) != 0 || length > excerptBytesMax || there + 4 + length > size) {
            return false;
        }
        copy(there + 4, length, peeked);
        return peeked.check(length);
    }

    /** Whether what stands there can follow an excerpt: another, a page of the index, or the end. */
    private boolean isFollowed(long there) throws IOException {
        if (there + 4 > size) {
            return there <= size;
        }
        int word = word(there);
        return word == 0 || word == (NOT_COMPLETE | META_DATA) || index.isPage(there) || isGood(there);
    }

    private int word(long there) throws IOException {
        load(there, 4);
        return window.getInt((int) (there - windowAt));
    }

    private void copy(long there, int length, Excerpt into) throws IOException {
        byte[] room = into.room(length);
        int copied = 0;
        while (copied < length) {
            int part = Math.min(length - copied, WINDOW_BYTES / 2);
            load(there + copied, part);
            window.get((int) (there + copied - windowAt), room, copied, part);
            copied += part;
        }
    }

    private void load(long there, int length) throws IOException {
        if (there >= windowAt && there + length <= windowAt + window.limit()) {
            return;
        }
        window.clear();
        windowAt = there;
        while (window.hasRemaining()) {
            if (channel.read(window, there + window.position()) <= 0) {
                break;
            }
        }
        window.flip();
        if (window.limit() < length) {
            throw new IOException("it became shorter while it was read");
        }
    }

    private static long align(long position) {
        return (position + 3) & ~3L;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
