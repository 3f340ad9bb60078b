package dev.tidemark.read;

import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.keeper.TimelineSnapshot;
import io.vertx.core.Future;
import org.jspecify.annotations.Nullable;

/**
 * Where a subscription begins.
 *
 * @param position exclusive
 * @param gap what the subscriber is told before anything else; null if there is nothing
 */
record SubscriptionStart(Position position, @Nullable Gap gap) {
    static final String EARLIEST = "earliest";
    static final String LATEST = "latest";

    private static SubscriptionStart at(Position position) {
        return new SubscriptionStart(position, null);
    }

    private static SubscriptionStart earliest(StreamSource source, @Nullable Gap gap) {
        Position earliest = source.archive().earliest();
        Position start = earliest.equals(Position.ZERO) ? Position.ZERO : Positions.below(earliest);
        return new SubscriptionStart(start, gap);
    }

    /**
     * Finds the start. A stream whose live log is away can be followed from a position that the archive or the subscriber knows; where
     * its tail is can't be told, so {@code latest} and {@code tail} fail with unavailable.
     */
    static Future<SubscriptionStart> find(StreamSource source, SubscribeRequest request, ReadPace pace) {
        return source.open().compose(opened -> {
            TimelineSnapshot snapshot = source.snapshot();
            if (opened && !snapshot.isOpen()) {
                return find(source, request, pace);
            }
            String after = request.after();
            if (request.tail() >= 0) {
                return opened
                        ? TailRead.startOf(source, snapshot, request.tail(), request.view(), pace)
                                .map(SubscriptionStart::at)
                        : Future.failedFuture(source.away());
            }
            if (after == null || after.equals(LATEST)) {
                return opened
                        ? Future.succeededFuture(at(StreamSource.end(snapshot, request.view())))
                        : Future.failedFuture(source.away());
            }
            return after.equals(EARLIEST)
                    ? Future.succeededFuture(earliest(source, null))
                    : atPosition(source, snapshot, request, after);
        });
    }

    private static Future<SubscriptionStart> atPosition(
            StreamSource source, TimelineSnapshot snapshot, SubscribeRequest request, String after) {
        Position position;
        try {
            position = Positions.parse("after", after, source.stream().id().generation());
        } catch (Problem wrong) {
            return wrong.kind() == Problem.Kind.GENERATION_CHANGED && !request.closeOnGap()
                    ? Future.succeededFuture(earliest(source, reset(source)))
                    : Future.failedFuture(wrong);
        }
        Problem ahead = snapshot.isOpen() ? StreamScan.aheadOrNull(source, snapshot, position) : null;
        return ahead == null ? Future.succeededFuture(at(position)) : Future.failedFuture(ahead);
    }

    private static Gap reset(StreamSource source) {
        return new Gap(Position.ZERO, earliest(source, null).position(), Gap.Reason.RESET);
    }
}
