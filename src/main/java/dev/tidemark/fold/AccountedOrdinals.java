package dev.tidemark.fold;

import dev.tidemark.event.OrdinalRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Which ordinals of a stripe the archive accounts for, where events are folded in another order than they arrived. Owned by the fold.
 */
final class AccountedOrdinals {
    /** All up to it are. */
    private long through;
    /** And these above it: first to last. */
    private final TreeMap<Long, Long> above = new TreeMap<>();

    /** @param through all ordinals up to it are accounted for */
    AccountedOrdinals(long through) {
        this.through = through;
    }

    AccountedOrdinals copy() {
        AccountedOrdinals copy = new AccountedOrdinals(through);
        copy.above.putAll(above);
        return copy;
    }

    /** All ordinals up to it are accounted for. */
    long through() {
        return through;
    }

    void add(long ordinal) {
        add(new OrdinalRange(ordinal, ordinal));
    }

    void add(OrdinalRange range) {
        long first = range.first();
        long last = range.last();
        if (last <= through) {
            return;
        }
        Map.Entry<Long, Long> before = above.floorEntry(first);
        if (before != null && before.getValue() >= first - 1) {
            first = before.getKey();
            last = Math.max(last, before.getValue());
        }
        Map.Entry<Long, Long> next = above.ceilingEntry(first);
        while (next != null && next.getKey() <= last + 1) {
            last = Math.max(last, next.getValue());
            above.remove(next.getKey());
            next = above.ceilingEntry(first);
        }
        if (first <= through + 1) {
            through = last;
        } else {
            above.put(first, last);
        }
    }

    /** The ordinals up to {@code last} that aren't accounted for, in order. */
    List<OrdinalRange> missingThrough(long last) {
        List<OrdinalRange> missing = new ArrayList<>();
        long next = through + 1;
        for (Map.Entry<Long, Long> range : above.entrySet()) {
            if (next > last) {
                break;
            }
            if (range.getKey() > next) {
                missing.add(new OrdinalRange(next, Math.min(last, range.getKey() - 1)));
            }
            next = range.getValue() + 1;
        }
        if (next <= last) {
            missing.add(new OrdinalRange(next, last));
        }
        return missing;
    }
}
