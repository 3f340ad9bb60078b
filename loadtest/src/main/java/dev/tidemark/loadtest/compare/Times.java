package dev.tidemark.loadtest.compare;

/**
 * How long a measurement takes.
 *
 * @param warmUpSeconds before it counts; systems on a JVM, whose code is compiled while it runs, need it
 * @param seconds that count
 */
record Times(int warmUpSeconds, int seconds) {
    /** Warm-up of a system that is machine code from the start. */
    static final int SHORT_WARM_UP_SECONDS = 1;
}
