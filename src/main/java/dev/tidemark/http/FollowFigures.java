package dev.tidemark.http;

import java.util.concurrent.atomic.LongAdder;

/** What the followers of one event loop were given. Its loop writes, any thread reads. */
public final class FollowFigures {
    private final LongAdder events = new LongAdder();
    private final LongAdder encodedEvents = new LongAdder();
    private volatile long waitingBytes;

    void given(long more) {
        events.add(more);
    }

    void encoded(long more) {
        encodedEvents.add(more);
    }

    void waiting(long bytes) {
        waitingBytes = bytes;
    }

    /** Events given, each as often as it was. */
    public long events() {
        return events.sum();
    }

    /** Events put into frames or lines: less, because followers at the same position share them. */
    public long encodedEvents() {
        return encodedEvents.sum();
    }

    /** Bytes that wait for WebSocket clients now. */
    public long waitingBytes() {
        return waitingBytes;
    }
}
