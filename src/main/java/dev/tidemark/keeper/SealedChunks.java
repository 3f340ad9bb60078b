package dev.tidemark.keeper;

import dev.tidemark.event.Position;
import io.vertx.core.Future;

/** What the fold asks of keepers. Any thread; futures complete on the caller's context. */
public interface SealedChunks {
    /**
     * Opens the stream if need be and seals what is acknowledged, up to the frontier.
     *
     * @return the frontier
     */
    Future<Position> seal(LiveStream stream);

    /** Tells that everything at or below {@code watermark} is archived and forced: memory may let go of it. */
    void folded(LiveStream stream, int stripe, Position watermark, long lastOrdinal);
}
