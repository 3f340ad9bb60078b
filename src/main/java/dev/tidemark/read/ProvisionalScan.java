package dev.tidemark.read;

import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.Cursor;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import dev.tidemark.keeper.MergedSnapshot;
import io.vertx.core.Future;
import java.util.List;

/**
 * What a read in the live view gives beside final order: rising, the provisional events of one moment behind it, in the order of
 * arrival; falling, those before it, in id order. Around a {@link MergeRead}; used as one.
 */
final class ProvisionalScan {
    private ProvisionalScan() {}

    /** Rising: first everything that is final, then what had arrived when that was done. */
    static final class Rising implements MergeRead {
        private final StreamSource source;
        private final AscendingMerge merge;
        private final Position bound;
        /** What is given behind final order; the same from the first page on. */
        private MergedSnapshot snapshot = new MergedSnapshot(List.of());

        private boolean behind;
        private Position through = Position.ZERO;
        private List<Position> floors = List.of();

        /** @param bound events above it aren't given */
        Rising(StreamSource source, AscendingMerge merge, Position bound) {
            this.source = source;
            this.merge = merge;
            this.bound = bound;
        }

        @Override
        public Future<MergePage> next(int eventsMax, long bytesMax) {
            if (behind) {
                return Future.succeededFuture(arrivals(eventsMax, bytesMax));
            }
            return merge.next(eventsMax, bytesMax).compose(page -> {
                if (page.end() != MergePage.End.REACHED || !begin()) {
                    return Future.succeededFuture(page);
                }
                // The merge has nothing more up to this snapshot's frontier.
                return Future.succeededFuture(page.notTheLast());
            });
        }

        /** Whether there may be provisional events to give. */
        private boolean begin() {
            if (!(source.snapshot() instanceof MergedSnapshot now) || !now.isOpen()) {
                return false;
            }
            through = merge.cursor();
            List<Position> seen = merge.floors().positions();
            floors = seen.size() == now.stripes().size() ? seen : Arrived.none(now);
            if (!now.coversArrivals(floors, through)) {
                // Some of it has become final meanwhile: the merge goes on with that.
                return true;
            }
            behind = true;
            snapshot = now;
            return true;
        }

        private MergePage arrivals(int eventsMax, long bytesMax) {
            Arrived next = Arrived.after(source.generation(), snapshot, through, floors, bound, eventsMax, bytesMax);
            through = next.through();
            floors = next.floors();
            return new MergePage(
                    next.events(), List.of(), next.more() ? MergePage.End.MORE : MergePage.End.REACHED, true);
        }

        @Override
        public Position cursor() {
            return behind ? through : merge.cursor();
        }

        /** Where a reader goes on that was given everything so far. */
        Cursor cursor(Position max) {
            if (behind && !max.isBefore(through)) {
                return Arrived.cursor(source.generation(), through, floors);
            }
            return merge.floors().cursor(source.generation(), Position.min(merge.cursor(), max));
        }
    }

    /** Falling: first the provisional events of the start, newest first. */
    static final class Falling implements MergeRead {
        private final MergeRead merge;
        private final Generation generation;
        private final List<Slice> provisional;
        private int left;

        /**
         * @param provisional each in a slice of its own, in id order
         * @param merge the rest
         */
        Falling(Generation generation, List<Slice> provisional, MergeRead merge) {
            this.generation = generation;
            this.provisional = provisional;
            this.merge = merge;
            left = provisional.size();
        }

        @Override
        public Future<MergePage> next(int eventsMax, long bytesMax) {
            if (left == 0) {
                return merge.next(eventsMax, bytesMax);
            }
            int first = left;
            long room = bytesMax;
            while (first > 0 && left - first < eventsMax && room > 0) {
                first--;
                Slice slice = provisional.get(first);
                room -= slice.jsonBytes();
            }
            ChunkBuilder page = ChunkBuilder.inGivenOrder(generation, Math.max(1, left - first), 4 << 10);
            for (Slice slice : provisional.subList(first, left)) {
                page.addGiven(slice.chunk(), slice.from(), new Cursor(generation, slice.first()).bytes(), true);
            }
            left = first;
            return Future.succeededFuture(
                    new MergePage(List.of(page.view().slice()), List.of(), MergePage.End.MORE, true));
        }

        @Override
        public Position cursor() {
            boolean among = left > 0 && left < provisional.size();
            return among ? provisional.get(left).first() : merge.cursor();
        }
    }
}
