package dev.tidemark.ingest;

import dev.tidemark.event.StreamName;
import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What comes in: appends, and the making and deleting of streams. Called on any Vert.x context; futures complete on it and fail with
 * a {@link dev.tidemark.event.Problem}.
 */
public interface Ingest {
    /** Checks, parses and appends a body, all or nothing. */
    Future<AppendResult> append(AppendRequest request);

    /** Streams in the order of their names, from the first above {@code after} (null: from the start), at most {@code limit}. */
    List<StreamInfo> streams(@Nullable String after, int limit);

    /** The stream of that name; not found otherwise. */
    StreamInfo stream(StreamName name);

    /**
     * Creates a stream or merges settings into it.
     *
     * @param settings as written: names to strings, whole numbers or null (reset)
     */
    Future<Put> put(StreamName name, Map<String, @Nullable Object> settings);

    /** Deletes a stream; not found if there is none. */
    Future<Void> delete(StreamName name);

    /**
     * What {@link #put} did.
     *
     * @param stream as it is now
     * @param created false if it was there already
     */
    record Put(StreamInfo stream, boolean created) {}
}
