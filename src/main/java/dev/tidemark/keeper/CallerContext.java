package dev.tidemark.keeper;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;

/** Gives promises whose futures call back on the context of the one who asked. */
public interface CallerContext {
    /** A promise of the present caller's. */
    <T> Promise<T> promise();

    /** The same result, on the present caller's context. */
    default <T> Future<T> here(Future<T> future) {
        Promise<T> promise = promise();
        future.onComplete(promise);
        return promise.future();
    }

    static CallerContext of(Vertx vertx) {
        return new CallerContext() {
            @Override
            public <T> Promise<T> promise() {
                return ((ContextInternal) vertx.getOrCreateContext()).promise();
            }
        };
    }
}
