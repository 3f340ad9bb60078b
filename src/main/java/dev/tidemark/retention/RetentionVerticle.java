package dev.tidemark.retention;

import dev.tidemark.event.Clock;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.StreamName;
import dev.tidemark.fold.FoldLanes;
import dev.tidemark.fold.FoldStatus;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.StreamDirectory;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * The beat of retention: some times a second it looks at the streams in which something has changed or whose time has come, and asks the
 * fold for what is due. Never trims itself.
 */
public final class RetentionVerticle extends VerticleBase implements FoldRequests {
    private static final long BEAT_MS = 100;
    /** The beat while nothing changes and no time comes: an idle server is woken seldom. What begins is seen so much later. */
    private static final long BEAT_MS_IDLE = 300;
    /** How often Redis is asked how full it is. */
    private static final long MEMORY_LOOK_MS = 500;
    /** Streams that nobody uses and that are opened to be trimmed, at one look. */
    private static final int CLOSED_A_LOOK = 8;

    private final StreamDirectory streams;
    private final FoldLanes folds;
    private final RetentionAgenda agenda;
    private final RetentionRound round;
    private final MemoryPressure pressure;
    private final Supplier<Future<MemoryPressure.Usage>> redisMemory;

    /**
     * @param pressure decides, with the windows, what stays
     * @param redisMemory asks Redis how full it is; completes on the caller's context
     */
    public RetentionVerticle(
            StreamDirectory streams,
            FoldLanes folds,
            MemoryPressure pressure,
            Supplier<Future<MemoryPressure.Usage>> redisMemory,
            Clock clock,
            long foldLagMsMax) {
        this.streams = streams;
        this.folds = folds;
        this.pressure = pressure;
        this.redisMemory = redisMemory;
        this.agenda = new RetentionAgenda(clock);
        RetentionBeat beat = new RetentionBeat(pressure, clock, foldLagMsMax, pressure::isOn);
        this.round = new RetentionRound(new OfLanes(folds, pressure), beat, agenda, clock);
    }

    private record OfLanes(FoldLanes folds, MemoryPressure pressure) implements RetentionRound.Folding {
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
            boolean all = pressure.isOn() && stream.snapshot(0).isOpen();
            return all ? folds.foldAll(stream) : folds.fold(stream);
        }
    }

    @Override
    public Future<?> start() {
        beatIn(BEAT_MS);
        vertx.setTimer(MEMORY_LOOK_MS, timer -> lookAtMemory());
        return Future.succeededFuture();
    }

    private void beatIn(long ms) {
        vertx.setTimer(ms, timer -> {
            boolean idle = true;
            try {
                idle = !round.run(streams.activity().take());
            } finally {
                beatIn(idle ? BEAT_MS_IDLE : BEAT_MS);
            }
        });
    }

    private void lookAtMemory() {
        redisMemory.get().onComplete(answered -> {
            if (answered.succeeded()) {
                pressure.look(answered.result(), this::oldestFoldedMs);
            }
            if (pressure.isOn()) {
                lookAtAll();
            }
            vertx.setTimer(MEMORY_LOOK_MS, timer -> lookAtMemory());
        });
    }

    /** Time of the oldest event that is folded and in a live log. */
    private long oldestFoldedMs() {
        long oldestMs = Long.MAX_VALUE;
        for (LiveStream stream : streams.view()) {
            FoldStatus status = folds.status(stream);
            Position first = status.firstLive();
            if (!first.equals(Position.ZERO) && first.compareTo(status.watermark()) <= 0) {
                oldestMs = Math.min(oldestMs, first.ms());
            }
        }
        return oldestMs;
    }

    private void lookAtAll() {
        int closed = 0;
        List<LiveStream> open = new ArrayList<>();
        for (LiveStream stream : streams.view()) {
            if (stream.snapshot(0).isOpen()) {
                open.add(stream);
            } else if (closed++ < CLOSED_A_LOOK) {
                agenda.lookIn(stream, 0);
            }
        }
        round.run(open);
    }

    /** A stream that nobody has opened is opened, folded and trimmed after a while. Any thread. */
    public void lookIn(LiveStream stream, long delayMs) {
        context.runOnContext(nothing -> agenda.lookIn(stream, delayMs));
    }

    @Override
    public Future<Position> foldNow(StreamName name) {
        LiveStream stream = streams.find(name);
        return stream == null ? Future.failedFuture(Problem.noStream(name)) : folds.foldAll(stream);
    }
}
