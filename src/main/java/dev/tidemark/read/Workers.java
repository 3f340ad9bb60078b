package dev.tidemark.read;

import dev.tidemark.event.Problem;
import io.vertx.core.Future;
import io.vertx.core.WorkerExecutor;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;

/** Where blocking reads run. */
@FunctionalInterface
public interface Workers {
    /** Calls {@code blocking} on a worker, several at once; the future completes on the caller's context. */
    <T> Future<T> call(Callable<T> blocking);

    /** The workers of a pool. Once it is closed, as the server stops, calls fail with {@link Problem.Kind#UNAVAILABLE}. */
    static Workers of(WorkerExecutor pool) {
        return new Workers() {
            @Override
            public <T> Future<T> call(Callable<T> blocking) {
                Future<T> done;
                try {
                    done = pool.executeBlocking(blocking, false);
                } catch (RejectedExecutionException e) {
                    done = Future.failedFuture(e);
                }
                return done.recover(failure -> Future.failedFuture(
                        failure instanceof RejectedExecutionException
                                ? new Problem(Problem.Kind.UNAVAILABLE, "the server is stopping").causedBy(failure)
                                : failure));
            }
        };
    }
}
