package dev.tidemark.ingest;

import dev.tidemark.benchmark.Payloads;
import dev.tidemark.event.Event;
import dev.tidemark.event.Limits;
import dev.tidemark.event.NewEvent;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Bodies of appends into events, with the check of their JSON. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ParseBenchmark {
    private final BodyParser parser = new BodyParser(Limits.DEFAULT);

    /** A body of one event of JSON. */
    @State(Scope.Thread)
    public static class One {
        private final BodyFormat format = BodyFormat.of("application/json");
        private final byte[] body = Payloads.event(1);
    }

    /** A body of NDJSON. */
    @State(Scope.Thread)
    public static class Lines {
        @Param("500")
        int batch;

        private final BodyFormat format = BodyFormat.of("application/x-ndjson");
        private byte[] body;

        @Setup
        public void fill() {
            body = Payloads.lines(batch);
        }
    }

    @Benchmark
    public List<NewEvent> json(One one) {
        return parser.parse(one.format, one.body, Event.NO_TIME);
    }

    @Benchmark
    public List<NewEvent> ndjson(Lines lines) {
        return parser.parse(lines.format, lines.body, Event.NO_TIME);
    }
}
