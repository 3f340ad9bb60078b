package dev.tidemark.server;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A client that appends numbered events in batches, one request after the other, and writes down what it was told. */
abstract class NumberedWriter implements AutoCloseable {
    private static final String[] AIRPORTS = {"FRA", "MUC", "ATL", "JFK", "HND", "GRU", "SYD", "CPT"};

    private final int number;
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
     * @param first id of its first event, if acknowledged and known, else empty
     * @param last id of its last event, if acknowledged and known, else empty
     */
    record Batch(long from, int count, boolean acked, String first, String last) {}

    /**
     * @param number of this writer, from 0, in its events
     * @param batchMax greatest number of events in a request
     * @param pauseMs between two requests
     */
    NumberedWriter(int number, long seed, int batchMax, long pauseMs) {
        this.number = number;
        this.random = new Random(seed * 31 + number);
        this.batchMax = batchMax;
        this.pauseMs = pauseMs;
    }

    /** Sends one request and notes with {@link #acked} or {@link #open} what became of it; neither: it was certainly not stored. */
    abstract void send(long from, int count) throws InterruptedException;

    int number() {
        return number;
    }

    /** For the writing thread. */
    Random random() {
        return random;
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
                send(nextNumber, count);
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

    final void open(long from, int count) {
        batches.add(new Batch(from, count, false, "", ""));
        nextNumber = from + count;
    }

    final void acked(long from, int count, String first, String last) {
        batches.add(new Batch(from, count, true, first, last));
        nextNumber = from + count;
        acked = acked() + count;
    }

    final String line(long n) {
        String airport = AIRPORTS[(int) (n % AIRPORTS.length)];
        return "{\"w\":" + number + ",\"n\":" + n + ",\"flight\":\"TM" + n * 7 % 9_999 + "\",\"origin\":\"" + airport
                + "\",\"altitude_ft\":" + n * 37 % 41_000 + ",\"remark\":\"" + "x".repeat((int) (n % 60)) + "\"}";
    }

    /** The event as its writer sent it. */
    byte[] payload(long n) {
        return line(n).getBytes(StandardCharsets.UTF_8);
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
}
