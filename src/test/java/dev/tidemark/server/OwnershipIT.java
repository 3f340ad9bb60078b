package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two built servers that want the same data directory, or the same prefix of one Redis. */
@Tag("failure-14")
class OwnershipIT {
    private static final Pattern CHILD = Pattern.compile("child Redis (redis://\\S+)");
    private static final String STREAM = "flights";

    private final List<AutoCloseable> toClose = new ArrayList<>();

    @TempDir
    Path dir;

    @AfterEach
    void closeAll() throws Exception {
        ServerProcess.closeAll(toClose);
    }

    private ServerProcess first() {
        ServerProcess server = ServerProcess.start(dir.resolve("data"));
        toClose.add(0, server);
        append(server, 1);
        return server;
    }

    private ServerProcess second(Path data, String... flags) {
        ServerProcess server = ServerProcess.launch(data, Map.of(), List.of(), flags);
        toClose.add(0, server);
        return server;
    }

    private static void append(ServerProcess server, int n) {
        Api.Answer answer = server.api().append(STREAM, List.of("{\"n\":" + n + "}"));
        assertEquals(201, answer.status(), answer::text);
    }

    private static void assertGoesOn(ServerProcess server) {
        append(server, 2);
        Api api = server.api();
        assertEquals(200, api.fold(STREAM).status());
        assertEquals(2, api.events(Api.stream(STREAM) + "/events").size());
    }

    private static void assertRefused(ServerProcess server, String... named) {
        server.awaitEnd();
        server.assertCleanLog();
        assertEquals(1, server.process().exitValue(), () -> "exit code; " + server.log());
        List<String> log = server.log();
        String last = log.get(log.size() - 1);
        for (String name : named) {
            assertTrue(last.contains(name), () -> "the last line doesn't name " + name + ": " + log);
        }
    }

    @Test
    @Tag("R31")
    void aSecondServerOnTheDataDirectoryIsRefusedAndTheFirstGoesOn() throws Exception {
        ServerProcess first = first();
        long redis = first.redis().orElseThrow().pid();
        assertRefused(second(first.data()), "the data directory " + first.data().toRealPath(), "pid " + first.pid());
        assertEquals(redis, first.redis().orElseThrow().pid(), "the child Redis");
        assertGoesOn(first);
        // Both have the same Redis: closing the second one ends it.
        assertEquals(ServerProcess.TERMINATED, first.terminate());
    }

    @Test
    @Tag("R31")
    void aServerOnAnotherDirectoryIsRefusedTheSamePrefixAndTheFirstGoesOn() throws Exception {
        ServerProcess first = first();
        Path other = Files.createDirectory(dir.resolve("other"));
        assertRefused(
                second(other, "--redis", redisUrl(first)),
                "prefix 'tidemark'",
                "tidemark:owner",
                first.data().toRealPath().toString(),
                other.toRealPath().toString());
        assertGoesOn(first);
    }

    private static String redisUrl(ServerProcess server) {
        return server.log().stream()
                .map(CHILD::matcher)
                .filter(Matcher::find)
                .map(found -> found.group(1))
                .findFirst()
                .orElseThrow();
    }

    @Test
    @Tag("R31")
    void aStandbyWaitsAndTakesOverWhereTheFirstEnded() {
        ServerProcess first = first();
        ServerProcess standby = second(first.data(), "--standby");
        Awaitility.await("standing by")
                .atMost(Duration.ofSeconds(60))
                .until(() -> standby.log().stream().anyMatch(line -> line.contains("standing by")));
        append(first, 2);
        first.kill();
        standby.awaitReady();
        append(standby, 3);
        assertEquals(3, standby.api().events(Api.stream(STREAM) + "/events").size());
    }
}
