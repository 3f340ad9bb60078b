package dev.tidemark.keeper;

import dev.tidemark.event.Event;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The memory of a stream whose order isn't final on arrival: several stripes, or an acceptance window. Its lists merge the stripes up
 * to the stream's frontier, which is the minimum over theirs.
 */
public final class MergedSnapshot implements StreamSnapshot {
    private final List<TimelineSnapshot> stripes;
    private final Position frontier;
    private final Position tail;
    private final Position floor;
    private final boolean open;

    /** @param stripes snapshots of all stripes, in their order */
    public MergedSnapshot(List<TimelineSnapshot> stripes) {
        this.stripes = List.copyOf(stripes);
        Position least = Position.MAX;
        Position newest = Position.ZERO;
        Position highest = Position.ZERO;
        boolean all = true;
        for (TimelineSnapshot stripe : stripes) {
            least = Position.min(least, stripe.frontier());
            newest = Position.max(newest, stripe.tail());
            highest = Position.max(highest, stripe.floor());
            all &= stripe.isOpen();
        }
        frontier = least;
        tail = newest;
        floor = highest;
        open = all;
    }

    /** The stripes' own snapshots. */
    public List<TimelineSnapshot> stripes() {
        return stripes;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public Position floor() {
        return floor;
    }

    @Override
    public Position tail() {
        return tail;
    }

    @Override
    public Position frontier() {
        return frontier;
    }

    @Override
    public long lastOrdinal() {
        return sum(TimelineSnapshot::lastOrdinal);
    }

    @Override
    public long count() {
        return sum(TimelineSnapshot::count) + provisionalOfStripes();
    }

    /** Events that stand only among the arrivals. */
    private long provisionalOfStripes() {
        return sum(stripe -> stripe.hasWindow() ? stripe.provisional().size() : 0);
    }

    @Override
    public long countAfter(Position position) {
        return sum(stripe -> stripe.countAfter(position)) + provisionalOfStripes();
    }

    @Override
    public long payloadBytesAfter(Position position) {
        return sum(stripe -> stripe.payloadBytesAfter(position));
    }

    private long sum(ToLongFunction<TimelineSnapshot> figure) {
        long sum = 0;
        for (TimelineSnapshot stripe : stripes) {
            sum += figure.applyAsLong(stripe);
        }
        return sum;
    }

    @Override
    public @Nullable Position positionOf(long ordinal) {
        return null;
    }

    @Override
    public List<Slice> newest(int n) {
        return before(end().next(), Position.ZERO, n, Long.MAX_VALUE);
    }

    @Override
    public List<Slice> after(Position position, int eventsMax, long bytesMax) {
        return SliceMerge.oldest(
                each(stripe -> through(stripe.after(position, eventsMax, bytesMax), frontier)), eventsMax, bytesMax);
    }

    private static List<Slice> through(List<Slice> slices, Position end) {
        if (slices.isEmpty() || !slices.get(slices.size() - 1).last().isAfter(end)) {
            return slices;
        }
        return slices.stream()
                .map(slice -> slice.through(end))
                .filter(slice -> !slice.isEmpty())
                .toList();
    }

    @Override
    public List<Slice> before(Position before, Position lowest, int eventsMax, long bytesMax) {
        Position bound = Position.min(before, end().next());
        return SliceMerge.newest(
                each(stripe -> stripe.before(bound, lowest, eventsMax, bytesMax)), eventsMax, bytesMax);
    }

    private List<List<Slice>> each(Function<TimelineSnapshot, List<Slice>> part) {
        List<List<Slice>> parts = new ArrayList<>(stripes.size());
        for (TimelineSnapshot stripe : stripes) {
            parts.add(part.apply(stripe));
        }
        return parts;
    }

    @Override
    public long sealedBytesAfter(Position position) {
        return sum(stripe -> stripe.sealedBytesAfter(position));
    }

    @Override
    public long oldestSealedMsAfter(Position position) {
        long oldest = Long.MAX_VALUE;
        for (TimelineSnapshot stripe : stripes) {
            oldest = Math.min(oldest, stripe.oldestSealedMsAfter(position));
        }
        return oldest;
    }

    @Override
    public List<Slice> provisional() {
        if (!tail.isAfter(frontier)) {
            return List.of();
        }
        List<Slice> provisional = new ArrayList<>();
        for (TimelineSnapshot stripe : stripes) {
            provisional.addAll(stripe.aboveAll(frontier));
        }
        provisional.sort(Comparator.comparing(Slice::first));
        return provisional;
    }

    @Override
    public @Nullable Event find(Position id) {
        for (TimelineSnapshot stripe : stripes) {
            Event found = stripe.find(id);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    // ---- in the order of arrival ----

    /** What had arrived in each stripe at this moment: entry ids. */
    public List<Position> arrived() {
        return stripes.stream().map(TimelineSnapshot::arrivedThrough).toList();
    }

    /** Whether all that arrived above the floors with an id above {@code through} is in memory. */
    public boolean coversArrivals(List<Position> floors, Position through) {
        for (int i = 0; i < stripes.size(); i++) {
            if (!stripes.get(i).coversArrivals(floors.get(i), through)) {
                return false;
            }
        }
        return true;
    }
}
