package dev.tidemark.read;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.Cursor;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Slice;
import dev.tidemark.keeper.MergedSnapshot;
import dev.tidemark.keeper.StreamSnapshot;
import dev.tidemark.keeper.TimelineSnapshot;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The newest N of a stream: one cut, made by one snapshot. What memory holds is answered at once; the rest comes from live log and
 * archive, downwards. Stateless.
 */
final class TailRead {
    private TailRead() {}

    /** Exactly the newest min(n, available), or not complete. */
    static Future<TailAnswer> read(StreamSource source, int n, View view, long bytesMax) {
        if (source.isDeleted()) {
            return Future.failedFuture(source.deleted());
        }
        StreamSnapshot snapshot = source.snapshot();
        if (snapshot.isOpen()) {
            return snapshot instanceof MergedSnapshot merged
                    ? MergedTail.ofOneStripe(source, merged, n, view, bytesMax)
                    : read(source, snapshot, n, view, bytesMax);
        }
        return source.open()
                .compose(opened -> opened
                        ? read(source, n, view, bytesMax)
                        : read(source, TimelineSnapshot.COLD, n, view, bytesMax));
    }

    private static Future<TailAnswer> read(
            StreamSource source, StreamSnapshot snapshot, int n, View view, long bytesMax) {
        Position end = snapshot.isOpen() ? StreamSource.end(snapshot, view) : source.watermark();
        List<Slice> newest = newest(source, snapshot, n, end);
        if (!isContiguous(snapshot, end, newest)) {
            newest = List.of();
        }
        int count = count(newest);
        if (n == 0 || count == n || holdsAll(source, snapshot, newest)) {
            return Future.succeededFuture(answer(source, newest, end, snapshot.isOpen(), bytesMax));
        }
        Position before = !newest.isEmpty() ? newest.get(0).first() : snapshot.isOpen() ? end.next() : Position.MAX;
        DescendingMerge merge = new DescendingMerge(source, view, before, Position.ZERO, true);
        return further(merge, newest, n - count, bytesMax - jsonBytes(newest), true)
                .map(deep -> answer(source, deep.events, end, deep.complete, bytesMax));
    }

    private static List<Slice> newest(StreamSource source, StreamSnapshot snapshot, int n, Position end) {
        if (n == 0 || !snapshot.isOpen()) {
            return List.of();
        }
        List<Slice> newest = end.equals(snapshot.tail())
                ? snapshot.newest(n)
                : snapshot.before(end.next(), Position.ZERO, n, Long.MAX_VALUE);
        Position earliest = source.archive().earliest();
        if (newest.isEmpty() || !newest.get(0).first().isBefore(earliest)) {
            return newest;
        }
        return newest.stream()
                .map(slice -> slice.after(earliest.previous()))
                .filter(slice -> !slice.isEmpty())
                .toList();
    }

    /** Whether there is nothing below what memory gave. */
    private static boolean holdsAll(StreamSource source, StreamSnapshot snapshot, List<Slice> newest) {
        if (!snapshot.isOpen()) {
            return false;
        }
        if (!source.finalOnArrival()) {
            return snapshot.floor().equals(Position.ZERO)
                    || (!newest.isEmpty()
                            && newest.get(0).first().equals(source.archive().earliest()));
        }
        if (newest.isEmpty()) {
            return snapshot.lastOrdinal() == 0;
        }
        return newest.get(0).first().equals(source.archive().earliest())
                || Neighbour.firstOf(newest).follows(0);
    }

    /** Whether nothing is missing within what memory gave, nor between it and the end: else the merge-read finds out what. */
    private static boolean isContiguous(StreamSnapshot snapshot, Position end, List<Slice> slices) {
        if (slices.isEmpty()) {
            return true;
        }
        Continuity within = new Continuity(Position.ZERO, () -> true);
        boolean whole = within.holes(slices).isEmpty();
        within.take(slices);
        return whole && (!end.equals(snapshot.tail()) || within.last() == snapshot.lastOrdinal());
    }

    /** Events found below those of memory, and those. */
    record Deep(List<Slice> events, boolean complete) {}

    /** What lies below {@code newer}. */
    static Future<Deep> deeper(DescendingMerge merge, List<Slice> newer, int wanted, long bytesMax, boolean complete) {
        return further(merge, newer, wanted, bytesMax - jsonBytes(newer), complete);
    }

    private static Future<Deep> further(
            DescendingMerge merge, List<Slice> newer, int wanted, long bytesRoom, boolean complete) {
        if (bytesRoom <= 0) {
            return Future.succeededFuture(new Deep(newer, false));
        }
        return merge.next(wanted, bytesRoom)
                .compose(page -> {
                    List<Slice> events = new ArrayList<>(page.events());
                    events.addAll(newer);
                    boolean whole = complete && page.complete() && isWhole(page.gaps());
                    int missing = wanted - page.count();
                    if (missing == 0 || page.end() != MergePage.End.MORE) {
                        return Future.succeededFuture(new Deep(events, whole));
                    }
                    return further(merge, events, missing, bytesRoom - jsonBytes(page.events()), whole);
                })
                .recover(failure -> newer.isEmpty() || !isOfStorage(failure)
                        ? Future.failedFuture(failure)
                        : Future.succeededFuture(new Deep(newer, false)));
    }

    private static boolean isWhole(List<Gap> gaps) {
        return gaps.stream().allMatch(gap -> gap.reason() == Gap.Reason.EXPIRED);
    }

    private static boolean isOfStorage(Throwable failure) {
        return failure instanceof Problem problem
                && (problem.kind() == Problem.Kind.UNAVAILABLE || problem.kind() == Problem.Kind.DAMAGED);
    }

    private static TailAnswer answer(
            StreamSource source, List<Slice> events, Position end, boolean complete, long bytesMax) {
        Position last = events.isEmpty() ? end : events.get(events.size() - 1).last();
        return fitted(source, events, complete, source.cursor(last), bytesMax);
    }

    static TailAnswer fitted(StreamSource source, List<Slice> events, boolean complete, Cursor cursor, long bytesMax) {
        List<Slice> fitting = fitting(events, bytesMax);
        return new TailAnswer(source.stream().id(), fitting, complete && fitting == events, cursor);
    }

    /** The newest that fit: the same list if all do. */
    private static List<Slice> fitting(List<Slice> events, long bytesMax) {
        if (spannedBytes(events) <= bytesMax || jsonBytes(events) <= bytesMax) {
            return events;
        }
        List<Slice> fitting = new ArrayList<>();
        long room = bytesMax;
        for (int s = events.size() - 1; s >= 0 && room > 0; s--) {
            Slice slice = events.get(s);
            int from = slice.to();
            while (from > slice.from() && slice.chunk().jsonLength(from - 1) <= room) {
                from--;
                room -= slice.chunk().jsonLength(from);
            }
            if (from < slice.to()) {
                fitting.add(new Slice(slice.chunk(), from, slice.to()));
            }
            room = from > slice.from() ? 0 : room;
        }
        Collections.reverse(fitting);
        return fitting;
    }

    /** An upper bound of {@link #jsonBytes}, without looking at every event. */
    private static long spannedBytes(List<Slice> slices) {
        long bytes = 0;
        for (Slice slice : slices) {
            Chunk chunk = slice.chunk();
            int last = slice.to() - 1;
            bytes += chunk.jsonStart(last) + chunk.jsonLength(last) - chunk.jsonStart(slice.from());
        }
        return bytes;
    }

    static long jsonBytes(List<Slice> slices) {
        long bytes = 0;
        for (Slice slice : slices) {
            bytes += slice.jsonBytes();
        }
        return bytes;
    }

    static int count(List<Slice> slices) {
        int count = 0;
        for (Slice slice : slices) {
            count += slice.count();
        }
        return count;
    }

    /**
     * The position behind which the newest {@code n} events of a view lie, up to the tail of the snapshot: to follow from there is one
     * atomic cut. Fails if a part that has to be walked through is away.
     */
    static Future<Position> startOf(StreamSource source, StreamSnapshot snapshot, int n, View view, ReadPace pace) {
        Position end = StreamSource.end(snapshot, view);
        List<Slice> newest = newest(source, snapshot, n, end);
        int missing = n - count(newest);
        Position oldest = newest.isEmpty() ? end.next() : newest.get(0).first();
        if (missing == 0 || holdsAll(source, snapshot, newest)) {
            return Future.succeededFuture(Positions.below(oldest));
        }
        return walk(source, new DescendingMerge(source, view, oldest, Position.ZERO, true), oldest, missing, pace);
    }

    private static Future<Position> walk(
            StreamSource source, DescendingMerge merge, Position oldest, int missing, ReadPace pace) {
        return merge.next(Math.min(missing, pace.pageEvents()), pace.pageBytes())
                .compose(page -> {
                    if (!page.complete()) {
                        return Future.failedFuture(source.away());
                    }
                    Position reached = page.events().isEmpty()
                            ? oldest
                            : page.events().get(0).first();
                    int further = missing - page.count();
                    return further == 0 || page.end() != MergePage.End.MORE
                            ? Future.succeededFuture(Positions.below(reached))
                            : walk(source, merge, reached, further, pace);
                });
    }
}
