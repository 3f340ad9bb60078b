package dev.tidemark.fold;

import dev.tidemark.archive.ArchiveAppender;
import dev.tidemark.event.Clock;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.StoredRequest;
import dev.tidemark.event.StreamId;
import dev.tidemark.keeper.ArchivedState;
import dev.tidemark.keeper.CallerContext;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.SealedChunks;
import dev.tidemark.livelog.LiveLogException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One lane of the fold: the archives, Ws and trims of the streams that {@link FoldLanes} gave it are its own. Deployed as a worker with
 * one thread; cycles take turns of some slices, so that what they hold in memory is bounded and no stream starves another.
 */
final class FoldVerticle extends VerticleBase implements Folds, ArchivedState {
    private static final Logger LOG = LoggerFactory.getLogger(FoldVerticle.class);
    private static final long BACKOFF_NS_MIN = 200_000_000;
    private static final long BACKOFF_NS_MAX = 5_000_000_000L;
    private static final long TRIM_RETRY_NS = 1_000_000_000L;

    /** Cycles under way at a time: with more, they would interleave where they wait for Redis. */
    private static final int CYCLES_MAX = 1;
    /** Slices of one stream before other streams have their turn. */
    private static final int TURN_SLICES = 8;

    private final FoldCycle cycle;
    private final Archives archives;
    private final SealedChunks keepers;
    private final Clock clock;
    private final CallerContext callers;
    private final Map<StreamId, StreamFold> folds = new ConcurrentHashMap<>();
    /** On the fold. */
    private final FoldQueue queue;

    private boolean starting;
    private boolean stopped;

    FoldVerticle(FoldCycle cycle, Archives archives, SealedChunks keepers, Clock clock, CallerContext callers) {
        this.cycle = cycle;
        this.archives = archives;
        this.keepers = keepers;
        this.clock = clock;
        this.callers = callers;
        this.queue = new FoldQueue(clock, CYCLES_MAX);
    }

    /** The fold over real ports. */
    static FoldVerticle over(FoldPorts ports, CallerContext callers) {
        FoldCycle cycle =
                new FoldCycle(ports.keepers(), ports.reader(), ports.trimmer(), ports.bounds(), ports.clock());
        return new FoldVerticle(cycle, ports.archives(), ports.keepers(), ports.clock(), callers);
    }

    /**
     * Starts no further cycle, and waits for those under way and for what Redis has still to answer: later, the answers would find this
     * thread gone.
     */
    @Override
    public Future<?> stop() {
        stopped = true;
        cycle.stop();
        queue.takeAll().forEach(this::start);
        List<Future<Void>> ends = new ArrayList<>();
        for (StreamFold fold : folds.values()) {
            Promise<Void> ended = Promise.promise();
            fold.whenQuiet(ended::complete);
            ends.add(ended.future());
        }
        return Future.join(ends);
    }

    @Override
    public Future<Position> fold(LiveStream stream) {
        return onFold(promise -> join(of(stream), promise, false));
    }

    @Override
    public Future<Position> foldAll(LiveStream stream) {
        return keepers.seal(stream).compose(frontier -> onFold(promise -> join(of(stream), promise, true)));
    }

    @Override
    public FoldStatus status(LiveStream stream) {
        StreamFold fold = folds.get(stream.id());
        return fold == null ? FoldStatus.NONE : fold.status();
    }

    /** Whether a fold that failed isn't to be tried again yet. Any thread. */
    boolean isBackingOff(LiveStream stream) {
        StreamFold fold = folds.get(stream.id());
        return fold != null && clock.monotonicNs() < fold.retryAtNs();
    }

    @Override
    public Future<Archived> recover(LiveStream stream, int stripe) {
        return onFold(promise -> {
            ArchiveAppender archive = archives.of(stream.id());
            promise.complete(MergedFold.archived(stream, archive, stripe));
        });
    }

    @Override
    public Future<List<StoredRequest>> requests(LiveStream stream, int stripe) {
        return onFold(promise -> promise.complete(of(stream).producers.requests(stripe)));
    }

    /** Runs blocking work of the archive's owner between cycles; of a stream, when its cycle under way has ended. */
    <T> Future<T> exclusively(StreamId stream, Callable<T> work) {
        return onFold(promise -> {
            StreamFold fold = folds.get(stream);
            if (fold != null && fold.running) {
                fold.afterwards.add(() -> complete(promise, work));
            } else {
                complete(promise, work);
            }
        });
    }

    /** Completes when nothing of a stream is under way any more, on its way to Redis included. */
    Future<Void> quiet(StreamId stream) {
        return onFold(promise -> {
            StreamFold fold = folds.get(stream);
            if (fold == null) {
                promise.complete();
            } else {
                fold.whenQuiet(promise::complete);
            }
        });
    }

    /** Runs something on the fold after a while, unless the fold has stopped by then. */
    void later(long delayMs, Runnable task) {
        context.runOnContext(nothing -> vertx.setTimer(delayMs, timer -> task.run()));
    }

    /** Forgets a stream whose archive is gone. On the fold. */
    void forget(StreamId stream) {
        folds.remove(stream);
    }

    private StreamFold of(LiveStream stream) {
        return folds.computeIfAbsent(stream.id(), id -> new StreamFold(stream, archives.of(id)));
    }

    private void join(StreamFold fold, Promise<Position> promise, boolean urgent) {
        if (fold.running) {
            fold.waitingForNext.add(promise);
            fold.urgent |= urgent;
            return;
        }
        fold.waiting.add(promise);
        if (!fold.queued || (urgent && !fold.urgent)) {
            fold.urgent |= urgent;
            queue.add(fold);
        }
        startNext();
    }

    /** A cycle that needs nothing of Redis ends within its start, and then the loop here goes on: not one call within the other. */
    private void startNext() {
        if (starting) {
            return;
        }
        starting = true;
        try {
            for (StreamFold next = queue.next(); next != null; next = queue.next()) {
                start(next);
            }
        } finally {
            starting = false;
        }
    }

    private void start(StreamFold fold) {
        fold.running = true;
        fold.beginTurn(TURN_SLICES);
        Future<Position> run;
        if (stopped) {
            run = Future.failedFuture(new Problem(Problem.Kind.UNAVAILABLE, "the server is stopping"));
        } else if (fold.stream.isDeleted()) {
            run = Future.failedFuture(Problem.noStream(fold.stream.name()));
        } else {
            run = fold.stream.open().compose(opened -> cycle.run(fold));
        }
        run.onComplete(ended -> ended(fold, ended.succeeded() ? ended.result() : null, ended.cause()));
    }

    private void ended(StreamFold fold, @Nullable Position watermark, @Nullable Throwable failure) {
        fold.running = false;
        queue.ended();
        boolean goesOn = watermark != null && fold.goesOn();
        List<Promise<Position>> waiting = goesOn ? List.of() : fold.waiting;
        if (!goesOn) {
            fold.waiting = fold.waitingForNext;
            fold.waitingForNext = new ArrayList<>();
            fold.urgent = false;
        }
        if (watermark != null) {
            boolean trimmed = fold.trimTrouble.isEmpty();
            if (!trimmed) {
                LOG.warn("stream {} can't be trimmed: {}", fold.stream.id(), fold.trimTrouble);
            }
            fold.retryAt(trimmed ? 0 : clock.monotonicNs() + TRIM_RETRY_NS);
            fold.succeeded(clock.wallMs(), cycle.overRetained(fold));
            waiting.forEach(promise -> promise.tryComplete(watermark));
        } else {
            Throwable cause = failure == null ? new IllegalStateException("no watermark") : failure;
            failed(fold, cause);
            Problem problem = asProblem(fold, cause);
            waiting.forEach(promise -> promise.tryFail(problem));
        }
        List<Runnable> afterwards = fold.afterwards;
        fold.afterwards = new ArrayList<>();
        afterwards.forEach(Runnable::run);
        if (!fold.waiting.isEmpty() && !fold.queued && !fold.running) {
            queue.addAgain(fold);
        }
        startNext();
    }

    private void failed(StreamFold fold, Throwable cause) {
        if (stopped || fold.stream.isDeleted()) {
            return;
        }
        fold.failed(clock.wallMs(), String.valueOf(cause.getMessage()), cycle.overRetained(fold));
        long backoff = Math.min(BACKOFF_NS_MAX, BACKOFF_NS_MIN << Math.min(10, fold.failures));
        fold.retryAt(clock.monotonicNs() + backoff);
        boolean liveLogAway =
                cause instanceof LiveLogException known && known.kind().retryable();
        if (fold.failures == 1 && !liveLogAway) {
            LOG.error("stream {} can't be folded; nothing is trimmed: {}", fold.stream.id(), cause.getMessage(), cause);
        } else if (fold.failures == 1) {
            LOG.warn("stream {} can't be folded; nothing is trimmed: {}", fold.stream.id(), cause.getMessage());
        } else {
            LOG.warn("stream {} still can't be folded: {}", fold.stream.id(), cause.getMessage());
        }
    }

    private static Problem asProblem(StreamFold fold, Throwable cause) {
        if (cause instanceof Problem problem) {
            return problem;
        }
        return new Problem(
                        Problem.Kind.UNAVAILABLE,
                        "stream '" + fold.stream.name() + "' can't be folded now: " + cause.getMessage())
                .causedBy(cause);
    }

    // ---- onto the fold's thread ----

    private <T> Future<T> onFold(Task<T> task) {
        Promise<T> promise = callers.promise();
        context.runOnContext(nothing -> {
            try {
                task.run(promise);
            } catch (RuntimeException failure) {
                promise.tryFail(failure);
            }
        });
        return promise.future();
    }

    private static <T> void complete(Promise<T> promise, Callable<T> work) {
        try {
            promise.complete(work.call());
        } catch (Exception failure) {
            promise.tryFail(failure);
        }
    }

    private interface Task<T> {
        void run(Promise<T> promise);
    }
}
