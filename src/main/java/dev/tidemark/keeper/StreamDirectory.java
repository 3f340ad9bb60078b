package dev.tidemark.keeper;

import dev.tidemark.event.Clock;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.StreamSettings;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The streams of this process. Changes to one name are made one after the other; look-ups never wait.
 */
public final class StreamDirectory implements Streams {
    private static final Logger LOG = LoggerFactory.getLogger(StreamDirectory.class);

    private final KeeperGroup keepers;
    private final StreamStore store;
    private final StreamSettings defaults;
    private final boolean autoCreate;
    private final Clock clock;
    private final RandomGenerator random;
    private final CallerContext callers;
    private final ConcurrentSkipListMap<StreamName, KeeperStream> streams = new ConcurrentSkipListMap<>();
    private final StreamActivity activity = new StreamActivity();
    /** The last change under way, by name. */
    private final Map<StreamName, Future<?>> changes = new ConcurrentHashMap<>();

    /**
     * @param defaults settings of a stream that chose nothing
     * @param autoCreate whether an append to an unknown stream creates it
     * @param random for generations; must not repeat over restarts
     */
    public StreamDirectory(
            KeeperGroup keepers,
            StreamStore store,
            StreamSettings defaults,
            boolean autoCreate,
            Clock clock,
            RandomGenerator random,
            CallerContext callers) {
        this.keepers = keepers;
        this.store = store;
        this.defaults = defaults;
        this.autoCreate = autoCreate;
        this.clock = clock;
        this.random = random;
        this.callers = callers;
    }

    /**
     * Adds a stream that was found on disk at the start.
     *
     * @throws IllegalArgumentException if what it chose contradicts the present defaults, naming stream and settings
     */
    public void found(StreamId id, Map<Setting, Long> chosen, long createdMs) {
        StreamSettings settings;
        try {
            settings = defaults.with(chosen);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "stream '" + id.name() + "' contradicts the defaults of streams: " + e.getMessage(), e);
        }
        KeeperStream stream = new KeeperStream(id, createdMs, false, chosen, settings, keepers::open);
        stream.tellsChanges(activity);
        streams.put(id.name(), stream);
    }

    /** What has changed in these streams. */
    public StreamActivity activity() {
        return activity;
    }

    @Override
    public @Nullable LiveStream find(StreamName name) {
        return streams.get(name);
    }

    @Override
    public List<LiveStream> all() {
        return List.copyOf(streams.values());
    }

    /** Without a copy: a live view in the order of the names. */
    public Collection<? extends LiveStream> view() {
        return streams.values();
    }

    @Override
    public Future<LiveStream> findOrCreate(StreamName name) {
        KeeperStream there = streams.get(name);
        if (there != null) {
            return Future.succeededFuture(there);
        }
        if (!autoCreate) {
            return Future.failedFuture(
                    Problem.notFound("there is no stream '" + name + "', and streams.auto_create is off"));
        }
        return put(name, Map.of()).map(Created::stream);
    }

    @Override
    public Future<Created> put(StreamName name, Map<Setting, @Nullable Long> changed) {
        return inTurn(name, () -> {
            KeeperStream there = streams.get(name);
            return there == null ? create(name, changed) : update(there, changed);
        });
    }

    private Future<Created> create(StreamName name, Map<Setting, @Nullable Long> changed) {
        Map<Setting, Long> chosen = merge(Map.of(), changed);
        StreamSettings settings = checked(chosen);
        chosen.put(Setting.STRIPES, settings.value(Setting.STRIPES));
        chosen.put(Setting.ROLL, settings.value(Setting.ROLL));
        StreamId id = new StreamId(name, Generation.random(random));
        long createdMs = clock.wallMs();
        KeeperStream stream = new KeeperStream(id, createdMs, true, chosen, settings, keepers::open);
        stream.tellsChanges(activity);
        return store.create(id, chosen, createdMs).map(stored -> {
            streams.put(name, stream);
            return new Created(stream, true);
        });
    }

    private Future<Created> update(KeeperStream stream, Map<Setting, @Nullable Long> changed) {
        if (changed.isEmpty()) {
            return Future.succeededFuture(new Created(stream, false));
        }
        Map<Setting, Long> chosen = merge(stream.chosen(), changed);
        for (Setting setting : Setting.values()) {
            if (setting.fixedAtCreation()) {
                chosen.putIfAbsent(setting, defaults.value(setting));
            }
        }
        StreamSettings settings = checked(chosen);
        for (Setting setting : Setting.values()) {
            if (setting.fixedAtCreation()
                    && settings.value(setting) != stream.settings().value(setting)) {
                throw new Problem(
                                Problem.Kind.CONFLICT,
                                setting.key() + " can't change after the stream was created; it is "
                                        + setting.format(stream.settings().value(setting)))
                        .with("setting", setting.key());
            }
        }
        boolean windowEnds = settings.acceptanceWindowMs() == 0 && !stream.finalOnArrival();
        return (windowEnds ? foldSorted(stream, settings) : Future.<Void>succeededFuture())
                .compose(folded -> store.update(stream.id(), chosen, stream.createdMs()))
                .compose(stored -> {
                    stream.settings(chosen, settings);
                    if (settings.acceptanceWindowMs() == 0 || !stream.finalOnArrival()) {
                        return Future.succeededFuture();
                    }
                    stream.sorted();
                    return keepers.sortFromNow(stream);
                })
                .map(new Created(stream, false));
    }

    /** A window that ends stays on record until what it has sorted is folded: a start must know that entries don't stand in id order. */
    private Future<Void> foldSorted(KeeperStream stream, StreamSettings settings) {
        StreamSettings before = stream.settings();
        Map<Setting, Long> chosenBefore = stream.chosen();
        if (before.acceptanceWindowMs() == 0) {
            return Future.succeededFuture();
        }
        stream.settings(chosenBefore, settings);
        return store.fold(stream).<Void>mapEmpty().onFailure(failure -> stream.settings(chosenBefore, before));
    }

    private static Map<Setting, Long> merge(Map<Setting, Long> chosen, Map<Setting, @Nullable Long> changed) {
        Map<Setting, Long> merged = new EnumMap<>(Setting.class);
        merged.putAll(chosen);
        changed.forEach((setting, value) -> {
            if (value == null) {
                merged.remove(setting);
            } else {
                merged.put(setting, value);
            }
        });
        return merged;
    }

    private StreamSettings checked(Map<Setting, Long> chosen) {
        try {
            return defaults.with(chosen);
        } catch (IllegalArgumentException e) {
            throw Problem.badRequest(String.valueOf(e.getMessage()));
        }
    }

    @Override
    public Future<Boolean> delete(StreamName name) {
        return inTurn(name, () -> {
            KeeperStream stream = streams.get(name);
            if (stream == null) {
                return Future.succeededFuture(false);
            }
            return store.tombstone(stream.id(), stream.chosen(), stream.createdMs())
                    .compose(marked -> {
                        streams.remove(name);
                        stream.deleted();
                        return keepers.close(stream);
                    })
                    .compose(closed -> store.remove(stream.id(), stream.stripes())
                            .recover(failure -> {
                                LOG.warn(
                                        "what is left of {} is removed at the next start: {}",
                                        stream.id(),
                                        failure.getMessage());
                                return Future.succeededFuture();
                            }))
                    .map(true);
        });
    }

    /** Runs a change of a name behind the one under way. */
    private <T> Future<T> inTurn(StreamName name, Supplier<Future<T>> change) {
        Promise<T> promise = callers.promise();
        Future<T> result = promise.future();
        Future<?> before = changes.put(name, result);
        Future<?> ready = before == null ? Future.succeededFuture() : before;
        ready.transform(decided -> run(change)).onComplete(done -> {
            changes.remove(name, result);
            promise.handle(done);
        });
        return result;
    }

    private static <T> Future<T> run(Supplier<Future<T>> change) {
        try {
            return change.get();
        } catch (RuntimeException refused) {
            return Future.failedFuture(refused);
        }
    }
}
