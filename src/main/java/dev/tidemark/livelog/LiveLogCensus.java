package dev.tidemark.livelog;

/**
 * What the ends of a stripe's key tell of it.
 *
 * @param exists whether the key is there
 * @param length entries
 * @param firstOrdinal ordinal of the oldest entry; 0 if there is none, or the entry has none
 * @param lastOrdinal ordinal of the newest entry; 0 if there is none, or the entry has none
 */
public record LiveLogCensus(boolean exists, long length, long firstOrdinal, long lastOrdinal) {
    /** Whether an end of it isn't the keeper's. */
    public boolean hasForeignEnd() {
        return length > 0 && (firstOrdinal == 0 || lastOrdinal == 0);
    }

    /** Entries beyond one for each ordinal; negative if ordinals have none. Says nothing if an end is foreign. */
    public long surplus() {
        return length == 0 ? 0 : length - (lastOrdinal - firstOrdinal + 1);
    }
}
