package dev.tidemark.event;

/** Where time comes from. Everything that decides by time takes one, so that tests and simulations own it. Any thread. */
public interface Clock {
    /** Wall clock, Unix milliseconds; may step in both directions. */
    long wallMs();

    /** Monotonic time in nanoseconds from an arbitrary origin. */
    long monotonicNs();

    /** The clock of the machine. */
    static Clock system() {
        return SystemClock.INSTANCE;
    }
}
