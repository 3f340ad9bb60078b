package dev.tidemark.livelog;

import dev.tidemark.event.Position;
import dev.tidemark.event.StripeId;
import io.vertx.core.Future;

/**
 * Reads a stripe's Redis stream. Any thread may call; a future completes on the caller's context and fails with a
 * {@link LiveLogException}: an error is never an empty answer.
 */
public interface LiveLogReader {
    /**
     * The oldest entries with {@code after < entry id <= through}, oldest first.
     *
     * @param count at most so many entries, 1 to 1,000
     */
    Future<LiveLogPage> range(StripeId stripe, Position after, Position through, int count);

    /**
     * The newest entries with {@code from <= entry id < before}, newest first.
     *
     * @param count at most so many entries, 1 to 1,000
     */
    Future<LiveLogPage> rangeReverse(StripeId stripe, Position before, Position from, int count);

    /** What Redis says of the stripe's key. */
    Future<LiveLogState> state(StripeId stripe);
}
