package dev.tidemark.livelog;

import static dev.tidemark.livelog.LiveLogContract.await;
import static dev.tidemark.livelog.LiveLogContract.events;
import static dev.tidemark.livelog.LiveLogContract.ordinals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.StripeId;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.Request;
import java.io.IOException;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Redis counts how often it read from a connection. */
final class JoinedWritesIT {
    private static final int APPENDS = 200;

    private final StripeId stripe = new StripeId(new StreamId(new StreamName("joined"), new Generation(7)), 0);

    private static long readsOf(Redis client) {
        return await(client.send(Request.cmd(Command.INFO).arg("stats")))
                .toString()
                .lines()
                .filter(line -> line.startsWith("total_reads_processed:"))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1)))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void commandsOfOneTurnOfTheEventLoopLeaveInFewWritesAndInOrder() throws IOException {
        try (RedisProcess redis = RedisProcess.start();
                RealLiveLog real =
                        new RealLiveLog(RedisSettings.of(RedisAddress.parse("redis://127.0.0.1:" + redis.port())))) {
            StripeAppender appender = real.appender();
            await(real.onLoop(() -> appender.create(stripe)));
            Redis client = Redis.createClient(real.vertx(), "redis://127.0.0.1:" + redis.port());
            long before = readsOf(client);
            await(real.onLoop(() -> Future.all(LongStream.rangeClosed(1, APPENDS)
                    .mapToObj(i -> appender.append(stripe, events(i, i)))
                    .toList())));
            long reads = readsOf(client) - before;
            assertTrue(reads < APPENDS / 10, APPENDS + " commands took " + reads + " reads");
            assertEquals(
                    LongStream.rangeClosed(1, APPENDS).boxed().toList(),
                    ordinals(await(real.log().range(stripe, Position.ZERO, Position.MAX, 1_000))));
            client.close();
        }
    }
}
