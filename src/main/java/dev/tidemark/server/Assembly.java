package dev.tidemark.server;

import dev.tidemark.archive.Archive;
import dev.tidemark.archive.DataDirectory;
import dev.tidemark.archive.ReservationFile;
import dev.tidemark.archive.StreamRecord;
import dev.tidemark.archive.StreamRecords;
import dev.tidemark.event.Clock;
import dev.tidemark.event.StoredRequest;
import dev.tidemark.fold.ArchiveStreamStore;
import dev.tidemark.fold.FoldLanes;
import dev.tidemark.fold.FoldPorts;
import dev.tidemark.fold.Orphans;
import dev.tidemark.http.HttpEdge;
import dev.tidemark.http.HttpOptions;
import dev.tidemark.ingest.StreamIngest;
import dev.tidemark.ingest.Timers;
import dev.tidemark.keeper.ArchivedState;
import dev.tidemark.keeper.CallerContext;
import dev.tidemark.keeper.IdReservation;
import dev.tidemark.keeper.KeeperGroup;
import dev.tidemark.keeper.KeeperLimits;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.StreamDirectory;
import dev.tidemark.keeper.StreamSnapshot;
import dev.tidemark.read.Audits;
import dev.tidemark.read.StreamReads;
import dev.tidemark.read.VertxLoops;
import dev.tidemark.retention.MemoryPressure;
import dev.tidemark.retention.RetentionVerticle;
import dev.tidemark.retention.Windows;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Builds the server from its parts, in order, and takes it apart in the reverse order. */
final class Assembly {
    private static final Logger LOG = LoggerFactory.getLogger(Assembly.class);
    private static final long LOCK_RETRY_MS = 500;
    /** A stop waits so long for a start under way. */
    private static final long START_DECIDED_MS = 20_000;

    private static final long DISK_LOOK_MS = 5_000;
    private static final long AUDIT_BEAT_MS = 500;
    private static final int READ_WORKERS = 8;
    /** Request bodies of one event loop may take this part of the heap. */
    private static final int BODIES_HEAP_PART = 16;

    /** Most of a fold of little is waiting for the disk, so there are more lanes than processors; each may hold some slices. */
    private static final int FOLD_LANES =
            Math.toIntExact(Math.max(2, Math.min(4, Runtime.getRuntime().maxMemory() / (64 << 20))));

    private final Vertx vertx;
    private final Configuration configuration;
    private final Clock clock;
    private final CallerContext callers;
    private final List<HttpEdge> edges = new CopyOnWriteArrayList<>();
    /** What runs behind the edge, in the order of its start. */
    private final Deque<String> deployed = new ConcurrentLinkedDeque<>();

    private final AtomicReference<FoldLanes> foldOnceBuilt = new AtomicReference<>();

    private @Nullable DataDirectory data;
    private @Nullable LiveLogParts live;
    private @Nullable Archive archive;
    private @Nullable IdReservation reservation;
    private @Nullable KeeperGroup keepers;
    private @Nullable StreamDirectory streams;
    private @Nullable StreamReads reads;
    private volatile long lostBelowMs;
    /** Whether a stop has left something unfolded. */
    private volatile boolean leavesUnfolded;

    private volatile boolean stopping;
    private @Nullable Future<Void> start;
    private @Nullable Future<Void> stop;

    Assembly(Vertx vertx, Configuration configuration, Clock clock) {
        this.vertx = vertx;
        this.configuration = configuration;
        this.clock = clock;
        this.callers = CallerContext.of(vertx);
    }

    int port() {
        return edges.isEmpty() ? 0 : edges.get(0).port();
    }

    String url() {
        return "http://" + configuration.http().host() + ":" + port();
    }

    // ---- start ----

    /** Starts everything; completes when the server is ready. */
    synchronized Future<Void> start() {
        Future<Void> starting = lockData()
                .compose(locked -> portIsFree().map(locked))
                .compose(this::openBoth)
                .compose(found -> unlessStopping(() -> deploy(found)));
        start = starting;
        return starting;
    }

    /** Redis starts while the disk is looked at; both have ended when this completes. */
    private Future<Found> openBoth(DataDirectory locked) {
        StreamRecords records = new StreamRecords(locked.archive());
        Future<StreamRecords.Listing> listed = vertx.executeBlocking(() -> list(records));
        Future<LiveLogParts> opened = LiveLogParts.open(vertx, configuration, locked, clock)
                .map(parts -> {
                    live = parts;
                    return parts;
                });
        return Future.join(opened, listed)
                .compose(both -> unlessStopping(
                        () -> vertx.executeBlocking(() -> prepare(locked, opened.result(), records, listed.result()))));
    }

    private StreamRecords.Listing list(StreamRecords records) {
        long startNs = clock.monotonicNs();
        StreamRecords.Listing listing = records.list();
        LOG.info(
                "{} streams are on disk, listed in {} ms",
                listing.streams().size(),
                (clock.monotonicNs() - startNs) / 1_000_000);
        listing.bad().forEach(bad -> LOG.error("{} is left alone: {}", bad.folder(), bad.reason()));
        return listing;
    }

    /** Before anything is started that would have to be stopped again. */
    private Future<Void> portIsFree() {
        Configuration.Http http = configuration.http();
        return vertx.executeBlocking(() -> {
            try (ServerSocket socket = new ServerSocket()) {
                socket.setReuseAddress(true);
                socket.bind(new InetSocketAddress(http.host(), http.port()));
                return null;
            } catch (IOException e) {
                throw new IllegalStateException(
                        http.host() + ":" + http.port() + " can't be listened on (" + e.getMessage()
                                + "); choose another port with --port",
                        e);
            }
        });
    }

    private <T> Future<T> unlessStopping(Supplier<Future<T>> step) {
        return stopping
                ? Future.failedFuture(new IllegalStateException("the server was stopped during its start"))
                : step.get();
    }

    /** A start under way comes to its end first, so that there is nothing that it makes afterwards, such as a child Redis. */
    private Future<Void> startDecided() {
        Future<Void> underWay = start;
        return underWay == null
                ? Future.succeededFuture()
                : Future.any(underWay.transform(decided -> Future.succeededFuture()), vertx.timer(START_DECIDED_MS))
                        .mapEmpty();
    }

    private Future<DataDirectory> lockData() {
        return vertx.executeBlocking(() -> DataDirectory.open(configuration.data()))
                .map(locked -> {
                    data = locked;
                    return locked;
                })
                .recover(refusal -> {
                    boolean wait = configuration.start().standby()
                            && !stopping
                            && refusal instanceof DataDirectory.Refused refused
                            && refused.locked();
                    if (!wait) {
                        return Future.failedFuture(refusal);
                    }
                    LOG.info("standing by: {}", refusal.getMessage());
                    return vertx.timer(LOCK_RETRY_MS).compose(later -> lockData());
                });
    }

    /** What the disk says, before anything runs. */
    private record Found(StreamRecords records, StreamRecords.Listing listing, ReservationFile reservation) {}

    private Found prepare(
            DataDirectory locked, LiveLogParts parts, StreamRecords records, StreamRecords.Listing listing) {
        Archive.checkLimits(configuration.limits());
        archive = new Archive(locked.archive(), configuration.limits());
        ReservationFile file = locked.reservation();
        ReservationFile.Reservation before = file.read();
        long startMs = before == null ? 0 : before.highMs();
        boolean clean = before == null || before.clean();
        long lost = RedisRestart.lostBelowMs(before, parts.facts());
        lostBelowMs = lost;
        IdReservation ids = new IdReservation(
                high -> callers.here(vertx.executeBlocking(() -> {
                    file.write(ReservationFile.Reservation.running(
                            high, parts.facts().runId(), lost));
                    return null;
                })),
                clock,
                startMs,
                clean,
                before == null
                        ? IdReservation.Stop.NONE
                        : new IdReservation.Stop(before.stoppedMs(), before.frontiers()),
                lost);
        ids.ensure(clock.wallMs());
        reservation = ids;
        return new Found(records, listing, file);
    }

    /** The fold's, which is there before a stripe is opened. */
    private ArchivedState archivedState() {
        return new ArchivedState() {
            @Override
            public Future<Archived> recover(LiveStream stream, int stripe) {
                return fold().recover(stream, stripe);
            }

            @Override
            public Future<List<StoredRequest>> requests(LiveStream stream, int stripe) {
                return fold().requests(stream, stripe);
            }
        };
    }

    private Future<Void> deploy(Found found) {
        LiveLogParts parts = Objects.requireNonNull(live);
        KeeperLimits limits = KeeperLimits.DEFAULT
                .withMemory(configuration.memoryMaxBytes(), configuration.idleAfterMs())
                .withAcceptance(configuration.acceptanceBytesMax());
        KeeperGroup group = new KeeperGroup(
                vertx,
                clock,
                configuration.keepers(),
                parts.liveLog(),
                archivedState(),
                Objects.requireNonNull(reservation),
                limits);
        keepers = group;
        AtomicReference<ArchiveStreamStore> store = new AtomicReference<>();
        MemoryPressure windows =
                new MemoryPressure(new Windows(), configuration.redis().memoryHighPercent(), clock);
        FoldLanes fold = FoldLanes.over(
                new FoldPorts(
                        group,
                        parts.liveLog(),
                        parts.liveLog(),
                        stream -> Objects.requireNonNull(store.get()).archive(stream),
                        windows,
                        clock),
                callers,
                FOLD_LANES);
        foldOnceBuilt.set(fold);
        ArchiveStreamStore streamStore =
                new ArchiveStreamStore(Objects.requireNonNull(archive), found.records(), parts.liveLog(), fold);
        store.set(streamStore);
        StreamDirectory directory = new StreamDirectory(
                group,
                streamStore,
                configuration.streamDefaults(),
                configuration.autoCreate(),
                clock,
                new SecureRandom(),
                callers);
        streams = directory;
        for (StreamRecord record : found.listing().streams()) {
            streamStore.found(record);
            directory.found(record.id(), record.settings(), record.createdMs());
        }
        RetentionVerticle retention = new RetentionVerticle(
                directory, fold, windows, () -> redisMemory(parts, group), clock, configuration.foldMaxLagMs());
        return fold.deploy(vertx, deployed::addFirst)
                .compose(running -> group.start())
                .compose(running -> vertx.deployVerticle(retention, new DeploymentOptions()))
                .onSuccess(deployed::addFirst)
                .compose(running -> deployEdges(directory, group, fold, retention, streamStore, windows))
                .compose(running -> WarmUp.run(
                        vertx,
                        configuration.http().host(),
                        port(),
                        found.listing().streams(),
                        () -> stopping))
                .map(running -> {
                    recoverInBackground(directory, fold, retention);
                    closeUnusedFiles();
                    new ArchiveSurvey(
                                    vertx,
                                    directory::view,
                                    streamStore,
                                    Objects.requireNonNull(archive).troubles(),
                                    () -> stopping)
                            .start();
                    HeapReturn.every(configuration.idleAfterMs());
                    finishInBackground(streamStore, found.listing().unfinished());
                    return null;
                });
    }

    private static Future<MemoryPressure.Usage> redisMemory(LiveLogParts parts, KeeperGroup group) {
        return parts.liveLog()
                .memory()
                .map(memory ->
                        new MemoryPressure.Usage(memory.usedBytes(), memory.maxBytes(), group.refusedForMemory()));
    }

    private FoldLanes fold() {
        return Objects.requireNonNull(foldOnceBuilt.get(), "the fold is built before the keepers start");
    }

    private Future<Void> deployEdges(
            StreamDirectory directory,
            KeeperGroup group,
            FoldLanes fold,
            RetentionVerticle retention,
            ArchiveStreamStore store,
            MemoryPressure pressure) {
        LiveLogParts parts = Objects.requireNonNull(live);
        WorkerExecutor readers = vertx.createSharedWorkerExecutor("tidemark-read", READ_WORKERS);
        StreamReads reader = new StreamReads(new StreamReads.Ports(
                directory,
                stream -> store.archive(stream.id()),
                parts.liveLog(),
                dev.tidemark.read.Workers.of(readers),
                group,
                configuration.tailTimeoutMs(),
                new VertxLoops(vertx),
                new FoldFigures(fold),
                clock));
        reads = reader;
        StreamIngest ingest = new StreamIngest(
                directory,
                group,
                new FoldAck(fold),
                configuration.limits(),
                dev.tidemark.ingest.Workers.of(vertx),
                Timers.of(vertx));
        Audits audits = new Audits(directory::view, reader, clock);
        vertx.runOnContext(nothing -> vertx.setPeriodic(AUDIT_BEAT_MS, timer -> beat(audits)));
        HealthChecks health = new HealthChecks(
                group,
                Objects.requireNonNull(reservation),
                fold,
                directory,
                new ServerMetrics(group, reader, directory, fold, audits, edges),
                audits,
                new DiskWatch(
                        Objects.requireNonNull(data).path(),
                        Objects.requireNonNull(data).archive(),
                        Objects.requireNonNull(archive).troubles()),
                new RedisWarnings(parts.facts().warnings(), group, pressure),
                () -> stopping,
                clock);
        vertx.setPeriodic(DISK_LOOK_MS, timer -> onWorker("the disk can't be looked at", health::lookAtDisk));
        HttpOptions options = httpOptions();
        List<Future<String>> deployments = new ArrayList<>();
        for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
            HttpEdge edge = new HttpEdge(ingest, reader, retention, health, options, clock);
            edges.add(edge);
            deployments.add(vertx.deployVerticle(edge, new DeploymentOptions()));
        }
        return Future.all(deployments).mapEmpty();
    }

    private void beat(Audits audits) {
        if (!stopping) {
            audits.beat().onFailure(failure -> LOG.warn("streams can't be audited", failure));
        }
    }

    private HttpOptions httpOptions() {
        HttpOptions built = HttpOptions.DEFAULT;
        Configuration.Http http = configuration.http();
        HttpOptions.Timeouts timeouts = built.timeouts();
        return new HttpOptions(
                http.host(),
                http.port(),
                http.hosts(),
                http.allowedOrigins(),
                configuration.limits(),
                built.requestLineBytesMax(),
                http.headerBytesMax(),
                Math.max(
                        Math.min(built.bodiesBytesMax(), Runtime.getRuntime().maxMemory() / BODIES_HEAP_PART),
                        configuration.limits().bodyBytesMax()),
                built.connectionsMax(),
                configuration.subscriberBufferBytes(),
                built.clientMessageBytesMax(),
                http.webSocketCompression(),
                new HttpOptions.Timeouts(
                        http.idleTimeoutMs(),
                        http.bodyTimeoutMs(),
                        timeouts.lingerMs(),
                        timeouts.heartbeatMs(),
                        http.webSocketPingMs(),
                        http.webSocketPingMs(),
                        timeouts.closeMs()));
    }

    /** What dead processes left in Redis is picked up, a little at a time, so that nothing else waits for it. */
    private void recoverInBackground(StreamDirectory directory, FoldLanes fold, RetentionVerticle retention) {
        LiveLogParts parts = Objects.requireNonNull(live);
        Orphans.Ports ports = new Orphans.Ports() {
            @Override
            public Future<?> fold(LiveStream stream) {
                return fold.fold(stream);
            }

            @Override
            public void foldIn(LiveStream stream, long delayMs) {
                retention.lookIn(stream, delayMs);
            }

            @Override
            public Future<?> pause(long ms) {
                return vertx.timer(ms);
            }

            @Override
            public boolean isStopping() {
                return stopping;
            }
        };
        Orphans orphans = new Orphans(parts.liveLog(), parts.liveLog(), ports, clock);
        vertx.runOnContext(nothing -> orphans.lookAt(directory.view()));
    }

    /** Files of streams that nobody uses are closed. */
    private void closeUnusedFiles() {
        Archive files = Objects.requireNonNull(archive);
        vertx.setPeriodic(
                configuration.idleAfterMs(),
                timer -> onWorker("the files of idle streams can't be closed", files::closeUnused));
    }

    /** Not any more when it stops: the threads for it may be gone already. */
    private void onWorker(String failed, Runnable task) {
        if (!stopping) {
            vertx.executeBlocking(() -> {
                        task.run();
                        return null;
                    })
                    .onFailure(failure -> LOG.warn("{}: {}", failed, failure.getMessage()));
        }
    }

    private static void finishInBackground(ArchiveStreamStore store, List<StreamRecord> unfinished) {
        for (StreamRecord record : unfinished) {
            store.finish(record)
                    .onFailure(failure ->
                            LOG.error("the removal of {} isn't finished: {}", record.id(), failure.getMessage()));
        }
    }

    // ---- stop ----

    /** Stops everything in order; the same future however often it is called. */
    synchronized Future<Void> stop() {
        Future<Void> underWay = stop;
        if (underWay == null) {
            stopping = true;
            underWay = startDecided()
                    .compose(decided -> stopEdges())
                    .compose(stopped -> drain())
                    .compose(drained -> foldWhatIsLeft())
                    .transform(
                            folded -> undeploy().transform(ended -> closeFiles(folded.succeeded() && !leavesUnfolded)))
                    .transform(closed -> closeLiveLog())
                    .transform(closed -> unlock());
            stop = underWay;
        }
        return underWay;
    }

    private Future<Void> stopEdges() {
        StreamReads reader = reads;
        List<Future<Void>> ended = edges.stream()
                .map(HttpEdge::deploymentID)
                .map(id -> id == null ? Future.<Void>succeededFuture() : vertx.undeploy(id))
                .toList();
        return ended.isEmpty()
                ? Future.succeededFuture()
                : Future.join(ended).transform(any -> {
                    if (reader != null) {
                        reader.stop();
                    }
                    return Future.succeededFuture();
                });
    }

    /** Waits for the answers to appends under way. */
    private Future<Void> drain() {
        KeeperGroup group = keepers;
        if (group == null) {
            return Future.succeededFuture();
        }
        return drain(group, clock.monotonicNs() + 2_000_000_000L);
    }

    private Future<Void> drain(KeeperGroup group, long untilNs) {
        return group.isQuiet().compose(quiet -> {
            if (quiet || clock.monotonicNs() > untilNs) {
                return Future.succeededFuture();
            }
            return vertx.timer(20).compose(later -> drain(group, untilNs));
        });
    }

    private Future<Void> foldWhatIsLeft() {
        StreamDirectory directory = streams;
        FoldLanes fold = foldOnceBuilt.get();
        if (directory == null || fold == null || keepers == null) {
            return Future.succeededFuture();
        }
        List<Future<?>> folds = new ArrayList<>();
        for (LiveStream stream : directory.view()) {
            boolean unfolded =
                    stream.snapshot().tail().isAfter(fold.status(stream).watermark());
            leavesUnfolded |= stream.snapshot().isOpen() && unfolded && !stream.liveLogReachable();
            if (stream.snapshot().isOpen() && unfolded && stream.liveLogReachable()) {
                folds.add(fold.foldAll(stream).onFailure(failure -> {
                    leavesUnfolded = true;
                    LOG.warn("stream {} is only in Redis above its watermark: {}", stream.name(), failure.getMessage());
                }));
            }
        }
        if (folds.isEmpty()) {
            LeftUnfolded.log(directory.view(), fold);
            return Future.succeededFuture();
        }
        Future<Void> late = vertx.timer(configuration.shutdownTimeoutMs()).compose(passed -> {
            leavesUnfolded = true;
            LOG.warn("shutdown_timeout is over: what isn't folded is still in Redis");
            LeftUnfolded.log(directory.view(), fold);
            return Future.succeededFuture();
        });
        return Future.any(Future.join(folds).transform(any -> Future.succeededFuture()), late)
                .map(ended -> {
                    leavesUnfolded |= directory.view().stream().anyMatch(stream -> endsAboveWatermark(stream, fold));
                    return null;
                });
    }

    /** With everything folded it does so only over a loss that no event stands behind yet: the next start has to look again. */
    private static boolean endsAboveWatermark(LiveStream stream, FoldLanes fold) {
        StreamSnapshot snapshot = stream.snapshot();
        return stream.finalOnArrival()
                && snapshot.isOpen()
                && snapshot.tail().isAfter(fold.status(stream).watermark());
    }

    /** Ends the verticles behind the edge: retention, keepers, fold. */
    private Future<Void> undeploy() {
        String next = deployed.poll();
        if (next == null) {
            KeeperGroup group = keepers;
            return group == null ? Future.succeededFuture() : group.stop();
        }
        return vertx.undeploy(next).transform(ended -> undeploy());
    }

    private Future<Void> closeFiles(boolean inOrder) {
        Archive open = archive;
        DataDirectory locked = data;
        IdReservation ids = reservation;
        return vertx.executeBlocking(() -> {
            if (open != null) {
                open.close();
            }
            if (locked != null && ids != null && inOrder && edgesStarted()) {
                long highMs = Math.max(ids.startMs(), ids.usedMs() + 1);
                StreamDirectory directory = streams;
                IdReservation.Stop stop = ids.stop(directory == null ? List.of() : directory.view());
                locked.reservation()
                        .write(new ReservationFile.Reservation(
                                highMs,
                                true,
                                Objects.requireNonNull(live).facts().runId(),
                                stop.ms(),
                                lostBelowMs,
                                stop.frontiers()));
            }
            return null;
        });
    }

    private boolean edgesStarted() {
        return port() > 0;
    }

    private Future<Void> closeLiveLog() {
        LiveLogParts parts = live;
        return parts == null ? Future.succeededFuture() : parts.close();
    }

    private Future<Void> unlock() {
        DataDirectory locked = data;
        return vertx.executeBlocking(() -> {
            if (locked != null) {
                locked.close();
            }
            return null;
        });
    }
}
