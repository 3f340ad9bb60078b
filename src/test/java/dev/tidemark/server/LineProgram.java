package dev.tidemark.server;

import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** A program of others that follows a stream and prints what it gets, line by line. */
final class LineProgram implements AutoCloseable {
    private static final long WAIT_NS = 30_000_000_000L;

    private final Process process;
    private final List<String> lines = new ArrayList<>();

    LineProgram(String... command) {
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread reader = new Thread(this::read, command[0]);
        reader.setDaemon(true);
        reader.start();
    }

    private void read() {
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                add(line);
            }
        } catch (IOException e) {
            add("the output ended: " + e.getMessage());
        }
    }

    private void add(String line) {
        synchronized (lines) {
            lines.add(line);
            lines.notifyAll();
        }
    }

    /** A line for its input. */
    void say(String line) throws IOException {
        process.outputWriter(StandardCharsets.UTF_8).write(line + "\n");
        process.outputWriter(StandardCharsets.UTF_8).flush();
    }

    List<String> lines() {
        synchronized (lines) {
            return List.copyOf(lines);
        }
    }

    /** JSON objects in its lines, whatever stands before them. */
    List<JsonObject> objects() {
        return lines().stream()
                .filter(line -> line.contains("{\""))
                .map(line -> new JsonObject(line.substring(line.indexOf("{\""))))
                .toList();
    }

    /** Numbers of the events that came, in their order. */
    List<Integer> numbers() {
        return objects().stream()
                .filter(json -> json.containsKey("data"))
                .map(json -> json.getJsonObject("data").getInteger("n"))
                .toList();
    }

    void await(String what, Predicate<LineProgram> there) throws InterruptedException {
        long untilNs = System.nanoTime() + WAIT_NS;
        synchronized (lines) {
            while (!there.test(this)) {
                if (System.nanoTime() > untilNs) {
                    throw new AssertionError("no " + what + " in " + lines);
                }
                lines.wait(100);
            }
        }
    }

    void awaitNumbers(List<Integer> numbers) throws InterruptedException {
        await(numbers.toString(), program -> program.numbers().size() >= numbers.size());
        if (!numbers().equals(numbers)) {
            throw new AssertionError(numbers() + " instead of " + numbers);
        }
    }

    /** Cursor of the event that came last. */
    String cursor() {
        return objects().stream()
                .filter(json -> json.containsKey("data"))
                .map(json -> json.getString("cursor"))
                .reduce((a, b) -> b)
                .orElseThrow();
    }

    /** Waits until it has ended by itself. */
    void awaitEnd() throws InterruptedException {
        if (!process.waitFor(30, java.util.concurrent.TimeUnit.SECONDS)) {
            throw new AssertionError("it doesn't end: " + lines());
        }
    }

    @Override
    public void close() {
        boolean unused = process.destroyForcibly().isAlive();
    }
}
