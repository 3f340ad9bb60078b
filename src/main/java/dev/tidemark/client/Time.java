package dev.tidemark.client;

import java.util.concurrent.TimeUnit;

/** Time as the client needs it; tests put their own in its place. Any thread. */
interface Time {
    Time SYSTEM = new Time() {
        @Override
        public long nowNs() {
            return System.nanoTime();
        }

        @Override
        public void sleepMs(long ms) throws InterruptedException {
            TimeUnit.MILLISECONDS.sleep(ms);
        }
    };

    /** A clock that only runs forward, nanoseconds. */
    long nowNs();

    /** Waits. */
    void sleepMs(long ms) throws InterruptedException;
}
