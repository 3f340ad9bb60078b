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
import dev.tidemark.ingest.StreamIngest;
import dev.tidemark.ingest.Timers;
import dev.tidemark.keeper.ArchivedState;
import dev.tidemark.keeper.CallerContext;
import dev.tidemark.keeper.IdReservation;
import dev.tidemark.keeper.KeeperGroup;
import dev.tidemark.keeper.KeeperLimits;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.StreamDirectory;
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
import java.util.List;
import java.util.Objects;
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

    private static final int READ_WORKERS = 8;

    /** Most of a fold of little is waiting for the disk, so there are more lanes than processors; each may hold some slices. */
    private static final int FOLD_LANES =
            Math.toIntExact(Math.max(2, Math.min(4, Runtime.getRuntime().maxMemory() / (64 << 20))));

    private final Vertx vertx;
    private final Configuration configuration;
    private final Clock clock;
    private final CallerContext callers;
    private final Edges edges;
    private final BackgroundWork background;
    private final ServerStop atStop;

    private volatile boolean stopping;
    private @Nullable Future<Void> start;
    private @Nullable Future<Void> stop;

    Assembly(Vertx vertx, Configuration configuration, Clock clock) {
        this.vertx = vertx;
        this.configuration = configuration;
        this.clock = clock;
        this.callers = CallerContext.of(vertx);
        edges = new Edges(vertx, configuration, clock);
        background = new BackgroundWork(vertx, configuration, clock, () -> stopping);
        atStop = new ServerStop(vertx, clock, configuration.shutdownTimeoutMs(), edges);
    }

    int port() {
        return edges.port();
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
                    atStop.closes(parts);
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

    private Future<DataDirectory> lockData() {
        return vertx.executeBlocking(() -> DataDirectory.open(configuration.data()))
                .map(locked -> {
                    atStop.unlocks(locked);
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
    private record Found(
            DataDirectory data,
            LiveLogParts live,
            StreamRecords records,
            StreamRecords.Listing listing,
            Archive archive,
            IdReservation reservation) {}

    private Found prepare(
            DataDirectory locked, LiveLogParts parts, StreamRecords records, StreamRecords.Listing listing) {
        Archive.checkLimits(configuration.limits());
        Archive archive = new Archive(locked.archive(), configuration.limits());
        atStop.closes(archive);
        ReservationFile file = locked.reservation();
        ReservationFile.Reservation before = file.read();
        long startMs = before == null ? 0 : before.highMs();
        boolean clean = before == null || before.clean();
        long lost = RedisRestart.lostBelowMs(before, parts.facts());
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
        atStop.writesDown(ids, lost);
        return new Found(locked, parts, records, listing, archive, ids);
    }

    /** The fold's, which is there before a stripe is opened. */
    private static ArchivedState archivedState(AtomicReference<FoldLanes> foldOnceBuilt) {
        return new ArchivedState() {
            @Override
            public Future<Archived> recover(LiveStream stream, int stripe) {
                return fold(foldOnceBuilt).recover(stream, stripe);
            }

            @Override
            public Future<List<StoredRequest>> requests(LiveStream stream, int stripe) {
                return fold(foldOnceBuilt).requests(stream, stripe);
            }
        };
    }

    private static FoldLanes fold(AtomicReference<FoldLanes> foldOnceBuilt) {
        return Objects.requireNonNull(foldOnceBuilt.get(), "the fold is built before the keepers start");
    }

    private Future<Void> deploy(Found found) {
        LiveLogParts parts = found.live();
        AtomicReference<FoldLanes> foldOnceBuilt = new AtomicReference<>();
        KeeperLimits limits = KeeperLimits.DEFAULT
                .withMemory(configuration.memoryMaxBytes(), configuration.idleAfterMs())
                .withAcceptance(configuration.acceptanceBytesMax());
        KeeperGroup group = new KeeperGroup(
                vertx,
                clock,
                configuration.keepers(),
                parts.liveLog(),
                archivedState(foldOnceBuilt),
                found.reservation(),
                limits);
        atStop.drains(group);
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
        atStop.foldsWith(fold);
        ArchiveStreamStore streamStore =
                new ArchiveStreamStore(found.archive(), found.records(), parts.liveLog(), fold);
        store.set(streamStore);
        StreamDirectory directory = new StreamDirectory(
                group,
                streamStore,
                configuration.streamDefaults(),
                configuration.autoCreate(),
                clock,
                new SecureRandom(),
                callers);
        atStop.folds(directory);
        for (StreamRecord record : found.listing().streams()) {
            streamStore.found(record);
            directory.found(record.id(), record.settings(), record.createdMs());
        }
        RetentionVerticle retention = new RetentionVerticle(
                directory, fold, windows, () -> redisMemory(parts, group), clock, configuration.foldMaxLagMs());
        return fold.deploy(vertx, atStop::undeploys)
                .compose(running -> group.start())
                .compose(running -> vertx.deployVerticle(retention, new DeploymentOptions()))
                .onSuccess(atStop::undeploys)
                .compose(running -> deployEdges(found, directory, group, fold, retention, streamStore, windows))
                .compose(running -> WarmUp.run(
                        vertx,
                        configuration.http().host(),
                        port(),
                        found.listing().streams(),
                        () -> stopping))
                .map(running -> {
                    background.recoverInBackground(parts, directory, fold, retention);
                    background.closeUnusedFiles(found.archive());
                    background.survey(directory, streamStore, found.archive());
                    HeapReturn.every(configuration.idleAfterMs());
                    background.finishInBackground(streamStore, found.listing().unfinished());
                    return null;
                });
    }

    private static Future<MemoryPressure.Usage> redisMemory(LiveLogParts parts, KeeperGroup group) {
        return parts.liveLog()
                .memory()
                .map(memory ->
                        new MemoryPressure.Usage(memory.usedBytes(), memory.maxBytes(), group.refusedForMemory()));
    }

    private Future<Void> deployEdges(
            Found found,
            StreamDirectory directory,
            KeeperGroup group,
            FoldLanes fold,
            RetentionVerticle retention,
            ArchiveStreamStore store,
            MemoryPressure pressure) {
        LiveLogParts parts = found.live();
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
        atStop.ends(reader);
        StreamIngest ingest = new StreamIngest(
                directory,
                group,
                new FoldAck(fold),
                configuration.limits(),
                dev.tidemark.ingest.Workers.of(vertx),
                Timers.of(vertx));
        Audits audits = new Audits(directory::view, reader, clock);
        background.audit(audits);
        HealthChecks health = new HealthChecks(
                group,
                found.reservation(),
                fold,
                directory,
                new ServerMetrics(group, reader, directory, fold, audits, edges.view()),
                audits,
                new DiskWatch(
                        found.data().path(),
                        found.data().archive(),
                        found.archive().troubles()),
                new RedisWarnings(parts.facts().warnings(), group, pressure),
                () -> stopping,
                clock);
        background.lookAtDisk(health);
        return edges.deploy(ingest, reader, retention, health);
    }

    // ---- stop ----

    /** Stops everything in order; the same future however often it is called. */
    synchronized Future<Void> stop() {
        Future<Void> underWay = stop;
        if (underWay == null) {
            stopping = true;
            underWay = atStop.run(startDecided());
            stop = underWay;
        }
        return underWay;
    }

    /** A start under way comes to its end first, so that there is nothing that it makes afterwards, such as a child Redis. */
    private Future<Void> startDecided() {
        Future<Void> underWay = start;
        return underWay == null
                ? Future.succeededFuture()
                : Future.any(underWay.transform(decided -> Future.succeededFuture()), vertx.timer(START_DECIDED_MS))
                        .mapEmpty();
    }
}
