package dev.tidemark.read;

import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Slice;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Hands events and gaps to a subscriber in their order, and knows up to where it has them. A {@link StreamSubscription} owns it, on
 * its subscriber's loop. A subscriber may end its subscription within any call: then it is given nothing more.
 */
final class Delivery {
    private final StreamSource source;
    private final SubscribeRequest request;
    private final Subscriber subscriber;
    private final BooleanSupplier closed;
    private final Consumer<Problem> end;

    /** What the subscriber was given last; the merge-read may be ahead of it by a page that is held. */
    private Position through = Position.ZERO;

    /**
     * @param closed whether the subscription is over
     * @param end ends it with a problem: for who wants no gaps
     */
    Delivery(
            StreamSource source,
            SubscribeRequest request,
            Subscriber subscriber,
            BooleanSupplier closed,
            Consumer<Problem> end) {
        this.source = source;
        this.request = request;
        this.subscriber = subscriber;
        this.closed = closed;
        this.end = end;
    }

    /** What the subscriber was given last. */
    Position through() {
        return through;
    }

    /** It stands elsewhere without having been given anything. */
    void movedTo(Position position) {
        through = position;
    }

    /** Gives what {@code merge} came upon: events in order, and gaps that lie before, behind and between them. */
    void give(List<Slice> events, List<Gap> gaps, AscendingMerge merge) {
        List<Slice> rest = events;
        for (Gap gap : gaps) {
            give(AscendingMerge.through(rest, gap.from()));
            rest = after(rest, gap.from());
            if (!closed.getAsBoolean()) {
                boolean done = !gap.to().isAfter(merge.cursor())
                        && AscendingMerge.through(rest, gap.to()).isEmpty();
                give(gap, done);
            }
        }
        give(rest);
    }

    private static List<Slice> after(List<Slice> slices, Position position) {
        List<Slice> rest = new ArrayList<>();
        for (Slice slice : slices) {
            Slice kept = slice.after(position);
            if (!kept.isEmpty()) {
                rest.add(kept);
            }
        }
        return rest;
    }

    private void give(List<Slice> events) {
        if (!events.isEmpty() && !closed.getAsBoolean()) {
            through = events.get(events.size() - 1).last();
            subscriber.events(events);
        }
    }

    /** Gives a gap within which no event is left to be given. */
    void give(Gap gap) {
        give(gap, true);
    }

    /** @param done whether no event is left to be given at or below the gap's end: there may be some within a gap */
    private void give(Gap gap, boolean done) {
        Position earliest = SeamRead.earliest(source);
        through = done ? Position.max(through, gap.to()) : through;
        subscriber.gap(gap, earliest);
        if (request.closeOnGap() && gap.reason() != Gap.Reason.SKIPPED && !closed.getAsBoolean()) {
            Problem problem = gap.reason() == Gap.Reason.EXPIRED ? source.expired(earliest) : source.missing(earliest);
            end.accept(problem.with("reason", gap.reason().text()));
        }
    }
}
