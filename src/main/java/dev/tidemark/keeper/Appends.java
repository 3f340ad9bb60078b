package dev.tidemark.keeper;

import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Position;
import io.vertx.core.Future;
import java.util.List;

/** Takes appends to the keeper that owns the stripe. Any thread; futures complete on the caller's context. */
public interface Appends {
    /**
     * Mints ids and appends the events, all or nothing; completes when Redis has acknowledged them. Requests of one caller to one
     * stripe are stored in the order of the calls.
     *
     * @param stripe 0 to stripes - 1
     * @param events at least one
     * @return fails with a {@link dev.tidemark.event.Problem}: unavailable or overloaded (with {@code stored}), nonmonotonic, not found
     */
    Future<Appended> append(LiveStream stream, int stripe, List<NewEvent> events);

    /**
     * Where the events of one request stand.
     *
     * @param ids their ids, in their order
     * @param lastEntry entry id of the last one
     */
    record Appended(List<Position> ids, Position lastEntry) {}
}
