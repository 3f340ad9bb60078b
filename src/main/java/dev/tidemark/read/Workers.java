package dev.tidemark.read;

import io.vertx.core.Future;
import io.vertx.core.WorkerExecutor;
import java.util.concurrent.Callable;

/** Where blocking reads run. */
@FunctionalInterface
public interface Workers {
    /** Calls {@code blocking} on a worker, several at once; the future completes on the caller's context. */
    <T> Future<T> call(Callable<T> blocking);

    /** The workers of a pool. */
    static Workers of(WorkerExecutor pool) {
        return new Workers() {
            @Override
            public <T> Future<T> call(Callable<T> blocking) {
                return pool.executeBlocking(blocking, false);
            }
        };
    }
}
