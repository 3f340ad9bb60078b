package dev.tidemark.archive;

import dev.tidemark.event.Position;

/**
 * Where in an archive stands what the requests of producers are known from: the last checkpoint, or the first event with a producer
 * if there is none, to the last such event. Counted on as excerpts come. Both are {@link Position#ZERO} in the archives of streams
 * that never had a producer, which therefore cost nothing.
 */
final class ProducerBounds {
    private Position from = Position.ZERO;
    private Position through = Position.ZERO;
    /** Parts of a checkpoint that came one after the other. */
    private int parts;

    /** Key of the first excerpt that is needed. */
    Position from() {
        return from;
    }

    /** Key of the last one. */
    Position through() {
        return through;
    }

    void set(Position newFrom, Position newThrough) {
        from = newFrom;
        through = newThrough;
        parts = 0;
    }

    void set(ProducerBounds other) {
        set(other.from, other.through);
    }

    /** An event with a producer. */
    void event(Position id) {
        from = from.equals(Position.ZERO) ? id : from;
        through = id;
    }

    /** A part of a checkpoint: with the last one, nothing before it is needed. */
    void part(int number, int of, Position key) {
        parts = number == 0 ? 1 : number == parts ? parts + 1 : 0;
        if (parts == of) {
            set(key, key);
        }
    }
}
