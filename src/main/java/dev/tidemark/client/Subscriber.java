package dev.tidemark.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Gets what a subscription brings. All of it is called on the subscription's own thread, one call after the other, in the stream's
 * order. A method that takes its time slows the server down, and nobody else: little is fetched ahead, the rest waits in the
 * stream.
 *
 * <p>A method that throws ends the subscription, with {@link TidemarkException#SUBSCRIBER_FAILED}; the cursor then stands before the event
 * that it threw at.
 */
@FunctionalInterface
public interface Subscriber {
    /** One event. When this returns, the subscription's cursor is behind it: should the connection end, it doesn't come again. */
    void event(Event event) throws Exception;

    /**
     * Events are missing here. It may be told again, if the connection ends before the next event. By default this throws, so that the
     * subscription ends rather than going on over a hole that nobody knows of.
     */
    default void gap(Gap gap) throws Exception {
        throw gap.refusedByDefault();
    }

    /** All that was stored so far has come; from here on events come as they are appended. Also after each {@link #fellBehind}. */
    default void caughtUp(String cursor) throws Exception {}

    /** Events are appended faster than they are taken here; they now come from memory or the archive. */
    default void fellBehind(String cursor) throws Exception {}

    /** Order is final up to this id. Only in streams whose events can be provisional. */
    default void sealed(String through) throws Exception {}

    /** A connection stands, the first one or a later one. */
    default void connected() throws Exception {}

    /**
     * The connection ended or couldn't be made, and will be made again.
     *
     * @param retryIn after this time
     */
    default void disconnected(TidemarkException why, Duration retryIn) throws Exception {}

    /**
     * The last call. By default a failure is logged.
     *
     * @param why what ended it: for instance the stream was deleted (404), the position expired (410), or a method of this threw; null
     *     after {@link Subscription#close}
     */
    default void ended(@Nullable TidemarkException why) {
        if (why != null) {
            System.getLogger(Subscriber.class.getName())
                    .log(System.Logger.Level.WARNING, "a subscription ended: " + why.getMessage(), why);
        }
    }
}
