package dev.tidemark.retention;

import dev.tidemark.event.Position;
import dev.tidemark.event.StreamName;
import io.vertx.core.Future;

/** Folds on request. Any thread; futures complete on the caller's context. */
public interface FoldRequests {
    /**
     * Seals up to the frontier, folds, and trims what retention wants gone.
     *
     * @return W afterwards: at least the frontier of when the request came. Fails with a {@link dev.tidemark.event.Problem}
     */
    Future<Position> foldNow(StreamName name);
}
