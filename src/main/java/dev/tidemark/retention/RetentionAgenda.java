package dev.tidemark.retention;

import dev.tidemark.event.Clock;
import dev.tidemark.keeper.LiveStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * When which stream is to be looked at: one time for each. So a beat costs as much as there is to do, however many streams there are.
 * One thread.
 */
final class RetentionAgenda {
    private final Clock clock;
    private final Map<LiveStream, Long> looks = new HashMap<>();
    /** In the order of their times; one that isn't the stream's time in {@link #looks} any more doesn't count. */
    private final PriorityQueue<Look> order = new PriorityQueue<>(Comparator.comparingLong(Look::atNs));

    private record Look(LiveStream stream, long atNs) {}

    RetentionAgenda(Clock clock) {
        this.clock = clock;
    }

    /** Sets the one time when a stream is to be looked at: {@code delayMs} from now. */
    void lookIn(LiveStream stream, long delayMs) {
        long atNs = clock.monotonicNs() + delayMs * 1_000_000;
        Long before = looks.put(stream, atNs);
        if (before == null || before != atNs) {
            order.add(new Look(stream, atNs));
        }
    }

    /** Takes out the streams whose time has come. */
    List<LiveStream> due() {
        List<LiveStream> due = new ArrayList<>();
        long nowNs = clock.monotonicNs();
        for (Look next = order.peek(); next != null && next.atNs <= nowNs; next = order.peek()) {
            order.remove();
            if (looks.remove(next.stream, next.atNs)) {
                due.add(next.stream);
            }
        }
        return due;
    }

    /** Streams that have a time. */
    int size() {
        return looks.size();
    }
}
