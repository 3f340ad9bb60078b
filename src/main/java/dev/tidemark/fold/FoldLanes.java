package dev.tidemark.fold;

import dev.tidemark.event.Position;
import dev.tidemark.event.StoredRequest;
import dev.tidemark.event.StreamId;
import dev.tidemark.keeper.ArchivedState;
import dev.tidemark.keeper.CallerContext;
import dev.tidemark.keeper.LiveStream;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * The fold/trim of this process: a few workers, because a fold of little costs little but waiting for the disk. A stream is always
 * handled by the same one, whatever its generation, so its cycle keeps its order. Any thread.
 */
public final class FoldLanes implements Folds, ArchivedState {
    private final List<FoldVerticle> lanes;

    private FoldLanes(List<FoldVerticle> lanes) {
        this.lanes = List.copyOf(lanes);
    }

    /** @param count of workers, at least 1 */
    public static FoldLanes over(FoldPorts ports, CallerContext callers, int count) {
        return new FoldLanes(IntStream.range(0, count)
                .mapToObj(lane -> FoldVerticle.over(ports, callers))
                .toList());
    }

    /**
     * Starts them.
     *
     * @param deployed takes the id of each that has started
     */
    public Future<Void> deploy(Vertx vertx, Consumer<String> deployed) {
        List<Future<String>> deployments = new ArrayList<>();
        for (FoldVerticle lane : lanes) {
            DeploymentOptions worker = new DeploymentOptions()
                    .setThreadingModel(ThreadingModel.WORKER)
                    .setWorkerPoolName("tidemark-fold")
                    .setWorkerPoolSize(lanes.size());
            deployments.add(vertx.deployVerticle(lane, worker).onSuccess(deployed::accept));
        }
        return Future.all(deployments).mapEmpty();
    }

    private FoldVerticle of(StreamId stream) {
        return lanes.get(Math.floorMod(stream.name().hashCode(), lanes.size()));
    }

    @Override
    public Future<Position> fold(LiveStream stream) {
        return of(stream.id()).fold(stream);
    }

    @Override
    public Future<Position> foldAll(LiveStream stream) {
        return of(stream.id()).foldAll(stream);
    }

    @Override
    public FoldStatus status(LiveStream stream) {
        return of(stream.id()).status(stream);
    }

    /** Whether a fold that failed isn't to be tried again yet. */
    public boolean isBackingOff(LiveStream stream) {
        return of(stream.id()).isBackingOff(stream);
    }

    @Override
    public Future<Archived> recover(LiveStream stream, int stripe) {
        return of(stream.id()).recover(stream, stripe);
    }

    @Override
    public Future<List<StoredRequest>> requests(LiveStream stream, int stripe) {
        return of(stream.id()).requests(stream, stripe);
    }

    /** See {@link FoldVerticle#exclusively}. */
    <T> Future<T> exclusively(StreamId stream, Callable<T> work) {
        return of(stream).exclusively(stream, work);
    }

    /** See {@link FoldVerticle#quiet}. */
    Future<Void> quiet(StreamId stream) {
        return of(stream).quiet(stream);
    }

    /** Runs something on a stream's lane after a while, unless that has stopped by then. */
    void later(StreamId stream, long delayMs, Runnable task) {
        of(stream).later(delayMs, task);
    }

    /** Forgets a stream whose archive is gone. On its lane. */
    void forget(StreamId stream) {
        of(stream).forget(stream);
    }
}
