package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
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
 * Subscribers that read nothing, or one message a second, beside others. {@code -Dtidemark.slow.bytes=200000000
 * -Dtidemark.slow.backlog=100000} is the size that is asked for; the build takes less.
 */
@Tag("R12")
@Tag("failure-10")
class SlowSubscribersIT {
    private static final long BYTES = Long.getLong("tidemark.slow.bytes", 50_000_000);
    private static final int BACKLOG = Integer.getInteger("tidemark.slow.backlog", 20_000);
    private static final int SECONDS_SLOW = Integer.getInteger("tidemark.slow.seconds", 5);
    private static final int PAYLOAD_BYTES = 4_000;
    private static final int BATCH = 50;
    private static final int NORMAL = 20;
    /** {@code subscriber_buffer}, one batch of events, and what a frame adds; for who doesn't read. */
    private static final double WAITING_BYTES_MAX = 1.5 * (1 << 20);
    /** Far less than what the stalled one is sent, so a server that kept it would end. */
    private static final List<String> JVM = List.of("-Xmx128m", "-XX:MaxDirectMemorySize=40m");

    private static final Map<String, String> ENVIRONMENT = Map.of("TIDEMARK_REDIS_FSYNC", "no");

    @TempDir
    Path dir;

    @Test
    void whoReadsNothingCostsABoundedBufferAndNobodyElseAnything() throws Exception {
        long events = BYTES / PAYLOAD_BYTES / BATCH * BATCH;
        try (ServerProcess server = ServerProcess.startJvm(dir, ENVIRONMENT, JVM);
                Crowd crowd = new Crowd(server.url())) {
            Api api = server.api();
            assertEquals(201, api.put("s", "{}").status());
            Crowd.Member stalled = crowd.join("s", "", Crowd.Pace.STALLED);
            Crowd.Member closed = crowd.join("s", "slow=close", Crowd.Pace.STALLED);
            Crowd.Member skipping = crowd.join("s", "slow=skip", Crowd.Pace.STALLED);
            List<Crowd.Member> normal = new ArrayList<>();
            for (int i = 0; i < NORMAL; i++) {
                normal.add(crowd.join("s", "", Crowd.Pace.FAST));
            }
            crowd.await("hello", 30, normal, Crowd.Member::greeted);
            double waitingMax = 0;
            long rssBefore = 0;
            for (long number = 0; number < events; number += BATCH) {
                List<String> lines = new ArrayList<>();
                for (int i = 0; i < BATCH; i++) {
                    lines.add(Crowd.payload(number + i, PAYLOAD_BYTES));
                }
                assertEquals(201, api.append("s", lines).status());
                if (number % (20 * BATCH) == 0) {
                    waitingMax = Math.max(waitingMax, waiting(api));
                    rssBefore = number <= events / 4 ? rssBytes(server) : rssBefore;
                }
            }
            crowd.await("all events", 60, normal, member -> member.events() == events);
            for (Crowd.Member member : normal) {
                assertEquals(0, member.wrong(), member::toString);
            }
            System.out.printf(
                    "%d MB past three that read nothing: %.1f MB wait at most, resident memory with mapped files %+d MB from a quarter on;"
                            + " %d others got all within %.0f ms (p99)%n",
                    events * PAYLOAD_BYTES / 1_000_000,
                    waitingMax / 1e6,
                    (rssBytes(server) - rssBefore) >> 20,
                    NORMAL,
                    crowd.latencyMs(0.99));
            // The three that read nothing, and what is on its way to the others.
            assertTrue(waitingMax <= (3 + NORMAL) * WAITING_BYTES_MAX, "waiting " + waitingMax);
            double kept = CrowdIT.figure(api.get("/metrics").text(), "tidemark_subscribers");
            assertEquals(NORMAL + 2, (int) kept, "the one that asked for it was closed");

            List<Crowd.Member> late = List.of(stalled, skipping, closed);
            late.forEach(member -> member.pace(Crowd.Pace.FAST));
            crowd.await("what it was told", 60, List.of(skipping), member -> member.skipped() > 0);
            byte[] next = Follower.utf8(Crowd.payload(events));
            assertEquals(201, api.append("s", "application/json", next).status());
            crowd.await("the next event", 60, List.of(stalled, skipping), member -> member.last() == events);
            assertEquals(events + 1, stalled.events(), stalled::toString);
            assertEquals(0, stalled.wrong(), stalled::toString);
            assertTrue(stalled.fellBehind() > 0, "it is told: " + stalled);
            assertTrue(skipping.events() < events && skipping.wrong() == skipping.skipped(), skipping::toString);
            crowd.await("the end", 10, List.of(closed), Crowd.Member::gone);
            assertTrue(closed.closeCode() == 4001 || closed.closeCode() == 0, closed::toString);
            assertTrue(closed.events() < events && closed.wrong() == 0, closed::toString);
            server.assertCleanLog();
        }
    }

    @Test
    void whoReadsOneMessageASecondGoesThroughABacklogCompleteAndCostsNothing() throws Exception {
        try (ServerProcess server = ServerProcess.startJvm(dir, ENVIRONMENT, JVM);
                Crowd crowd = new Crowd(server.url())) {
            Api api = server.api();
            for (long number = 0; number < BACKLOG; number += 500) {
                List<String> lines = new ArrayList<>();
                for (int i = 0; i < 500; i++) {
                    lines.add(Crowd.payload(number + i, 1_000));
                }
                assertEquals(201, api.append("s", lines).status());
            }
            Crowd.Member slow = crowd.join("s", "after=earliest", Crowd.Pace.SLOW);
            Crowd.Member live = crowd.join("s", "", Crowd.Pace.FAST);
            crowd.await("hello", 30, List.of(live), Crowd.Member::greeted);
            long next = BACKLOG;
            double waitingMax = 0;
            for (int second = 0; second < SECONDS_SLOW; second++) {
                for (int i = 0; i < 10; i++) {
                    assertEquals(
                            201,
                            api.append("s", "application/json", Follower.utf8(Crowd.payload(next++)))
                                    .status());
                    Waiting.ms(100);
                }
                waitingMax = Math.max(waitingMax, waiting(api));
            }
            long last = next - 1;
            crowd.await("the last event", 30, List.of(live), member -> member.last() == last);
            assertTrue(slow.events() <= SECONDS_SLOW + 2, slow::toString);
            assertTrue(waitingMax > 0 && waitingMax <= WAITING_BYTES_MAX, "waiting " + waitingMax);
            slow.pace(Crowd.Pace.FAST);
            crowd.await("the last event", 60, List.of(slow), member -> member.last() == last);
            assertEquals(next, slow.events(), slow::toString);
            assertEquals(0, slow.wrong(), slow::toString);
            server.assertCleanLog();
        }
    }

    private static double waiting(Api api) {
        return CrowdIT.figure(api.get("/metrics").text(), "tidemark_subscribers_waiting_bytes");
    }

    private static long rssBytes(ServerProcess server) throws IOException {
        String status = Files.readString(Path.of("/proc", Long.toString(server.pid()), "status"));
        Matcher rss = Pattern.compile("VmRSS:\\s+(\\d+) kB").matcher(status);
        return rss.find() ? Long.parseLong(rss.group(1)) << 10 : 0;
    }
}
