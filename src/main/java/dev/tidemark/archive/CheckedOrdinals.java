package dev.tidemark.archive;

import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Which ordinals of one stripe an archive accounts for, as its excerpts are read one after the other. Where order isn't final on
 * arrival ordinals come in any order: what arrived before an event whose entry id lies at or below the last id must have come by then.
 * It holds what is ahead of that, no more than an acceptance window has.
 */
final class CheckedOrdinals {
    /** Entries ahead of the last id are noted by the second. */
    private static final long BUCKET_MS = 1_000;

    /** All up to it are accounted for. */
    private long through;
    /** Up to it nothing is known for certain: damage lies before. */
    private long doubtThrough;
    /** Everything that arrived up to this ordinal must be there when a slice ends. */
    private long arrived;
    /** Accounted for above {@link #through}: first to last. */
    private final TreeMap<Long, Long> above = new TreeMap<>();
    /** Ends of seconds of entries ahead, with the highest ordinal that arrived in each. */
    private final TreeMap<Long, Long> ahead = new TreeMap<>();

    /** Takes an event's ordinal; false if it was there before. */
    boolean event(long ordinal, Position id, Position entry) {
        if (ordinal > doubtThrough && contains(ordinal)) {
            return false;
        }
        account(ordinal, ordinal);
        if (entry.isAfter(id)) {
            ahead.merge(entry.ms() / BUCKET_MS * BUCKET_MS + BUCKET_MS, ordinal, Math::max);
        } else {
            arrived = Math.max(arrived, ordinal);
        }
        while (!ahead.isEmpty() && ahead.firstKey() <= id.ms()) {
            arrived = Math.max(arrived, ahead.pollFirstEntry().getValue());
        }
        return true;
    }

    /** Whether the ordinal is the next one: nothing lies between it and what is accounted for. */
    boolean isNext(long ordinal) {
        return ordinal <= through + 1;
    }

    /** Ordinals that are accounted for without an event. */
    void account(OrdinalRange range) {
        account(range.first(), range.last());
    }

    private void account(long first, long last) {
        if (last <= through) {
            return;
        }
        if (first <= through + 1 && above.isEmpty()) {
            through = last;
            return;
        }
        long from = first;
        long to = last;
        Map.Entry<Long, Long> before = above.floorEntry(from);
        if (before != null && before.getValue() >= from - 1) {
            from = before.getKey();
            to = Math.max(to, before.getValue());
        }
        for (Map.Entry<Long, Long> next = above.ceilingEntry(from);
                next != null && next.getKey() <= to + 1;
                next = above.ceilingEntry(from)) {
            to = Math.max(to, next.getValue());
            above.remove(next.getKey());
        }
        if (from <= through + 1) {
            through = to;
        } else {
            above.put(from, to);
        }
    }

    private boolean contains(long ordinal) {
        if (ordinal <= through) {
            return true;
        }
        Map.Entry<Long, Long> before = above.floorEntry(ordinal);
        return before != null && before.getValue() >= ordinal;
    }

    /** What is missing up to {@code ordinal} is explained by damage that was found. */
    void doubt(long ordinal) {
        if (ordinal > through) {
            account(through + 1, ordinal);
        }
        doubtThrough = Math.max(doubtThrough, ordinal);
    }

    /** What should be there by now and isn't; it isn't given again. */
    List<OrdinalRange> takeMissing() {
        List<OrdinalRange> missing = new ArrayList<>();
        while (through < arrived) {
            Map.Entry<Long, Long> next = above.firstEntry();
            long last = next == null ? arrived : Math.min(arrived, next.getKey() - 1);
            missing.add(new OrdinalRange(through + 1, last));
            account(through + 1, last);
        }
        return missing;
    }
}
