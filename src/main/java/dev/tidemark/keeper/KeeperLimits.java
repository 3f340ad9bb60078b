package dev.tidemark.keeper;

/**
 * What a keeper bounds.
 *
 * @param inFlightEventsMax events of one stripe without an answer from Redis
 * @param inFlightBytesMax their payload bytes
 * @param waitingMax appends of one stripe that wait for it to open or resume
 * @param memoryBytesMax slab bytes of all stripes of one keeper
 * @param acceptanceBytesMax bytes of one stripe's events whose place isn't final; beyond them the oldest become final early
 * @param openMs how long an append waits for a stripe to open
 * @param resumeMs how long an append waits for the connection to come back, or for an answer of a Redis that is silent
 */
public record KeeperLimits(
        int inFlightEventsMax,
        long inFlightBytesMax,
        int waitingMax,
        long memoryBytesMax,
        long acceptanceBytesMax,
        long openMs,
        long resumeMs) {
    public static final KeeperLimits DEFAULT =
            new KeeperLimits(100_000, 64 << 20, 10_000, 256 << 20, 64 << 20, 10_000, 1_000);

    /** The same with another bound for memory. */
    public KeeperLimits withMemory(long bytesMax) {
        return new KeeperLimits(
                inFlightEventsMax, inFlightBytesMax, waitingMax, bytesMax, acceptanceBytesMax, openMs, resumeMs);
    }

    /** The same with another bound for events whose place isn't final. */
    public KeeperLimits withAcceptance(long bytesMax) {
        return new KeeperLimits(
                inFlightEventsMax, inFlightBytesMax, waitingMax, memoryBytesMax, bytesMax, openMs, resumeMs);
    }
}
