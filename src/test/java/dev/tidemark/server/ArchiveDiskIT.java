package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The archive's disk can't be written, or is full: nothing is trimmed, health says so, it heals by itself. */
@Tag("failure-7")
class ArchiveDiskIT {
    private static final String STREAM = "flights";
    private static final int KEEP = 50;

    private final List<AutoCloseable> toClose = new ArrayList<>();

    @TempDir
    Path dir;

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable resource : toClose) {
            resource.close();
        }
    }

    private MountedDisk disk(int megabytes) {
        MountedDisk disk = MountedDisk.on(dir.resolve("data/archive"), megabytes);
        toClose.add(0, disk);
        return disk;
    }

    private ServerProcess start() {
        ServerProcess server = ServerProcess.start(dir.resolve("data"), Map.of("TIDEMARK_FOLD_MAX_LAG", "300ms"));
        toClose.add(0, server);
        return server;
    }

    private static void append(Api api, List<String> lines) {
        Api.Answer answer = api.append(STREAM, lines);
        assertEquals(201, answer.status(), answer::text);
    }

    private static List<String> numbered(int from, int count) {
        return IntStream.range(from, from + count).mapToObj(String::valueOf).toList();
    }

    private static JsonObject check(Api api, String name) {
        return api.get("/health/ready").json().getJsonObject("checks").getJsonObject(name);
    }

    private static void eventually(String what, Callable<Boolean> condition) {
        Awaitility.await(what)
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(100))
                .until(condition);
    }

    private interface Fault {
        void on(Path folder) throws IOException;
    }

    /** The stream's folder is gone, and something else has its place. */
    @Test
    @Tag("R04")
    @Tag("F3")
    void whileTheArchiveIsGoneNothingIsTrimmedAndAfterwardsItCatchesUpAlone() throws IOException {
        Path away = dir.resolve("away");
        nothingIsTrimmed(
                folder -> {
                    Files.move(folder, away);
                    Files.writeString(folder, "in the way");
                },
                folder -> {
                    Files.delete(folder);
                    Files.move(away, folder);
                });
    }

    /** A disk that can't be written lies over the stream's folder, as where a volume is lost. */
    @Test
    @Tag("R04")
    void whileTheArchiveIsReadOnlyNothingIsTrimmedAndAfterwardsItCatchesUpAlone() throws IOException {
        AtomicReference<MountedDisk> over = new AtomicReference<>();
        nothingIsTrimmed(
                folder -> {
                    MountedDisk disk = MountedDisk.on(folder, 1);
                    toClose.add(disk);
                    disk.readOnly();
                    over.set(disk);
                },
                folder -> Objects.requireNonNull(over.get()).close());
    }

    private void nothingIsTrimmed(Fault fault, Fault repair) throws IOException {
        ServerProcess server = start();
        Api api = server.api();
        assertEquals(
                201,
                api.put(STREAM, "{\"live_max_events\":" + KEEP + ",\"chunk_duration\":\"100ms\"}")
                        .status());
        append(api, numbered(0, 200));
        eventually("trimmed", () -> api.seam(STREAM).getInteger("live_events") == KEEP);
        String watermark = api.watermark(STREAM);
        Path folder = server.data()
                .resolve("archive")
                .resolve(STREAM)
                .resolve(api.seam(STREAM).getString("generation"));

        fault.on(folder);
        long sinceMs = System.currentTimeMillis();
        for (int cycle = 0; cycle < 5; cycle++) {
            append(api, numbered(200 + 100 * cycle, 100));
            Api.Answer folded = api.fold(STREAM);
            assertEquals(503, folded.status(), folded::text);
            int unfolded = 100 * (cycle + 1);
            JsonObject seam = api.seam(STREAM);
            assertEquals(watermark, seam.getString("watermark"), seam::encode);
            // What was folded before may still leave the live log; nothing above the watermark does.
            int live = seam.getInteger("live_events");
            assertTrue(live >= unfolded && live <= KEEP + unfolded, seam::encode);
            assertEquals("failed", seam.getJsonObject("last_fold").getString("outcome"), seam::encode);
            assertEquals(unfolded - KEEP, seam.getInteger("over_retained"), seam::encode);
            assertTrue(seam.getLong("fold_lag_ms") > 0, seam::encode);
        }
        Api.Answer ready = api.get("/health/ready");
        assertEquals(503, ready.status());
        JsonObject fold = check(api, "fold");
        assertEquals("failing", fold.getString("status"));
        assertTrue(fold.getString("detail").contains("500 events ("), fold::encode);
        assertTrue(fold.getString("detail").contains(" s old"), fold::encode);
        assertTrue(fold.getString("detail").contains((500 - KEEP) + " of them are over-retained"), fold::encode);
        assertTrue(fold.getString("detail").contains(STREAM), fold::encode);
        assertTrue(Math.abs(fold.getLong("since") - sinceMs) < 20_000, fold::encode);
        String metrics = api.get("/metrics").text();
        assertTrue(metrics.contains("tidemark_over_retained_events " + (500.0 - KEEP)), metrics);

        repair.on(folder);
        eventually("healthy", () -> api.get("/health/ready").status() == 200);
        eventually("trimmed", () -> api.seam(STREAM).getInteger("live_events") == KEEP);
        JsonObject seam = api.seam(STREAM);
        assertEquals(seam.getString("tail"), seam.getString("watermark"));
        assertEquals(700, seam.getInteger("archived_events"), seam::encode);
        assertEquals(ServerProcess.TERMINATED, server.terminate());
        ServerProcess again = start();
        assertEquals(numbered(0, 700), again.api().payloads(Api.stream(STREAM) + "/events"));
        Command verified = Command.against(again.url(), "verify", STREAM);
        assertEquals(0, verified.exit(), verified::text);
    }

    /** The archive fills a disk by itself: nobody takes space away at a chosen moment. */
    @Test
    @Tag("R09")
    void aFullDiskStopsFoldingInTimeAndNothingElseAndHealsAlone() throws IOException {
        MountedDisk disk = disk(200);
        ServerProcess server = start();
        Api api = server.api();
        assertEquals(
                201,
                api.put(STREAM, "{\"live_max_events\":" + KEEP + ",\"chunk_duration\":\"100ms\"}")
                        .status());
        Path ballast = disk.fill(100L << 20);
        String filling = "x".repeat(20_000);
        int appended = 0;
        List<String> all = new ArrayList<>();
        while (!check(api, "fold").getString("status").equals("failing")) {
            List<String> lines = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                lines.add("{\"n\":" + appended++ + ",\"x\":\"" + filling + "\"}");
            }
            append(api, lines);
            all.addAll(lines);
            assertTrue(appended < 20_000, "the disk never got full");
        }
        assertTrue(disk.freeBytes() > 40L << 20, () -> "folding stopped with " + disk.freeBytes() + " bytes left");
        assertTrue(check(api, "fold").getString("detail").contains("would be left"), () -> "" + check(api, "fold"));
        eventually("disk", () -> !check(api, "disk").getString("status").equals("ok"));
        assertEquals(503, api.get("/health/ready").status());

        String watermark = api.watermark(STREAM);
        for (int i = 0; i < 20; i++) {
            String line = "{\"n\":" + appended++ + "}";
            append(api, List.of(line));
            all.add(line);
        }
        assertEquals(watermark, api.watermark(STREAM));
        assertEquals(all.subList(all.size() - 5, all.size()), api.payloads(Api.stream(STREAM) + "/tail?n=5"));
        assertEquals(all.size(), api.payloads(Api.stream(STREAM) + "/events").size());
        assertTrue(server.process().isAlive());

        Files.delete(ballast);
        eventually("healthy", () -> api.get("/health/ready").status() == 200);
        eventually("trimmed", () -> api.seam(STREAM).getInteger("live_events") == KEEP);
        assertEquals(all, api.payloads(Api.stream(STREAM) + "/events"));
        assertEquals(ServerProcess.TERMINATED, server.terminate());
        System.out.println(all.size() + " events of 20 kB");
    }

    /** Others fill the disk to its last byte, also while a new file is made; then a start on it. */
    @Test
    @Tag("R09")
    void aDiskThatOthersFilledToTheLastByteEndsNoProcess() throws IOException {
        MountedDisk disk = disk(120);
        ServerProcess first = start();
        append(first.api(), numbered(0, 100));
        assertEquals(200, first.api().fold(STREAM).status());
        Path ballast = disk.fill(0);
        for (int i = 0; i < 5; i++) {
            append(first.api(), numbered(100 + i * 10, 10));
            assertEquals(503, first.api().fold(STREAM).status());
        }
        assertTrue(first.process().isAlive());
        assertEquals(numbered(0, 150), first.api().payloads(Api.stream(STREAM) + "/events"));
        first.kill();
        Files.deleteIfExists(ballast);
        ballast = disk.fill(70L << 20);
        ServerProcess second = start();
        Api api = second.api();
        assertEquals(numbered(0, 150), api.payloads(Api.stream(STREAM) + "/events"));
        Files.delete(ballast);
        eventually("folded", () -> api.fold(STREAM).status() == 200);
        assertEquals(150, api.seam(STREAM).getInteger("archived_events"));
    }
}
