package dev.tidemark.event;

/** One incarnation of a stream: what its Redis keys, archive folder and cursors are named after. */
public record StreamId(StreamName name, Generation generation) {
    @Override
    public String toString() {
        return name + "/" + generation;
    }
}
