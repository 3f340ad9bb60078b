package dev.tidemark.keeper;

import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Position;
import dev.tidemark.event.ProducerRequest;
import dev.tidemark.event.RequestIds;
import io.vertx.core.Future;
import java.util.List;
import org.jspecify.annotations.Nullable;

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
    default Future<Appended> append(LiveStream stream, int stripe, List<NewEvent> events) {
        return append(stream, stripe, events, null);
    }

    /**
     * The same, once for all repetitions of a request.
     *
     * @param request what makes it exactly-once; null if nothing does. All requests of a producer must go to the same stripe.
     * @return fails besides with: producer fenced, seq gap (with {@code expected_seq}), seq expired, body changed, too many keys
     */
    Future<Appended> append(LiveStream stream, int stripe, List<NewEvent> events, @Nullable ProducerRequest request);

    /**
     * What the events of one request are stored as.
     *
     * @param ids of all events, in their order; of a duplicate whose ids are scattered, of the first and the last only
     * @param count number of events
     * @param highest id
     * @param lastEntry entry id of the last one; of a duplicate, a position at or below it
     * @param duplicate whether it is the answer of an earlier request
     */
    record Appended(List<Position> ids, int count, Position highest, Position lastEntry, boolean duplicate) {
        public Appended(List<Position> ids, Position lastEntry) {
            this(ids, ids.size(), ids.stream().reduce(Position.ZERO, Position::max), lastEntry, false);
        }

        static Appended again(RequestIds ids) {
            return new Appended(ids.known(), ids.count(), ids.highest(), ids.highest(), true);
        }
    }
}
