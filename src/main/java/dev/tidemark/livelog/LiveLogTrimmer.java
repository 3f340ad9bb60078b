package dev.tidemark.livelog;

import dev.tidemark.event.Position;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StripeId;
import io.vertx.core.Future;

/** What only the fold/trim cycle may do to a live log. */
public interface LiveLogTrimmer {
    /**
     * Removes the entries below {@code minId}, exactly ({@code XTRIM key MINID = minId}).
     *
     * @return how many were removed
     */
    Future<Long> trim(StripeId stripe, Position minId);

    /** Copies the watermark to {@code <prefix>:{<stream>}:archived}, for other readers of the live log. */
    Future<Void> copySeam(StreamId stream, Position watermark);

    /** The watermark that was copied last: a hint, never ahead of the archive. {@link Position#ZERO} if there is none of this incarnation. */
    Future<Position> copiedSeam(StreamId stream);
}
