package dev.tidemark.livelog;

import static dev.tidemark.livelog.LiveLogContract.at;
import static dev.tidemark.livelog.LiveLogContract.await;
import static dev.tidemark.livelog.LiveLogContract.event;
import static dev.tidemark.livelog.LiveLogContract.events;
import static dev.tidemark.livelog.LiveLogContract.kindOf;
import static dev.tidemark.livelog.LiveLogContract.longs;
import static dev.tidemark.livelog.LiveLogContract.ordinals;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Event;
import dev.tidemark.event.EventExtras;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Generation;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Producer;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.StripeId;
import dev.tidemark.livelog.LiveLogException.Kind;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a real Redis answers, and what becomes of it. */
final class RedisAnswersIT {
    private static final int COMMANDS_MAX = 200;

    private final StripeId stripe = new StripeId(new StreamId(new StreamName("answers"), new Generation(3)), 0);
    private final String key = new LiveLogKeys("tidemark").live(stripe);
    private RedisProcess redis;
    private RealLiveLog real;
    private StripeAppender appender;

    @BeforeEach
    void start() {
        redis = RedisProcess.start("--lua-time-limit", "50");
        real = new RealLiveLog(RedisSettings.of(redis.address()).withInFlight(COMMANDS_MAX, 8 << 20));
        appender = real.appender();
        await(real.onLoop(() -> appender.create(stripe)));
    }

    @AfterEach
    void stop() {
        real.close();
        redis.close();
    }

    private Future<Void> append(List<Event> events) {
        return real.onLoop(() -> appender.append(stripe, events));
    }

    private LiveLogPage all() {
        return await(real.log().range(stripe, Position.ZERO, Position.MAX, 1_000));
    }

    private static Event of(long ordinal, byte[] payload) {
        return new Event(
                at(ordinal), at(ordinal), ordinal, Event.NO_TIME, false, "application/octet-stream", null, payload);
    }

    @Test
    @Tag("R24")
    @Tag("R25")
    @Tag("R26")
    void oddBytesComeBackExactly() {
        List<byte[]> payloads = new ArrayList<>();
        for (String text : List.of(
                "{\"a\":9007199254740993,\"b\":1E400,\"c\":1.0,\"d\":-0}",
                "{\"a\":1,\"a\":2,\"\":\"\",\"z\":1,\"m\":2,\"n\":\"x\",\"data\":1}",
                "{}",
                "",
                "\"\\ud800\"",
                "line\r\nline\n\r",
                "$5\r\nhello\r\n*1\r\n")) {
            payloads.add(text.getBytes(StandardCharsets.UTF_8));
        }
        payloads.add(new byte[] {(byte) 0xC3, 0x28, 0, (byte) 0xFF});
        byte[] every = new byte[256];
        for (int i = 0; i < every.length; i++) {
            every[i] = (byte) i;
        }
        payloads.add(every);
        payloads.add(new byte[300_000]);
        List<Event> batch = new ArrayList<>();
        for (byte[] payload : payloads) {
            Event single = of(batch.size() + 1, payload);
            batch.add(single);
            await(append(List.of(single)));
        }
        List<Event> again = new ArrayList<>();
        for (int i = 0; i < payloads.size(); i++) {
            again.add(of(100 + i, payloads.get(i)));
        }
        await(append(again));
        List<Event> read = all().events();
        assertEquals(2 * payloads.size(), read.size());
        for (int i = 0; i < read.size(); i++) {
            assertArrayEquals(payloads.get(i % payloads.size()), read.get(i).payload(), "payload " + i);
        }
    }

    @Test
    @Tag("F13")
    void theVectorsEventIdIsTheEntryIdInRedis() {
        EventId id = EventId.parse("EVT000xY9Wvvcd");
        Event event = new Event(
                id.position(), id.position(), 1, Event.NO_TIME, false, "application/json", null, new byte[] {'1'});
        await(append(List.of(event)));
        assertEquals(List.of("1704117200000-1620567", "data", "1", "n", "1"), redis.ask("XRANGE", key, "-", "+"));
        assertEquals(id.position(), all().events().get(0).id());
        Position entry = new Position(id.ms() + 1, 0);
        await(append(List.of(new Event(
                id.position().next(), entry, 2, Event.NO_TIME, false, "application/json", null, new byte[] {'2'}))));
        assertTrue(redis.ask("XREVRANGE", key, "+", "-", "COUNT", "1")
                .contains(EventId.of(id.position().next()).toString()));
    }

    @Test
    void aBatchOfManyShapesComesBackAsItWas() {
        Position id = at(10);
        List<Event> batch = List.of(
                event(1),
                new Event(at(2), at(2), 2, 123, false, "text/plain", null, new byte[] {1}),
                new Event(at(1), at(3), 3, -9, true, "application/json", null, new byte[] {2}),
                new Event(
                        id,
                        id,
                        9,
                        Event.NO_TIME,
                        false,
                        "application/json",
                        new EventExtras(new Producer("prodücer", 1, 2), List.of(new OrdinalRange(4, 8))),
                        new byte[] {3}),
                event(20));
        await(append(batch));
        List<Event> read = all().events();
        assertEquals(
                batch.stream().map(Event::ordinal).toList(),
                read.stream().map(Event::ordinal).toList());
        assertEquals(at(1), read.get(2).id());
        assertTrue(read.get(2).late());
        assertEquals(-9, read.get(2).time());
        assertEquals("text/plain", read.get(1).type());
        assertEquals(batch.get(3).extras(), read.get(3).extras());
    }

    @Test
    void tenThousandEventsOfAllFieldsGoInOneScript() {
        EventExtras extras = new EventExtras(new Producer("p", 1, 2), List.of(new OrdinalRange(1, 2)));
        List<Event> batch = new ArrayList<>();
        for (int i = 1; i <= 10_000; i++) {
            batch.add(new Event(
                    at(i), new Position(at(i).ms() + 1, 9), i, i, true, "text/plain", extras, new byte[] {1}));
        }
        await(append(batch));
        LiveLogState state = await(real.log().state(stripe));
        assertEquals(10_000, state.length());
        assertTrue(state.bytes() > 10_000);
        LiveLogPage newest = await(real.log().rangeReverse(stripe, Position.MAX, Position.ZERO, 1_000));
        assertEquals(LiveLogContract.reversed(longs(9_001, 10_000)), ordinals(newest));
        assertTrue(newest.full());
    }

    @Test
    void aForgottenScriptIsSentAgainAndAnswersStayInOrder() {
        redis.ask("SCRIPT", "FLUSH");
        List<String> order = java.util.Collections.synchronizedList(new ArrayList<>());
        Future<Void> both = real.onLoop(() -> {
            Future<Void> batch = appender.append(stripe, events(1, 3)).onComplete(done -> order.add("batch"));
            Future<LiveLogState> state = appender.state(stripe).onComplete(done -> order.add("state"));
            return Future.join(batch, state).mapEmpty();
        });
        await(both);
        assertEquals(List.of("batch", "state"), order);
        assertEquals(longs(1, 3), ordinals(all()));
    }

    @Test
    @Tag("R14")
    void aBurstBeyondTheBoundIsRefusedAtOnceAndTheRestIsStored() {
        List<Future<Void>> futures = await(real.onLoop(() -> {
            List<Future<Void>> sent = new ArrayList<>();
            for (int i = 1; i <= 1_000; i++) {
                sent.add(appender.append(stripe, List.of(event(i))));
            }
            return Future.succeededFuture(sent);
        }));
        await(Future.join(futures).otherwiseEmpty());
        List<Long> acknowledged = new ArrayList<>();
        for (int i = 0; i < futures.size(); i++) {
            if (futures.get(i).succeeded()) {
                acknowledged.add(i + 1L);
            } else {
                assertEquals(Kind.NOT_SENT, kindOf(futures.get(i)));
            }
        }
        assertTrue(acknowledged.size() >= COMMANDS_MAX && acknowledged.size() < 1_000, acknowledged.size() + "");
        assertEquals(acknowledged, ordinals(all()));
        await(append(List.of(event(2_000))));
    }

    @Test
    @Tag("R14")
    void aBurstOfReadsIsAnsweredOrRefusedButNeverHangs() {
        await(append(events(1, 100)));
        List<Future<LiveLogPage>> reads = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) {
            reads.add(real.log().range(stripe, Position.ZERO, Position.MAX, 100));
        }
        int answered = 0;
        for (Future<LiveLogPage> read : reads) {
            try {
                assertEquals(100, await(read).events().size());
                answered++;
            } catch (LiveLogException refused) {
                assertEquals(Kind.NOT_SENT, refused.kind());
            }
        }
        assertTrue(answered >= COMMANDS_MAX, answered + "");
    }

    @Test
    void bytesInFlightAreBoundedToo() {
        String big = "x".repeat(3 << 20);
        List<Future<Void>> futures = await(real.onLoop(() -> {
            List<Future<Void>> sent = new ArrayList<>();
            for (int i = 1; i <= 5; i++) {
                sent.add(appender.append(stripe, List.of(event(i, big))));
            }
            return Future.succeededFuture(sent);
        }));
        await(futures.get(0));
        await(futures.get(1));
        assertEquals(Kind.NOT_SENT, kindOf(futures.get(2)));
        String huge = "x".repeat(12 << 20);
        await(append(List.of(event(9, huge))));
    }

    @Test
    void pagesOfLargeEventsEndEarlyAndLoseNothing() {
        String big = "x".repeat(1 << 20);
        for (int i = 1; i <= 60; i++) {
            await(append(List.of(event(i, big))));
        }
        List<Long> seen = new ArrayList<>();
        Position after = Position.ZERO;
        LiveLogPage page;
        do {
            page = await(real.log().range(stripe, after, Position.MAX, 1_000));
            assertTrue(page.events().size() <= 40, page.events().size() + "");
            seen.addAll(ordinals(page));
            after = page.last();
        } while (page.full());
        assertEquals(longs(1, 60), seen);
    }

    @Test
    @Tag("R40")
    void aWrongTypeIsRefusedForGood() {
        redis.ask("DEL", key);
        redis.ask("SET", key, "a string");
        assertEquals(Kind.REFUSED, kindOf(append(List.of(event(1)))));
        assertEquals(Kind.REFUSED, kindOf(append(events(1, 3))));
        assertEquals(Kind.REFUSED, kindOf(real.onLoop(() -> appender.create(stripe))));
        assertEquals(Kind.REFUSED, kindOf(real.onLoop(() -> appender.fence(stripe, at(3)))));
        assertEquals(Kind.REFUSED, kindOf(real.log().range(stripe, Position.ZERO, Position.MAX, 10)));
        assertEquals(Kind.REFUSED, kindOf(real.log().state(stripe)));
        assertEquals(Kind.REFUSED, kindOf(real.log().trim(stripe, at(3))));
        assertEquals(List.of("a string"), redis.ask("GET", key));
    }

    @Test
    @Tag("R40")
    @Tag("R10")
    void aFullRedisRefusesAppendsButTrimsReadsAndConnects() {
        await(append(events(1, 50)));
        redis.ask("CONFIG", "SET", "maxmemory", "1");
        assertEquals(Kind.OUT_OF_MEMORY, kindOf(append(List.of(event(51)))));
        assertEquals(Kind.OUT_OF_MEMORY, kindOf(append(events(51, 53))));
        assertEquals(longs(1, 50), ordinals(all()));
        StripeAppender again = real.appender();
        await(real.onLoop(() -> again.fence(stripe, at(60))));
        assertEquals(20, await(real.log().trim(stripe, at(21))));
        redis.ask("CONFIG", "SET", "maxmemory", "0");
        await(append(List.of(event(61))));
        assertEquals(31, all().events().size());
    }

    @Test
    @Tag("R40")
    void aReplicaRefusesForNowAndItsConnectionIsGivenUp() {
        redis.ask("REPLICAOF", "127.0.0.1", "1");
        assertEquals(Kind.NOT_NOW, kindOf(append(events(1, 3))));
        assertEquals(Kind.NOT_SENT, kindOf(append(List.of(event(1)))));
        redis.ask("REPLICAOF", "NO", "ONE");
        appender = real.appender();
        await(append(List.of(event(1))));
        assertEquals(longs(1, 1), ordinals(all()));
    }

    @Test
    @Tag("R40")
    void aBusyRedisRefusesForNow() throws InterruptedException {
        List<String> ended = new java.util.concurrent.CopyOnWriteArrayList<>();
        Thread busy = new Thread(() -> {
            try (RedisProbe probe = new RedisProbe(redis.port())) {
                ended.addAll(probe.ask("EVAL", "while true do end", "0"));
            } catch (java.io.IOException timeout) {
                ended.add("timed out, and so it must have been killed");
            }
        });
        busy.start();
        Thread.sleep(300);
        assertEquals(Kind.NOT_NOW, kindOf(append(events(1, 3))));
        redis.ask("SCRIPT", "KILL");
        busy.join();
        assertTrue(ended.toString().contains("killed"), ended.toString());
        await(append(events(1, 3)));
    }

    @Test
    void foreignGarbageIsCountedWithoutHarm() {
        await(append(events(1, 2)));
        redis.ask("XADD", key, at(3).entryId(), "", "", "data", "x");
        redis.ask("XADD", key, at(4).entryId(), "n", "4", "n", "5", "data", "x");
        redis.ask("XADD", key, (at(4).ms() + 1) + "-18446744073709551615", "n", "6", "data", "x");
        redis.ask("XADD", key, "18446744073709551615-1", "n", "7", "data", "x");
        LiveLogPage page = all();
        assertEquals(longs(1, 2), ordinals(page));
        assertEquals(4, page.foreign());
        assertEquals(Position.MAX, page.last());
        assertEquals(Position.MAX, await(real.log().state(stripe)).lastGenerated());
        assertEquals(
                List.of(),
                await(real.log().range(stripe, page.last(), Position.MAX, 10)).events());
        List<Long> back = new ArrayList<>();
        Position before = Position.MAX;
        LiveLogPage reverse;
        do {
            reverse = await(real.log().rangeReverse(stripe, before, Position.ZERO, 1));
            back.addAll(ordinals(reverse));
            before = reverse.last();
        } while (reverse.full());
        assertEquals(List.of(2L, 1L), back);
        assertEquals(Kind.ID_TOO_LOW, kindOf(append(List.of(event(9)))));
    }

    @Test
    void anOlderGenerationsDeleteLeavesTheNewerOneAlone() {
        StreamName name = new StreamName("again");
        StreamId old = new StreamId(name, new Generation(1));
        StreamId young = new StreamId(name, new Generation(2));
        await(real.log().create(young, 1, "{\"generation\":\"" + young.generation() + "\"}"));
        await(real.log().copySeam(young, at(3)));
        await(real.log().delete(old, 1));
        assertTrue(redis.ask("HGET", "tidemark:streams", "again").toString().contains("generation"));
        assertFalse(redis.ask("GET", "tidemark:{again}:archived").isEmpty());
        await(real.log().delete(young, 1));
        assertEquals(List.of(), redis.ask("HGET", "tidemark:streams", "again"));
        assertEquals(List.of(), redis.ask("GET", "tidemark:{again}:archived"));
        assertEquals(List.of("0"), redis.ask("EXISTS", new LiveLogKeys("tidemark").live(new StripeId(young, 0))));
    }

    @Test
    void aBatchThatDoesNotRiseIsAMistakeOfTheCaller() {
        assertThrows(IllegalArgumentException.class, () -> await(append(List.of(event(2), event(1)))));
        assertEquals(List.of(), all().events());
    }
}
