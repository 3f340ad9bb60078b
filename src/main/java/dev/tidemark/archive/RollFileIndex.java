package dev.tidemark.archive;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;

/**
 * The index that the queue library keeps in a roll file, read without the library: where every 256th excerpt stands. What it says is
 * only used where it leads to something good.
 *
 * <pre>
 *   0x40 position of the last excerpt     0xf0 first level: positions of pages, 8 bytes each
 *   page: head of 4 bytes, name and type; at a multiple of 8 capacity and count, then {@value #PLACES} places of 8 bytes
 * </pre>
 */
final class RollFileIndex {
    /** Excerpts between two places. */
    static final int SPACING = 256;

    static final int PLACES = 4 << 10;
    private static final int PAGES_MAX = 256;
    private static final int WRITE_POSITION_AT = 0x40;
    private static final int PAGES_AT = 0xf0;
    private static final int PAGE_NAME_BYTES = 4 + 7 + 1;

    private final FileChannel channel;
    private final long size;
    private final long lastPlace;
    private final long[] pages = new long[PAGES_MAX];
    private ByteBuffer page = ByteBuffer.allocate(0);
    private int pageRead = -1;

    RollFileIndex(FileChannel channel) throws IOException {
        this.channel = channel;
        this.size = channel.size();
        ByteBuffer start = read(0, PAGES_AT + 8 * PAGES_MAX);
        lastPlace = start.limit() >= WRITE_POSITION_AT + 8 ? start.getLong(WRITE_POSITION_AT) : 0;
        for (int i = 0; i < PAGES_MAX && PAGES_AT + 8 * i + 8 <= start.limit(); i++) {
            pages[i] = start.getLong(PAGES_AT + 8 * i);
        }
    }

    /** Where the last excerpt stands, as the header tells; 0 if it tells nothing that can be. */
    long lastPlace() {
        return lastPlace > 0 && lastPlace < size ? lastPlace : 0;
    }

    /** Whether a page of the index stands there. */
    boolean isPage(long at) {
        for (long address : pages) {
            if (address == at && at != 0) {
                return true;
            }
        }
        return false;
    }

    /** Where an excerpt stands whose number is a multiple of {@link #SPACING}; 0 if that isn't known. */
    long place(long number) throws IOException {
        long slot = number / SPACING;
        long pageOf = slot / PLACES;
        if (pageOf >= PAGES_MAX || pages[(int) pageOf] <= 0 || pages[(int) pageOf] >= size) {
            return 0;
        }
        if (pageRead != pageOf) {
            long values = (pages[(int) pageOf] + PAGE_NAME_BYTES + 7 & ~7L) + 16;
            page = read(values, 8 * PLACES);
            pageRead = (int) pageOf;
        }
        int at = (int) (slot % PLACES) * 8;
        long place = at + 8 <= page.limit() ? page.getLong(at) : 0;
        return place > 0 && place < size ? place : 0;
    }

    /** The number of the last excerpt whose place is known, a multiple of {@link #SPACING}; 0 if there is none. */
    long lastKnown() throws IOException {
        for (int i = PAGES_MAX - 1; i >= 0; i--) {
            if (pages[i] > 0 && pages[i] < size) {
                long first = (long) i * PLACES * SPACING;
                for (long slot = PLACES - 1; slot >= 0; slot--) {
                    if (place(first + slot * SPACING) > 0) {
                        return first + slot * SPACING;
                    }
                }
            }
        }
        return 0;
    }

    private ByteBuffer read(long at, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.nativeOrder());
        int read;
        do {
            read = channel.read(bytes, at + bytes.position());
        } while (read > 0 && bytes.hasRemaining());
        return bytes.flip();
    }
}
