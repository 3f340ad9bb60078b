package dev.tidemark.fold;

import dev.tidemark.event.Clock;
import dev.tidemark.event.Position;
import dev.tidemark.keeper.TimelineSnapshot;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Which streams have their turn next: those that somebody waits for, then the one whose unfolded events are the oldest. A stream with so
 * much to fold that it takes several turns stands, after each, where events of that moment would. Owned by a lane of the fold.
 */
final class FoldQueue {
    private final Clock clock;
    private final int runningMax;
    private final PriorityQueue<Entry> entries =
            new PriorityQueue<>(Comparator.comparing((Entry entry) -> !entry.urgent)
                    .thenComparingLong(Entry::sinceMs)
                    .thenComparingLong(Entry::number));

    private int running;
    private long added;

    /** An entry whose fold isn't queued any more had its turn by another one. */
    private record Entry(StreamFold fold, boolean urgent, long sinceMs, long number) {}

    /** @param runningMax streams that have their turn at the same time */
    FoldQueue(Clock clock, int runningMax) {
        this.clock = clock;
        this.runningMax = runningMax;
    }

    /** A stream is to be folded; or, if it is here already, somebody waits for it now. */
    void add(StreamFold fold) {
        add(fold, oldestMs(fold));
    }

    /** A stream that had its turn has more to fold. */
    void addAgain(StreamFold fold) {
        add(fold, clock.wallMs());
    }

    private void add(StreamFold fold, long sinceMs) {
        fold.queued = true;
        entries.add(new Entry(fold, fold.urgent, sinceMs, added++));
    }

    /** The stream whose turn it is; null if it is none's now. */
    @Nullable
    StreamFold next() {
        while (running < runningMax) {
            Entry first = entries.poll();
            if (first == null) {
                return null;
            }
            if (first.fold.queued) {
                first.fold.queued = false;
                running++;
                return first.fold;
            }
        }
        return null;
    }

    /** A stream's turn is over. */
    void ended() {
        running--;
    }

    /** All of them, whatever is under way: nothing more will have a turn after them. */
    List<StreamFold> takeAll() {
        List<StreamFold> all = new ArrayList<>();
        for (Entry entry = entries.poll(); entry != null; entry = entries.poll()) {
            if (entry.fold.queued) {
                entry.fold.queued = false;
                running++;
                all.add(entry.fold);
            }
        }
        return all;
    }

    /** Time of the oldest event that isn't folded, as far as that is known. */
    private static long oldestMs(StreamFold fold) {
        Position watermark = fold.archive.watermark();
        long oldest = Long.MAX_VALUE;
        for (int i = 0; i < fold.stream.stripes(); i++) {
            TimelineSnapshot memory = fold.stream.snapshot(i);
            oldest =
                    Math.min(oldest, memory.covers(watermark) ? memory.oldestSealedMsAfter(watermark) : watermark.ms());
        }
        return oldest;
    }
}
