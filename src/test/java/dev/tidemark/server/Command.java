package dev.tidemark.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A command of the jar as people give it, in a process of its own.
 *
 * @param exit its exit code
 * @param out what it printed, byte for byte
 * @param err what it said on the error stream
 */
@SuppressWarnings("ArrayRecordComponent") // only read
public record Command(int exit, byte[] out, String err) {
    /** Runs a client command against a server to its end. */
    public static Command against(String url, String... words) {
        List<String> all = new ArrayList<>(List.of(words));
        all.addAll(1, List.of("--url", url));
        return run(all);
    }

    /** Runs any command to its end. */
    public static Command run(List<String> words) {
        try {
            Path out = Files.createTempFile("tidemark-out", "");
            Path err = Files.createTempFile("tidemark-err", "");
            Process process = new ProcessBuilder(command(words))
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile())
                    .start();
            process.getOutputStream().close();
            if (!process.waitFor(120, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IllegalStateException("doesn't end: " + words + ": " + Files.readString(err));
            }
            Command done = new Command(process.exitValue(), Files.readAllBytes(out), Files.readString(err));
            Files.delete(out);
            Files.delete(err);
            return done;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Words that start the jar with {@code words}. */
    public static List<String> command(List<String> words) {
        List<String> command = new ArrayList<>(
                List.of(ServerProcess.java(), "-XX:TieredStopAtLevel=1", "-Xmx128m", "-jar", ServerProcess.jar()));
        command.addAll(words);
        return command;
    }

    public String text() {
        return new String(out, StandardCharsets.UTF_8);
    }

    /** Lines of its output. */
    public List<String> lines() {
        return text().lines().toList();
    }

    /** This, if it ended well. */
    public Command succeeded() {
        if (exit != 0) {
            throw new IllegalStateException("exit " + exit + ": " + err);
        }
        return this;
    }
}
