package dev.tidemark.http;

import dev.tidemark.event.EventId;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.StreamSettings;
import dev.tidemark.ingest.AppendRequest;
import dev.tidemark.ingest.AppendResult;
import dev.tidemark.ingest.Ingest;
import dev.tidemark.ingest.StreamInfo;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Keeps what is appended, one event a request, and answers as the test wants. */
final class FakeIngest implements Ingest {
    final List<AppendRequest> requests = new CopyOnWriteArrayList<>();
    final FakeReads reads;
    /** The answer; null for the usual one. */
    volatile @Nullable Function<AppendRequest, Future<AppendResult>> answer;

    volatile Map<String, @Nullable Object> lastSettings = Map.of();

    FakeIngest(FakeReads reads) {
        this.reads = reads;
    }

    @Override
    public Future<AppendResult> append(AppendRequest request) {
        requests.add(request);
        var other = answer;
        if (other != null) {
            return other.apply(request);
        }
        if (request.body().length() == 0) {
            return Future.failedFuture(new Problem(Problem.Kind.BAD_BODY, "the body is empty"));
        }
        FakeStream stream = reads.stream(request.stream());
        stream.add("application/json", request.body().getBytes());
        return Future.succeededFuture(stored(stream, 1, false, "live", true));
    }

    /** The result of having stored the last {@code count} events. */
    static AppendResult stored(FakeStream stream, int count, boolean duplicate, String ack, boolean complete) {
        List<EventId> ids = new ArrayList<>();
        for (int i = stream.count() - count; i < stream.count(); i++) {
            ids.add(EventId.of(FakeStream.position(i)));
        }
        return new AppendResult(stream.id.name(), ids, ids.size(), stream.end(), duplicate, ack, complete);
    }

    @Override
    public List<StreamInfo> streams(@Nullable String after, int limit) {
        return new TreeMap<>(reads.streams)
                .values().stream()
                        .filter(s -> after == null || s.id.name().value().compareTo(after) > 0)
                        .limit(limit)
                        .map(FakeIngest::info)
                        .toList();
    }

    private static StreamInfo info(FakeStream stream) {
        return new StreamInfo(stream.id, StreamSettings.DEFAULT, 1_764_440_000_000L);
    }

    @Override
    public StreamInfo stream(StreamName name) {
        FakeStream stream = reads.streams.get(name.value());
        if (stream == null) {
            throw Problem.noStream(name);
        }
        return info(stream);
    }

    @Override
    public Future<Put> put(StreamName name, Map<String, @Nullable Object> settings) {
        lastSettings = settings;
        for (String key : settings.keySet()) {
            if (Setting.byKey(key) == null) {
                return Future.failedFuture(Problem.badRequest("unknown setting '" + key + "'"));
            }
        }
        boolean created = !reads.streams.containsKey(name.value());
        return Future.succeededFuture(new Put(info(reads.stream(name.value())), created));
    }

    @Override
    public Future<Void> delete(StreamName name) {
        return reads.streams.remove(name.value()) == null
                ? Future.failedFuture(Problem.noStream(name))
                : Future.succeededFuture();
    }
}
