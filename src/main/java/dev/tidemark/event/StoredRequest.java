package dev.tidemark.event;

import org.jspecify.annotations.Nullable;

/**
 * One request of a producer, or with an idempotency key, that is stored.
 *
 * @param producer who, and which request
 * @param body hash of its body; null if it isn't known
 * @param ids of its events
 * @param storedMs when, by the entry id of its first event
 */
public record StoredRequest(Producer producer, @Nullable BodyHash body, RequestIds ids, long storedMs) {
    /** What the first event of such a request tells; null of any other event. */
    public static @Nullable StoredRequest of(Position id, Position entry, @Nullable EventExtras extras) {
        Producer producer = extras == null ? null : extras.producer();
        if (extras == null || producer == null || !EventId.fits(id)) {
            return null;
        }
        RequestMark mark = extras.request();
        return mark == null
                ? new StoredRequest(producer, null, RequestIds.of(java.util.List.of(id)), entry.ms())
                : new StoredRequest(producer, mark.body(), mark.ids(), entry.ms());
    }

    public static @Nullable StoredRequest of(Event event) {
        return of(event.id(), event.entry(), event.extras());
    }
}
