package dev.tidemark.read;

/**
 * How much a reader takes at once: what keeps memory flat and loops free.
 *
 * @param pageEvents events of a page, unless the caller says
 * @param pageBytes bytes of JSON of such a page
 * @param batchEvents events that a follower is given at once
 * @param batchBytes bytes of JSON that a follower is given at once
 * @param lagEventsMax events that a follower that can't be written to may be behind before it counts as fallen behind
 * @param fanOutPerTurn followers that are served before the loop is given back
 * @param retryMs how long a subscription waits before it tries a part again that was away
 */
public record ReadPace(
        int pageEvents,
        int pageBytes,
        int batchEvents,
        int batchBytes,
        long lagEventsMax,
        int fanOutPerTurn,
        long retryMs) {
    public static final ReadPace DEFAULT = new ReadPace(4_096, 1 << 20, 1_024, 256 << 10, 10_000, 64, 1_000);
}
