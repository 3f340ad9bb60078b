package dev.tidemark.client.wire;

import java.util.SplittableRandom;

/** Growing waits between tries, with jitter so that many clients don't come back at once. One thread. */
public final class Backoff {
    private final long firstMs;
    private final long mostMs;
    private final SplittableRandom random;
    private long nextMs;

    /**
     * Waits that double.
     *
     * @param firstMs the first one, milliseconds, at least 1
     * @param mostMs the longest one, milliseconds
     * @param random where the jitter comes from
     */
    public Backoff(long firstMs, long mostMs, SplittableRandom random) {
        this.firstMs = firstMs;
        this.mostMs = mostMs;
        this.random = random;
        this.nextMs = firstMs;
    }

    /** The next wait in milliseconds: between half of it and all of it. */
    public long nextMs() {
        long wait = nextMs / 2 + random.nextLong(nextMs / 2 + 1);
        nextMs = Math.min(mostMs, nextMs * 2);
        return wait;
    }

    /** It worked: the next wait is the first again. */
    public void reset() {
        nextMs = firstMs;
    }
}
