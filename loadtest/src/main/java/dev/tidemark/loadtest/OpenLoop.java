package dev.tidemark.loadtest;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Open loop: requests start by the clock, whatever the answers do. A request that had to wait for the one before it on its
 * connection counts from when it was due (no coordinated omission); one that was only woken late by the timer counts from when it
 * was sent, since that lateness is the driver's own.
 */
public final class OpenLoop {
    private static final long WARM_UP_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long LATENCY_NS_MAX = TimeUnit.SECONDS.toNanos(60);

    /** Sends one request and waits for the answer. */
    public interface Sender {
        /** @param startNs from when it counts, {@link System#nanoTime} */
        void send(long startNs) throws IOException;
    }

    private OpenLoop() {}

    public static Histogram histogram() {
        return new Histogram(LATENCY_NS_MAX, 3);
    }

    /** Latencies in nanoseconds over the given seconds, after a second of warm-up. Each sender takes its share of the rate. */
    public static Histogram run(List<? extends Sender> senders, int perSecond, int seconds)
            throws IOException, InterruptedException {
        long periodNs = TimeUnit.SECONDS.toNanos(1) * senders.size() / perSecond;
        long begin = System.nanoTime();
        List<Integer> numbers = new ArrayList<>();
        List<Histogram> histograms = new ArrayList<>();
        for (int i = 0; i < senders.size(); i++) {
            numbers.add(i);
            histograms.add(histogram());
        }
        Throughput.onThreads(numbers, number -> {
            long firstDue = begin + periodNs * number / senders.size();
            sendByTheClock(senders.get(number), firstDue, periodNs, seconds, histograms.get(number));
        });
        Histogram all = histogram();
        histograms.forEach(all::add);
        return all;
    }

    private static void sendByTheClock(Sender sender, long firstDue, long periodNs, int seconds, Histogram latencies)
            throws IOException {
        long countsFrom = firstDue + WARM_UP_NS;
        long end = countsFrom + TimeUnit.SECONDS.toNanos(seconds);
        long free = firstDue;
        for (long due = firstDue; due - end < 0; due += periodNs) {
            for (long now = System.nanoTime(); now - due < 0; now = System.nanoTime()) {
                LockSupport.parkNanos(due - now);
            }
            boolean heldUp = free - due > 0;
            long start = heldUp ? due : System.nanoTime();
            sender.send(start);
            free = System.nanoTime();
            if (due - countsFrom >= 0) {
                latencies.recordValue(Math.min(free - start, LATENCY_NS_MAX));
            }
        }
    }
}
