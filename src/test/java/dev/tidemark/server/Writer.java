package dev.tidemark.server;

import io.vertx.core.json.JsonObject;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A client that appends numbered events in batches, one request after the other, and writes down what it was told. A request that
 * was certainly not stored is sent again; one whose outcome is open isn't: its numbers may be there, all or none.
 */
final class Writer implements AutoCloseable {
    private static final String[] AIRPORTS = {"FRA", "MUC", "ATL", "JFK", "HND", "GRU", "SYD", "CPT"};

    private final int number;
    private final String stream;
    private final Supplier<Api> server;
    private final Random random;
    private final int batchMax;
    private final long pauseMs;
    private final List<Batch> batches = Collections.synchronizedList(new ArrayList<>());
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    // Written by the writing thread.
    private volatile long nextNumber;
    private volatile long acked;

    private volatile boolean stopping;
    private @Nullable Thread thread;

    /**
     * A request that may have been stored.
     *
     * @param from number of its first event
     * @param acked whether it was acknowledged; else its outcome is open
     * @param first id of its first event, if acknowledged
     * @param last id of its last event, if acknowledged
     */
    record Batch(long from, int count, boolean acked, String first, String last) {}

    /**
     * @param number of this writer, from 0, in its events
     * @param server asked for before each request: the port may change
     * @param batchMax greatest number of events in a request
     * @param pauseMs between two requests
     */
    Writer(int number, String stream, Supplier<Api> server, long seed, int batchMax, long pauseMs) {
        this.number = number;
        this.stream = stream;
        this.server = server;
        this.random = new Random(seed * 31 + number);
        this.batchMax = batchMax;
        this.pauseMs = pauseMs;
    }

    void start() {
        stopping = false;
        Thread writing = new Thread(this::write, "writer-" + number);
        thread = writing;
        writing.start();
    }

    /** Ends after the request under way. */
    void stop() {
        stopping = true;
        Thread writing = thread;
        thread = null;
        if (writing != null) {
            join(writing);
        }
        rethrow();
    }

    @Override
    public void close() {
        stopping = true;
        if (thread != null) {
            join(thread);
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    void rethrow() {
        Throwable thrown = failure.get();
        if (thrown != null) {
            throw new AssertionError("writer " + number, thrown);
        }
    }

    /** Events acknowledged so far. */
    long acked() {
        return acked;
    }

    /** The number behind the last acknowledged event. */
    long ackedNumber() {
        synchronized (batches) {
            for (int i = batches.size() - 1; i >= 0; i--) {
                Batch batch = batches.get(i);
                if (batch.acked()) {
                    return batch.from() + batch.count();
                }
            }
        }
        return 0;
    }

    List<Batch> batches() {
        synchronized (batches) {
            return List.copyOf(batches);
        }
    }

    private void write() {
        try {
            while (!stopping) {
                int count = 1 + random.nextInt(batchMax);
                send(count);
                if (pauseMs > 0) {
                    Thread.sleep(pauseMs);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            failure.set(e);
        }
    }

    private void send(int count) throws InterruptedException {
        long from = nextNumber;
        List<String> lines = new ArrayList<>();
        for (long n = from; n < from + count; n++) {
            lines.add(line(n));
        }
        Api.Answer answer = null;
        try {
            answer = server.get().append(stream, lines);
        } catch (UncheckedIOException e) {
            if (e.getCause() instanceof ConnectException) {
                Thread.sleep(20);
                return;
            }
        }
        if (answer == null) {
            open(from, count);
        } else if (answer.status() == 201) {
            acked(from, count, answer.json());
        } else if (answer.status() == 503) {
            refused(from, count, answer.json());
        } else {
            throw new AssertionError(answer.status() + " " + answer.text());
        }
    }

    private String line(long n) {
        String airport = AIRPORTS[(int) (n % AIRPORTS.length)];
        return "{\"w\":" + number + ",\"n\":" + n + ",\"flight\":\"TM" + n * 7 % 9_999 + "\",\"origin\":\"" + airport
                + "\",\"altitude_ft\":" + n * 37 % 41_000 + ",\"remark\":\"" + "x".repeat((int) (n % 60)) + "\"}";
    }

    /** The event as its writer sent it. */
    byte[] payload(long n) {
        return line(n).getBytes(StandardCharsets.UTF_8);
    }

    private void open(long from, int count) {
        batches.add(new Batch(from, count, false, "", ""));
        nextNumber = from + count;
    }

    private void acked(long from, int count, JsonObject answer) {
        if (answer.getInteger("count") != count) {
            throw new AssertionError(count + " sent, but " + answer);
        }
        batches.add(new Batch(
                from,
                count,
                true,
                Objects.requireNonNull(answer.getString("first")),
                Objects.requireNonNull(answer.getString("last"))));
        nextNumber = from + count;
        acked = acked() + count;
    }

    private void refused(long from, int count, JsonObject problem) throws InterruptedException {
        if (!Boolean.TRUE.equals(problem.getBoolean("retryable"))) {
            throw new AssertionError("503 that isn't retryable: " + problem);
        }
        switch (String.valueOf(problem.getString("stored"))) {
            case "no" -> Thread.sleep(20);
            case "unknown" -> open(from, count);
            default -> throw new AssertionError("503 that doesn't say whether it was stored: " + problem);
        }
    }

    /** Waits until so many events more than now are acknowledged. */
    void awaitAcked(long more) throws InterruptedException {
        long wanted = acked + more;
        long untilNs = System.nanoTime() + 60_000_000_000L;
        while (acked < wanted) {
            rethrow();
            if (System.nanoTime() > untilNs) {
                throw new AssertionError("writer " + number + " got no acknowledgement for a minute");
            }
            Thread.sleep(1);
        }
    }

    /**
     * That a whole read has every acknowledged event exactly once, in the order it was sent, under the ids that the answer named; and of
     * requests with an open outcome all events or none.
     */
    static void assertKept(List<Seen> whole, List<Writer> writers) {
        Seen.assertRising(whole, "the whole stream");
        Map<Integer, TreeMap<Long, String>> byWriter = new TreeMap<>();
        for (Seen event : whole) {
            TreeMap<Long, String> of = byWriter.computeIfAbsent(event.writer(), w -> new TreeMap<>());
            if (!of.isEmpty() && of.lastKey() >= event.number()) {
                throw new AssertionError(event + " is there twice or out of order: behind number " + of.lastKey());
            }
            of.put(event.number(), event.id());
        }
        for (Writer writer : writers) {
            writer.assertKept(byWriter.getOrDefault(writer.number, new TreeMap<>()));
        }
    }

    private void assertKept(NavigableMap<Long, String> stored) {
        long expected = 0;
        for (Batch batch : batches()) {
            int found =
                    stored.subMap(batch.from(), batch.from() + batch.count()).size();
            boolean whole = found == batch.count();
            if (batch.acked() && !whole) {
                throw new AssertionError("lost: of the acknowledged " + batch + " of writer " + number + " only "
                        + found + " are there");
            }
            if (found != 0 && !whole) {
                throw new AssertionError("torn: " + found + " events of " + batch + " of writer " + number);
            }
            boolean named = !batch.acked()
                    || (batch.first().equals(stored.get(batch.from()))
                            && batch.last().equals(stored.get(batch.from() + batch.count() - 1)));
            if (!named) {
                throw new AssertionError(batch + " of writer " + number + " has other ids than acknowledged: "
                        + stored.get(batch.from()));
            }
            expected += found;
        }
        if (expected != stored.size()) {
            throw new AssertionError("writer " + number + " never sent, or was told as not stored: "
                    + (stored.size() - expected) + " events");
        }
    }
}
