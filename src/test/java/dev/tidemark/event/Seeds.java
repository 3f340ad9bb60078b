package dev.tidemark.event;

import java.util.Random;

/** Random numbers for seeds that are counted up: {@link Random} itself draws nearly the same first numbers for neighbouring seeds. */
public final class Seeds {
    /** Odd, with bits all over: 2^64 divided by the golden ratio. */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private Seeds() {}

    /** The same numbers for the same seed, and others for each other one. */
    public static Random random(long seed) {
        long mixed = (seed + 1) * SPREAD;
        return new Random(mixed ^ (mixed >>> 31));
    }
}
