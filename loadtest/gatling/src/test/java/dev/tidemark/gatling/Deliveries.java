package dev.tidemark.gatling;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.ConcurrentHistogram;

/** What was appended, and how long each event took to each subscriber. Any thread. */
final class Deliveries {
    private static final long LATENCY_MS_MAX = TimeUnit.MINUTES.toMillis(10);
    /** How long subscribers are waited for after the last answer. */
    private static final long GRACE_SECONDS = 15;

    private final long appends;
    private final ConcurrentHistogram latenciesMs = new ConcurrentHistogram(LATENCY_MS_MAX, 3);
    private final AtomicLong countsFromMs = new AtomicLong(Long.MAX_VALUE);
    private final AtomicLong appended = new AtomicLong();
    private final AtomicLong answered = new AtomicLong();
    private volatile long overNs;

    /** @param appends how many there will be in all, of one event each */
    Deliveries(long appends) {
        this.appends = appends;
    }

    /** Events that are sent from now on count in the latencies; only the first call does something. */
    void count() {
        boolean unused = countsFromMs.compareAndSet(Long.MAX_VALUE, System.currentTimeMillis());
    }

    boolean counts(long sentMs) {
        return sentMs >= countsFromMs.get();
    }

    /** An append has its answer, or none ever. */
    void answered(boolean stored) {
        if (stored) {
            appended.incrementAndGet();
        }
        overNs = System.nanoTime();
        answered.incrementAndGet();
    }

    /** A subscriber got an event that counts. */
    void delivered(long latencyMs) {
        latenciesMs.recordValue(Math.min(latencyMs, LATENCY_MS_MAX));
    }

    /** How many events every subscriber must have once {@link #isOver}. */
    long appended() {
        return appended.get();
    }

    /** Whether the last append has its answer. */
    boolean isOver() {
        return answered.get() == appends;
    }

    /** Whether it isn't worth waiting for events any more. */
    boolean isTooLate() {
        return isOver() && System.nanoTime() - overNs > TimeUnit.SECONDS.toNanos(GRACE_SECONDS);
    }

    /** All deliveries that count, as fine as the clock is. */
    String summary() {
        return String.format(
                Locale.ROOT,
                "%,d events appended; of %,d deliveries after the warm-up, append to delivery in ms: p50 %d, p99 %d,"
                        + " p99.9 %d, max %d",
                appended.get(),
                latenciesMs.getTotalCount(),
                latenciesMs.getValueAtPercentile(50),
                latenciesMs.getValueAtPercentile(99),
                latenciesMs.getValueAtPercentile(99.9),
                latenciesMs.getMaxValue());
    }
}
