package dev.tidemark.read;

import dev.tidemark.event.Cursor;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Slice;
import dev.tidemark.event.StreamId;
import java.util.List;

/** The receiving end of a subscription: a WebSocket or SSE session. Always called on the context that subscribed. */
public interface Subscriber {
    /** The first call. The cursor is usable at once. */
    void hello(StreamId stream, Cursor cursor, Seam seam);

    /**
     * Events in order. Followers of one stream that stand at the same position get the same list object, so that its encoding can be
     * shared.
     */
    void events(List<Slice> events);

    void caughtUp(Cursor cursor);

    /** Order is final up to {@code through}, and everything at or below it has been given. Of streams with provisional events. */
    void sealed(Position through);

    void fellBehind(Cursor cursor);

    /** @param earliest the oldest event that can be given */
    void gap(Gap gap, Position earliest);

    /** The subscription is over: the stream was deleted, a problem came up, or the server stops ({@code cursor} is where to resume). */
    void closed(Problem problem, Cursor cursor);

    /** Whether more may be written now. When it becomes true again the session calls {@link Subscription#drained}. */
    boolean writable();
}
