package dev.tidemark.ingest;

import dev.tidemark.event.EventId;
import dev.tidemark.event.Generation;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.ProducerRequest;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.StreamSettings;
import dev.tidemark.keeper.Appends;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.Streams;
import dev.tidemark.keeper.TimelineSnapshot;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Streams in a map and appends in lists; one thread. */
final class FakeKeeper implements Streams, Appends {
    private final Map<StreamName, Stream> streams = new TreeMap<>();
    private long generations;
    private long minted;
    boolean autoCreate = true;

    @Nullable
    Problem failure;

    /** What made the last append exactly-once. */
    @Nullable
    ProducerRequest lastRequest;

    /** What was appended to a stream, in order. */
    List<NewEvent> stored(String name) {
        Stream stream = streams.get(new StreamName(name));
        return stream == null ? List.of() : stream.events;
    }

    @Override
    public Future<Appended> append(
            LiveStream stream, int stripe, List<NewEvent> events, @Nullable ProducerRequest request) {
        lastRequest = request;
        if (failure != null) {
            return Future.failedFuture(failure);
        }
        if (stripe != 0) {
            throw new IllegalArgumentException("stripe " + stripe);
        }
        List<Position> ids = new ArrayList<>();
        for (NewEvent event : events) {
            EventId own = event.importId();
            ids.add(own == null ? new Position(EventId.EPOCH_MS + ++minted, 0) : own.position());
        }
        ((Stream) stream).events.addAll(events);
        return Future.succeededFuture(new Appended(ids, ids.get(ids.size() - 1)));
    }

    @Override
    public @Nullable LiveStream find(StreamName name) {
        return streams.get(name);
    }

    @Override
    public List<LiveStream> all() {
        return List.copyOf(streams.values());
    }

    @Override
    public Future<LiveStream> findOrCreate(StreamName name) {
        if (!autoCreate && !streams.containsKey(name)) {
            return Future.failedFuture(Problem.notFound("streams.auto_create is off"));
        }
        return put(name, new EnumMap<>(Setting.class)).map(Created::stream);
    }

    @Override
    public Future<Created> put(StreamName name, Map<Setting, @Nullable Long> changes) {
        Stream present = streams.get(name);
        Stream stream = present == null ? new Stream(new StreamId(name, new Generation(++generations))) : present;
        Map<Setting, Long> values = new EnumMap<>(Setting.class);
        changes.forEach((setting, value) -> values.put(setting, value == null ? setting.defaultValue() : value));
        try {
            stream.settings = stream.settings.with(values);
        } catch (IllegalArgumentException e) {
            return Future.failedFuture(e);
        }
        streams.put(name, stream);
        return Future.succeededFuture(new Created(stream, present == null));
    }

    @Override
    public Future<Boolean> delete(StreamName name) {
        return Future.succeededFuture(streams.remove(name) != null);
    }

    private static final class Stream implements LiveStream {
        private final StreamId id;
        private final List<NewEvent> events = new ArrayList<>();
        private StreamSettings settings = StreamSettings.DEFAULT;

        Stream(StreamId id) {
            this.id = id;
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
            return EventId.EPOCH_MS;
        }

        @Override
        public int stripes() {
            return 1;
        }

        @Override
        public TimelineSnapshot snapshot(int stripe) {
            throw new AssertionError("writing needs nothing of the read side");
        }

        @Override
        public Future<Void> open() {
            throw new AssertionError("the keeper opens a stream when it is appended to");
        }

        @Override
        public boolean liveLogReachable() {
            return true;
        }

        @Override
        public boolean isDeleted() {
            return false;
        }

        @Override
        public Runnable follow(Runnable onAdvance) {
            throw new AssertionError("writing needs nothing of the read side");
        }
    }
}
