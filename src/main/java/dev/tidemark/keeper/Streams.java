package dev.tidemark.keeper;

import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamName;
import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The streams of this process, by name. Any thread; futures complete on the caller's context and fail with a {@link dev.tidemark.event.Problem}. */
public interface Streams {
    /** The stream of that name, or null. */
    @Nullable
    LiveStream find(StreamName name);

    /** All of them, in the order of their names. */
    List<LiveStream> all();

    /**
     * Creates a stream, or merges settings into an existing one.
     *
     * @param changes new values; null resets to the default
     */
    Future<Created> put(StreamName name, Map<Setting, @Nullable Long> changes);

    /** The stream of that name, created with default settings if there is none and {@code streams.auto_create} allows it. */
    Future<LiveStream> findOrCreate(StreamName name);

    /** Deletes a stream: tombstone first, then live log and archive. False if there is none. */
    Future<Boolean> delete(StreamName name);

    /**
     * What {@link #put} did.
     *
     * @param stream as it is now
     * @param created false if it was there already
     */
    record Created(LiveStream stream, boolean created) {}
}
