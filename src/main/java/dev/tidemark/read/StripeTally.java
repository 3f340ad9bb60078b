package dev.tidemark.read;

import dev.tidemark.archive.ArchiveCount;
import dev.tidemark.archive.StripeCount;
import dev.tidemark.event.Chunk;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventExtras;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import java.util.List;

/**
 * Counts what one stripe holds above W, one by one, and holds it against what the keeper says was appended and what the archive
 * counted. Only ordinals that were acknowledged when the count began are looked at: what is appended meanwhile is left to the next
 * audit. Pure.
 */
final class StripeTally {
    private final long appended;
    private final long passedOver;
    private final boolean finalOnArrival;
    private final Position watermark;
    private final StripeCount archived;
    private final long archivedOrdinal;

    /** Ordinals that are accounted for above W: events and void ones. */
    private final OrdinalSet unfolded = new OrdinalSet();

    private long live;
    private long voided;
    private long behindPassedOver;
    private long surplus;

    /**
     * @param appended the last acknowledged ordinal
     * @param passedOver as {@link dev.tidemark.keeper.LiveStream#passedOver}
     * @param finalOnArrival whether ordinals rise with ids, so that the archive accounts for all up to its highest one
     * @param count the archive's, not newer than {@code appended}
     */
    StripeTally(int stripe, long appended, long passedOver, boolean finalOnArrival, ArchiveCount count) {
        this.appended = appended;
        this.passedOver = passedOver;
        this.finalOnArrival = finalOnArrival;
        watermark = count.watermark();
        archived = count.of(stripe);
        archivedOrdinal = count.lastOrdinal(stripe);
    }

    /** An entry of the live log. One more of an ordinal that was there is one too many. */
    void entry(Event event) {
        if (event.ordinal() > appended || !event.id().isAfter(watermark)) {
            return;
        }
        if (isArchived(event.ordinal()) || !take(event.ordinal())) {
            surplus++;
        } else {
            live++;
        }
    }

    /** Events that memory holds: those that Redis hasn't got any more will be folded from here. */
    void memory(List<Slice> slices) {
        for (Slice slice : slices) {
            Chunk chunk = slice.chunk();
            for (int i = slice.from(); i < slice.to(); i++) {
                long ordinal = chunk.ordinal(i);
                if (ordinal <= appended && !isArchived(ordinal) && take(ordinal)) {
                    live++;
                }
            }
        }
    }

    /** Ordinals of refused appends, as keeper or events tell; after all events. */
    void refused(List<OrdinalRange> ranges) {
        for (OrdinalRange range : ranges) {
            for (long ordinal = range.first(); ordinal <= Math.min(range.last(), appended); ordinal++) {
                if (!isArchived(ordinal) && take(ordinal)) {
                    voided++;
                }
            }
        }
    }

    static List<OrdinalRange> carried(Event event) {
        EventExtras extras = event.extras();
        return extras == null ? List.of() : extras.voided();
    }

    /** Where order isn't final on arrival nobody can tell by an ordinal whether it is archived. */
    private boolean isArchived(long ordinal) {
        return finalOnArrival && ordinal <= archivedOrdinal;
    }

    private boolean take(long ordinal) {
        boolean isNew = unfolded.add(ordinal);
        if (isNew && ordinal > passedOver) {
            behindPassedOver++;
        }
        return isNew;
    }

    StreamAudit.Stripe result() {
        long rest = appended - archived.total() - live;
        // Elsewhere some of the void ordinals may be among those that the archive counts.
        long voidNow = finalOnArrival ? voided : Math.max(0, Math.min(rest, voided));
        rest -= voidNow;
        long pending = isPending() && (finalOnArrival || rest > 0) ? 1 : 0;
        return new StreamAudit.Stripe(
                appended,
                archived.uncounted() + archived.events(),
                live,
                archived.lost(),
                archived.voided() + voidNow,
                pending,
                Math.abs(rest - pending) + surplus);
    }

    /** Whether nothing that came behind it is archived yet. */
    private boolean isPending() {
        boolean isWithin = passedOver > 0 && passedOver <= appended;
        return isWithin
                && (archivedOrdinal < passedOver || (!finalOnArrival && behindPassedOver == appended - passedOver));
    }
}
