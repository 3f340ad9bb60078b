package dev.tidemark.keeper;

import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamSettings;
import io.vertx.core.Future;
import java.util.Map;

/** A stream of one stripe whose snapshot and state a test sets. */
public final class FixedStream implements LiveStream {
    private final StreamId id;
    private final StreamSettings settings;
    public volatile TimelineSnapshot snapshot = TimelineSnapshot.COLD;
    public volatile boolean deleted;
    public volatile Future<Void> opening = Future.succeededFuture();

    public FixedStream(StreamId id, Map<Setting, Long> chosen) {
        this.id = id;
        this.settings = StreamSettings.DEFAULT.with(chosen);
    }

    @Override
    public StreamId id() {
        return id;
    }

    @Override
    public StreamSettings settings() {
        return settings;
    }

    @Override
    public long createdMs() {
        return 0;
    }

    @Override
    public int stripes() {
        return 1;
    }

    @Override
    public TimelineSnapshot snapshot(int stripe) {
        return snapshot;
    }

    @Override
    public Future<Void> open() {
        return opening;
    }

    @Override
    public boolean liveLogReachable() {
        return true;
    }

    @Override
    public boolean isDeleted() {
        return deleted;
    }

    @Override
    public Runnable follow(Runnable onAdvance) {
        return () -> {};
    }

    @Override
    public String toString() {
        return id.name().value();
    }
}
