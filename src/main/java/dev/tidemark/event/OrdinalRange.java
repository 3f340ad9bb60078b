package dev.tidemark.event;

/**
 * A run of ordinals of one stripe.
 *
 * @param first from 1
 * @param last inclusive
 */
public record OrdinalRange(long first, long last) {
    public OrdinalRange {
        if (first < 1 || last < first) {
            throw new IllegalArgumentException("not a range of ordinals: " + first + "-" + last);
        }
    }

    public long count() {
        return last - first + 1;
    }

    @Override
    public String toString() {
        return first + "-" + last;
    }
}
