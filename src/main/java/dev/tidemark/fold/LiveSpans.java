package dev.tidemark.fold;

import dev.tidemark.event.Position;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * What is folded but still in the live log, in steps of some events: enough to know where to trim without asking Redis. Owned by the
 * fold.
 */
final class LiveSpans {
    private static final int SPANS_MAX = 512;

    /** Some consecutive events, by their last one. */
    record Span(Position last, long lastOrdinal, long bytes) {}

    private final Deque<Span> spans = new ArrayDeque<>();
    private long bytes;

    /** Adds the events behind the newest span. */
    void add(Position last, long lastOrdinal, long payloadBytes) {
        spans.addLast(new Span(last, lastOrdinal, payloadBytes));
        bytes += payloadBytes;
        if (spans.size() > SPANS_MAX) {
            halve();
        }
    }

    /** Adds events before the oldest span. */
    void addOldest(Position last, long lastOrdinal, long payloadBytes) {
        spans.addFirst(new Span(last, lastOrdinal, payloadBytes));
        bytes += payloadBytes;
    }

    /** Joins neighbours up to equal widths, half as many as there may be. */
    private void halve() {
        Span oldest = spans.element();
        long width = (spans.getLast().lastOrdinal - oldest.lastOrdinal) / (SPANS_MAX / 2) + 1;
        Deque<Span> joined = new ArrayDeque<>();
        Span open = spans.remove();
        long start = open.lastOrdinal;
        while (!spans.isEmpty()) {
            Span next = spans.remove();
            if (next.lastOrdinal - start <= width) {
                open = new Span(next.last, next.lastOrdinal, open.bytes + next.bytes);
            } else {
                joined.addLast(open);
                start = open.lastOrdinal;
                open = next;
            }
        }
        joined.addLast(open);
        spans.addAll(joined);
    }

    /** The newest span that ends at or below {@code ordinal}, or null. */
    @Nullable
    Span endingAtOrBelow(long ordinal) {
        Span found = null;
        for (Span span : spans) {
            if (span.lastOrdinal > ordinal) {
                break;
            }
            found = span;
        }
        return found;
    }

    /** The oldest span such that what is behind it is at most {@code bytesKept}; null if that holds for all of them. */
    @Nullable
    Span beyondBytes(long bytesKept) {
        long rest = bytes;
        Span found = null;
        for (Span span : spans) {
            if (rest <= bytesKept) {
                break;
            }
            rest -= span.bytes;
            found = span;
        }
        return found;
    }

    /** Forgets the spans that end at or below {@code ordinal}. */
    void forgetThrough(long ordinal) {
        while (!spans.isEmpty() && spans.element().lastOrdinal <= ordinal) {
            bytes -= spans.remove().bytes;
        }
    }

    /** Forgets what was trimmed: everything below {@code position}. */
    void trimmed(Position position) {
        while (!spans.isEmpty() && spans.element().last.isBefore(position)) {
            bytes -= spans.remove().bytes;
        }
    }

    /** Ordinal of the last event of the oldest span, or 0. */
    long oldestOrdinal() {
        return spans.isEmpty() ? 0 : spans.element().lastOrdinal;
    }

    /** Payload bytes of all spans. */
    long bytes() {
        return bytes;
    }
}
