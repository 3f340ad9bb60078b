package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Many subscribers on one stream, with the worst of them beside the others. The size that is asked for is {@code
 * -Dtidemark.subscribers=1000 -Dtidemark.seconds=60}; only then the time of delivery is more than printed.
 */
@Tag("R12")
class CrowdIT {
    private static final int SUBSCRIBERS = Integer.getInteger("tidemark.subscribers", 200);
    private static final int SECONDS = Integer.getInteger("tidemark.seconds", 6);
    private static final int PER_SECOND = Integer.getInteger("tidemark.rate", 100);
    private static final boolean FULL = SUBSCRIBERS >= 1_000 && SECONDS >= 60;
    private static final double P99_MS_MAX = 50;
    /** {@code subscriber_buffer}, one batch of events, and what is on its way. */
    private static final double WAITING_BYTES_MAX = 2 * 1.5 * (1 << 20);

    @TempDir
    Path dir;

    @Test
    void everyOneIsCompleteWhateverTheWorstDo() throws Exception {
        // With so little memory beside the heap, a server that buffers for who doesn't read wouldn't live long.
        List<String> jvm = List.of("-Xmx384m", "-XX:MaxDirectMemorySize=64m");
        try (ServerProcess server = ServerProcess.startJvm(dir, Map.of(), jvm);
                Crowd crowd = new Crowd(server.url())) {
            Api api = server.api();
            assertEquals(201, api.put("s", "{}").status());
            List<Crowd.Member> fast = new ArrayList<>();
            for (int i = 0; i < SUBSCRIBERS; i++) {
                fast.add(crowd.join("s", "", Crowd.Pace.FAST));
            }
            Crowd.Member stalled = crowd.join("s", "", Crowd.Pace.STALLED);
            Crowd.Member slow = crowd.join("s", "", Crowd.Pace.SLOW);
            crowd.await("hello", 60, fast, Crowd.Member::greeted);
            long events = load(api, crowd);
            long last = events - 1;
            crowd.await("the last event", 60, fast, member -> member.last() == last);
            for (Crowd.Member member : fast) {
                assertEquals(events, member.events(), member::toString);
                assertEquals(0, member.wrong(), member::toString);
                assertEquals(0, member.fellBehind(), member::toString);
            }
            String metrics = api.get("/metrics").text();
            double given = figure(metrics, "tidemark_subscribers_events_total");
            double encoded = figure(metrics, "tidemark_subscribers_encoded_events_total");
            double p99 = crowd.latencyMs(0.99);
            System.out.printf(
                    "%d subscribers, %d events: delivered within %.1f ms (half), %.1f ms (p99), %.1f ms (p99.9);"
                            + " each event encoded %.2f times for %.0f deliveries; waiting %.0f bytes at most%n",
                    SUBSCRIBERS,
                    events,
                    crowd.latencyMs(0.5),
                    p99,
                    crowd.latencyMs(0.999),
                    encoded / events,
                    given / events,
                    waitingMax);
            // Once a loop; now and then for some that were a moment behind.
            assertTrue(encoded / events < 8, "encoded " + encoded + " for " + events);
            assertTrue(waitingMax <= WAITING_BYTES_MAX, "waiting " + waitingMax);
            assertTrue(stalled.events() == 0 && slow.events() < SECONDS + 30, slow::toString);
            if (FULL) {
                assertTrue(p99 <= P99_MS_MAX, "p99 " + p99 + " ms");
            }
            slow.pace(Crowd.Pace.FAST);
            stalled.pace(Crowd.Pace.FAST);
            crowd.await("the last event", 60, List.of(slow, stalled), member -> member.last() == last);
            for (Crowd.Member member : List.of(slow, stalled)) {
                assertEquals(events, member.events(), member::toString);
                assertEquals(0, member.wrong(), member::toString);
            }
            server.assertCleanLog();
        }
    }

    private double waitingMax;

    /** Appends at the rate for the time, one event a request; says how many. */
    private long load(Api api, Crowd crowd) {
        long periodNs = 1_000_000_000L / PER_SECOND;
        long startNs = System.nanoTime();
        long number = 0;
        // What loads classes isn't counted.
        long warmUp = PER_SECOND;
        long all = warmUp + (long) SECONDS * PER_SECOND;
        for (; number < all; number++) {
            if (number == warmUp) {
                crowd.forgetLatencies();
            }
            Waiting.untilNs(startNs + number * periodNs);
            byte[] body = Crowd.payload(number).getBytes(java.nio.charset.StandardCharsets.UTF_8);
            assertEquals(201, api.append("s", "application/json", body).status());
            if (number % PER_SECOND == 0) {
                waitingMax =
                        Math.max(waitingMax, figure(api.get("/metrics").text(), "tidemark_subscribers_waiting_bytes"));
            }
        }
        return all;
    }

    static double figure(String metrics, String name) {
        Matcher matcher = Pattern.compile("(?m)^" + name + " (\\S+)$").matcher(metrics);
        if (!matcher.find()) {
            throw new AssertionError("no " + name + " in " + metrics);
        }
        return Double.parseDouble(matcher.group(1));
    }
}
