package dev.tidemark.keeper;

/**
 * What a keeper bounds.
 *
 * @param inFlightEventsMax events of one stripe without an answer from Redis
 * @param inFlightBytesMax their payload bytes
 * @param waitingMax appends of one stripe that wait for it to open or resume
 * @param memoryBytesMax heap bytes of all timelines, of all keepers together, and of the appends under way to them
 * @param acceptanceBytesMax bytes of one stripe's events whose place isn't final; beyond them the oldest become final early
 * @param idleMs after so long without appends and reads, a stripe of which everything is folded lets go of its memory
 * @param openMs how long an append waits for a stripe to open
 * @param resumeMs how long an append waits for the connection to come back, or for an answer of a Redis that is silent
 */
public record KeeperLimits(
        int inFlightEventsMax,
        long inFlightBytesMax,
        int waitingMax,
        long memoryBytesMax,
        long acceptanceBytesMax,
        long idleMs,
        long openMs,
        long resumeMs) {
    public static final KeeperLimits DEFAULT =
            new KeeperLimits(100_000, 64 << 20, 10_000, 256 << 20, 64 << 20, 60_000, 10_000, 900);

    /** The same with another bound for memory, and another time until a stripe is idle. */
    public KeeperLimits withMemory(long bytesMax, long idleAfterMs) {
        return new KeeperLimits(
                inFlightEventsMax,
                inFlightBytesMax,
                waitingMax,
                bytesMax,
                acceptanceBytesMax,
                idleAfterMs,
                openMs,
                resumeMs);
    }

    /** The same with another bound for events whose place isn't final. */
    public KeeperLimits withAcceptance(long bytesMax) {
        return new KeeperLimits(
                inFlightEventsMax, inFlightBytesMax, waitingMax, memoryBytesMax, bytesMax, idleMs, openMs, resumeMs);
    }
}
