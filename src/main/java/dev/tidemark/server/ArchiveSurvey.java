package dev.tidemark.server;

import dev.tidemark.archive.ArchiveException;
import dev.tidemark.archive.ArchiveTroubles;
import dev.tidemark.event.StreamId;
import dev.tidemark.fold.ArchiveStreamStore;
import dev.tidemark.keeper.LiveStream;
import io.vertx.core.Vertx;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at the folders of all archives, after the start and then again and again, so that whoever removes a file hears of it though
 * nobody reads. A few at a time, on workers. Its state belongs to its event loop.
 */
final class ArchiveSurvey {
    private static final Logger LOG = LoggerFactory.getLogger(ArchiveSurvey.class);
    private static final int AT_ONCE = 64;
    private static final long PAUSE_MS = 20;
    private static final long ROUND_MS = 10_000;

    private final Vertx vertx;
    private final Supplier<Collection<? extends LiveStream>> streams;
    private final ArchiveStreamStore store;
    private final ArchiveTroubles troubles;
    private final BooleanSupplier stopping;

    private Deque<StreamId> left = new ArrayDeque<>();
    private boolean told;

    ArchiveSurvey(
            Vertx vertx,
            Supplier<Collection<? extends LiveStream>> streams,
            ArchiveStreamStore store,
            ArchiveTroubles troubles,
            BooleanSupplier stopping) {
        this.vertx = vertx;
        this.streams = streams;
        this.store = store;
        this.troubles = troubles;
        this.stopping = stopping;
    }

    /** Begins the first round. */
    void start() {
        vertx.runOnContext(nothing -> round());
    }

    private void round() {
        Deque<StreamId> all = new ArrayDeque<>();
        streams.get().forEach(stream -> all.add(stream.id()));
        left = all;
        goOn();
    }

    private void goOn() {
        if (stopping.getAsBoolean()) {
            return;
        }
        if (left.isEmpty()) {
            if (!told) {
                told = true;
                tell();
            }
            vertx.setTimer(ROUND_MS, timer -> round());
            return;
        }
        Deque<StreamId> some = new ArrayDeque<>();
        while (some.size() < AT_ONCE && !left.isEmpty()) {
            some.add(left.poll());
        }
        vertx.executeBlocking(
                        () -> {
                            some.forEach(this::look);
                            return null;
                        },
                        false)
                .onComplete(looked -> vertx.setTimer(PAUSE_MS, timer -> goOn()));
    }

    private void look(StreamId stream) {
        try {
            store.look(stream);
        } catch (ArchiveException e) {
            LOG.warn("{}", e.getMessage());
        }
    }

    private void tell() {
        int count = troubles.all().size();
        if (count > 0) {
            LOG.warn(
                    "{} files of archives are missing or damaged: the rest is served, readers are told of the gaps",
                    count);
        }
    }
}
