package dev.tidemark.fold;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.EventExtras;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import java.util.ArrayList;
import java.util.List;

/**
 * Step 2 of a fold: ids rise and are above W, ordinals are gap-free or accounted for. What is missing is found here; whether it is
 * lost is decided by a second look.
 */
final class OrdinalCheck {
    /**
     * Ordinals that no event of the slice has.
     *
     * @param ordinals which
     * @param after they lie above this position
     * @param through and at or below this one
     */
    record Missing(OrdinalRange ordinals, Position after, Position through) {}

    private final List<Missing> missing = new ArrayList<>();
    private final List<OrdinalRange> voided;
    private Position last;
    private long expected;

    /**
     * @param watermark every id must be above it
     * @param archived the highest ordinal accounted for
     * @param voided ordinals known to be of refused appends
     */
    OrdinalCheck(Position watermark, long archived, List<OrdinalRange> voided) {
        this.last = watermark;
        this.expected = archived + 1;
        this.voided = new ArrayList<>(voided);
    }

    /** Notes voided ordinals that an event carries; the event may stand behind the slice. */
    void carried(Chunk chunk, int i) {
        EventExtras extras = chunk.extras(i);
        if (extras != null) {
            voided.addAll(extras.voided());
        }
    }

    /** @throws IllegalStateException if ids or ordinals don't rise: the slice is wrong, nothing of it may be written */
    void check(List<Slice> slices) {
        for (Slice slice : slices) {
            for (int i = slice.from(); i < slice.to(); i++) {
                carried(slice.chunk(), i);
                Position id = slice.chunk().position(i);
                long ordinal = slice.chunk().ordinal(i);
                if (!id.isAfter(last) || ordinal < expected) {
                    throw new IllegalStateException(
                            "event " + id + " #" + ordinal + " can't follow " + last + " #" + (expected - 1));
                }
                if (ordinal > expected) {
                    missing.add(new Missing(new OrdinalRange(expected, ordinal - 1), last, id.previous()));
                }
                last = id;
                expected = ordinal + 1;
            }
        }
    }

    /** What no event has, voided or not, in order. */
    List<Missing> missing() {
        return List.copyOf(missing);
    }

    /** What no event has and no refused append explains. */
    List<Missing> unexplained() {
        return missing.stream().filter(hole -> !isVoided(hole.ordinals())).toList();
    }

    /** Whether all ordinals of a range are of refused appends. */
    boolean isVoided(OrdinalRange range) {
        long next = range.first();
        boolean moved = true;
        while (moved && next <= range.last()) {
            moved = false;
            for (OrdinalRange candidate : voided) {
                if (candidate.first() <= next && candidate.last() >= next) {
                    next = candidate.last() + 1;
                    moved = true;
                }
            }
        }
        return next > range.last();
    }

    Position last() {
        return last;
    }

    /** The highest ordinal that is accounted for when the slice is archived. */
    long lastOrdinal() {
        return expected - 1;
    }
}
