package dev.tidemark.livelog;

import dev.tidemark.event.Position;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.StripeId;
import io.vertx.core.Future;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** The real live log keeps the contract. */
final class RedisLiveLogIT extends LiveLogContract {
    private static RedisProcess redis;
    private static RealLiveLog real;

    @BeforeAll
    static void start() {
        redis = RedisProcess.start();
        real = new RealLiveLog(RedisSettings.of(redis.address()));
    }

    @AfterAll
    static void stop() {
        real.close();
        redis.close();
    }

    @BeforeEach
    void clear() {
        redis.ask("FLUSHALL");
    }

    @Override
    LiveLogReader reader() {
        return real.log();
    }

    @Override
    LiveLogTrimmer trimmer() {
        return real.log();
    }

    @Override
    LiveLogAdmin admin() {
        return real.log();
    }

    @Override
    StripeAppender.Connector connector() {
        return real.log();
    }

    @Override
    <T> Future<T> onLoop(Supplier<Future<T>> call) {
        return real.onLoop(call);
    }

    @Override
    void addForeign(StripeId to, Position entry) {
        redis.ask("XADD", RedisSettings.of(redis.address()).keys().live(to), entry.entryId(), "who", "somebody");
    }

    @Override
    void deleteByOthers(StripeId key) {
        redis.ask("DEL", RedisSettings.of(redis.address()).keys().live(key));
    }

    @Override
    String seamText(StreamName name) {
        return String.join(
                "", redis.ask("GET", RedisSettings.of(redis.address()).keys().archived(name)));
    }
}
