package dev.tidemark.keeper;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.Position;
import io.vertx.core.Future;
import java.util.List;

/** What a tail asks of the keepers of a stream's stripes, each on its own event loop. Any thread; futures complete on the caller's context. */
public interface StripeTails {
    /** Phase one: the ids of the newest {@code n} events of a stripe at or below {@code top}. */
    Future<StripeNewest> newest(LiveStream stream, int stripe, int n, Position top);

    /**
     * Phase two: the events of a stripe with these ids, in id order, copied. What has left memory since isn't among them.
     *
     * @param ids rising
     */
    Future<Chunk> payloads(LiveStream stream, int stripe, List<Position> ids);

    /** Payloads that keepers have handed over for tails since the start. Any thread. */
    long payloadsMoved();

    /**
     * A stripe's part of a tail.
     *
     * @param ids its newest events in memory, rising
     * @param frontier of the stripe
     * @param floor its memory is complete above it
     * @param tail its newest event
     * @param arrived entry id of its newest arrival
     */
    record StripeNewest(List<Position> ids, Position frontier, Position floor, Position tail, Position arrived) {
        /** As a snapshot shows it. */
        public static StripeNewest of(TimelineSnapshot snapshot, int n, Position top) {
            return new StripeNewest(
                    snapshot.newestIds(n, top),
                    snapshot.frontier(),
                    snapshot.floor(),
                    snapshot.tail(),
                    snapshot.arrivedThrough());
        }
    }
}
