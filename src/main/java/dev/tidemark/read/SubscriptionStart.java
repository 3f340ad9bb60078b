package dev.tidemark.read;

import dev.tidemark.event.Cursor;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Slice;
import dev.tidemark.keeper.MergedSnapshot;
import dev.tidemark.keeper.StreamSnapshot;
import io.vertx.core.Future;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a subscription begins.
 *
 * @param position exclusive
 * @param floors what had arrived by these entry ids isn't given again; empty where order is final
 * @param first what is given before anything else
 * @param gap what the subscriber is told before that; null if there is nothing
 */
record SubscriptionStart(
        Position position,
        List<Position> floors,
        List<Slice> first,
        @Nullable Gap gap) {
    static final String EARLIEST = "earliest";
    static final String LATEST = "latest";

    private static SubscriptionStart at(Position position) {
        return new SubscriptionStart(position, List.of(), List.of(), null);
    }

    private static SubscriptionStart at(Arrived place, List<Slice> first) {
        return new SubscriptionStart(place.through(), place.floors(), first, null);
    }

    private static SubscriptionStart earliest(StreamSource source, @Nullable Gap gap) {
        Position earliest = source.archive().earliest();
        Position start = earliest.equals(Position.ZERO) ? Position.ZERO : Positions.below(earliest);
        return new SubscriptionStart(start, List.of(), List.of(), gap);
    }

    /**
     * Finds the start. A stream whose live log is away can be followed from a position that the archive or the subscriber knows; where
     * its tail is can't be told, so {@code latest} and {@code tail} fail with unavailable.
     */
    static Future<SubscriptionStart> find(StreamSource source, SubscribeRequest request, ReadPace pace) {
        return source.open().compose(opened -> {
            StreamSnapshot snapshot = source.snapshot();
            if (opened && !snapshot.isOpen()) {
                return find(source, request, pace);
            }
            String after = request.after();
            if (request.tail() >= 0) {
                return opened ? tail(source, snapshot, request, pace) : Future.failedFuture(source.away());
            }
            if (after == null || after.equals(LATEST)) {
                return opened
                        ? Future.succeededFuture(latest(snapshot, request.view()))
                        : Future.failedFuture(source.away());
            }
            return after.equals(EARLIEST)
                    ? Future.succeededFuture(earliest(source, null))
                    : atPosition(source, snapshot, request, after);
        });
    }

    private static SubscriptionStart latest(StreamSnapshot snapshot, View view) {
        return snapshot instanceof MergedSnapshot merged && view == View.LIVE
                ? at(Arrived.all(merged), List.of())
                : at(StreamSource.end(snapshot, view));
    }

    /** The last N, provisional ones included, and from there on: one atomic cut. */
    private static Future<SubscriptionStart> tail(
            StreamSource source, StreamSnapshot snapshot, SubscribeRequest request, ReadPace pace) {
        int n = request.tail();
        if (!(snapshot instanceof MergedSnapshot merged) || request.view() == View.SEALED) {
            return TailRead.startOf(source, snapshot, n, request.view(), pace).map(SubscriptionStart::at);
        }
        List<Slice> provisional = merged.provisional();
        if (n > provisional.size()) {
            return TailRead.startOf(source, snapshot, n - provisional.size(), View.SEALED, pace)
                    .map(SubscriptionStart::at);
        }
        List<Slice> newest = provisional.subList(provisional.size() - n, provisional.size());
        List<Slice> marked = ProvisionalEvents.marked(source.generation(), newest, merged.frontier(), merged.arrived());
        return Future.succeededFuture(at(Arrived.all(merged), marked));
    }

    private static Future<SubscriptionStart> atPosition(
            StreamSource source, StreamSnapshot snapshot, SubscribeRequest request, String after) {
        Cursor cursor;
        try {
            cursor = Positions.cursor("after", after, source.generation());
        } catch (Problem wrong) {
            return wrong.kind() == Problem.Kind.GENERATION_CHANGED && !request.closeOnGap()
                    ? Future.succeededFuture(earliest(source, reset(source)))
                    : Future.failedFuture(wrong);
        }
        Problem ahead = snapshot.isOpen() ? StreamScan.aheadOrNull(source, snapshot, cursor.position()) : null;
        return ahead == null
                ? Future.succeededFuture(new SubscriptionStart(cursor.position(), cursor.floors(), List.of(), null))
                : Future.failedFuture(ahead);
    }

    private static Gap reset(StreamSource source) {
        return new Gap(Position.ZERO, earliest(source, null).position(), Gap.Reason.RESET);
    }
}
