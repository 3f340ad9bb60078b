package dev.tidemark.read;

import dev.tidemark.event.Cursor;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Slice;
import dev.tidemark.keeper.MergedSnapshot;
import dev.tidemark.keeper.StreamSnapshot;
import io.vertx.core.Future;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A checked range, read page by page up to its limit. What is acknowledged after it started isn't in it. */
final class StreamScan implements Reads.Scan {
    private final StreamSource source;
    private final ReadPace pace;
    private final MergeRead merge;
    /** Greatest position that a cursor of this read may have. */
    private final Position cursorMax;

    private final boolean empty;
    private long limit;

    private StreamScan(
            StreamSource source, ReadPace pace, MergeRead merge, Position cursorMax, long limit, boolean empty) {
        this.source = source;
        this.pace = pace;
        this.merge = merge;
        this.cursorMax = cursorMax;
        this.limit = limit;
        this.empty = empty;
    }

    /** Starts a read; fails if its position is ahead of the stream, or its start is gone and the request minds. */
    static Future<Reads.Scan> start(StreamSource source, ReadPace pace, ReadRequest request) {
        ReadRange range;
        try {
            range = ReadRange.of(request, source.stream().id().generation());
        } catch (Problem wrong) {
            return Future.failedFuture(wrong);
        }
        if (range.isEmpty()) {
            return Future.succeededFuture(of(source, pace, request, range));
        }
        return source.open().compose(opened -> {
            StreamSnapshot snapshot = source.snapshot();
            if (opened && !snapshot.isOpen()) {
                return start(source, pace, request);
            }
            if (range.start() == ReadRange.Start.CURSOR && opened) {
                Problem ahead = aheadOrNull(source, snapshot, range.after());
                if (ahead != null) {
                    return Future.failedFuture(ahead);
                }
            }
            Reads.Scan scan = of(source, pace, request, range);
            boolean minds =
                    range.start() == ReadRange.Start.CURSOR && !request.descending() && !request.continueOnGap();
            return minds ? failIfRemoved(source, range).map(scan) : Future.succeededFuture(scan);
        });
    }

    /**
     * Whether a reader can have reached a position: at or below the tail, or at or below the frontier, where nothing will ever be added.
     */
    static @Nullable Problem aheadOrNull(StreamSource source, StreamSnapshot snapshot, Position position) {
        if (!position.isAfter(Position.max(snapshot.tail(), snapshot.frontier()))) {
            return null;
        }
        return new Problem(
                        Problem.Kind.POSITION_AHEAD,
                        "the position is ahead of stream '" + source.stream().name() + "'; its last cursor is "
                                + source.cursor(snapshot.tail()))
                .with("cursor", source.cursor(snapshot.tail()).toString());
    }

    private static Future<Void> failIfRemoved(StreamSource source, ReadRange range) {
        Position earliest = source.archive().earliest();
        if (!Positions.isFarBelow(range.after(), earliest)) {
            return Future.succeededFuture();
        }
        return new Neighbours(source)
                .removed(range.after(), -1, range.through())
                .compose(gap -> gap.isPresent()
                        ? Future.failedFuture(source.expired(source.archive().earliest()))
                        : Future.succeededFuture());
    }

    private static StreamScan of(StreamSource source, ReadPace pace, ReadRequest request, ReadRange range) {
        StreamSnapshot snapshot = source.snapshot();
        Position tail = snapshot.isOpen() ? StreamSource.end(snapshot, request.view()) : Position.MAX;
        Position through = Position.min(range.through(), tail);
        boolean earliest = range.start() == ReadRange.Start.EARLIEST;
        boolean withProvisional = snapshot instanceof MergedSnapshot
                && snapshot.isOpen()
                && request.view() == View.LIVE
                && range.through().isAfter(tail);
        if (request.descending()) {
            Position before = through.equals(Position.MAX) ? Position.MAX : through.next();
            MergeRead merge = new DescendingMerge(source, request.view(), before, range.after(), earliest);
            MergeRead all = withProvisional
                    ? new ProvisionalScan.Falling(source.generation(), provisional(snapshot, range), merge)
                    : merge;
            return new StreamScan(source, pace, all, Position.MAX, request.limit(), range.isEmpty());
        }
        AscendingMerge merge =
                new AscendingMerge(source, request.view(), range.after(), range.floors(), earliest, through);
        Position cursorMax = range.start() == ReadRange.Start.TIME ? tail : Position.MAX;
        MergeRead all = withProvisional ? new ProvisionalScan.Rising(source, merge, range.through()) : merge;
        return new StreamScan(source, pace, all, cursorMax, request.limit(), range.isEmpty());
    }

    private static List<Slice> provisional(StreamSnapshot snapshot, ReadRange range) {
        return snapshot.provisional().stream()
                .filter(slice ->
                        slice.first().isAfter(range.after()) && !slice.first().isAfter(range.through()))
                .toList();
    }

    @Override
    public Future<ReadPage> next() {
        return next(pace.pageEvents(), pace.pageBytes());
    }

    @Override
    public Future<ReadPage> next(int eventsMax, long bytesMax) {
        if (empty || limit == 0) {
            return Future.succeededFuture(page(new MergePage(List.of(), List.of(), MergePage.End.MORE, true)));
        }
        return merge.next((int) Math.min(eventsMax, limit), bytesMax).map(this::page);
    }

    private ReadPage page(MergePage page) {
        limit -= page.count();
        boolean bounded = empty || page.end() == MergePage.End.REACHED;
        boolean end = bounded || limit == 0 || page.end() == MergePage.End.AWAY;
        return new ReadPage(page.events(), page.gaps(), cursor(), end, bounded, page.complete());
    }

    private Cursor cursor() {
        if (merge instanceof ProvisionalScan.Rising rising) {
            return rising.cursor(cursorMax);
        }
        Position position = Position.min(merge.cursor(), cursorMax);
        return merge instanceof AscendingMerge ascending
                ? ascending.floors().cursor(source.generation(), position)
                : source.cursor(position);
    }
}
