package dev.tidemark.read;

import dev.tidemark.event.Generation;
import java.util.List;

/**
 * Whether everything that was ever appended to a stream's incarnation is accounted for, at one moment.
 *
 * @param generation of the incarnation
 * @param checkedMs when it was counted, Unix milliseconds
 * @param stripes one after the other
 * @param archiveMissing events whose archive files were taken away by others
 */
public record StreamAudit(Generation generation, long checkedMs, List<Stripe> stripes, long archiveMissing) {
    public StreamAudit {
        stripes = List.copyOf(stripes);
    }

    /**
     * One stripe: {@code appended} = {@code archived + live + lost + voided + pending}, or there are mismatches.
     *
     * @param appended the last ordinal that its keeper acknowledged
     * @param archived events counted by the archive, pruned ones included
     * @param live events above W, counted in Redis, and those that only memory has any more
     * @param lost ordinals announced as lost, counted by the archive
     * @param voided ordinals of refused appends: counted by the archive, and above W as keeper and entries tell
     * @param pending 1 while the ordinal that stands for what may be lost at a start isn't announced yet
     * @param mismatches ordinals accounted for not at all, or more than once
     */
    public record Stripe(
            long appended, long archived, long live, long lost, long voided, long pending, long mismatches) {}

    /** Must be 0. */
    public long mismatches() {
        return archiveMissing + stripes.stream().mapToLong(Stripe::mismatches).sum();
    }
}
