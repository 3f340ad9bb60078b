package dev.tidemark.ingest;

import dev.tidemark.event.Position;
import dev.tidemark.keeper.LiveStream;
import io.vertx.core.Future;

/** Tells when events are folded and forced to disk; {@code server} wires it to the fold. Any thread. */
public interface ArchivedAck {
    /**
     * Completes, on the caller's context, when the watermark has reached {@code through}; asks for a fold if that is needed. It fails
     * if it is known that this won't happen soon; the events are in the live log all the same.
     */
    Future<Void> archived(LiveStream stream, Position through);
}
