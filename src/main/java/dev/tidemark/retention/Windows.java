package dev.tidemark.retention;

import dev.tidemark.event.Position;
import dev.tidemark.event.StreamSettings;
import dev.tidemark.event.Units;
import dev.tidemark.fold.TrimBounds;

/** The retention windows of a live log: by count, age and bytes, whichever is narrowest. */
public final class Windows implements TrimBounds {
    @Override
    public Bounds of(StreamSettings settings, long nowMs) {
        boolean byAge = settings.liveMaxAgeMs() != Units.NONE && settings.liveMaxAgeMs() < nowMs;
        Position keepFrom = byAge ? new Position(nowMs - settings.liveMaxAgeMs(), 0) : Position.ZERO;
        return new Bounds(settings.liveMaxEvents(), settings.liveMaxBytes(), keepFrom);
    }
}
