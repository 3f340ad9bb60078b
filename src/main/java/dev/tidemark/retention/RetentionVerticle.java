package dev.tidemark.retention;

import dev.tidemark.event.Clock;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.StreamName;
import dev.tidemark.fold.FoldVerticle;
import dev.tidemark.fold.TrimBounds;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.StreamDirectory;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.util.HashSet;
import java.util.Set;

/** The beat of retention: looks at every stream some times a second and asks the fold for what is due. Never trims itself. */
public final class RetentionVerticle extends VerticleBase implements FoldRequests {
    private static final long BEAT_MS = 100;

    private final StreamDirectory streams;
    private final FoldVerticle folds;
    private final RetentionBeat beat;
    private final Set<LiveStream> asked = new HashSet<>();

    public RetentionVerticle(
            StreamDirectory streams, FoldVerticle folds, TrimBounds bounds, Clock clock, long foldLagMsMax) {
        this.streams = streams;
        this.folds = folds;
        this.beat = new RetentionBeat(bounds, clock, foldLagMsMax);
    }

    @Override
    public Future<?> start() {
        vertx.setPeriodic(BEAT_MS, timer -> beat());
        return Future.succeededFuture();
    }

    private void beat() {
        for (LiveStream stream : streams.view()) {
            if (!asked.contains(stream) && !folds.isBackingOff(stream) && beat.isDue(stream, folds.status(stream))) {
                asked.add(stream);
                folds.fold(stream).onComplete(ended -> asked.remove(stream));
            }
        }
    }

    @Override
    public Future<Position> foldNow(StreamName name) {
        LiveStream stream = streams.find(name);
        return stream == null
                ? Future.failedFuture(Problem.notFound("there is no stream '" + name + "'"))
                : folds.foldAll(stream);
    }
}
