package dev.tidemark.event;

/**
 * A run of events inside a chunk.
 *
 * @param chunk where they lie
 * @param from index of the first
 * @param to index behind the last
 */
public record Slice(Chunk chunk, int from, int to) {
    public Slice {
        if (from < 0 || to < from || to > chunk.count()) {
            throw new IllegalArgumentException("no slice " + from + " to " + to + " of " + chunk);
        }
    }

    public int count() {
        return to - from;
    }

    public boolean isEmpty() {
        return to == from;
    }

    public Position first() {
        return chunk.position(from);
    }

    public Position last() {
        return chunk.position(to - 1);
    }

    /** Bytes of the events' JSON objects. */
    public long jsonBytes() {
        long bytes = 0;
        for (int i = from; i < to; i++) {
            bytes += chunk.jsonLength(i);
        }
        return bytes;
    }

    /** Bytes of the events' payloads. */
    public long payloadBytes() {
        long bytes = 0;
        for (int i = from; i < to; i++) {
            bytes += chunk.payloadLength(i);
        }
        return bytes;
    }

    /** The part of it above {@code position}. */
    public Slice after(Position position) {
        int start = Math.min(Math.max(from, chunk.firstAfter(position)), to);
        return new Slice(chunk, start, to);
    }

    /** The part of it at or below {@code position}. */
    public Slice through(Position position) {
        int end = Math.max(Math.min(to, chunk.firstAfter(position)), from);
        return new Slice(chunk, from, end);
    }
}
