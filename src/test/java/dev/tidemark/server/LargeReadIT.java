package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.archive.Trees;
import dev.tidemark.http.RawClient;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Reading everything, slowly, over HTTP and WebSocket, with a small heap. {@code -Dtidemark.read.events=1000000} takes a million events
 * and a heap of 256 MB; the build takes fewer and less, whose payloads are still more than the heap.
 */
@Tag("R48")
class LargeReadIT {
    private static final int EVENTS = Integer.getInteger("tidemark.read.events", 60_000);
    private static final boolean FULL = EVENTS >= 1_000_000;
    private static final String HEAP = FULL ? "-Xmx256m" : "-Xmx128m";
    private static final int PADDING = FULL ? 250 : 2_500;
    private static final int BATCH = 1_000;
    private static final Map<String, String> ENVIRONMENT =
            Map.of("TIDEMARK_REDIS_FSYNC", "no", "TIDEMARK_STREAMS_DEFAULTS_LIVE_MAX_EVENTS", "10000");

    @TempDir
    Path dir;

    private ServerProcess start() {
        return ServerProcess.startJvm(dir, ENVIRONMENT, List.of(HEAP, "-XX:MaxDirectMemorySize=48m"));
    }

    @Test
    void everythingIsReadInPiecesAndWorkStopsWhenTheClientLeaves() throws Exception {
        try (ServerProcess server = start()) {
            Api api = server.api();
            fill(api);
            nothingMatches(api);
            double[] alone = appendsMs(api, 100);
            leaveHalfWay(server);
            AtomicBoolean reading = new AtomicBoolean(true);
            double[][] beside = new double[1][];
            Thread others = new Thread(() -> {
                List<Double> all = new ArrayList<>();
                while (reading.get()) {
                    for (double ms : appendsMs(api, 1)) {
                        all.add(ms);
                    }
                }
                beside[0] =
                        all.stream().mapToDouble(Double::doubleValue).sorted().toArray();
            });
            others.start();
            readSlowly(server);
            follow(server);
            reading.set(false);
            others.join();
            System.out.printf(
                    "append to another stream: half within %.1f ms alone, %.1f ms beside the reads (p99 %.1f ms)%n",
                    alone[alone.length / 2], beside[0][beside[0].length / 2], beside[0][beside[0].length * 99 / 100]);
            server.assertCleanLog();
            assertEquals(ServerProcess.TERMINATED, server.terminate());
        }
        onlyArchiveFiles();
    }

    private static void fill(Api api) {
        for (long number = 0; number < EVENTS; number += BATCH) {
            List<String> lines = new ArrayList<>();
            for (int i = 0; i < BATCH; i++) {
                lines.add(Crowd.payload(number + i, PADDING));
            }
            assertEquals(201, api.append("s", lines).status());
        }
        assertEquals(200, api.fold("s").status());
    }

    private static void nothingMatches(Api api) {
        for (String range : List.of("from=2001-01-01T00:00:00Z&to=2002-01-01T00:00:00Z", "to=1000")) {
            long startNs = System.nanoTime();
            Api.Answer answer = api.get(Api.stream("s") + "/events?" + range);
            assertEquals(200, answer.status(), answer.text());
            assertEquals(0, answer.json().getJsonArray("events").size());
            assertTrue(System.nanoTime() - startNs < 2_000_000_000L, "none is said at once");
        }
    }

    private static double[] appendsMs(Api api, int count) {
        double[] ms = new double[count];
        for (int i = 0; i < count; i++) {
            long startNs = System.nanoTime();
            assertEquals(201, api.append("other", List.of("{}")).status());
            ms[i] = (System.nanoTime() - startNs) / 1e6;
        }
        Arrays.sort(ms);
        return ms;
    }

    private static RawClient ask(ServerProcess server) throws IOException {
        URI url = URI.create(server.url());
        RawClient client = new RawClient(url.getPort());
        return client.send(
                "GET /v1/streams/s/events HTTP/1.0\r\nHost: localhost\r\n" + "Accept: application/x-ndjson\r\n\r\n");
    }

    private static void leaveHalfWay(ServerProcess server) throws Exception {
        try (RawClient client = ask(server);
                Crowd crowd = new Crowd(server.url())) {
            assertEquals(1 << 20, client.in.readNBytes(1 << 20).length);
            Crowd.Member member = crowd.join("s", "after=earliest", Crowd.Pace.SLOW);
            crowd.await("the slow one has something", 30, List.of(member), slow -> slow.events() > 0);
            assertTrue(member.events() < 10, member::toString);
        }
        Waiting.ms(1_000);
        double given = CrowdIT.figure(server.api().get("/metrics").text(), "tidemark_subscribers_events_total");
        long cpuMs = cpuMs(server);
        Waiting.ms(2_000);
        long workedMs = cpuMs(server) - cpuMs;
        String metrics = server.api().get("/metrics").text();
        assertEquals(given, CrowdIT.figure(metrics, "tidemark_subscribers_events_total"));
        assertEquals(0, CrowdIT.figure(metrics, "tidemark_subscribers"));
        assertTrue(given < EVENTS / 2.0, "given " + given);
        assertTrue(workedMs < 1_500, "worked for " + workedMs + " ms when nobody was there any more");
    }

    private static long cpuMs(ServerProcess server) {
        return server.process()
                .toHandle()
                .info()
                .totalCpuDuration()
                .orElseThrow()
                .toMillis();
    }

    private static void readSlowly(ServerProcess server) throws Exception {
        try (RawClient client = ask(server)) {
            client.socket.setSoTimeout(60_000);
            while (!client.line().isEmpty()) {
                // The head.
            }
            BufferedReader lines = new BufferedReader(new InputStreamReader(client.in, StandardCharsets.UTF_8));
            long expected = 0;
            String last = "";
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                last = line;
                if (line.startsWith("{\"id\":")) {
                    assertTrue(line.contains("\"data\":{\"n\":" + expected + ","), "event " + expected);
                    expected++;
                    if (expected % (EVENTS / 20) == 0) {
                        Waiting.ms(100);
                    }
                }
            }
            assertEquals(EVENTS, expected);
            assertTrue(new JsonObject(last).getBoolean("complete"), last);
        }
    }

    private static void follow(ServerProcess server) {
        try (Crowd crowd = new Crowd(server.url())) {
            Crowd.Member member = crowd.join("s", "after=earliest", Crowd.Pace.SLOW);
            Waiting.ms(2_000);
            member.pace(Crowd.Pace.FAST);
            crowd.await("everything", 120, List.of(member), one -> one.events() == EVENTS);
            assertEquals(0, member.wrong(), member::toString);
        }
    }

    /** Redis has lost everything; what is folded is there at once. */
    private void onlyArchiveFiles() throws IOException {
        Trees.delete(dir.resolve("redis"));
        try (ServerProcess server = start()) {
            long startNs = System.nanoTime();
            Api.Answer first = server.api().get(Api.stream("s") + "/events?limit=10");
            long firstMs = (System.nanoTime() - startNs) / 1_000_000;
            assertEquals(200, first.status(), first.text());
            assertEquals(10, first.json().getJsonArray("events").size());
            assertTrue(firstMs < 5_000, "the first read took " + firstMs + " ms");
            readSlowlyToTheEnd(server);
        }
    }

    private static void readSlowlyToTheEnd(ServerProcess server) {
        try (Crowd crowd = new Crowd(server.url())) {
            Crowd.Member member = crowd.join("s", "after=earliest", Crowd.Pace.FAST);
            crowd.await("everything", 120, List.of(member), one -> one.events() == EVENTS);
            assertEquals(0, member.wrong(), member::toString);
        }
    }
}
