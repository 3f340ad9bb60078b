package dev.tidemark.ingest;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.concurrent.Callable;

/** Where work that takes too long for an event loop is done. Any thread. */
public interface Workers {
    /** Does the work on another thread; the future completes on the caller's context, and fails with what the work throws. */
    <T> Future<T> call(Callable<T> work);

    /** The worker pool of Vert.x: pieces of work run beside each other, as many as the pool has threads. */
    static Workers of(Vertx vertx) {
        return new Workers() {
            @Override
            public <T> Future<T> call(Callable<T> work) {
                return vertx.executeBlocking(work, false);
            }
        };
    }
}
