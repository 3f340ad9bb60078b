package dev.tidemark.livelog;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.tidemark.event.Clock;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.util.function.Supplier;

/** A live log on a Redis of a test, with an event loop for an appender. */
final class RealLiveLog implements AutoCloseable {
    static final PrefixOwner OWNER = new PrefixOwner("test0001", "/data/of/the/test");

    private final Vertx vertx = Vertx.vertx();
    private final Context loop = ((VertxInternal) vertx).createEventLoopContext();
    private final RedisLiveLog log;

    RealLiveLog(RedisSettings settings) {
        this(settings, OWNER);
    }

    RealLiveLog(RedisSettings settings, PrefixOwner owner) {
        log = new RedisLiveLog(vertx, settings, owner, Clock.system());
    }

    RedisLiveLog log() {
        return log;
    }

    Vertx vertx() {
        return vertx;
    }

    @CanIgnoreReturnValue
    <T> Future<T> onLoop(Supplier<Future<T>> call) {
        Promise<T> promise = Promise.promise();
        loop.runOnContext(none -> {
            try {
                call.get().onComplete(promise);
            } catch (RuntimeException e) {
                promise.fail(e);
            }
        });
        return promise.future();
    }

    StripeAppender appender() {
        return appender(() -> {});
    }

    StripeAppender appender(Runnable onClosed) {
        return LiveLogContract.await(onLoop(() -> log.connect(onClosed)));
    }

    @Override
    public void close() {
        LiveLogContract.await(log.close().compose(none -> vertx.close()));
    }
}
