package dev.tidemark.server;

import dev.tidemark.archive.DataDirectory;
import dev.tidemark.event.Clock;
import dev.tidemark.livelog.ChildRedis;
import dev.tidemark.livelog.LiveLogException;
import dev.tidemark.livelog.LiveLogKeys;
import dev.tidemark.livelog.PrefixOwner;
import dev.tidemark.livelog.RedisAddress;
import dev.tidemark.livelog.RedisFacts;
import dev.tidemark.livelog.RedisLiveLog;
import dev.tidemark.livelog.RedisSettings;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The live log of a server: its Redis, ours or another's.
 *
 * @param liveLog open, its prefix claimed
 * @param child our own Redis; null if one runs elsewhere
 * @param facts what Redis said of itself
 */
record LiveLogParts(RedisLiveLog liveLog, @Nullable ChildRedis child, RedisFacts facts) {
    private static final Logger LOG = LoggerFactory.getLogger(LiveLogParts.class);
    private static final int ATTEMPTS = 3;
    /** Ours is known to answer. */
    private static final int ATTEMPTS_CHILD = 10;

    private static final long RETRY_MS = 100;

    static Future<LiveLogParts> open(Vertx vertx, Configuration configuration, DataDirectory data, Clock clock) {
        Configuration.Redis redis = configuration.redis();
        if (redis.url().isPresent()) {
            return connect(
                    vertx, configuration, data, RedisAddress.parse(redis.url().get()), null, clock);
        }
        String path = System.getenv("PATH");
        ChildRedis.Settings settings = new ChildRedis.Settings(
                data.path(), redis.fsync().text(), redis.maxmemoryBytes(), path == null ? "" : path, 30_000, 10_000);
        return ChildRedis.start(vertx, settings, clock, () -> LOG.warn("the child Redis had died and answers again"))
                .compose(child -> {
                    LOG.info(
                            "child Redis {} is pid {}{}",
                            child.address(),
                            child.pid(),
                            child.reused() ? ", found running" : "");
                    return connect(vertx, configuration, data, child.address(), child, clock)
                            .recover(failure -> child.stop().transform(ended -> Future.failedFuture(failure)));
                });
    }

    private static Future<LiveLogParts> connect(
            Vertx vertx,
            Configuration configuration,
            DataDirectory data,
            RedisAddress address,
            @Nullable ChildRedis child,
            Clock clock) {
        Configuration.Redis redis = configuration.redis();
        RedisSettings settings = RedisSettings.of(address)
                .withKeys(new LiveLogKeys(redis.prefix()))
                .withAllowed(redis.allowVolatile(), redis.allowEviction())
                .withTimeouts(2_000, Math.toIntExact(redis.commandTimeoutMs()), 5_000);
        PrefixOwner owner = new PrefixOwner(data.id(), data.path().toString());
        RedisLiveLog liveLog = new RedisLiveLog(vertx, settings, owner, clock);
        int attempts = child == null ? ATTEMPTS : ATTEMPTS_CHILD;
        return open(vertx, liveLog, configuration.start().takePrefix(), attempts)
                .map(facts -> {
                    facts.warnings().forEach(warning -> LOG.warn("{}", warning));
                    return new LiveLogParts(liveLog, child, facts);
                });
    }

    /** A process's first connection loads so many classes that on a busy machine it may not be made in time. */
    private static Future<RedisFacts> open(Vertx vertx, RedisLiveLog liveLog, boolean takePrefix, int attempts) {
        return liveLog.open(takePrefix).recover(failure -> {
            boolean again = attempts > 1
                    && failure instanceof LiveLogException unanswered
                    && unanswered.kind() == LiveLogException.Kind.NOT_SENT;
            return again
                    ? vertx.timer(RETRY_MS).compose(later -> open(vertx, liveLog, takePrefix, attempts - 1))
                    : Future.failedFuture(failure);
        });
    }

    Future<Void> close() {
        Future<Void> closed = liveLog.close();
        ChildRedis ours = child;
        return ours == null ? closed : closed.transform(ended -> ours.stop());
    }
}
