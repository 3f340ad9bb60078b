package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Too much at once, bodies that swell, a Redis that dies: what was acknowledged is stored, and what was refused is not. */
class BurstIT {
    private static final String NDJSON = "application/x-ndjson";

    @RegisterExtension
    static final RunningServer SERVER = new RunningServer(Map.of());

    private static Api api() {
        return SERVER.api();
    }

    // ---- bursts

    /** What was answered to one append each; what isn't known may be stored or not, but only once. */
    private static final class Answers {
        private final Set<String> stored = new TreeSet<>();
        private final Set<String> unknown = new TreeSet<>();

        void take(String what, Api.Answer answer) {
            if (answer.status() == 201) {
                stored.add(what);
                return;
            }
            assertEquals(503, answer.status(), answer.text());
            assertTrue(answer.json().getBoolean("retryable"));
            assertTrue(answer.response().headers().firstValue("retry-after").isPresent());
            if (!answer.json().getString("stored").equals("no")) {
                unknown.add(what);
            }
        }

        void check(List<String> found) {
            Set<String> once = new TreeSet<>(found);
            assertEquals(once.size(), found.size(), "something is there twice");
            assertTrue(once.containsAll(stored), "something acknowledged is lost");
            once.removeAll(stored);
            assertTrue(unknown.containsAll(once), once + " was refused or never sent");
        }
    }

    @Test
    @Tag("R14")
    void ofAThousandParallelAppendsExactlyTheAcknowledgedOnesAreStored() {
        Api api = api();
        Map<Integer, Answers> answers = new HashMap<>();
        for (int round = 0; round < 2; round++) {
            List<CompletableFuture<Api.Answer>> asked = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                asked.add(api.later(api.request(Api.stream("burst-" + i % 50) + "/events")
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString(String.valueOf(round * 1_000 + i)))));
            }
            for (int i = 0; i < asked.size(); i++) {
                answers.computeIfAbsent(i % 50, stream -> new Answers())
                        .take(String.valueOf(round * 1_000 + i), asked.get(i).join());
            }
        }
        for (int stream = 0; stream < 50; stream++) {
            Answers told = answers.getOrDefault(stream, new Answers());
            told.check(api.payloads("/v1/streams/burst-" + stream + "/events"));
            assertFalse(told.stored.isEmpty(), "nothing was taken by " + stream);
        }
    }

    @Test
    @Tag("R14")
    void whatIsTooMuchForOneStreamIsRefusedAndTheRestIsStoredOnce() {
        Api api = api();
        List<CompletableFuture<Api.Answer>> asked = new ArrayList<>();
        List<Answers> told = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            int batch = i;
            String lines = IntStream.range(0, 10_000)
                    .mapToObj(line -> "\"" + batch + "-" + "x".repeat(80) + "-" + line + "\"\n")
                    .collect(Collectors.joining());
            asked.add(api.later(api.request(Api.stream("heavy") + "/events")
                    .header("Content-Type", NDJSON)
                    .POST(HttpRequest.BodyPublishers.ofString(lines))));
        }
        for (int i = 0; i < asked.size(); i++) {
            Answers answers = new Answers();
            answers.take(String.valueOf(i), asked.get(i).join());
            told.add(answers);
        }
        Map<String, List<String>> found = api.payloads("/v1/streams/heavy/events").stream()
                .collect(Collectors.groupingBy(line -> line.substring(1, line.indexOf('-'))));
        for (int i = 0; i < told.size(); i++) {
            List<String> lines = found.getOrDefault(String.valueOf(i), List.of());
            told.get(i).check(lines.isEmpty() ? List.of() : List.of(String.valueOf(i)));
            assertTrue(lines.isEmpty() || lines.size() == 10_000, i + " isn't whole: " + lines.size());
            assertEquals(lines.size(), new HashSet<>(lines).size());
        }
        assertTrue(told.stream().anyMatch(answers -> !answers.stored.isEmpty()));
    }

    // ---- compressed bodies

    @Test
    @Tag("R52")
    void gzipIsDecoded() throws IOException {
        assertEquals(201, encoded("gzip", "application/json", gzip("{\"a\":1}")).status());
        assertEquals(2, encoded("gzip", NDJSON, gzip("1\n2\n")).json().getInteger("count"));
        assertEquals(201, encoded("GZIP", "application/json", gzip("3")).status());
        assertEquals(201, encoded("x-gzip", "application/json", gzip("4")).status());
        assertEquals(201, encoded("identity", "application/json", utf8("5")).status());
        assertEquals(List.of("{\"a\":1}", "1", "2", "3", "4", "5"), api().payloads("/v1/streams/packed/events"));
    }

    @Test
    @Tag("R52")
    void aBombIsRefusedAndTakesNoMemory() throws IOException {
        byte[] bomb = gzip(new byte[60 << 20]);
        assertTrue(bomb.length < 100_000);
        Api api = api();
        List<CompletableFuture<Api.Answer>> asked = new ArrayList<>();
        for (String type : List.of(NDJSON, "application/json", "application/octet-stream")) {
            for (int i = 0; i < 10; i++) {
                asked.add(api.later(api.request(Api.stream("bombed") + "/events")
                        .header("Content-Type", type)
                        .header("Content-Encoding", "gzip")
                        .POST(HttpRequest.BodyPublishers.ofByteArray(bomb))));
            }
        }
        for (CompletableFuture<Api.Answer> one : asked) {
            assertEquals(413, one.join().status(), one.join().text());
            assertEquals("no", one.join().json().getString("stored"));
        }
        assertEquals(404, api.get("/v1/streams/bombed").status());
    }

    @Test
    @Tag("R52")
    void whatIsNoGzipIsRefused() throws IOException {
        byte[] whole = gzip("{\"a\":1}".repeat(100));
        byte[] trailing = Arrays.copyOf(whole, whole.length + 3);
        for (byte[] body : List.of(
                Arrays.copyOf(whole, whole.length / 2),
                Arrays.copyOf(whole, whole.length - 1),
                Arrays.copyOf(whole, 5),
                trailing,
                utf8("{\"a\":1}"))) {
            Api.Answer answer = encoded("gzip", "application/octet-stream", body);
            assertEquals(400, answer.status(), answer.text());
            assertEquals("no", answer.json().getString("stored"));
        }
    }

    @Test
    @Tag("R52")
    void otherAndSeveralEncodingsAreRefused() throws IOException {
        for (String encoding :
                List.of("br", "deflate", "zstd", "gzip, gzip", "gzip, br", "identity, gzip", "rubbish")) {
            assertEquals(415, encoded(encoding, "application/json", gzip("1")).status(), encoding);
        }
        Api.Answer twice = api().send(api().request(Api.stream("packed") + "/events")
                .header("Content-Type", "application/json")
                .header("Content-Encoding", "gzip")
                .header("Content-Encoding", "gzip")
                .POST(HttpRequest.BodyPublishers.ofByteArray(gzip(gzip("1")))));
        assertEquals(415, twice.status());
    }

    @Test
    @Tag("R52")
    void webSocketsAreNotCompressedSoNothingCanSwellThere() {
        String answer = api().rawUpgrade(
                        Api.stream("packed") + "/subscribe",
                        "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits");
        assertTrue(answer.startsWith("HTTP/1.1 101 "), answer);
        assertTrue(!answer.toLowerCase(java.util.Locale.ROOT).contains("permessage-deflate"), answer);
    }

    private static Api.Answer encoded(String encoding, String type, byte[] body) {
        return api().send(api().request(Api.stream("packed") + "/events")
                .header("Content-Type", type)
                .header("Content-Encoding", encoding)
                .POST(HttpRequest.BodyPublishers.ofByteArray(body)));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] gzip(String text) throws IOException {
        return gzip(utf8(text));
    }

    private static byte[] gzip(byte[] bytes) throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
            out.write(bytes);
        }
        return packed.toByteArray();
    }

    // ---- a dying Redis

    /** What writers were told of the batches that they sent. */
    private record Told(Set<Integer> stored, Set<Integer> notStored, Set<Integer> unknown) {
        static Told nothing() {
            return new Told(
                    ConcurrentHashMap.newKeySet(), ConcurrentHashMap.newKeySet(), ConcurrentHashMap.newKeySet());
        }

        void take(int batch, Api.Answer answer) {
            if (answer.status() == 201) {
                stored.add(batch);
                return;
            }
            assertEquals(503, answer.status(), answer.text());
            JsonObject problem = answer.json();
            assertTrue(problem.getBoolean("retryable"), answer.text());
            (problem.getString("stored").equals("no") ? notStored : unknown).add(batch);
        }
    }

    @Test
    @Tag("R19")
    void aRedisThatDiesBetweenTheLinesLeavesAllOfABatchOrNothing() throws Exception {
        Told told = Told.nothing();
        AtomicInteger next = new AtomicInteger();
        AtomicBoolean over = new AtomicBoolean();
        Runnable writer = () -> {
            while (!over.get()) {
                int batch = next.getAndIncrement();
                List<String> lines = IntStream.range(0, 5)
                        .mapToObj(i -> "[" + batch + "," + i + "]")
                        .toList();
                told.take(batch, api().append("dying", lines));
            }
        };
        List<CompletableFuture<Void>> writers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            writers.add(CompletableFuture.runAsync(writer));
        }
        for (int kill = 0; kill < 3; kill++) {
            int before = told.stored().size();
            long until = System.nanoTime() + 60_000_000_000L;
            while (told.stored().size() < before + 30) {
                assertTrue(System.nanoTime() < until, "appends don't succeed again");
                Thread.sleep(10);
            }
            SERVER.process().killRedis();
        }
        int before = told.stored().size();
        long until = System.nanoTime() + 60_000_000_000L;
        while (told.stored().size() < before + 10) {
            assertTrue(System.nanoTime() < until, "appends don't succeed again");
            Thread.sleep(10);
        }
        over.set(true);
        writers.forEach(CompletableFuture::join);

        List<String> events = api().payloads("/v1/streams/dying/events");
        assertWhole(events, told);
        assertEquals(200, api().fold("dying").status());
        assertEquals(events, api().payloads("/v1/streams/dying/events"));
    }

    /** Every batch lies there whole and once, or not at all, as its writer was told. */
    private static void assertWhole(List<String> events, Told told) {
        Set<Integer> found = new TreeSet<>();
        assertEquals(0, events.size() % 5);
        for (int i = 0; i < events.size(); i += 5) {
            int batch =
                    Integer.parseInt(events.get(i).substring(1, events.get(i).indexOf(',')));
            for (int line = 0; line < 5; line++) {
                assertEquals("[" + batch + "," + line + "]", events.get(i + line));
            }
            assertTrue(found.add(batch), batch + " is there twice");
        }
        assertTrue(found.containsAll(told.stored()), () -> "lost of " + told);
        told.notStored().forEach(batch -> assertTrue(!found.contains(batch), batch + " was said not to be stored"));
        found.removeAll(told.stored());
        assertTrue(told.unknown().containsAll(found), () -> found + " beyond " + told);
    }
}
