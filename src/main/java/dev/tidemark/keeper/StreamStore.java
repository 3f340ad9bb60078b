package dev.tidemark.keeper;

import dev.tidemark.event.Position;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamId;
import io.vertx.core.Future;
import java.util.Map;

/** Where streams are kept: the archive's {@code stream.json} decides, Redis has a copy. The fold implements it. Any thread. */
public interface StreamStore {
    /** Writes and forces the description of a new stream and makes its keys in Redis. */
    Future<Void> create(StreamId stream, Map<Setting, Long> settings, long createdMs);

    /** Replaces what was chosen for a stream. */
    Future<Void> update(StreamId stream, Map<Setting, Long> settings, long createdMs);

    /** Folds what a stream has acknowledged, up to its frontier; gives W. */
    Future<Position> fold(LiveStream stream);

    /** Marks a stream as deleted, for good: whatever happens from now on, it isn't coming back. */
    Future<Void> tombstone(StreamId stream, Map<Setting, Long> settings, long createdMs);

    /** Removes what a deleted stream had in Redis and on disk. */
    Future<Void> remove(StreamId stream, int stripes);
}
