package dev.tidemark.keeper;

import dev.tidemark.event.Event;
import dev.tidemark.event.EventExtras;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.ProducerRequest;
import dev.tidemark.event.RequestIds;
import dev.tidemark.event.RequestMark;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One request on its way through a keeper. Owned by the keeper. */
final class PendingAppend {
    private static final long HEAP_BYTES_AN_EVENT = 200;

    final List<NewEvent> events;
    /** What makes it exactly-once; null if nothing does. */
    final @Nullable ProducerRequest request;

    /** Payload bytes. */
    final long bytes;

    /** Since when it waits for what it waits for now. */
    long sinceNs;

    private final Promise<Appends.Appended> promise;

    /** With their ids, once minted for the present try; empty before. */
    List<Event> minted = List.of();

    private Position lowestId = Position.MAX;
    /** Whether the connection broke before the answer came: only a look into Redis tells what became of it. */
    boolean outcomeOpen;
    /** Whether Redis has refused it in a way that doesn't end it: it isn't stored, and is sent again. */
    boolean refused;
    /** Whether it is on its way to Redis. */
    boolean inFlight;

    /** What is to be said if it fails before it was sent: an earlier try may be stored. */
    Problem.Stored storedIfDropped = Problem.Stored.NO;

    /** Whether it is the one request of its producer that is under way; kept by {@link ProducerTable}. */
    boolean underWay;
    /** What is to be done when it fails without being on its way to Redis: it won't be stored then. */
    @Nullable
    Runnable whenDropped;

    private boolean answered;

    PendingAppend(List<NewEvent> events, long sinceNs, Promise<Appends.Appended> promise) {
        this(events, null, sinceNs, promise);
    }

    PendingAppend(
            List<NewEvent> events, @Nullable ProducerRequest request, long sinceNs, Promise<Appends.Appended> promise) {
        this.events = events;
        this.request = request;
        this.sinceNs = sinceNs;
        this.promise = promise;
        long sum = 0;
        for (NewEvent event : events) {
            sum += event.payload().length;
        }
        this.bytes = sum;
    }

    /** What it takes on the heap while it is under way: payloads, the command that carries them, objects for each event. */
    long heapBytes() {
        return 2 * bytes + HEAP_BYTES_AN_EVENT * events.size();
    }

    boolean isAnswered() {
        return answered;
    }

    /** The ids that its events have. */
    void succeed() {
        if (!answered) {
            answered = true;
            promise.tryComplete(new Appends.Appended(
                    minted.stream().map(Event::id).toList(),
                    minted.get(minted.size() - 1).entry()));
        }
    }

    /** The answer of an earlier request. */
    void succeedAgain(RequestIds ids) {
        if (!answered) {
            answered = true;
            promise.tryComplete(Appends.Appended.again(ids));
        }
    }

    void fail(RuntimeException problem) {
        if (!answered) {
            answered = true;
            promise.tryFail(problem);
        }
        Runnable dropped = inFlight ? null : whenDropped;
        if (dropped != null) {
            dropped.run();
        }
    }

    /** Ids of the events as minted now. */
    RequestIds ids() {
        return RequestIds.of(minted.stream().map(Event::id).toList());
    }

    /** The events as they are to be stored: the first one tells of the request. */
    List<Event> marked(List<Event> fresh) {
        if (request == null) {
            return fresh;
        }
        RequestIds ids = RequestIds.of(fresh.stream().map(Event::id).toList());
        Event first = fresh.get(0);
        EventExtras extras = new EventExtras(
                request.producer(),
                new RequestMark(request.body(), ids),
                first.extras() == null ? List.of() : first.extras().voided());
        List<Event> marked = new ArrayList<>(fresh);
        marked.set(
                0,
                new Event(
                        first.id(),
                        first.entry(),
                        first.ordinal(),
                        first.time(),
                        first.late(),
                        first.type(),
                        extras,
                        first.payload()));
        return marked;
    }

    /** Entry id of its first event. */
    Position firstEntry() {
        return minted.get(0).entry();
    }

    /** Entry id of its last event. */
    Position lastEntry() {
        return minted.get(minted.size() - 1).entry();
    }

    /** The lowest of its events' ids. */
    Position lowestId() {
        return lowestId;
    }

    /** It has ids now. */
    void minted(List<Event> now) {
        minted = now;
        lowestId = Position.MAX;
        for (Event event : now) {
            lowestId = Position.min(lowestId, event.id());
        }
    }

    OrdinalRange ordinals() {
        return new OrdinalRange(
                minted.get(0).ordinal(), minted.get(minted.size() - 1).ordinal());
    }
}
