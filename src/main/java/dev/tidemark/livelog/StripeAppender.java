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

    /** Looks at the ends of the stripe's key, cheaply: whether there may be anything in it that isn't the keeper's, or something missing. */
    Future<LiveLogCensus> census(StripeId stripe);

    /**
     * Moves what isn't the keeper's from a page of the stripe to its quarantine ({@link LiveLogKeys#quarantine}): each entry is copied and
     * removed in one step.
     *
     * @param after looks at entries above it
     * @param everything whether nothing there is the keeper's, whatever it looks like
     * @param count looks at so many entries at most, 1 to 1,000
     */
    Future<Quarantined> quarantine(StripeId stripe, Position after, boolean everything, int count);

    /**
     * Puts the stripe's position back to {@code fence}, which Redis refuses to do once there was a higher entry: the entries up to
     * {@code through} are copied to a new key, some at a time, which then takes the place of the old one. Entries above {@code through}
     * must have been removed. Fails with {@link LiveLogException.Kind#NOT_NOW} if others add some meanwhile.
     */
    Future<Void> restorePosition(StripeId stripe, Position through, Position fence);

    /**
     * What a look for foreign entries came to.
     *
     * @param moved how many were put to quarantine
     * @param highest the highest of them; {@link Position#ZERO} if there was none
     * @param last the last entry looked at
     * @param full whether there may be more behind it
     */
    record Quarantined(long moved, Position highest, Position last, boolean full) {}

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
