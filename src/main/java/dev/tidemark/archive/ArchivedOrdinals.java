package dev.tidemark.archive;

import dev.tidemark.event.Gap;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which ordinals of one stripe a part of an archive accounts for.
 *
 * @param ranges those of events, and those that are void or lost, in no order
 * @param last highest ordinal of an event; 0 if there is none
 * @param lastEntry its entry id; {@link Position#ZERO} if there is none
 * @param untold a loss that is announced behind the last event of the archive, so that who reads up to W isn't told; null if there is none
 */
public record ArchivedOrdinals(
        List<OrdinalRange> ranges,
        long last,
        Position lastEntry,
        @Nullable Gap untold) {
    public static final ArchivedOrdinals NONE = new ArchivedOrdinals(List.of(), 0, Position.ZERO, null);

    public ArchivedOrdinals {
        ranges = List.copyOf(ranges);
    }

    /** Takes them one after the other; runs are put together. */
    static final class Collected {
        private final List<OrdinalRange> ranges = new ArrayList<>();
        private long last;
        private Position lastEntry = Position.ZERO;
        private @Nullable Gap untold;

        /** An event of some stripe stands behind. */
        void told() {
            untold = null;
        }

        void lost(Position after, Position through) {
            Gap before = untold;
            untold = new Gap(
                    before == null ? after : Position.min(before.from(), after),
                    before == null ? through : Position.max(before.to(), through),
                    Gap.Reason.LOST);
        }

        void event(long ordinal, Position entry) {
            add(new OrdinalRange(ordinal, ordinal));
            if (ordinal > last) {
                last = ordinal;
                lastEntry = entry;
            }
        }

        void add(OrdinalRange range) {
            int newest = ranges.size() - 1;
            if (newest >= 0 && ranges.get(newest).last() + 1 == range.first()) {
                ranges.set(newest, new OrdinalRange(ranges.get(newest).first(), range.last()));
            } else {
                ranges.add(range);
            }
        }

        ArchivedOrdinals done() {
            return new ArchivedOrdinals(ranges, last, lastEntry, untold);
        }
    }
}
