package dev.tidemark.read;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.Event;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import dev.tidemark.keeper.StreamSnapshot;
import dev.tidemark.livelog.LiveLogPage;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;

/** Looks up what lies beside a position, where that isn't known from reading on. */
final class Neighbours {
    /** Ordinal of an event that can't be found. */
    static final long NONE = -1;

    /** How far behind a refused append the one may be that carries its ordinals: as many as may be in flight, or so. */
    private static final int CARRIERS_MAX = 2_048;

    private static final long CARRIERS_BYTES_MAX = 1 << 20;

    private final StreamSource source;

    Neighbours(StreamSource source) {
        this.source = source;
    }

    /**
     * Ordinal of the newest event at or below {@code position}; 0 below the first of a stream; {@link #NONE} if it can't be found. Fails
     * if the live log is needed and away.
     */
    Future<Long> ordinalAt(StreamSnapshot snapshot, Position position) {
        if (position.compareTo(snapshot.tail()) >= 0) {
            return Future.succeededFuture(snapshot.lastOrdinal());
        }
        if (position.equals(Position.ZERO)) {
            return Future.succeededFuture(source.watermark().equals(Position.ZERO) ? 0 : NONE);
        }
        List<Slice> before = snapshot.before(position.next(), Position.ZERO, 1, Long.MAX_VALUE);
        if (!before.isEmpty()) {
            return Future.succeededFuture(Neighbour.firstOf(before).ordinal());
        }
        Position watermark = source.watermark();
        if (!position.isAfter(watermark)) {
            return archivedOrdinalAt(position);
        }
        if (snapshot.covers(watermark)) {
            return belowTheLiveLog(position);
        }
        return source.liveReverse(position.next(), watermark.next(), 1)
                .compose(live -> live.events().isEmpty()
                        ? belowTheLiveLog(position)
                        : Future.succeededFuture(live.events().get(0).ordinal()));
    }

    private Future<Long> belowTheLiveLog(Position position) {
        Position watermark = source.watermark();
        return watermark.equals(Position.ZERO)
                ? Future.succeededFuture(0L)
                : archivedOrdinalAt(Position.min(position, watermark));
    }

    private Future<Long> archivedOrdinalAt(Position position) {
        return source.archivedReverse(position.next(), Position.ZERO, 1, 1)
                .map(page -> page.events().count() == 0
                        ? NONE
                        : page.events().ordinal(page.events().count() - 1));
    }

    /**
     * What comes next above a position at or above W. Empty if W has passed the position meanwhile: then the archive has to be asked.
     * Fails if the live log is away.
     */
    Future<Optional<Neighbour>> above(StreamSnapshot snapshot, Position position) {
        if (position.compareTo(snapshot.tail()) >= 0) {
            return Future.succeededFuture(Optional.of(Neighbour.behind(snapshot)));
        }
        if (snapshot.covers(position)) {
            return Future.succeededFuture(Optional.of(inMemory(snapshot, position)));
        }
        Position watermark = source.watermark();
        if (watermark.isAfter(position)) {
            return Future.succeededFuture(Optional.empty());
        }
        return source.live(position, snapshot.floor(), 1).map(live -> {
            if (source.watermarkAgain(watermark).isAfter(position)) {
                return Optional.empty();
            }
            return Optional.of(firstAbove(live, position).orElseGet(() -> inMemory(snapshot, snapshot.floor())));
        });
    }

    private static Optional<Neighbour> firstAbove(LiveLogPage live, Position position) {
        for (Event event : live.events()) {
            if (event.id().isAfter(position)) {
                return Optional.of(Neighbour.of(event));
            }
        }
        return Optional.empty();
    }

    /** What comes next above a position, as far as memory holds it. */
    static Neighbour inMemory(StreamSnapshot snapshot, Position position) {
        List<Slice> after = snapshot.after(position, 1, Long.MAX_VALUE);
        return after.isEmpty() ? Neighbour.behind(snapshot) : Neighbour.firstOf(after);
    }

    /**
     * What retention has removed above {@code after}, as far as the ordinals tell: nothing, if the archive never had anything removed, or
     * the earliest event is the stream's first one or follows the reader's last one. What was lost before the earliest event the archive
     * announces by itself.
     *
     * @param last ordinal of the reader's last event; negative if it isn't known
     * @param through the reader's bound
     */
    Future<Optional<Gap>> removed(Position after, long last, Position through) {
        if (source.archive().eventsRemoved() == 0) {
            return Future.succeededFuture(Optional.empty());
        }
        return source.archived(after, Position.MAX, 1, 1).compose(page -> {
            Chunk events = page.events();
            if (!source.finalOnArrival()) {
                return Future.succeededFuture(
                        events.count() == 0 ? Optional.empty() : removedBelow(events.first(), after, through));
            }
            if (events.count() == 0 || Neighbour.follows(Math.max(0, last), events, 0)) {
                return Future.succeededFuture(Optional.empty());
            }
            Position first = events.first();
            Position to = Position.min(Positions.below(first), through);
            if (!to.isAfter(after)) {
                return Future.succeededFuture(Optional.empty());
            }
            Hole hole = new Hole(after, Math.max(0, last), Neighbour.of(events, 0));
            return source.archived(after, Position.MAX, CARRIERS_MAX, CARRIERS_BYTES_MAX)
                    .compose(carriers -> {
                        if (isRemovedToo(first, carriers.events())) {
                            return removed(after, last, through);
                        }
                        // The events behind it may carry all of its ordinals as voided.
                        List<Slice> near = List.of(carriers.events().slice());
                        return Future.succeededFuture(
                                source.losses(List.of(hole), near).isEmpty()
                                        ? Optional.empty()
                                        : Optional.of(new Gap(after, to, Gap.Reason.EXPIRED)));
                    });
        });
    }

    /** Where ordinals don't rise with ids, they don't tell how much. */
    private static Optional<Gap> removedBelow(Position first, Position after, Position through) {
        Position to = Position.min(Positions.below(first), through);
        return to.isAfter(after) ? Optional.of(new Gap(after, to, Gap.Reason.EXPIRED)) : Optional.empty();
    }

    private static boolean isRemovedToo(Position first, Chunk events) {
        return events.count() > 0 && events.first().isAfter(first);
    }
}
