package dev.tidemark.ingest;

import dev.tidemark.event.Cursor;
import dev.tidemark.event.EventId;
import dev.tidemark.event.StreamName;
import java.util.List;

/**
 * What an append did.
 *
 * @param ids in the order of the events as sent; of a duplicate whose ids are too scattered to be remembered, the first and the last
 * @param count number of events
 * @param cursor after all of them
 * @param duplicate whether it is the answer of an earlier request
 * @param ack {@code live} or {@code archived}: where the events are now
 * @param complete false if {@code ack=archived} was asked for and didn't happen in time
 */
public record AppendResult(
        StreamName stream,
        List<EventId> ids,
        int count,
        Cursor cursor,
        boolean duplicate,
        String ack,
        boolean complete) {
    public AppendResult {
        ids = List.copyOf(ids);
    }
}
