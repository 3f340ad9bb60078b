package dev.tidemark.archive;

import dev.tidemark.event.OrdinalRange;

/**
 * How many ordinals of one stripe an archive accounts for: counted one by one as they are archived, never taken from the ordinals
 * themselves, so that the two can be held against each other. Files that were pruned count on.
 *
 * @param uncounted archived before there were counts
 * @param events archived events
 * @param lost ordinals announced as lost
 * @param voided ordinals of refused appends
 */
public record StripeCount(long uncounted, long events, long lost, long voided) {
    public static final StripeCount NONE = new StripeCount(0, 0, 0, 0);

    /** Ordinals accounted for. */
    public long total() {
        return uncounted + events + lost + voided;
    }

    /** Of what was archived before there were counts: the ordinals are taken for granted. */
    static StripeCount uncounted(long lastOrdinal) {
        return new StripeCount(lastOrdinal, 0, 0, 0);
    }

    StripeCount missing(OrdinalRange ordinals, boolean areLost) {
        return areLost
                ? new StripeCount(uncounted, events, lost + ordinals.count(), voided)
                : new StripeCount(uncounted, events, lost, voided + ordinals.count());
    }
}
