package dev.tidemark.fold;

import dev.tidemark.event.Position;
import dev.tidemark.event.StreamSettings;

/** What retention wants; it decides, the fold/trim cycle does it, never above W. */
@FunctionalInterface
public interface TrimBounds {
    /** How much of a live log retention wants to keep, at a moment. */
    Bounds of(StreamSettings settings, long nowMs);

    /**
     * @param keepEvents newest events to keep; {@link Long#MAX_VALUE} for no bound
     * @param keepBytes newest payload bytes to keep; {@link Long#MAX_VALUE} for no bound
     * @param keepFrom entries below it are to go; {@link Position#ZERO} for no bound
     */
    record Bounds(long keepEvents, long keepBytes, Position keepFrom) {}
}
