package dev.tidemark.http;

import dev.tidemark.event.Cursor;
import dev.tidemark.event.Slice;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where a follow session writes to: a WebSocket or an event stream. Used on the connection's event loop. */
interface FollowOutput {
    void events(List<Slice> events);

    /**
     * Any other message.
     *
     * @param type its type
     * @param message the whole JSON object, type included
     * @param cursor where the follower is with it; null if that isn't known yet
     */
    void message(String type, JsonOut message, @Nullable Cursor cursor);

    /** Whether more may be written now. */
    boolean writable();

    /** Says what went wrong although nothing was said yet, in a way that lets browsers come again by themselves; then closes. */
    void failForNow(ProblemJson problem);

    /** When something was written last, monotonic nanoseconds. */
    long lastWriteNs();

    /**
     * Says what went wrong and closes.
     *
     * @param cursor where to resume; null if there is nothing to resume
     */
    void fail(ProblemJson problem, @Nullable Cursor cursor);
}
