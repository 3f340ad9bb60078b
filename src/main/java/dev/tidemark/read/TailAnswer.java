package dev.tidemark.read;

import dev.tidemark.event.Cursor;
import dev.tidemark.event.Slice;
import dev.tidemark.event.StreamId;
import java.util.List;

/**
 * The last N.
 *
 * @param events oldest first
 * @param complete whether these are exactly the newest min(n, available)
 * @param cursor after the newest of them; the tail if there is none
 */
public record TailAnswer(StreamId stream, List<Slice> events, boolean complete, Cursor cursor) {
    public TailAnswer {
        events = List.copyOf(events);
    }

    /** The same, which may not be the newest. */
    TailAnswer incomplete() {
        return new TailAnswer(stream, events, false, cursor);
    }
}
