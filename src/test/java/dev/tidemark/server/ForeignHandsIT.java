package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What others put into the live logs of a real server, or take out. Fault model: any command of Redis, by somebody who knows our keys,
 * while the server runs or while it is down; entries that look exactly like ours aren't forged.
 */
@Tag("failure-9")
class ForeignHandsIT {
    private static final String STREAM = "flights";
    private static final Map<String, String> LAZY = Map.of("TIDEMARK_FOLD_MAX_LAG", "1h");

    @TempDir
    Path dir;

    private ServerProcess server;

    private ServerProcess start() {
        server = ServerProcess.start(dir.resolve("data"), LAZY);
        return server;
    }

    @AfterEach
    void close() {
        if (server != null) {
            server.close();
        }
    }

    private PlainRedis redis() {
        return PlainRedis.ofChild(dir.resolve("data"));
    }

    private static String key(PlainRedis redis, String stream) {
        return redis.texts("KEYS", "tidemark:{" + stream + "#0/*}:live").get(0);
    }

    private static List<String> numbers(int from, int to) {
        return IntStream.rangeClosed(from, to).mapToObj(String::valueOf).toList();
    }

    private JsonObject append(String stream, int from, int to) {
        Api.Answer answer = server.api().append(stream, numbers(from, to));
        assertEquals(201, answer.status(), answer::text);
        return answer.json();
    }

    private List<String> payloads(String stream) {
        return server.api().payloads(Api.stream(stream) + "/events");
    }

    private void fold(String stream) {
        Api.Answer answer = server.api().fold(stream);
        assertEquals(200, answer.status(), answer::text);
    }

    private JsonObject newest(String stream) {
        return server.api().events(Api.stream(stream) + "/tail?n=1").get(0);
    }

    private static void eventually(String what, java.util.concurrent.Callable<Boolean> condition) {
        Awaitility.await(what)
                .pollInterval(Duration.ofMillis(100))
                .atMost(Duration.ofSeconds(30))
                .until(condition);
    }

    private double metric(String name) {
        return server.api()
                .get("/metrics")
                .text()
                .lines()
                .filter(line -> line.startsWith(name + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
                .findFirst()
                .orElseThrow();
    }

    // ---- put in

    @Test
    void foreignEntriesGoToQuarantineAndNobodyWaitsForThemOrIsGivenThem() {
        start();
        append(STREAM, 1, 5);
        try (PlainRedis redis = redis();
                Follower follower = Follower.of(server.url(), STREAM, "after=earliest")) {
            String key = key(redis, STREAM);
            String between = redis.text("XADD", key, "*", "who", "somebody", "what", "between");
            append(STREAM, 6, 10);
            redis.call("XADD", key, "*", "n", "not a number", "data", "7");
            eventually("in quarantine", () -> metric("tidemark_quarantined_total") == 2);
            append(STREAM, 11, 15);
            assertEquals(numbers(1, 15), payloads(STREAM));
            assertEquals(numbers(1, 15), server.api().payloads(Api.stream(STREAM) + "/tail?n=100"));
            assertEquals(15, follower.awaitEvents(15).size());
            assertEquals("15", redis.text("XLEN", key));
            String quarantine = key.replace(":live", ":quarantine");
            String kept = redis.text("XRANGE", quarantine, "-", "+");
            assertTrue(kept.contains("entry, " + between + ", who, somebody, what, between"), kept);
            fold(STREAM);
            assertEquals(numbers(1, 15), payloads(STREAM));
            String ready = server.api().get("/health/ready").text();
            assertTrue(ready.contains("2 entries that others put into live logs"), ready);
            assertEquals(List.of(), follower.messages("gap"));
            assertEquals(204, server.api().delete(STREAM).status());
            assertEquals("0", redis.text("EXISTS", key, quarantine));
        }
        server.assertCleanLog();
    }

    @Test
    void anIdAheadOfOursIsRemovedAndOursGoOnAtTheirTime() {
        start();
        for (Ahead ahead : Ahead.values()) {
            append(ahead.name(), 1, 300);
        }
        try (PlainRedis redis = redis()) {
            for (Ahead ahead : Ahead.values()) {
                String stream = ahead.name();
                ahead.put(redis, key(redis, stream));
                String id = append(stream, 301, 301).getString("first");
                assertEquals(id, newest(stream).getString("id"));
                assertNotAhead(stream);
                assertEquals(numbers(1, 301), payloads(stream), stream);
                assertEquals("301", redis.text("XLEN", key(redis, stream)), stream);
            }
            server.kill();
            for (Ahead ahead : Ahead.values()) {
                ahead.put(redis, key(redis, ahead.name()));
            }
            start();
            for (Ahead ahead : Ahead.values()) {
                String stream = ahead.name();
                append(stream, 302, 302);
                fold(stream);
                assertEquals(numbers(1, 302), payloads(stream), stream);
                assertNotAhead(stream);
            }
        }
        server.assertCleanLog();
    }

    private void assertNotAhead(String stream) {
        JsonObject newest = newest(stream);
        assertTrue(newest.getLong("at") < System.currentTimeMillis() + 20_000, () -> "ids run ahead: " + newest);
    }

    /** How others put a key's position ahead. */
    enum Ahead {
        AN_ENTRY {
            @Override
            void put(PlainRedis redis, String key) {
                redis.call("XADD", key, (System.currentTimeMillis() + 3_600_000) + "-0", "a", "b");
            }
        },
        THE_LAST_ENTRY_THERE_CAN_BE {
            @Override
            void put(PlainRedis redis, String key) {
                redis.call("XADD", key, "18446744073709551615-18446744073709551615", "a", "b");
            }
        },
        AN_ENTRY_THAT_LOOKS_LIKE_OURS {
            @Override
            void put(PlainRedis redis, String key) {
                redis.call("XADD", key, "9999999999999-0", "data", "1", "n", "9");
            }
        },
        AN_ENTRY_THAT_IS_GONE_AGAIN {
            @Override
            void put(PlainRedis redis, String key) {
                redis.call("XADD", key, "9999999999999-0", "a", "b");
                redis.call("XDEL", key, "9999999999999-0");
            }
        },
        THE_POSITION_ALONE {
            @Override
            void put(PlainRedis redis, String key) {
                redis.call("XSETID", key, "9999999999999-0");
            }
        };

        abstract void put(PlainRedis redis, String key);
    }

    // ---- taken out while the server runs

    @Test
    void whatIsTakenOutWhileTheServerRunsIsFoldedFromMemory() {
        start();
        for (Taken taken : Taken.ofOneStream()) {
            takeOutWhileRunning(taken);
        }
        killAndLookAt(Taken.ofOneStream());
        server.assertCleanLog();
    }

    @Test
    void afterFlushallNothingIsLostThatMemoryHolds() {
        start();
        takeOutWhileRunning(Taken.EVERYTHING);
        killAndLookAt(List.of(Taken.EVERYTHING));
        server.assertCleanLog();
    }

    private void takeOutWhileRunning(Taken taken) {
        String stream = taken.name();
        append(stream, 1, 5);
        fold(stream);
        append(stream, 6, 10);
        try (PlainRedis redis = redis();
                Follower follower = Follower.of(server.url(), stream, "after=earliest")) {
            follower.awaitEvents(10);
            String last = follower.ids().get(9);
            taken.take(redis, key(redis, stream));
            eventually(
                    "folded though fold_max_lag is an hour",
                    () -> server.api().watermark(stream).equals(last));
            append(stream, 11, 15);
            follower.awaitEvents(15);
            assertEquals(List.of(), follower.messages("gap"));
        }
    }

    private void killAndLookAt(List<Taken> all) {
        server.kill();
        start();
        for (Taken taken : all) {
            String stream = taken.name();
            assertEquals(numbers(1, 15), payloads(stream), stream);
            fold(stream);
            assertEquals(numbers(1, 15), payloads(stream), stream);
        }
    }

    /** How others take out unfolded events: 6 to 10 are there. */
    enum Taken {
        THE_KEY {
            @Override
            void take(PlainRedis redis, String key) {
                redis.call("DEL", key);
            }
        },
        EVERYTHING {
            @Override
            void take(PlainRedis redis, String key) {
                redis.call("FLUSHALL");
            }
        },
        ALL_ENTRIES {
            @Override
            void take(PlainRedis redis, String key) {
                redis.call("XTRIM", key, "MAXLEN", "0");
            }
        },
        THE_OLDEST {
            @Override
            void take(PlainRedis redis, String key) {
                redis.call("XTRIM", key, "MAXLEN", "2");
            }
        },
        ONE_IN_THE_MIDDLE {
            @Override
            void take(PlainRedis redis, String key) {
                redis.call("XDEL", key, entry(redis, key, 2));
            }
        },
        THE_NEWEST {
            @Override
            void take(PlainRedis redis, String key) {
                redis.call("XDEL", key, entry(redis, key, 0), entry(redis, key, 1));
            }
        };

        abstract void take(PlainRedis redis, String key);

        /** Entry id of the newest but {@code back}. */
        private static String entry(PlainRedis redis, String key, int back) {
            if (redis.call("XREVRANGE", key, "+", "-", "COUNT", String.valueOf(back + 1)) instanceof List<?> entries
                    && entries.get(back) instanceof List<?> entry) {
                return String.valueOf(entry.get(0));
            }
            throw new IllegalStateException("no entry");
        }

        /** Those that leave other streams alone. */
        static List<Taken> ofOneStream() {
            return List.of(THE_KEY, ALL_ENTRIES, THE_OLDEST, ONE_IN_THE_MIDDLE, THE_NEWEST);
        }

        /** Events of 6 to 10 that are there afterwards. */
        List<String> left() {
            return switch (this) {
                case THE_KEY, EVERYTHING, ALL_ENTRIES -> List.of();
                case THE_OLDEST -> List.of("9", "10");
                case ONE_IN_THE_MIDDLE -> List.of("6", "7", "9", "10");
                case THE_NEWEST -> List.of("6", "7", "8");
            };
        }
    }

    // ---- taken out while the server is down

    @Test
    void whatIsTakenOutWhileTheServerIsDownIsAGapForAllReadersAndTheFoldGoesOn() {
        takeOutWhileDown(Taken.ofOneStream());
    }

    @Test
    void whatFlushallTakesWhileTheServerIsDownIsAGapToo() {
        takeOutWhileDown(List.of(Taken.EVERYTHING));
    }

    private void takeOutWhileDown(List<Taken> all) {
        start();
        Map<Taken, List<String>> cursors = new EnumMap<>(Taken.class);
        for (Taken taken : all) {
            String stream = taken.name();
            append(stream, 1, 5);
            fold(stream);
            append(stream, 6, 10);
            cursors.put(
                    taken,
                    server.api().events(Api.stream(stream) + "/events").stream()
                            .map(event -> event.getString("cursor"))
                            .toList());
        }
        server.kill();
        try (PlainRedis redis = redis()) {
            all.forEach(taken -> taken.take(redis, key(redis, taken.name())));
        }
        start();
        all.forEach(taken -> assertGapThenOn(taken, cursors.get(taken)));
        server.kill();
        start();
        for (Taken taken : all) {
            assertEquals(left(taken, 12), seen(taken.name(), cursors.get(taken).get(0)), "after another start");
        }
    }

    private void assertGapThenOn(Taken taken, List<String> cursors) {
        String stream = taken.name();
        assertEquals(left(taken, 10), seen(stream, cursors.get(0)), "before anything is appended");
        // One of them had seen the newest, which are lost in some of the cases: he finds his place.
        try (Follower follower = Follower.of(server.url(), stream, "after=" + cursors.get(4));
                Follower ahead = Follower.of(server.url(), stream, "after=" + cursors.get(9))) {
            append(stream, 11, 12);
            follower.awaitEvents(taken.left().size() + 2);
            assertGap(follower.messages("gap"));
            ahead.awaitEvents(2);
        }
        assertEquals(left(taken, 12), seen(stream, cursors.get(0)), "with more behind it");
        fold(stream);
        assertEquals(newest(stream).getString("id"), server.api().watermark(stream), "the fold is wedged");
        assertEquals(left(taken, 12), seen(stream, cursors.get(0)), "from the archive");
    }

    /** Events of 2 to {@code last} that are left. */
    private static List<String> left(Taken taken, int last) {
        List<String> left = new ArrayList<>(numbers(2, 5));
        left.addAll(taken.left());
        left.addAll(numbers(11, last));
        return left;
    }

    /** What a reader who had the first event gets, gaps checked. */
    private List<String> seen(String stream, String after) {
        List<String> events = new ArrayList<>();
        List<JsonObject> gaps = new ArrayList<>();
        for (JsonObject line : server.api().lines(Api.stream(stream) + "/events?after=" + after)) {
            String type = line.getString("type", "");
            if (type.isEmpty()) {
                events.add(String.valueOf(line.getValue("data")));
            } else if (type.equals("gap")) {
                gaps.add(line);
            }
        }
        assertGap(gaps);
        return events;
    }

    private static void assertGap(List<JsonObject> gaps) {
        assertFalse(gaps.isEmpty(), "no gap");
        for (JsonObject gap : gaps) {
            assertEquals("lost", gap.getString("reason"), gap::encode);
        }
    }
}
