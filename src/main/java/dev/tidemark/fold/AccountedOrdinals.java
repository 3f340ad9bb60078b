package dev.tidemark.fold;

import dev.tidemark.event.OrdinalRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
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

    /**
     * @param count how many ordinals are accounted for in all
     * @param highest those of them above some ordinal, all of them
     */
    static AccountedOrdinals of(long count, List<OrdinalRange> highest) {
        AccountedOrdinals known = new AccountedOrdinals(0);
        highest.forEach(known::add);
        long through = count;
        for (Map.Entry<Long, Long> range : known.ranges().descendingMap().entrySet()) {
            if (through >= range.getValue()) {
                break;
            }
            through -= range.getValue() - range.getKey() + 1;
        }
        AccountedOrdinals accounted = new AccountedOrdinals(Math.max(0, through));
        highest.forEach(accounted::add);
        return accounted;
    }

    private NavigableMap<Long, Long> ranges() {
        TreeMap<Long, Long> ranges = new TreeMap<>(above);
        if (through > 0) {
            ranges.put(1L, through);
        }
        return ranges;
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
