package dev.tidemark.server;

/** Sleeps, for tests of what only time shows. */
final class Waiting {
    private Waiting() {}

    static void ms(long ms) {
        try {
            Thread.sleep(Math.max(0, ms));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Until {@link System#nanoTime} says so. */
    static void untilNs(long ns) {
        ms((ns - System.nanoTime()) / 1_000_000);
    }
}
