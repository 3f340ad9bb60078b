package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.client.Event;
import dev.tidemark.client.Follow;
import dev.tidemark.client.Subscriber;
import dev.tidemark.client.Subscription;
import dev.tidemark.client.TidemarkClient;
import java.time.Duration;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * From the oldest event, through archive and live log, into what comes: 50 times over 20,000 stored events while 500 a second are
 * appended, by WebSocket, event stream and the client in turn. Each is slowed down at a place of its own, so that it meets the tail at a moment
 * of its own.
 */
@Tag("R02")
class HandOverIT {
    private static final int STORED = 20_000;
    private static final int EVENTS_A_SECOND = 500;
    private static final int ROUNDS = Integer.getInteger("tidemark.rounds", 50);
    private static final int LIVE = 40;
    private static final long SEED = Long.getLong("tidemark.seed", System.nanoTime());

    @RegisterExtension
    static final RunningServer SERVER = new RunningServer(Map.of());

    /** What a reader does: all numbers from 0 on, ids rising, history first. One thread. */
    private static final class Check {
        private final long slowAt;
        private final long slowMs;
        private long next;
        private long caughtUpAt = -1;
        private String lastId = "";

        Check(SplittableRandom random) {
            slowAt = random.nextInt(STORED);
            slowMs = random.nextInt(150);
        }

        void event(long number, String id) throws InterruptedException {
            assertEquals(next, number, () -> "behind " + lastId + " came " + id);
            assertTrue(id.compareTo(lastId) > 0, () -> id + " came behind " + lastId);
            lastId = id;
            next++;
            if (next == slowAt) {
                TimeUnit.MILLISECONDS.sleep(slowMs);
            }
        }

        void caughtUp() {
            if (caughtUpAt < 0) {
                caughtUpAt = next;
            }
        }

        boolean done() {
            return caughtUpAt >= 0 && next >= caughtUpAt + LIVE;
        }
    }

    @Test
    @Timeout(300)
    void everyHandOverFromHistoryToLiveIsWithoutGapAndWithoutRepeat() throws Exception {
        System.out.println("seed " + SEED);
        SplittableRandom random = new SplittableRandom(SEED);
        SERVER.api().put("numbers", "{\"live_max_events\":2000}");
        TreeSet<Long> moments = new TreeSet<>();
        try (Numbers numbers = Numbers.of(SERVER.api(), "numbers", STORED, EVENTS_A_SECOND)) {
            for (int round = 0; round < ROUNDS; round++) {
                TimeUnit.MILLISECONDS.sleep(random.nextInt(20));
                Check check = new Check(random);
                long storedBefore = numbers.written();
                switch (round % 4) {
                    case 0 -> follow(FollowConnection.Kind.WEB_SOCKET, "after=earliest", check);
                    case 1 -> follow(FollowConnection.Kind.EVENT_STREAM, "after=earliest", check);
                    case 2 -> byTheClient(Follow.earliest(), check);
                    default -> follow(FollowConnection.Kind.WEB_SOCKET, "after=earliest&heartbeat=1", check);
                }
                assertTrue(check.caughtUpAt >= storedBefore, "history comes before live: " + check.caughtUpAt);
                moments.add(check.caughtUpAt);
            }
        }
        System.out.println(ROUNDS + " hand-overs, at " + moments.size() + " different events from number "
                + moments.first() + " to " + moments.last());
        assertTrue(moments.size() >= ROUNDS * 9 / 10, "the hand-overs were at the same moments: " + moments);
        int live = SERVER.api().seam("numbers").getInteger("live_events");
        assertTrue(live < STORED / 2, "history was in the archive, but the live log has " + live);
    }

    private static void follow(FollowConnection.Kind kind, String query, Check check) throws InterruptedException {
        try (FollowConnection connection =
                assertNotNullThen(FollowConnection.open(kind, SERVER.url(), "numbers", query))) {
            while (!check.done()) {
                FollowConnection.Message message = assertNotNullThen(connection.next());
                switch (message.type()) {
                    case "event" -> check.event(Numbers.in(message.json()), id(message.json()));
                    case "caught_up" -> check.caughtUp();
                    case "hello", "fell_behind", "heartbeat" -> {}
                    default -> throw new AssertionError("unexpected: " + message);
                }
            }
        }
    }

    private static <T> T assertNotNullThen(T value) {
        assertNotNull(value, "the connection ended");
        return value;
    }

    private static String id(String json) {
        int from = json.indexOf("\"id\":\"") + 6;
        return json.substring(from, json.indexOf('"', from));
    }

    private static void byTheClient(Follow from, Check check) throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        Subscriber subscriber = new Subscriber() {
            @Override
            public void event(Event event) throws Exception {
                if (!check.done()) {
                    check.event(Numbers.in("\"data\":" + event.text()), event.id());
                }
                if (check.done()) {
                    done.countDown();
                }
            }

            @Override
            public void caughtUp(String cursor) {
                check.caughtUp();
            }

            @Override
            public void disconnected(dev.tidemark.client.TidemarkException why, Duration retryIn) {
                throw why;
            }
        };
        try (Subscription subscription = TidemarkClient.at(SERVER.url()).subscribe("numbers", from, subscriber)) {
            while (!done.await(50, TimeUnit.MILLISECONDS)) {
                if (subscription.done().isDone()) {
                    subscription.done().get();
                }
            }
        }
    }
}
