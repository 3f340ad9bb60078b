package dev.tidemark.livelog;

import dev.tidemark.event.StreamId;
import io.vertx.core.Future;

/** Makes and removes what a stream has in Redis. */
public interface LiveLogAdmin {
    /**
     * Makes the keys of a new stream and its copy in the registry; what is there already stays.
     *
     * @param description what the registry's hash keeps for it, JSON
     */
    Future<Void> create(StreamId stream, int stripes, String description);

    /** Removes the keys of one incarnation of a stream, its seam copy and its copy in the registry. What isn't there is no error. */
    Future<Void> delete(StreamId stream, int stripes);
}
