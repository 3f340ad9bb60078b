package dev.tidemark.read;

import org.jspecify.annotations.Nullable;

/**
 * Where and how to follow.
 *
 * @param after cursor or event id as sent, or {@code earliest} or {@code latest}; null with {@code tail}
 * @param tail the last so many, then follow; -1 if not asked for
 * @param view which events
 * @param closeOnGap close instead of going on behind a gap
 * @param slow what happens to a subscriber that can't keep up
 */
public record SubscribeRequest(@Nullable String after, int tail, View view, boolean closeOnGap, Slow slow) {
    /** What happens to a subscriber that can't keep up. */
    public enum Slow {
        /** It is served from storage at its own pace. */
        ARCHIVE,
        /** It jumps to the tail, and is told. */
        SKIP,
        /** It is closed with a cursor. */
        CLOSE
    }
}
