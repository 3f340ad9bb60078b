package dev.tidemark.livelog;

import static dev.tidemark.livelog.LiveLogContract.at;
import static dev.tidemark.livelog.LiveLogContract.await;
import static dev.tidemark.livelog.LiveLogContract.event;
import static dev.tidemark.livelog.LiveLogContract.events;
import static dev.tidemark.livelog.LiveLogContract.kindOf;
import static dev.tidemark.livelog.LiveLogContract.longs;
import static dev.tidemark.livelog.LiveLogContract.ordinals;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.StripeId;
import dev.tidemark.livelog.LiveLogException.Kind;
import io.vertx.core.Future;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the live log says and does when the connection to Redis misbehaves; {@link DelayProxy} states the fault model. */
final class RedisFaultsIT {
    private static final int COMMAND_TIMEOUT_MS = 300;

    private final StripeId stripe = new StripeId(new StreamId(new StreamName("faults"), new Generation(7)), 0);
    private final AtomicInteger closed = new AtomicInteger();
    private RedisProcess redis;
    private DelayProxy proxy;
    private RealLiveLog real;

    @BeforeEach
    void start() throws IOException {
        redis = RedisProcess.start();
        proxy = new DelayProxy(redis.port());
        real = new RealLiveLog(RedisSettings.of(RedisAddress.parse("redis://127.0.0.1:" + proxy.port()))
                .withTimeouts(2_000, COMMAND_TIMEOUT_MS, 400));
    }

    @AfterEach
    void stop() {
        real.close();
        proxy.close();
        redis.close();
    }

    @CanIgnoreReturnValue
    private StripeAppender ready() {
        StripeAppender appender = real.appender(closed::incrementAndGet);
        await(real.onLoop(() -> appender.create(stripe)));
        return appender;
    }

    private Future<Void> append(StripeAppender appender, long from, long through) {
        return real.onLoop(() -> appender.append(stripe, events(from, through)));
    }

    private List<Long> stored() {
        return ordinals(await(real.log().range(stripe, Position.ZERO, Position.MAX, 1_000)));
    }

    @Test
    @Tag("F15")
    void bytesThatArriveAfterAFenceChangeNothing() {
        StripeAppender appender = ready();
        await(append(appender, 1, 3));
        proxy.holdRequests();
        Future<Void> batch = append(appender, 4, 6);
        Future<Void> single = append(appender, 7, 7);
        await().until(() -> proxy.heldText().contains(at(7).entryId()));
        proxy.cut();
        assertEquals(Kind.UNKNOWN, kindOf(batch));
        assertEquals(Kind.UNKNOWN, kindOf(single));
        await().until(() -> closed.get() == 1);
        proxy.passRequests();

        StripeAppender again = real.appender();
        await(real.onLoop(() -> again.fence(stripe, at(9))));
        assertEquals(longs(1, 3), stored());
        proxy.deliverHeld();
        await().until(() -> redis.ask("INFO", "commandstats").toString().contains("evalsha:calls=2"));
        await(append(again, 10, 11));
        assertEquals(List.of(1L, 2L, 3L, 10L, 11L), stored());
    }

    @Test
    void withoutAFenceTheSameBytesWouldBeExecuted() {
        StripeAppender appender = ready();
        await(append(appender, 1, 3));
        proxy.holdRequests();
        Future<Void> open = append(appender, 4, 6);
        await().until(() -> proxy.heldText().contains(at(6).entryId()));
        proxy.cut();
        assertEquals(Kind.UNKNOWN, kindOf(open));
        proxy.passRequests();
        proxy.deliverHeld();
        await().until(() -> stored().equals(longs(1, 6)));
    }

    @Test
    void whatRedisDidButCouldNotSayIsUnknownAndIsFoundByReading() {
        StripeAppender appender = ready();
        proxy.swallowAnswers(true);
        Future<Void> open = append(appender, 1, 3);
        await().until(() ->
                redis.ask("XLEN", new LiveLogKeys("tidemark").live(stripe)).equals(List.of("3")));
        proxy.cut();
        assertEquals(Kind.UNKNOWN, kindOf(open));
        assertEquals(Kind.NOT_SENT, kindOf(append(appender, 4, 4)));
        proxy.swallowAnswers(false);
        assertEquals(longs(1, 3), stored());
    }

    @Test
    @Tag("R13")
    void aSilentRedisIsGivenUpWithinTheTimeout() {
        StripeAppender appender = ready();
        proxy.swallowAnswers(true);
        long started = System.nanoTime();
        List<Future<Void>> open = new ArrayList<>();
        for (int i = 1; i <= 5; i++) {
            open.add(append(appender, i, i));
        }
        open.forEach(future -> assertEquals(Kind.UNKNOWN, kindOf(future)));
        long ms = (System.nanoTime() - started) / 1_000_000;
        assertTrue(ms >= COMMAND_TIMEOUT_MS && ms < COMMAND_TIMEOUT_MS + 2_000, ms + " ms");
        await().until(() -> closed.get() == 1);
        assertEquals(Kind.NOT_SENT, kindOf(append(appender, 9, 9)));
    }

    @Test
    @Tag("R13")
    void aRedisThatReadsNothingIsGivenUpAlthoughItsSocketIsFull() {
        StripeAppender appender = ready();
        proxy.deaf(true);
        String big = "x".repeat(1 << 20);
        List<Future<Void>> open = await(real.onLoop(() -> {
            List<Future<Void>> sent = new ArrayList<>();
            for (int i = 1; i <= 20; i++) {
                sent.add(appender.append(stripe, List.of(event(i, big))));
            }
            return Future.succeededFuture(sent);
        }));
        open.forEach(future -> assertEquals(Kind.UNKNOWN, kindOf(future)));
        await().until(() -> closed.get() == 1);
        proxy.deaf(false);
        StripeAppender again = real.appender();
        await(real.onLoop(() -> again.fence(stripe, at(99))));
        await(append(again, 100, 100));
    }

    @Test
    void aRedisThatReadsNothingDoesNotHoldUpTheEnd() {
        RealLiveLog ending = new RealLiveLog(RedisSettings.of(RedisAddress.parse("redis://127.0.0.1:" + proxy.port()))
                .withTimeouts(2_000, COMMAND_TIMEOUT_MS, 400)
                .withInFlight(100, 20 << 20));
        StripeAppender appender = ending.appender();
        await(ending.onLoop(() -> appender.create(stripe)));
        proxy.deaf(true);
        String big = "x".repeat(18 << 20);
        assertEquals(Kind.UNKNOWN, kindOf(ending.onLoop(() -> appender.append(stripe, List.of(event(1, big))))));
        long started = System.nanoTime();
        ending.close();
        long ms = (System.nanoTime() - started) / 1_000_000;
        assertTrue(ms < 15_000, ms + " ms");
    }

    @Test
    @Tag("R41")
    void anIdleConnectionStays() throws InterruptedException {
        AtomicInteger lost = new AtomicInteger();
        try (RealLiveLog idle =
                new RealLiveLog(RedisSettings.of(RedisAddress.parse("redis://127.0.0.1:" + proxy.port()))
                        .withTimeouts(2_000, 100, 100)
                        .withInFlight(100, 1))) {
            StripeAppender appender = idle.appender(lost::incrementAndGet);
            await(idle.onLoop(() -> appender.create(stripe)));
            Thread.sleep(5_000);
            assertEquals(0, lost.get());
            await(idle.onLoop(() -> appender.append(stripe, events(1, 3))));
        }
    }

    @Test
    void aSlowRedisThatGoesOnAnsweringIsNotGivenUp() throws InterruptedException {
        StripeAppender appender = ready();
        List<Future<Void>> open = new ArrayList<>();
        redis.ask("CLIENT", "PAUSE", Integer.toString(COMMAND_TIMEOUT_MS / 2));
        for (int i = 1; i <= 100; i++) {
            open.add(append(appender, i, i));
        }
        Thread.sleep(COMMAND_TIMEOUT_MS / 2 + 100);
        await(Future.all(open));
        Thread.sleep(COMMAND_TIMEOUT_MS * 2L);
        await(append(appender, 101, 101));
        assertEquals(0, closed.get());
    }

    @Test
    void aConnectionThatGetsNoAnswerFailsWithinTheTimeout() {
        proxy.swallowAnswers(true);
        long started = System.nanoTime();
        assertEquals(Kind.NOT_SENT, kindOf(real.onLoop(() -> real.log().connect(() -> {}))));
        assertEquals(Kind.NOT_SENT, kindOf(real.log().state(stripe)));
        assertTrue(System.nanoTime() - started < 6_000_000_000L);
        proxy.swallowAnswers(false);
        proxy.cut();
        await().until(() -> real.log()
                .state(stripe)
                .toCompletionStage()
                .toCompletableFuture()
                .handle((s, e) -> e == null)
                .get());
    }

    @Test
    @Tag("R13")
    void readsFailFastWhileRedisIsAwayAndWorkAgainByThemselves() throws IOException {
        ready();
        assertTrue(await(real.log().state(stripe)).exists());
        proxy.refuse(true);
        await().until(() -> closed.get() == 1);
        for (int i = 0; i < 50; i++) {
            long started = System.nanoTime();
            assertTrue(kindOf(real.log().range(stripe, Position.ZERO, Position.MAX, 10))
                    .retryable());
            assertTrue(System.nanoTime() - started < 3_000_000_000L);
        }
        proxy.refuse(false);
        await().until(() -> real.log()
                .state(stripe)
                .map(LiveLogState::exists)
                .otherwise(false)
                .toCompletionStage()
                .toCompletableFuture()
                .get());
    }

    @Test
    void closingOneselfIsNotReportedAsALoss() {
        StripeAppender appender = ready();
        proxy.holdRequests();
        Future<Void> open = append(appender, 1, 2);
        real.onLoop(() -> {
            appender.close();
            return Future.succeededFuture();
        });
        assertEquals(Kind.UNKNOWN, kindOf(open));
        assertEquals(0, closed.get());
    }

    @Test
    @Tag("R31")
    void aPrefixThatWasTakenByAnotherIsRefusedOnTheNextConnection() {
        ready();
        redis.ask("SET", "tidemark:owner", "other999 /data/of/another");
        LiveLogException refused = org.junit.jupiter.api.Assertions.assertThrows(
                LiveLogException.class, () -> await(real.onLoop(() -> real.log().connect(() -> {}))));
        assertEquals(Kind.REFUSED, refused.kind());
        String message = String.valueOf(refused.getMessage());
        assertTrue(message.contains("other999") && message.contains("test0001"), message);
        proxy.cut();
        await().until(() -> {
            try {
                return kindOf(real.log().trim(stripe, at(5))) == Kind.REFUSED;
            } catch (AssertionError notYet) {
                return false;
            }
        });
    }
}
