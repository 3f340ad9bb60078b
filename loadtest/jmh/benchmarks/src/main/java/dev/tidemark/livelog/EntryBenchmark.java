package dev.tidemark.livelog;

import dev.tidemark.benchmark.Payloads;
import dev.tidemark.event.ContentType;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Position;
import io.vertx.core.buffer.Buffer;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.impl.RequestImpl;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
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

/** The command that writes an append to Redis, down to the bytes: {@code XADD} for one event, the script for several. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class EntryBenchmark {
    private static final byte[] KEY = "tidemark:{benchmark/0000001234}:live:0".getBytes(StandardCharsets.US_ASCII);

    @Param({"1", "500"})
    int batch;

    private List<Event> events;

    @Setup
    public void fill() {
        events = new ArrayList<>();
        for (int i = 0; i < batch; i++) {
            Position id = new Position(EventId.EPOCH_MS + i, 0);
            events.add(new Event(id, id, i + 1, Event.NO_TIME, false, ContentType.JSON, null, Payloads.event(i)));
        }
    }

    @Benchmark
    public Buffer command() {
        Request request;
        if (events.size() == 1) {
            request = Request.cmd(Command.XADD).arg(KEY).arg("NOMKSTREAM");
            EntryCodec.addEntry(events.get(0), request);
        } else {
            request = Scripts.append(KEY, events);
        }
        return ((RequestImpl) request).encode();
    }
}
