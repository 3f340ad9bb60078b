package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Many streams in which nothing happens, each with a subscriber. {@code -Dtidemark.idle.seconds=200 -Dtidemark.coming.going=5000} is
 * the size that is asked for; the build idles shortly, beyond the time after which a stream lets go of its memory.
 */
@Tag("R41")
class QuietStreamsIT {
    private static final int STREAMS = 300;
    private static final int IDLE_SECONDS = Integer.getInteger("tidemark.idle.seconds", 4);
    private static final int COMING_AND_GOING = Integer.getInteger("tidemark.coming.going", 600);
    private static final boolean FULL = IDLE_SECONDS >= 180;
    private static final int CALLS = FULL ? 300 : 120;

    @TempDir
    Path dir;

    @Test
    void theyCostTheOthersNothingAndTheirNextEventArrives() throws Exception {
        Map<String, String> environment = FULL ? Map.of() : Map.of("TIDEMARK_MEMORY_IDLE_AFTER", "1s");
        try (ServerProcess server = ServerProcess.start(dir, environment);
                Crowd crowd = new Crowd(server.url());
                PlainRedis redis = PlainRedis.ofChild(dir)) {
            Api api = server.api();
            for (int i = 0; i < STREAMS; i++) {
                assertEquals(
                        201, api.append("quiet-" + i, List.of(Crowd.payload(0))).status());
            }
            assertEquals(201, api.append("other", List.of(Crowd.payload(0))).status());
            var warm = latencies(api);
            Latencies without = latencies(api);
            int connections = clients(redis);

            List<Crowd.Member> members = new ArrayList<>();
            for (int i = 0; i < STREAMS; i++) {
                members.add(crowd.join("quiet-" + i, "", Crowd.Pace.FAST));
            }
            crowd.await("hello", 30, members, Crowd.Member::greeted);
            Latencies with = latencies(api);
            comeAndGo(crowd, api);
            Waiting.ms(1_000L * IDLE_SECONDS);
            Latencies idle = latencies(api);
            int connectionsAfter = clients(redis);
            System.out.printf(
                    "append and tail, half within: %s without %d subscribers on quiet streams, %s with them, %s after"
                            + " %d s; connections to Redis: %d and %d (warm-up %s)%n",
                    without, STREAMS, with, idle, IDLE_SECONDS, connections, connectionsAfter, warm);
            assertTrue(connectionsAfter <= connections + 2, connections + " connections, then " + connectionsAfter);
            assertTrue(connectionsAfter < 30, "connections " + connectionsAfter);

            for (int i = 0; i < STREAMS; i++) {
                assertEquals(
                        201, api.append("quiet-" + i, List.of(Crowd.payload(1))).status());
            }
            crowd.await("the next event", 20, members, member -> member.last() == 1);
            for (Crowd.Member member : members) {
                assertEquals(1, member.events(), member::toString);
            }
            if (FULL) {
                assertTrue(idle.appendMs() < 2 * without.appendMs() + 2, idle + " against " + without);
                assertTrue(idle.tailMs() < 2 * without.tailMs() + 2, idle + " against " + without);
            }
            server.assertCleanLog();
        }
    }

    /** Subscriptions that come and go leave nothing behind. */
    private static void comeAndGo(Crowd crowd, Api api) {
        for (int done = 0; done < COMING_AND_GOING; done += 50) {
            List<Crowd.Member> some = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                some.add(crowd.join("quiet-" + (done + i) % STREAMS, "tail=1", Crowd.Pace.FAST));
            }
            if (done % 100 == 0) {
                crowd.await("an event", 20, some, member -> member.events() == 1);
            }
            some.forEach(Crowd.Member::leave);
        }
        long untilNs = System.nanoTime() + 20_000_000_000L;
        while (subscribers(api) != STREAMS) {
            assertTrue(System.nanoTime() < untilNs, "subscribers " + subscribers(api));
            Waiting.ms(100);
        }
    }

    private static int subscribers(Api api) {
        return (int) CrowdIT.figure(api.get("/metrics").text(), "tidemark_subscribers");
    }

    private static int clients(PlainRedis redis) {
        Object list = redis.call("CLIENT", "LIST");
        assertNotNull(list);
        return list.toString().strip().split("\n").length;
    }

    /** Half of the calls took no longer. */
    private record Latencies(double appendMs, double tailMs) {
        @Override
        public String toString() {
            return "%.2f ms and %.2f ms".formatted(appendMs, tailMs);
        }
    }

    private static Latencies latencies(Api api) {
        long[] appends = new long[CALLS];
        long[] tails = new long[CALLS];
        for (int i = 0; i < CALLS; i++) {
            long startNs = System.nanoTime();
            assertEquals(201, api.append("other", List.of(Crowd.payload(i))).status());
            long betweenNs = System.nanoTime();
            assertEquals(200, api.get(Api.stream("other") + "/tail?n=10").status());
            appends[i] = betweenNs - startNs;
            tails[i] = System.nanoTime() - betweenNs;
        }
        Arrays.sort(appends);
        Arrays.sort(tails);
        return new Latencies(appends[CALLS / 2] / 1e6, tails[CALLS / 2] / 1e6);
    }
}
