package dev.tidemark.archive;

import dev.tidemark.event.Position;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;

/** From a random place that isn't where a read ended lately to the first event from there. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ArchiveSeekBenchmark {
    /** As {@code after=} with an id or cursor. */
    @Benchmark
    public ArchivePage byPosition(SampleArchive archive) {
        return archive.stream().read(archive.anyPosition(), Position.MAX, 1, 1);
    }

    /** As {@code from=} with a time. */
    @Benchmark
    public ArchivePage byTime(SampleArchive archive) {
        Position time = Position.before(archive.anyPosition().ms());
        return archive.stream().read(time, Position.MAX, 1, 1);
    }
}
