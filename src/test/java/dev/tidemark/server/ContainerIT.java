package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The server as process 1 of a container: each start has the process id that the one before had, and what it left behind. A kill takes
 * the child Redis with it.
 */
@Tag("R32")
class ContainerIT {
    private static final String STREAM = "flights";
    private static final int ROUNDS = Integer.getInteger("tidemark.container.rounds", 10);
    private static final long SEED = Long.getLong("tidemark.seed", System.nanoTime());

    /** A process id space of its own, with a view of it in /proc; whoever ends the first ends all. */
    private static final List<String> CONTAINER =
            List.of("unshare", "--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc");

    @TempDir
    Path data;

    private final List<ServerProcess> servers = new ArrayList<>();

    /** Not {@link ServerProcess#close}: process ids in the data directory are the container's, and mean others out here. */
    @AfterEach
    void killAll() {
        servers.forEach(ServerProcess::kill);
    }

    private static void assumeContainers() throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(CONTAINER);
        command.add("true");
        boolean possible;
        try {
            Process process = new ProcessBuilder(command).start();
            possible = process.waitFor(20, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException e) {
            possible = false;
        }
        assumeTrue(possible, "unshare can't make a process id space here (that needs root): this case isn't tried");
    }

    private ServerProcess launch() {
        ServerProcess server = ServerProcess.launch(data, Map.of("TIDEMARK_FOLD_MAX_LAG", "100ms"), CONTAINER);
        servers.add(server);
        return server;
    }

    @Test
    void everyNewContainerFoldsAtOnceAfterAKillDuringAFoldAndASecondOneIsRefused() throws Exception {
        assumeContainers();
        System.out.println("container: seed " + SEED);
        Random random = new Random(SEED);
        List<String> all = new ArrayList<>();
        long slowestMs = 0;
        for (int round = 0; round < ROUNDS; round++) {
            ServerProcess server = launch();
            server.awaitReady();
            Api api = server.api();
            if (round == 0) {
                assertEquals(
                        201,
                        api.put(STREAM, "{\"live_max_events\":100,\"chunk_duration\":\"50ms\"}")
                                .status());
            }
            long beganNs = System.nanoTime();
            for (int i = 0; i < 5; i++) {
                List<String> lines = IntStream.range(all.size(), all.size() + 40)
                        .mapToObj(String::valueOf)
                        .toList();
                Api.Answer answer = api.append(STREAM, lines);
                assertEquals(201, answer.status(), answer::text);
                all.addAll(lines);
            }
            Api.Answer folded = api.fold(STREAM);
            assertEquals(200, folded.status(), folded::text);
            slowestMs = Math.max(slowestMs, (System.nanoTime() - beganNs) / 1_000_000);
            assertEquals(all, api.payloads(Api.stream(STREAM) + "/events"));
            List<String> more = IntStream.range(all.size(), all.size() + 500)
                    .mapToObj(String::valueOf)
                    .toList();
            assertEquals(201, api.append(STREAM, more).status());
            all.addAll(more);
            var unused = api.later(
                    api.request(Api.stream(STREAM) + "/fold").POST(java.net.http.HttpRequest.BodyPublishers.noBody()));
            Thread.sleep(random.nextInt(60));
            server.kill();
            server.assertCleanLog();
        }
        assertTrue(slowestMs < 10_000, "folding took " + slowestMs + " ms after a start");

        ServerProcess first = launch();
        first.awaitReady();
        ServerProcess second = launch();
        second.awaitEnd();
        second.awaitLogEnd();
        List<String> log = second.log();
        assertTrue(second.process().exitValue() != 0);
        assertTrue(
                log.get(log.size() - 1).contains("the data directory " + data.toRealPath() + " is in use"),
                () -> "not refused clearly: " + log);
        Api.Answer appended = first.api().append(STREAM, List.of("\"last\""));
        assertEquals(201, appended.status(), appended::text);
        all.add("\"last\"");
        assertEquals(200, first.api().fold(STREAM).status());
        assertEquals(all, first.api().payloads(Api.stream(STREAM) + "/events"));
        Awaitility.await("healthy")
                .atMost(Duration.ofSeconds(10))
                .until(() -> first.api().get("/health/ready").status() == 200);
        Command verified = Command.against(first.url(), "verify", STREAM);
        assertEquals(0, verified.exit(), verified::text);
        first.assertCleanLog();
        System.out.println(ROUNDS + " containers, folded at most " + slowestMs + " ms after the start");
    }
}
