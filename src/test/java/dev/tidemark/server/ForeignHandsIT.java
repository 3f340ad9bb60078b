package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What others put into the live logs of a real server, or take out. Fault model: any command of Redis, by somebody who knows our keys,
 * while the server runs or while it is down; entries that look exactly like ours aren't forged.
 */
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

    private static String key(PlainRedis redis) {
        return redis.texts("KEYS", "tidemark:{" + STREAM + "#0/*}:live").get(0);
    }

    private static List<String> numbers(int from, int to) {
        return IntStream.rangeClosed(from, to).mapToObj(String::valueOf).toList();
    }

    private JsonObject append(int from, int to) {
        Api.Answer answer = server.api().append(STREAM, numbers(from, to));
        assertEquals(201, answer.status(), answer::text);
        return answer.json();
    }

    private List<String> payloads() {
        return server.api().payloads(Api.stream(STREAM) + "/events");
    }

    private static void eventually(String what, java.util.concurrent.Callable<Boolean> condition) {
        Awaitility.await(what)
                .pollInterval(Duration.ofMillis(100))
                .atMost(Duration.ofSeconds(30))
                .until(condition);
    }

    private double metric(String name) {
        return server.api().get("/metrics").text().lines()
                .filter(line -> line.startsWith(name + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
                .findFirst()
                .orElseThrow();
    }

    // ---- put in

    @Test
    void foreignEntriesGoToQuarantineAndNobodyWaitsForThemOrIsGivenThem() {
        start();
        append(1, 5);
        try (PlainRedis redis = redis();
                Follower follower = Follower.of(server.url(), STREAM, "after=earliest")) {
            String key = key(redis);
            String between = redis.text("XADD", key, "*", "who", "somebody", "what", "between");
            append(6, 10);
            redis.call("XADD", key, "*", "n", "not a number", "data", "7");
            eventually("in quarantine", () -> metric("tidemark_quarantined_total") == 2);
            append(11, 15);
            assertEquals(numbers(1, 15), payloads());
            assertEquals(numbers(1, 15), server.api().payloads(Api.stream(STREAM) + "/tail?n=100"));
            assertEquals(15, follower.awaitEvents(15).size());
            assertEquals("15", redis.text("XLEN", key));
            String quarantine = key.replace(":live", ":quarantine");
            String kept = redis.text("XRANGE", quarantine, "-", "+");
            assertTrue(kept.contains("entry, " + between + ", who, somebody, what, between"), kept);
            assertEquals(200, server.api().fold(STREAM).status());
            assertEquals(numbers(1, 15), payloads());
            String ready = server.api().get("/health/ready").text();
            assertTrue(ready.contains("2 entries that others put into live logs"), ready);
            assertEquals(List.of(), follower.messages("gap"));
            assertEquals(204, server.api().delete(STREAM).status());
            assertEquals("0", redis.text("EXISTS", key, quarantine));
        }
        server.assertCleanLog();
    }

    @ParameterizedTest
    @EnumSource(Ahead.class)
    void anIdAheadOfOursIsRemovedAndOursGoOnAtTheirTime(Ahead ahead) {
        start();
        append(1, 300);
        try (PlainRedis redis = redis()) {
            String key = key(redis);
            ahead.put(redis, key);
            String id = append(301, 301).getString("first");
            JsonObject newest =
                    server.api().events(Api.stream(STREAM) + "/tail?n=1").get(0);
            assertEquals(id, newest.getString("id"));
            assertTrue(newest.getLong("at") < System.currentTimeMillis() + 20_000, "ids run ahead: " + newest);
            assertEquals(numbers(1, 301), payloads());
            assertEquals("301", redis.text("XLEN", key));
            server.kill();
            ahead.put(redis, key);
            start();
            append(302, 302);
            assertEquals(200, server.api().fold(STREAM).status());
            assertEquals(numbers(1, 302), payloads());
            newest = server.api().events(Api.stream(STREAM) + "/tail?n=1").get(0);
            assertTrue(newest.getLong("at") < System.currentTimeMillis() + 20_000, "ids run ahead: " + newest);
        }
        server.assertCleanLog();
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

    @ParameterizedTest
    @EnumSource(Taken.class)
    void whatIsTakenOutWhileTheServerRunsIsFoldedFromMemory(Taken taken) {
        start();
        append(1, 5);
        assertEquals(200, server.api().fold(STREAM).status());
        append(6, 10);
        try (PlainRedis redis = redis();
                Follower follower = Follower.of(server.url(), STREAM, "after=earliest")) {
            follower.awaitEvents(10);
            String last = follower.ids().get(9);
            taken.take(redis, key(redis));
            eventually("folded though fold_max_lag is an hour", () -> server.api().watermark(STREAM).equals(last));
            append(11, 15);
            server.kill();
            start();
            assertEquals(numbers(1, 15), payloads());
            assertEquals(200, server.api().fold(STREAM).status());
            assertEquals(numbers(1, 15), payloads());
            assertEquals(List.of(), follower.messages("gap"));
        }
        server.assertCleanLog();
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

    @ParameterizedTest
    @EnumSource(Taken.class)
    void whatIsTakenOutWhileTheServerIsDownIsAGapForAllReadersAndTheFoldGoesOn(Taken taken) {
        start();
        append(1, 5);
        assertEquals(200, server.api().fold(STREAM).status());
        List<String> cursors = new ArrayList<>();
        append(6, 10);
        server.api().events(Api.stream(STREAM) + "/events").forEach(event -> cursors.add(event.getString("cursor")));
        server.kill();
        try (PlainRedis redis = redis()) {
            taken.take(redis, key(redis));
        }
        start();
        List<String> left = new ArrayList<>(numbers(1, 5));
        left.addAll(taken.left());
        assertEquals(left, seenBy("/events?after=" + cursors.get(0), cursors.get(0), 1), "before anything is appended");
        try (Follower follower = Follower.of(server.url(), STREAM, "after=" + cursors.get(4))) {
            append(11, 12);
            left.addAll(numbers(11, 12));
            follower.awaitEvents(taken.left().size() + 2);
            assertGapOf(follower.messages("gap"));
        }
        // Whoever had seen the newest that are lost finds his place.
        try (Follower follower = Follower.of(server.url(), STREAM, "after=" + cursors.get(9))) {
            follower.awaitEvents(2);
        }
        assertEquals(left, seenBy("/events?after=" + cursors.get(0), cursors.get(0), 1), "with more behind it");
        assertEquals(200, server.api().fold(STREAM).status());
        String watermark = server.api().watermark(STREAM);
        assertEquals(
                server.api().get(Api.stream(STREAM) + "/tail?n=1").json().getJsonArray("events").getJsonObject(0).getString("id"),
                watermark,
                "the fold is wedged");
        assertEquals(left, seenBy("/events?after=" + cursors.get(0), cursors.get(0), 1), "from the archive");
        server.kill();
        start();
        assertEquals(left, seenBy("/events?after=" + cursors.get(0), cursors.get(0), 1), "after another start");
    }

    /** What a reader from the first event on gets, gaps checked; the first event, which he has, is put before it. */
    private List<String> seenBy(String query, String after, int first) {
        List<JsonObject> lines = server.api().lines(Api.stream(STREAM) + query);
        List<String> events = new ArrayList<>(List.of(String.valueOf(first)));
        List<JsonObject> gaps = new ArrayList<>();
        for (JsonObject line : lines) {
            String type = line.getString("type");
            if (type == null) {
                events.add(String.valueOf(line.getValue("data")));
            } else if (type.equals("gap")) {
                gaps.add(line);
            }
        }
        assertGapOf(gaps);
        assertFalse(after.isEmpty());
        return events;
    }

    private static void assertGapOf(List<JsonObject> gaps) {
        assertFalse(gaps.isEmpty(), "no gap");
        for (JsonObject gap : gaps) {
            assertEquals("lost", gap.getString("reason"), gap::encode);
        }
    }
}
