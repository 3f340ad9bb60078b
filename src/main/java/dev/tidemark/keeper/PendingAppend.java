package dev.tidemark.keeper;

import dev.tidemark.event.Event;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import io.vertx.core.Promise;
import java.util.List;

/** One request on its way through a keeper. Owned by the keeper. */
final class PendingAppend {
    private static final long HEAP_BYTES_AN_EVENT = 200;

    final List<NewEvent> events;
    /** Payload bytes. */
    final long bytes;

    final long sinceNs;
    private final Promise<Appends.Appended> promise;

    /** With their ids, once minted for the present try; empty before. */
    List<Event> minted = List.of();

    private Position lowestId = Position.MAX;
    /** Whether the connection broke before the answer came: only a look into Redis tells what became of it. */
    boolean outcomeOpen;

    private boolean answered;

    PendingAppend(List<NewEvent> events, long sinceNs, Promise<Appends.Appended> promise) {
        this.events = events;
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

    void fail(RuntimeException problem) {
        if (!answered) {
            answered = true;
            promise.tryFail(problem);
        }
    }

    /** Entry id of its first event. */
    Position firstEntry() {
        return minted.get(0).entry();
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
