package dev.tidemark.keeper;

import dev.tidemark.benchmark.Payloads;
import dev.tidemark.event.Clock;
import dev.tidemark.event.ContentType;
import dev.tidemark.event.Event;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.StreamSettings;
import dev.tidemark.event.StripeId;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** What a keeper does in memory when Redis has acknowledged an append. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class TimelineBenchmark {
    /** How many events come between two folds. */
    private static final int FOLDED_EVERY = 50_000;

    @Param({"1", "500"})
    int batch;

    private final StreamSettings settings = StreamSettings.DEFAULT;
    private final Clock clock = Clock.system();
    private final Mint mint = new Mint(0);
    private final byte[] payload = Payloads.event(1);
    private final Timeline timeline = new Timeline(
            new StripeId(new StreamId(new StreamName("benchmark"), new Generation(4711)), 0),
            clock,
            Position.ZERO,
            Position.ZERO,
            0);
    private Position watermark = Position.ZERO;
    private long ordinal;

    /**
     * The events of an append go to the slab, what is folded and surplus goes, and readers get a new snapshot. Making the events is
     * part of it: see {@link MintBenchmark#events}.
     */
    @Benchmark
    public TimelineSnapshot store() {
        for (int i = 0; i < batch; i++) {
            Position id = mint.next(clock.wallMs());
            timeline.add(new Event(id, id, ++ordinal, Event.NO_TIME, false, ContentType.JSON, null, payload), settings);
            if (ordinal % FOLDED_EVERY == 0) {
                watermark = id;
            }
        }
        timeline.release(watermark, settings.tailCapacity());
        return timeline.snapshot(timeline.tail());
    }
}
