package dev.tidemark.event;

/**
 * What a writer gave to make its request exactly-once: id, epoch and sequence number, or an idempotency key.
 *
 * @param id producer id, or the idempotency key
 * @param epoch from 0; -1 marks an idempotency key
 * @param seq number of the request within the epoch, from 0; 0 with a key
 */
public record Producer(String id, long epoch, long seq) {
    public static Producer idempotencyKey(String key) {
        return new Producer(key, -1, 0);
    }

    public boolean isIdempotencyKey() {
        return epoch < 0;
    }
}
