package dev.tidemark.server;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * A stream whose event {@code i} carries the number {@code i}, so that a reader from the oldest position on can check each event by
 * itself: no gap, no repeat, no other order.
 */
final class Numbers implements AutoCloseable {
    private static final int BATCH = 1_000;
    private static final String NUMBER = "\"data\":{\"n\":";

    private final Api api;
    private final String stream;
    private final Thread writer;
    private volatile long written;
    private volatile boolean stopping;
    private volatile Throwable failure;

    private Numbers(Api api, String stream, int eventsASecond) {
        this.api = api;
        this.stream = stream;
        writer = new Thread(() -> write(eventsASecond), "numbers");
    }

    /** Stores so many events; then a thread goes on with so many a second, until it is closed. */
    static Numbers of(Api api, String stream, int stored, int eventsASecond) {
        Numbers numbers = new Numbers(api, stream, eventsASecond);
        while (numbers.written < stored) {
            numbers.append(Math.min(BATCH, (int) (stored - numbers.written)));
        }
        numbers.writer.start();
        return numbers;
    }

    private void append(int count) {
        List<String> lines = new ArrayList<>();
        for (long n = written; n < written + count; n++) {
            lines.add("{\"n\":" + n + ",\"filler\":\"" + "x".repeat((int) (n % 97)) + "\"}");
        }
        Api.Answer answer = api.append(stream, lines);
        if (answer.status() != 201) {
            throw new AssertionError(answer.status() + " " + answer.text());
        }
        written += count;
    }

    /** Some at a time, 100 times a second. */
    private void write(int eventsASecond) {
        try {
            long next = System.nanoTime();
            while (!stopping) {
                append(Math.max(1, eventsASecond / 100));
                next += 10_000_000;
                LockSupport.parkNanos(next - System.nanoTime());
            }
        } catch (RuntimeException | Error e) {
            failure = e;
        }
    }

    /** How many are acknowledged so far: the next one's number, or below it. */
    long written() {
        return written;
    }

    /** No more are written. */
    void stop() throws InterruptedException {
        stopping = true;
        writer.join();
        check();
    }

    /** Throws if the writer had to give up. */
    void check() {
        if (failure != null) {
            throw new AssertionError("the writer failed", failure);
        }
    }

    /** The number in an event's JSON, in whatever form it came. */
    static long in(String json) {
        int from = json.indexOf(NUMBER) + NUMBER.length();
        if (from < NUMBER.length()) {
            throw new AssertionError("no number in " + json);
        }
        return Long.parseLong(json, from, json.indexOf(',', from), 10);
    }

    @Override
    public void close() throws InterruptedException {
        stop();
    }
}
