package dev.tidemark.livelog;

import dev.tidemark.event.Event;
import dev.tidemark.event.Position;
import dev.tidemark.event.StripeId;
import io.vertx.core.Future;
import java.util.List;

/**
 * A keeper's own connection to Redis: the one way by which entries are written. Used on the keeper's event loop only; commands are
 * pipelined and answered in the order in which they were called, also those of {@link LiveLogReader}. It never reconnects: once
 * closed, every call fails with {@link LiveLogException.Kind#NOT_SENT}, and what was unanswered with
 * {@link LiveLogException.Kind#UNKNOWN}.
 */
public interface StripeAppender extends LiveLogReader {
    /**
     * Appends events, all of them or none: one is {@code XADD NOMKSTREAM}, several are one script.
     *
     * @param events in rising order of their entry ids
     */
    Future<Void> append(StripeId stripe, List<Event> events);

    /**
     * Fences the stripe: afterwards Redis refuses every entry at or below {@code fence}, whoever sends it. Fails with
     * {@link LiveLogException.Kind#ID_TOO_LOW} if the stream has a higher entry, {@link LiveLogException.Kind#KEY_MISSING} if
     * the key isn't there.
     */
    Future<Void> fence(StripeId stripe, Position fence);

    /** Makes the stripe's key if it isn't there; an existing one is left as it is. */
    Future<Void> create(StripeId stripe);

    /** Commands without an answer. */
    int inFlight();

    void close();

    /** Makes connections. One call, one attempt. */
    interface Connector {
        /**
         * Connects, after checking that the Redis prefix is still ours.
         *
         * @param onClosed called once on the caller's context when the connection is gone for whatever reason but {@code close()}
         */
        Future<StripeAppender> connect(Runnable onClosed);
    }
}
