package dev.tidemark.keeper;

import dev.tidemark.benchmark.Payloads;
import dev.tidemark.event.Clock;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventId;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Position;
import java.util.ArrayList;
import java.util.Collections;
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

/** Ids, and the events that get them. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class MintBenchmark {
    private final Mint mint = new Mint(0);
    private final Clock clock = Clock.system();
    private Position last = mint.next(clock.wallMs());
    private long ordinal;

    /** An append on its way to the keeper. */
    @State(Scope.Thread)
    public static class Append {
        @Param({"1", "500"})
        int batch;

        private List<NewEvent> events;

        @Setup
        public void make() {
            events = new ArrayList<>(Collections.nCopies(batch, NewEvent.json(Payloads.event(1))));
        }
    }

    /** One id, with a look at the clock. */
    @Benchmark
    public Position next() {
        last = mint.next(clock.wallMs());
        return last;
    }

    /** The text of an id, as an answer gives it. */
    @Benchmark
    public String text() {
        return EventId.of(last).toString();
    }

    /** The events of an append with their ids and ordinals, as a keeper makes them before they go to Redis. */
    @Benchmark
    public List<Event> events(Append append) {
        List<Event> minted = new ArrayList<>(append.events.size());
        for (NewEvent event : append.events) {
            Position id = mint.next(clock.wallMs());
            minted.add(new Event(id, id, ++ordinal, event.time(), false, event.type(), null, event.payload()));
        }
        return minted;
    }
}
