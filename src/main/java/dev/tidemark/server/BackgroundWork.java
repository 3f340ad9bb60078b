package dev.tidemark.server;

import dev.tidemark.archive.Archive;
import dev.tidemark.archive.StreamRecord;
import dev.tidemark.event.Clock;
import dev.tidemark.fold.ArchiveStreamStore;
import dev.tidemark.fold.FoldLanes;
import dev.tidemark.fold.Orphans;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.StreamDirectory;
import dev.tidemark.read.Audits;
import dev.tidemark.retention.RetentionVerticle;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a server does by itself beside its verticles, on event loops and workers: it looks at the disk and at its archives, audits, picks
 * up what dead processes left, closes files that nobody uses. {@link Assembly} owns it and begins each part when what it needs is there;
 * all of it ends when the server stops.
 */
final class BackgroundWork {
    private static final Logger LOG = LoggerFactory.getLogger(BackgroundWork.class);
    private static final long DISK_LOOK_MS = 5_000;
    private static final long AUDIT_BEAT_MS = 500;

    private final Vertx vertx;
    private final Configuration configuration;
    private final Clock clock;
    private final BooleanSupplier stopping;

    BackgroundWork(Vertx vertx, Configuration configuration, Clock clock, BooleanSupplier stopping) {
        this.vertx = vertx;
        this.configuration = configuration;
        this.clock = clock;
        this.stopping = stopping;
    }

    /** Streams are audited, one after the other, for as long as it runs. */
    void audit(Audits audits) {
        vertx.runOnContext(nothing -> vertx.setPeriodic(AUDIT_BEAT_MS, timer -> beat(audits)));
    }

    private void beat(Audits audits) {
        if (!stopping.getAsBoolean()) {
            audits.beat().onFailure(failure -> LOG.warn("streams can't be audited", failure));
        }
    }

    /** The disk is looked at, for health. */
    void lookAtDisk(HealthChecks health) {
        vertx.setPeriodic(DISK_LOOK_MS, timer -> onWorker("the disk can't be looked at", health::lookAtDisk));
    }

    /** What dead processes left in Redis is picked up, a little at a time, so that nothing else waits for it. */
    void recoverInBackground(
            LiveLogParts parts, StreamDirectory directory, FoldLanes fold, RetentionVerticle retention) {
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
                return stopping.getAsBoolean();
            }
        };
        Orphans orphans = new Orphans(parts.liveLog(), parts.liveLog(), ports, clock);
        vertx.runOnContext(nothing -> orphans.lookAt(directory.view()));
    }

    /** Files of streams that nobody uses are closed. */
    void closeUnusedFiles(Archive files) {
        vertx.setPeriodic(
                configuration.idleAfterMs(),
                timer -> onWorker("the files of idle streams can't be closed", files::closeUnused));
    }

    /** Archives' folders are looked at, again and again. */
    void survey(StreamDirectory directory, ArchiveStreamStore store, Archive files) {
        new ArchiveSurvey(vertx, directory::view, store, files.troubles(), stopping).start();
    }

    /** Removals that a dead process began are finished. */
    void finishInBackground(ArchiveStreamStore store, List<StreamRecord> unfinished) {
        for (StreamRecord record : unfinished) {
            store.finish(record)
                    .onFailure(failure ->
                            LOG.error("the removal of {} isn't finished: {}", record.id(), failure.getMessage()));
        }
    }

    /** Not any more when it stops: the threads for it may be gone already. */
    private void onWorker(String failed, Runnable task) {
        if (!stopping.getAsBoolean()) {
            vertx.executeBlocking(() -> {
                        task.run();
                        return null;
                    })
                    .onFailure(failure -> LOG.warn("{}: {}", failed, failure.getMessage()));
        }
    }
}
