package dev.tidemark.fold;

import dev.tidemark.event.Position;
import dev.tidemark.keeper.LiveStream;
import io.vertx.core.Future;

/** Folds and trims, one stream at a time each. Any thread; futures complete on the caller's context. */
public interface Folds {
    /**
     * Folds what is sealed and trims what retention wants gone.
     *
     * @return W afterwards; fails with a {@link dev.tidemark.event.Problem} if it can't be folded now
     */
    Future<Position> fold(LiveStream stream);

    /** Seals up to the frontier first, so that W is at least the frontier of now. */
    Future<Position> foldAll(LiveStream stream);

    FoldStatus status(LiveStream stream);
}
