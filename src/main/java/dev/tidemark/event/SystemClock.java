package dev.tidemark.event;

/** The machine's clock: the one place that asks the JDK for the time. */
enum SystemClock implements Clock {
    INSTANCE;

    @Override
    public long wallMs() {
        return System.currentTimeMillis();
    }

    @Override
    public long monotonicNs() {
        return System.nanoTime();
    }
}
