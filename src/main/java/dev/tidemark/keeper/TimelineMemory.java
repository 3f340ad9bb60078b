package dev.tidemark.keeper;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The one bound ({@code memory.max}) for what all keepers hold: timelines, and appends under way. Counted in heap bytes as they are
 * allocated. Any thread.
 */
final class TimelineMemory {
    private final long bytesMax;
    /** Above it memory is freed; the rest is for what comes until that is done. */
    private final long bytesHigh;

    private final AtomicLong bytes = new AtomicLong();

    TimelineMemory(long bytesMax) {
        this.bytesMax = bytesMax;
        this.bytesHigh = bytesMax / 8 * 7;
    }

    void changed(long difference) {
        bytes.addAndGet(difference);
    }

    long bytes() {
        return bytes.get();
    }

    /** Whether so many bytes more may come. What alone takes much of the bound may when half of it is free: or it never could. */
    boolean hasRoomFor(long more) {
        long now = bytes.get();
        return now + more <= bytesMax || (more > bytesMax / 2 && now <= bytesMax / 2);
    }

    /** How many bytes must go before {@code more} may come, with the reserve kept free; 0 or less if none. */
    long surplus(long more) {
        return bytes.get() + more - bytesHigh;
    }
}
