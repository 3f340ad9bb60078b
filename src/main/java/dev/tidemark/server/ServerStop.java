package dev.tidemark.server;

import dev.tidemark.archive.Archive;
import dev.tidemark.archive.DataDirectory;
import dev.tidemark.archive.ReservationFile;
import dev.tidemark.event.Clock;
import dev.tidemark.fold.FoldLanes;
import dev.tidemark.keeper.IdReservation;
import dev.tidemark.keeper.KeeperGroup;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.StreamDirectory;
import dev.tidemark.keeper.StreamSnapshot;
import dev.tidemark.read.StreamReads;
import io.vertx.core.Future;
import io.vertx.core.Timer;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes a server apart, in the reverse order of its start. It is told of each part as soon as there is one, so what a start has built
 * that failed half-way is taken apart as well. {@link Assembly} owns it; its start tells of the parts, one step after the other, and
 * {@link #run} begins when the start is decided.
 */
final class ServerStop {
    private static final Logger LOG = LoggerFactory.getLogger(ServerStop.class);

    private final Vertx vertx;
    private final Clock clock;
    private final long timeoutMs;
    private final Edges edges;
    /** What runs behind the edge; what was started last is the first. */
    private final Deque<String> deployed = new ConcurrentLinkedDeque<>();

    // The parts there are: written by the start's steps.
    private @Nullable DataDirectory data;
    private @Nullable LiveLogParts live;
    private @Nullable Archive archive;
    private @Nullable IdReservation reservation;
    private volatile long lostBelowMs;
    private @Nullable KeeperGroup keepers;
    private volatile @Nullable FoldLanes lanes;
    private @Nullable StreamDirectory streams;
    private @Nullable StreamReads reads;

    /** Whether a stop has left something unfolded. */
    private volatile boolean leavesUnfolded;

    /** @param timeoutMs how long what is open may take to be folded */
    ServerStop(Vertx vertx, Clock clock, long timeoutMs, Edges edges) {
        this.vertx = vertx;
        this.clock = clock;
        this.timeoutMs = timeoutMs;
        this.edges = edges;
    }

    // ---- the parts

    void unlocks(DataDirectory locked) {
        data = locked;
    }

    void closes(LiveLogParts parts) {
        live = parts;
    }

    void closes(Archive files) {
        archive = files;
    }

    /** @param lost what the server's start found: ids below it may have been lost */
    void writesDown(IdReservation ids, long lost) {
        lostBelowMs = lost;
        reservation = ids;
    }

    void drains(KeeperGroup group) {
        keepers = group;
    }

    void foldsWith(FoldLanes fold) {
        lanes = fold;
    }

    void folds(StreamDirectory directory) {
        streams = directory;
    }

    void ends(StreamReads reader) {
        reads = reader;
    }

    /** A verticle behind the edge: what was deployed last ends first. */
    void undeploys(String deployment) {
        deployed.addFirst(deployment);
    }

    // ---- their end

    /** Ends everything in order. */
    Future<Void> run(Future<Void> startDecided) {
        return startDecided
                .compose(decided -> stopEdges())
                .compose(stopped -> drain())
                .compose(drained -> foldWhatIsLeft())
                .transform(folded -> undeploy().transform(ended -> closeFiles(folded.succeeded() && !leavesUnfolded)))
                .transform(closed -> closeLiveLog())
                .transform(closed -> unlock());
    }

    private Future<Void> stopEdges() {
        StreamReads reader = reads;
        return edges.isEmpty()
                ? Future.succeededFuture()
                : edges.undeploy().transform(any -> {
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
        FoldLanes fold = lanes;
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
        Timer timeout = vertx.timer(timeoutMs);
        Future<Void> late = timeout.compose(passed -> {
            leavesUnfolded = true;
            LOG.warn("shutdown_timeout is over: what isn't folded is still in Redis");
            LeftUnfolded.log(directory.view(), fold);
            return Future.succeededFuture();
        });
        return Future.any(Future.join(folds).transform(any -> Future.succeededFuture()), late)
                .map(ended -> {
                    timeout.cancel();
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
            if (locked != null && ids != null && inOrder && edges.port() > 0) {
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
