package dev.tidemark.archive;

import dev.tidemark.event.Position;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Pages of an archive. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ArchivePageBenchmark {
    @Param("1000")
    int batch;

    private Position last = Position.ZERO;

    /** Page after page from the oldest to the newest event, and from the start again. */
    @Benchmark
    public ArchivePage readOn(SampleArchive archive) {
        ArchivePage page = archive.stream().read(last, Position.MAX, batch, Integer.MAX_VALUE);
        last = page.more() ? page.events().last() : Position.ZERO;
        return page;
    }

    /** The events before a random place. */
    @Benchmark
    public ArchivePage readReverse(SampleArchive archive) {
        return archive.stream().readReverse(archive.anyPosition(), Position.ZERO, batch, Integer.MAX_VALUE);
    }
}
