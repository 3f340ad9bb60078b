package dev.tidemark.event;

/**
 * One keeper's share of a stream.
 *
 * @param stream the stream's incarnation
 * @param index 0 to stripes - 1; also the node in the ids that the stripe mints
 */
public record StripeId(StreamId stream, int index) {
    @Override
    public String toString() {
        return stream.name() + "#" + index + "/" + stream.generation();
    }
}
