package dev.tidemark.keeper;

import dev.tidemark.event.Gap;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.StoredRequest;
import io.vertx.core.Future;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a keeper needs to know of the archive when it opens a stripe; the fold knows it. */
public interface ArchivedState {
    /** Recovers the stream's archive, if that hasn't been done, and says what it proves. Any thread. */
    Future<Archived> recover(LiveStream stream, int stripe);

    /**
     * The requests of producers that the archive remembers up to W, for one stripe, and perhaps some that are too old. Any thread.
     */
    Future<List<StoredRequest>> requests(LiveStream stream, int stripe);

    /**
     * @param watermark W
     * @param lastOrdinal highest ordinal of the stripe that the archive accounts for; 0 if there is none
     * @param open ordinals below that one that the archive doesn't account for; only of a stream whose order isn't final on arrival
     * @param openAfter those, and all above, have ids above this position
     * @param untold a loss that is archived behind W: nobody was told of it yet; null if there is none
     */
    record Archived(
            Position watermark,
            long lastOrdinal,
            List<OrdinalRange> open,
            Position openAfter,
            @Nullable Gap untold) {
        public Archived {
            open = List.copyOf(open);
        }
    }
}
