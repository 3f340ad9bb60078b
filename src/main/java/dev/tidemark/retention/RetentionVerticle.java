package dev.tidemark.retention;

import dev.tidemark.event.Clock;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.StreamName;
import dev.tidemark.fold.FoldLanes;
import dev.tidemark.fold.FoldStatus;
import dev.tidemark.fold.TrimBounds;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.StreamDirectory;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;

/**
 * The beat of retention: some times a second it looks at the streams in which something has changed or whose time has come, and asks the
 * fold for what is due. Never trims itself.
 */
public final class RetentionVerticle extends VerticleBase implements FoldRequests {
    private static final long BEAT_MS = 100;

    private final StreamDirectory streams;
    private final FoldLanes folds;
    private final RetentionAgenda agenda;
    private final RetentionRound round;

    public RetentionVerticle(
            StreamDirectory streams, FoldLanes folds, TrimBounds bounds, Clock clock, long foldLagMsMax) {
        this.streams = streams;
        this.folds = folds;
        this.agenda = new RetentionAgenda(clock);
        RetentionBeat beat = new RetentionBeat(bounds, clock, foldLagMsMax);
        this.round = new RetentionRound(new OfLanes(folds), beat, agenda, clock);
    }

    private record OfLanes(FoldLanes folds) implements RetentionRound.Folding {
        @Override
        public FoldStatus status(LiveStream stream) {
            return folds.status(stream);
        }

        @Override
        public boolean isBackingOff(LiveStream stream) {
            return folds.isBackingOff(stream);
        }

        @Override
        public Future<?> fold(LiveStream stream) {
            return folds.fold(stream);
        }
    }

    @Override
    public Future<?> start() {
        vertx.setPeriodic(BEAT_MS, timer -> round.run(streams.activity().take()));
        return Future.succeededFuture();
    }

    /** A stream that nobody has opened is opened, folded and trimmed after a while. Any thread. */
    public void lookIn(LiveStream stream, long delayMs) {
        context.runOnContext(nothing -> agenda.lookIn(stream, delayMs));
    }

    @Override
    public Future<Position> foldNow(StreamName name) {
        LiveStream stream = streams.find(name);
        return stream == null
                ? Future.failedFuture(Problem.notFound("there is no stream '" + name + "'"))
                : folds.foldAll(stream);
    }
}
