package dev.tidemark.read;

import dev.tidemark.event.Event;
import dev.tidemark.event.EventId;
import dev.tidemark.event.StreamName;
import io.vertx.core.Future;

/**
 * Every read of a stream. Called on any Vert.x context; futures complete on it and fail with a {@link dev.tidemark.event.Problem}
 * (not found, bad parameter, expired, ahead, generation changed, unavailable).
 */
public interface Reads {
    /**
     * The newest {@code n} events.
     *
     * @param n 0 to 10,000
     * @param bytesMax most bytes of JSON; over it the newest that fit, not complete
     */
    Future<TailAnswer> tail(StreamName name, int n, View view, long bytesMax);

    /** Starts a merge-read. Nothing is read before {@link Scan#next}. Fails if the range is wrong or its start is gone. */
    Future<Scan> scan(StreamName name, ReadRequest request);

    /** One event with its exact bytes. Fails with not found, or expired if it was pruned. */
    Future<Event> event(StreamName name, EventId id);

    Future<Seam> seam(StreamName name);

    /** Counts whether all that was ever appended is accounted for. */
    Future<StreamAudit> audit(StreamName name);

    /** Starts a check of archive and live log. */
    Future<Verification> verify(StreamName name);

    /**
     * Starts a subscription; {@code subscriber} is called on the caller's context, {@link Subscriber#hello} first. Problems are given
     * to {@link Subscriber#closed}.
     */
    Subscription subscribe(StreamName name, SubscribeRequest request, Subscriber subscriber);

    /** A merge-read under way, pulled page by page: memory stays flat however long the range is. */
    interface Scan {
        /** The next page; not called again before it completed, nor after a page with {@code end}. */
        Future<ReadPage> next();

        /**
         * As {@link #next} with bounds on the page.
         *
         * @param eventsMax at most so many
         * @param bytesMax ends behind the event that reaches so many bytes of JSON
         */
        Future<ReadPage> next(int eventsMax, long bytesMax);
    }
}
