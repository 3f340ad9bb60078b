package dev.tidemark.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.cli.FakeServer.Answer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What only a process of its own shows: signals, pipes, locales, what is loaded. */
class CommandProcessIT {
    private static final int SIGNAL_INTERRUPT = 130;

    private final FakeServer server = new FakeServer();

    @TempDir
    Path dir;

    @AfterEach
    void stop() {
        server.close();
    }

    /** A command under the shell, so that pipes can stand behind it; {@code $T} is the command. */
    private Process shell(String script, String locale) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("sh", "-c", script);
        builder.environment().put("LC_ALL", locale);
        builder.environment().put("TIDEMARK_URL", server.url());
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String classPath = System.getProperty("java.class.path");
        builder.environment().put("T", java + " -cp " + classPath + " dev.tidemark.cli.Main");
        return builder.redirectOutput(dir.resolve("out").toFile())
                .redirectError(dir.resolve("err").toFile())
                .start();
    }

    private String out() throws IOException {
        return Files.readString(dir.resolve("out"));
    }

    private String err() throws IOException {
        return Files.readString(dir.resolve("err"));
    }

    private static int exitCode(Process process) throws InterruptedException {
        boolean ended = process.waitFor(60, TimeUnit.SECONDS);
        if (!ended) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().onExit().join();
        }
        assertTrue(ended, "the command didn't end");
        return process.exitValue();
    }

    @Test
    @Tag("R42")
    void aNameBeyondAsciiReachesTheServerInEveryLocale() throws Exception {
        server.answer(request -> Answer.lines("{\"type\":\"end\",\"cursor\":\"c\",\"complete\":true}"));
        for (String locale : List.of("C", "C.UTF-8")) {
            assertEquals(0, exitCode(shell("exec $T tail 'größe/日本'", locale)), this::errUnchecked);
        }
        assertEquals(
                List.of(
                        "/v1/streams/gr%C3%B6%C3%9Fe%2F%E6%97%A5%E6%9C%AC/tail?n=10",
                        "/v1/streams/gr%C3%B6%C3%9Fe%2F%E6%97%A5%E6%9C%AC/tail?n=10"),
                server.requests().stream().map(FakeServer.Request::uri).toList());
    }

    private String errUnchecked() {
        try {
            return err();
        } catch (IOException e) {
            return e.toString();
        }
    }

    @Test
    @Tag("T14")
    void anInterruptEndsAFollowingTailQuietly() throws Exception {
        server.onStream(stream -> {
            stream.send("hello", "{\"type\":\"hello\",\"cursor\":\"c0\"}");
            stream.send("", "{\"id\":\"EVT1\",\"cursor\":\"c1\",\"at\":1,\"data\":1}");
        });
        Process tail = shell("exec $T tail s -f --output data", "C.UTF-8");
        Awaitility.await().atMost(60, TimeUnit.SECONDS).until(() -> out().equals("1\n"));
        Process kill = new ProcessBuilder("kill", "-INT", String.valueOf(tail.pid())).start();
        assertEquals(0, exitCode(kill));
        assertEquals(SIGNAL_INTERRUPT, exitCode(tail));
        assertEquals("", err());
    }

    @Test
    void whatIsPipedInIsTakenAsLinesAndAsOneEvent() throws Exception {
        server.answer(request -> Answer.json(201, "{\"count\":1,\"first\":\"E\",\"last\":\"E\"}"));
        assertEquals(0, exitCode(shell("printf '1\\n2\\n' | $T append s", "C.UTF-8")), this::errUnchecked);
        assertEquals(
                0,
                exitCode(shell("printf 'a\\nb' | $T append s --whole --type text/plain", "C.UTF-8")),
                this::errUnchecked);
        assertEquals(
                List.of("1\n2\n", "a\nb"),
                server.requests().stream().map(FakeServer.Request::body).toList());
    }

    @Test
    void aPipeThatIsClosedEndsAReadQuietly() throws Exception {
        String[] lines = new String[50_000];
        java.util.Arrays.fill(
                lines, "{\"id\":\"EVT1\",\"cursor\":\"c1\",\"at\":1,\"data\":\"" + "x".repeat(50) + "\"}");
        lines[lines.length - 1] = "{\"type\":\"end\",\"cursor\":\"c1\",\"complete\":true}";
        server.answer(request -> Answer.lines(lines));
        assertEquals(0, exitCode(shell("{ $T read s; echo code $? >&2; } | head -n 1", "C.UTF-8")));
        assertEquals(1, out().lines().count());
        assertEquals("code 0\n", err());
    }

    @Test
    void clientCommandsLoadNothingOfTheServer() throws Exception {
        server.answer(request -> Answer.lines("{\"type\":\"end\",\"cursor\":\"c\",\"complete\":true}"));
        assertEquals(0, exitCode(shell("JAVA_TOOL_OPTIONS=-Xlog:class+load exec $T tail s", "C.UTF-8")));
        List<String> loaded = out().lines()
                .filter(line -> line.contains(" io.vertx.")
                        || line.contains(" io.netty.")
                        || line.contains(" net.openhft.")
                        || line.contains(" ch.qos.logback.")
                        || line.contains(" dev.tidemark.server.Server "))
                .toList();
        assertTrue(out().contains(" dev.tidemark.cli.TailCommand "), "class loading wasn't logged");
        assertEquals(List.of(), loaded);
    }
}
