package dev.tidemark.livelog;

import static dev.tidemark.livelog.LiveLogContract.await;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Clock;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Our own Redis: there is one on a directory, whatever is killed, and it is the right one. */
final class ChildRedisIT {
    private final Vertx vertx = Vertx.vertx();
    private final AtomicInteger restarts = new AtomicInteger();

    @TempDir
    private Path data;

    @AfterEach
    void endWhatIsLeft() throws IOException {
        await(vertx.close());
        for (ProcessHandle left : redisesHere()) {
            left.destroyForcibly();
        }
    }

    private List<ProcessHandle> redisesHere() throws IOException {
        Path directory = data.resolve("redis").toAbsolutePath();
        return ProcessHandle.allProcesses()
                .filter(handle -> {
                    try {
                        return Files.readSymbolicLink(Path.of("/proc/" + handle.pid() + "/cwd"))
                                .equals(directory);
                    } catch (IOException notOurs) {
                        return false;
                    }
                })
                .toList();
    }

    private ChildRedis.Settings settings(String path) {
        return new ChildRedis.Settings(data, "always", 64 << 20, path, 10_000, 5_000);
    }

    private ChildRedis start() {
        return await(ChildRedis.start(
                vertx,
                settings(System.getProperty("tidemark.redis.path", "")),
                Clock.system(),
                restarts::incrementAndGet));
    }

    /** The child of a server that was killed: it runs, and nobody watches it. */
    private ChildRedis leftBehind() {
        Vertx killed = Vertx.vertx();
        ChildRedis child = await(ChildRedis.start(
                killed, settings(System.getProperty("tidemark.redis.path", "")), Clock.system(), () -> {}));
        await(killed.close());
        return child;
    }

    private static List<String> ask(ChildRedis child, String... command) {
        try (RedisProbe probe = new RedisProbe(child.address().port())) {
            return probe.ask(command);
        } catch (IOException e) {
            return List.of(e.toString());
        }
    }

    @Test
    @Tag("R54")
    void itStartsWithoutAnyRedisInstalledAndKeepsEverything() throws IOException {
        ChildRedis child = start();
        assertFalse(child.reused());
        assertEquals(List.of("appendfsync", "always"), ask(child, "CONFIG", "GET", "appendfsync"));
        assertEquals(List.of("appendonly", "yes"), ask(child, "CONFIG", "GET", "appendonly"));
        assertEquals(List.of("maxmemory-policy", "noeviction"), ask(child, "CONFIG", "GET", "maxmemory-policy"));
        assertEquals(List.of("maxmemory", "67108864"), ask(child, "CONFIG", "GET", "maxmemory"));
        assertEquals(List.of("bind", "127.0.0.1"), ask(child, "CONFIG", "GET", "bind"));
        assertEquals(List.of("save", ""), ask(child, "CONFIG", "GET", "save"));
        assertTrue(Files.size(data.resolve("redis/redis.log")) > 0);
        RealLiveLog real = new RealLiveLog(RedisSettings.of(child.address()));
        RedisFacts facts = await(real.log().open(false));
        assertTrue(facts.syncsAlways());
        assertEquals(List.of(), facts.warnings());
        real.close();
        await(child.stop());
        assertEquals(List.of(), redisesHere());
        assertFalse(Files.exists(data.resolve("redis/child")));
    }

    @Test
    void itIsASessionOfItsOwnSoThatCtrlCDoesNotReachIt() throws IOException {
        ChildRedis child = start();
        String stat = Files.readString(Path.of("/proc/" + child.pid() + "/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        assertEquals(Long.toString(child.pid()), fields[2], "process group");
        assertEquals(Long.toString(child.pid()), fields[3], "session");
        await(child.stop());
    }

    @Test
    void whatWasWrittenIsThereAfterAStopAndAStart() {
        ChildRedis child = start();
        assertEquals(List.of("OK"), ask(child, "SET", "kept", "1"));
        await(child.stop());
        ChildRedis again = start();
        assertFalse(again.reused());
        assertEquals(List.of("1"), ask(again, "GET", "kept"));
        await(again.stop());
    }

    @Test
    void aChildThatOutlivedItsServerIsUsedAgain() throws IOException {
        ChildRedis left = leftBehind();
        assertEquals(List.of("OK"), ask(left, "SET", "kept", "1"));
        ChildRedis again = leftBehind();
        assertTrue(again.reused());
        assertEquals(left.pid(), again.pid());
        assertEquals(left.address(), again.address());
        assertEquals(1, redisesHere().size());
        Files.delete(data.resolve("redis/child"));
        ChildRedis third = start();
        assertTrue(third.reused());
        assertEquals(left.pid(), third.pid());
        assertEquals(List.of("1"), ask(third, "GET", "kept"));
        await(third.stop());
    }

    @Test
    void neverIsASecondOneStartedOnItsDirectory() throws IOException {
        ChildRedis left = leftBehind();
        Files.delete(data.resolve("redis/child"));
        Files.delete(data.resolve("redis/redis.conf"));
        AssertionError refused = assertThrows(
                AssertionError.class,
                () -> await(ChildRedis.start(
                        vertx, new ChildRedis.Settings(data, "always", 0, "", 300, 1_000), Clock.system(), () -> {})));
        assertTrue(
                String.valueOf(refused.getCause()).contains("pid " + left.pid()), String.valueOf(refused.getCause()));
        assertEquals(
                List.of(left.pid()),
                redisesHere().stream().map(ProcessHandle::pid).toList());
    }

    @Test
    void aReusedChildTakesTheSettingsOfNow() {
        ChildRedis left = leftBehind();
        ChildRedis again = await(ChildRedis.start(
                vertx,
                new ChildRedis.Settings(data, "everysec", 32 << 20, "", 10_000, 5_000),
                Clock.system(),
                () -> {}));
        assertEquals(left.pid(), again.pid());
        assertEquals(List.of("appendfsync", "everysec"), ask(again, "CONFIG", "GET", "appendfsync"));
        assertEquals(List.of("maxmemory", "33554432"), ask(again, "CONFIG", "GET", "maxmemory"));
        await(again.stop());
    }

    @Test
    void aStaleFileThatNamesAnotherProgramIsIgnored() throws IOException {
        Files.createDirectories(data.resolve("redis"));
        try (RedisProcess other = RedisProcess.start()) {
            new ChildFile(other.port(), ProcessHandle.current().pid()).write(data.resolve("redis"));
            ChildRedis child = start();
            assertFalse(child.reused());
            assertNotEquals(other.port(), child.address().port());
            await(child.stop());
            new ChildFile(other.port(), other.pid()).write(data.resolve("redis"));
            ChildRedis again = start();
            assertFalse(again.reused());
            await(again.stop());
            assertEquals(List.of("PONG"), other.ask("PING"));
        }
        Files.writeString(data.resolve("redis/child"), "port=99999999\npid=\n\0rubbish");
        ChildRedis third = start();
        assertFalse(third.reused());
        await(third.stop());
    }

    @Test
    @Tag("R13")
    void aKilledChildComesBackOnTheSamePortWithItsData() {
        ChildRedis child = start();
        for (int i = 1; i <= 3; i++) {
            assertEquals(List.of("OK"), ask(child, "SET", "kept", Integer.toString(i)));
            long pid = child.pid();
            assertTrue(ProcessHandle.of(pid).map(ProcessHandle::destroyForcibly).orElse(false));
            int expected = i;
            await().until(() -> restarts.get() == expected);
            assertNotEquals(pid, child.pid());
            assertEquals(List.of(Integer.toString(i)), ask(child, "GET", "kept"));
        }
        await(child.stop());
    }

    @Test
    void aReusedChildIsWatchedToo() {
        ChildRedis left = leftBehind();
        ChildRedis again = start();
        assertTrue(again.reused());
        long pid = left.pid();
        assertTrue(ProcessHandle.of(pid).map(ProcessHandle::destroyForcibly).orElse(false));
        await().until(() -> restarts.get() == 1);
        assertTrue(again.pid() != pid && ask(again, "PING").equals(List.of("PONG")));
        await(again.stop());
    }

    @Test
    void aTornEndOfTheAppendOnlyFileIsCutOff() throws IOException {
        ChildRedis child = start();
        assertEquals(List.of("OK"), ask(child, "SET", "kept", "1"));
        await(child.stop());
        Path aof = appendOnlyFile();
        Files.writeString(aof, "*3\r\n$3\r\nSET\r\n$4\r\nke", StandardOpenOption.APPEND);
        ChildRedis again = start();
        assertEquals(List.of("1"), ask(again, "GET", "kept"));
        await(again.stop());
    }

    private Path appendOnlyFile() throws IOException {
        Path one = data.resolve("redis/appendonly.aof");
        if (Files.exists(one)) {
            return one;
        }
        try (var files = Files.list(data.resolve("redis/appendonlydir"))) {
            return files.filter(file -> file.toString().endsWith(".incr.aof"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    @Test
    void aChildThatDoesNotShutDownIsEnded() throws IOException, InterruptedException {
        ChildRedis child = await(ChildRedis.start(
                vertx, new ChildRedis.Settings(data, "always", 0, "", 10_000, 300), Clock.system(), () -> {}));
        Process stop = new ProcessBuilder("kill", "-STOP", Long.toString(child.pid())).start();
        assertEquals(0, stop.waitFor());
        await(child.stop());
        await().until(() -> redisesHere().isEmpty());
    }

    @Test
    void aBrokenAppendOnlyFileIsReportedWithTheEndOfTheLog() throws IOException {
        ChildRedis child = start();
        assertEquals(List.of("OK"), ask(child, "SET", "kept", "1"));
        assertEquals(List.of("OK"), ask(child, "SET", "kept", "2"));
        await(child.stop());
        byte[] bytes = Files.readAllBytes(appendOnlyFile());
        bytes[bytes.length / 2] ^= 0x55;
        bytes[0] = 'X';
        Files.write(appendOnlyFile(), bytes);
        AssertionError refused = assertThrows(AssertionError.class, this::start);
        String message = String.valueOf(refused.getCause());
        assertTrue(message.contains("ended") && message.contains("Bad file format"), message);
    }

    @Test
    void dataOfANewerRedisIsNotLeftBehindByAnOlderOne() throws IOException {
        Files.createDirectories(data.resolve("redis/appendonlydir"));
        if (RedisRequirements.isAtLeast(RedisProcess.binary().version(), 7, 0)) {
            ChildRedis child = start();
            await(child.stop());
            return;
        }
        AssertionError refused = assertThrows(AssertionError.class, this::start);
        assertTrue(String.valueOf(refused.getCause()).contains("Redis 7"));
    }

    @Test
    void aRedisInThePathComesFirstAndABrokenOneIsPassedOver() throws IOException {
        Path bin = Files.createDirectories(data.resolve("path"));
        Path fake = bin.resolve("redis-server");
        Files.writeString(fake, "#!/bin/sh\necho 'Redis server v=5.0.3 sha=0'\n");
        assertTrue(fake.toFile().setExecutable(true));
        RedisBinary shipped = RedisBinary.find(bin.toString(), data.resolve("bin"));
        assertTrue(shipped.executable().startsWith(data.resolve("bin").toAbsolutePath()));
        Files.writeString(fake, "#!/bin/sh\necho 'Redis server v=7.2.1 sha=0'\n");
        assertEquals(
                new RedisBinary(fake.toAbsolutePath(), "7.2.1"),
                RedisBinary.find("/nowhere:" + bin + "::", data.resolve("bin")));
        Files.move(fake, bin.resolve("valkey-server"));
        assertEquals(
                "7.2.1", RedisBinary.find(bin.toString(), data.resolve("bin")).version());
    }

    @Test
    void machinesWithoutAShippedRedisAreNamed() {
        assertEquals("redis-server-6.2.7-linux-arm64", RedisBinary.resource("Linux", "aarch64"));
        assertEquals("redis-server-6.2.6-v5-darwin-arm64", RedisBinary.resource("Mac OS X", "aarch64"));
        assertEquals(null, RedisBinary.resource("Linux", "riscv64"));
        assertEquals(null, RedisBinary.resource("Windows 11", "amd64"));
    }
}
