package dev.tidemark.read;

import dev.tidemark.event.Position;
import io.vertx.core.Future;

/**
 * One ordered read over memory, live log and archive, page by page: contiguous, while events come in and folds, trims and releases
 * from memory run between any two of its steps. What should be there and isn't is announced.
 *
 * <p>Each step looks where its position is now: in memory, if a snapshot covers it; else in the archive, if it is at or below W; else
 * in the live log. THE RULE: behind each page of the live log W is read again. If it has passed the page's start, some of the page may
 * have been trimmed before it was read, so it is thrown away, and read from the archive.
 *
 * <p>Used on one context, one call at a time.
 */
interface MergeRead {
    /**
     * The next page; fails with a {@link dev.tidemark.event.Problem} if the stream is gone or the archive can't be read. A page that has
     * something already is given as it is, and the next one fails: what the cursor has passed is never lost, and a failed call can be
     * made again.
     *
     * @param eventsMax at most so many
     * @param bytesMax ends behind the event that reaches so many bytes of JSON
     */
    Future<MergePage> next(int eventsMax, long bytesMax);

    /** Where to go on. Rising: everything at or below it has been given or announced. Falling: everything at or above it. */
    Position cursor();
}
