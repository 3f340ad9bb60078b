package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The first ten minutes on a normal machine: the documented command and nothing else. */
class FirstStartIT {
    @TempDir
    Path folder;

    private static List<String> numbered(int count) {
        return IntStream.range(0, count).mapToObj(String::valueOf).toList();
    }

    /** Appends, folds, reads. */
    private static void doTheMainJob(ServerProcess server, String stream) {
        Api api = server.api();
        assertEquals(201, api.put(stream, "{\"live_max_events\":100}").status());
        assertEquals(201, api.append(stream, numbered(2_000)).status());
        assertEquals(200, api.fold(stream).status());
        assertEquals(numbered(2_000), api.payloads(Api.stream(stream) + "/events"));
        assertEquals(numbered(2_000).subList(500, 2_000), api.payloads(Api.stream(stream) + "/tail?n=1500"));
        assertEquals(200, api.get("/health/ready").status());
    }

    @Test
    @Tag("R54")
    void startsWithoutPathAndHomeAndConnectsToNothingOutside() throws IOException {
        Path home = folder.resolve("home");
        Files.createDirectory(home, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("r-xr-xr-x")));
        Path work = Files.createDirectory(folder.resolve("work"));
        Path data = work.resolve("data");
        ProcessBuilder builder = new ProcessBuilder(
                        ServerProcess.java(),
                        "-jar",
                        Path.of(ServerProcess.jar()).toAbsolutePath().toString(),
                        "--port",
                        "0")
                .directory(work.toFile());
        builder.environment().clear();
        builder.environment().put("HOME", home.toString());
        builder.environment().put("PATH", "");
        try (ServerProcess server = ServerProcess.of(data, builder)) {
            server.awaitReady();
            assertOnlyLoopback(server.pid());
            doTheMainJob(server, "first");
            assertOnlyLoopback(server.pid());
            assertEquals(List.of(), listed(home));
            assertEquals(List.of("data"), listed(work), "everything is in the default data directory");
            int unused = server.terminate();
            server.assertCleanLog();
        }
        assertEquals(List.of(), listed(home));
    }

    private static List<String> listed(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.map(path -> path.getFileName().toString()).toList();
        }
    }

    /** Every TCP socket of the process, and of its children, has loopback or nothing at its other end. */
    private static void assertOnlyLoopback(long pid) throws IOException {
        Path fds = Path.of("/proc/" + pid + "/fd");
        assumeTrue(Files.isReadable(fds), "needs /proc");
        Set<String> inodes = new HashSet<>();
        try (Stream<Path> entries = Files.list(fds)) {
            for (Path fd : entries.toList()) {
                String target = linkTarget(fd);
                if (target.startsWith("socket:[")) {
                    inodes.add(target.substring(8, target.length() - 1));
                }
            }
        }
        List<String> outside = new ArrayList<>();
        for (String table : List.of("tcp", "tcp6", "udp", "udp6")) {
            List<String> lines = Files.readAllLines(Path.of("/proc/" + pid + "/net/" + table));
            for (String line : lines.subList(1, lines.size())) {
                String[] columns = line.trim().split("\\s+");
                String peer = columns[2].split(":")[0];
                boolean local = peer.matches("0+") || peer.endsWith("7F") || peer.endsWith("0000000001000000");
                if (inodes.contains(columns[9]) && !local) {
                    outside.add(line);
                }
            }
        }
        assertEquals(List.of(), outside);
    }

    private static String linkTarget(Path fd) {
        try {
            return Files.readSymbolicLink(fd).toString();
        } catch (IOException closedMeanwhile) {
            return "";
        }
    }

    @Test
    @Tag("R54")
    void refusesADataDirectoryThatItCanNotWriteWithTheReason() throws Exception {
        Path notADirectory = Files.writeString(folder.resolve("file"), "x");
        assertRefused(notADirectory, "file");
        assertRefused(notADirectory.resolve("below"), "file");
        Path readOnly = Path.of("/proc/tidemark");
        if (Files.isDirectory(Path.of("/proc"))) {
            assertRefused(readOnly, "/proc/tidemark");
        }
    }

    @Test
    @Tag("R54")
    void refusesAnArchiveThatItCanNotWriteWithTheReason() throws Exception {
        Path data = Files.createDirectories(folder.resolve("data"));
        Files.writeString(data.resolve("archive"), "in the way");
        assertRefused(data, "archive");
    }

    private static void assertRefused(Path data, String named) throws Exception {
        try (ServerProcess server = ServerProcess.launch(data, Map.of(), List.of())) {
            assertTrue(server.process().waitFor(60, TimeUnit.SECONDS), "it goes on");
            assertEquals(1, server.process().exitValue());
            server.awaitLogEnd();
            String last =
                    server.log().isEmpty() ? "" : server.log().get(server.log().size() - 1);
            assertTrue(last.startsWith("tidemark: "), server.log().toString());
            assertTrue(last.contains(named), last);
            server.assertCleanLog();
        }
    }

    @Test
    @Tag("R54")
    void removedMetadataOfAnArchiveIsNoTrouble() throws IOException {
        Path data = folder.resolve("data");
        try (ServerProcess server = ServerProcess.start(data)) {
            doTheMainJob(server, "meta");
            int unused = server.terminate();
            server.assertCleanLog();
        }
        assertTrue(removeMetadata(data) > 0);
        try (ServerProcess server = ServerProcess.start(data)) {
            Api api = server.api();
            assertEquals(numbered(2_000), api.payloads("/v1/streams/meta/events"));
            assertEquals(201, api.append("meta", List.of("2000")).status());
            assertEquals(1, removeMetadata(data), "while it runs");
            assertEquals(200, api.fold("meta").status());
            assertEquals(numbered(2_001), api.payloads("/v1/streams/meta/events"));
            server.kill();
            server.assertCleanLog();
        }
        removeMetadata(data);
        try (ServerProcess server = ServerProcess.start(data)) {
            Api api = server.api();
            assertEquals(numbered(2_001), api.payloads("/v1/streams/meta/events"));
            assertEquals(api.seam("meta").getString("tail"), api.watermark("meta"));
            assertEquals(201, api.append("meta", List.of("2001")).status());
            assertEquals(200, api.fold("meta").status());
            assertEquals(numbered(2_002), api.payloads("/v1/streams/meta/events"));
            server.assertCleanLog();
        }
    }

    private static int removeMetadata(Path data) throws IOException {
        int removed = 0;
        for (String file : RunningServer.files(data)) {
            if (file.endsWith("metadata.cq4t")) {
                Files.delete(data.resolve(file));
                removed++;
            }
        }
        return removed;
    }

    @Test
    @Tag("R54")
    void runsOnTheNewestJavaToo() throws IOException {
        Optional<Path> newest = newestJava();
        assumeTrue(newest.isPresent(), "there is no newer JDK here");
        Path data = folder.resolve("data");
        ProcessBuilder builder = new ProcessBuilder(
                newest.get().toString(),
                "-Xmx512m",
                "-jar",
                ServerProcess.jar(),
                "serve",
                "--port",
                "0",
                "--data",
                data.toString());
        try (ServerProcess server = ServerProcess.of(data, builder)) {
            doTheMainJob(server, "newest");
            assertFalse(server.process().toHandle().info().command().orElse("").isEmpty());
            int unused = server.terminate();
            server.assertCleanLog();
        }
    }

    /** {@code java} of the newest JDK that is installed or named by {@code tidemark.java}, if it is newer than the one of this test. */
    private static Optional<Path> newestJava() throws IOException {
        String named = System.getProperty("tidemark.java");
        if (named != null) {
            return Optional.of(Path.of(named));
        }
        Path installed = Path.of("/usr/lib/jvm");
        if (!Files.isDirectory(installed)) {
            return Optional.empty();
        }
        Optional<Path> newest = Optional.empty();
        int version = Runtime.version().feature();
        try (Stream<Path> homes = Files.list(installed)) {
            for (Path home : homes.sorted().toList()) {
                int found = version(home);
                if (found > version && Files.isExecutable(home.resolve("bin/java"))) {
                    version = found;
                    newest = Optional.of(home.resolve("bin/java"));
                }
            }
        }
        return newest;
    }

    private static int version(Path home) throws IOException {
        Path release = home.resolve("release");
        if (!Files.isReadable(release)) {
            return 0;
        }
        for (String line : Files.readAllLines(release)) {
            if (line.startsWith("JAVA_VERSION=\"")) {
                return Integer.parseInt(line.substring(14).split("[.\"]")[0]);
            }
        }
        return 0;
    }
}
