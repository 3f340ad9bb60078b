package dev.tidemark.livelog;

import static dev.tidemark.livelog.LiveLogContract.at;
import static dev.tidemark.livelog.LiveLogContract.await;
import static dev.tidemark.livelog.LiveLogContract.event;
import static dev.tidemark.livelog.LiveLogContract.events;
import static dev.tidemark.livelog.LiveLogContract.kindOf;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Event;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.StripeId;
import dev.tidemark.livelog.LiveLogException.Kind;
import io.vertx.core.Future;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a Redis that syncs always still has after it was killed. */
final class RedisDurabilityIT {
    private static final int BATCH = 50;

    private final StripeId stripe = new StripeId(new StreamId(new StreamName("kept"), new Generation(3)), 0);

    @TempDir
    private Path directory;

    private long last;

    @Test
    @Tag("R06")
    void aKillTakesNoAcknowledgedBatchAndLeavesNoHalfOne() throws IOException {
        long seed = new SplittableRandom().nextLong();
        SplittableRandom random = new SplittableRandom(seed);
        int port = RedisProcess.freePort();
        long acknowledged = 0;
        for (int round = 0; round < 5; round++) {
            RedisProcess redis = RedisProcess.start(directory, port);
            try (RealLiveLog real = new RealLiveLog(RedisSettings.of(redis.address()))) {
                StripeAppender appender = real.appender();
                await(real.onLoop(() -> appender.create(stripe)));
                LiveLogState state = await(real.log().state(stripe));
                long held = readAll(real);
                String where = "seed " + seed + ", round " + round;
                assertTrue(held >= acknowledged, where + ": " + held + " held, " + acknowledged + " acknowledged");
                assertEquals(0, held % BATCH, where);
                assertEquals(held, state.length(), where);
                last = held;
                acknowledged = held + appendUntilKilled(real, appender, redis, random.nextInt(1, 40));
            } finally {
                redis.close();
            }
        }
    }

    /** Ordinals must be 1, 2, 3 …; returns how many there are. */
    private long readAll(RealLiveLog real) {
        long count = 0;
        Position after = Position.ZERO;
        LiveLogPage page;
        do {
            page = await(real.log().range(stripe, after, Position.MAX, 1_000));
            for (Event read : page.events()) {
                count++;
                assertEquals(count, read.ordinal());
            }
            after = page.last();
        } while (page.full());
        return count;
    }

    /** Pipelines batches and kills Redis when some are acknowledged; returns how many events were. */
    private long appendUntilKilled(RealLiveLog real, StripeAppender appender, RedisProcess redis, int batches) {
        long held = last;
        Future<List<Future<Void>>> sending = real.onLoop(() -> {
            List<Future<Void>> sent = new ArrayList<>();
            for (long i = 0; i < 100; i++) {
                sent.add(appender.append(stripe, events(held + i * BATCH + 1, held + (i + 1) * BATCH)));
            }
            return Future.succeededFuture(sent);
        });
        await().pollDelay(java.time.Duration.ZERO)
                .pollInterval(java.time.Duration.ofMillis(1))
                .until(
                        () -> redis.ask("XLEN", new LiveLogKeys("tidemark").live(stripe)),
                        length -> Long.parseLong(length.get(0)) >= held + (long) batches * BATCH);
        redis.kill();
        List<Future<Void>> sent = await(sending);
        await(Future.join(sent).otherwiseEmpty());
        long acknowledged = 0;
        for (Future<Void> future : sent) {
            if (future.succeeded()) {
                acknowledged += BATCH;
            } else {
                Kind kind = kindOf(future);
                assertTrue(kind == Kind.UNKNOWN || kind == Kind.NOT_SENT, kind.name());
            }
        }
        return acknowledged;
    }

    @Test
    @Tag("F15")
    void aFenceAndAnEmptyStreamSurviveARewriteAndAKill() throws IOException {
        int port = RedisProcess.freePort();
        StripeId empty = new StripeId(stripe.stream(), 1);
        try (RedisProcess redis = RedisProcess.start(directory, port);
                RealLiveLog real = new RealLiveLog(RedisSettings.of(redis.address()))) {
            StripeAppender appender = real.appender();
            await(real.onLoop(() -> appender.create(stripe)));
            await(real.onLoop(() -> appender.create(empty)));
            await(real.onLoop(() -> appender.append(stripe, events(1, 3))));
            await(real.onLoop(() -> appender.fence(stripe, at(50))));
            redis.ask("BGREWRITEAOF");
            await().until(() -> redis.ask("INFO", "persistence").toString().contains("aof_rewrite_in_progress:0"));
            await(real.onLoop(() -> appender.fence(empty, at(60))));
        }
        try (RedisProcess redis = RedisProcess.start(directory, port);
                RealLiveLog real = new RealLiveLog(RedisSettings.of(redis.address()))) {
            assertEquals(at(50), await(real.log().state(stripe)).lastGenerated());
            assertEquals(at(60), await(real.log().state(empty)).lastGenerated());
            assertTrue(await(real.log().state(empty)).exists());
            StripeAppender appender = real.appender();
            assertEquals(Kind.ID_TOO_LOW, kindOf(real.onLoop(() -> appender.append(stripe, List.of(event(40))))));
            await(real.onLoop(() -> appender.append(stripe, List.of(event(51)))));
        }
    }
}
