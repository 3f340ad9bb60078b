package dev.tidemark.http;

import dev.tidemark.benchmark.Payloads;
import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.ContentType;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
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
import org.openjdk.jmh.annotations.TearDown;

/** Events of a chunk in the forms of the answers. An event loop's encodings are cached by list: each call here brings a new list. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class EncodingBenchmark {
    @Param({"1", "100"})
    int batch;

    private final ByteBufAllocator allocator = PooledByteBufAllocator.DEFAULT;
    private final SharedEncoding encoding = new SharedEncoding(new FollowFigures());
    private Slice slice;
    private List<Slice> known;

    @Setup
    public void fill() {
        ChunkBuilder chunk = new ChunkBuilder(new Generation(4711), 0);
        for (int i = 0; i < batch; i++) {
            Position id = new Position(EventId.EPOCH_MS + i, 0);
            chunk.add(new Event(id, id, i + 1, Event.NO_TIME, false, ContentType.JSON, null, Payloads.event(i)));
        }
        slice = chunk.seal().slice();
        known = List.of(slice);
    }

    @TearDown
    public void close() {
        encoding.close();
    }

    /** WebSocket, one event a frame, the first follower of a loop. */
    @Benchmark
    public int webSocketFrames() {
        return released(encoding.frames(List.of(slice), false, false, allocator));
    }

    /** The same for every other follower. */
    @Benchmark
    public int webSocketFramesShared() {
        return released(encoding.frames(known, false, false, allocator));
    }

    /** WebSocket with {@code batch=true}. */
    @Benchmark
    public int webSocketBatches() {
        return released(encoding.frames(List.of(slice), true, false, allocator));
    }

    /** WebSocket with permessage-deflate, with the frames that it is made from. */
    @Benchmark
    public int webSocketFramesDeflated() {
        return released(encoding.frames(List.of(slice), false, true, allocator));
    }

    @Benchmark
    public int serverSentEvents() {
        return encoding.serverSentEvents(List.of(slice)).length();
    }

    /** The lines of an answer in NDJSON, which is as long as it has to be from the start. */
    @Benchmark
    public JsonOut ndjson() {
        List<Slice> events = List.of(slice);
        JsonOut out = new JsonOut((int) EventWriter.arrayBytes(events));
        for (EventRun run = new EventRun(events, false); !run.atEnd(); run.advance()) {
            EventWriter.line(run.chunk(), run.index(), out);
        }
        return out;
    }

    /** The events of a tail in JSON. */
    @Benchmark
    public JsonOut jsonArray() {
        List<Slice> events = List.of(slice);
        JsonOut out = new JsonOut((int) EventWriter.arrayBytes(events));
        EventWriter.array(events, out);
        return out;
    }

    private static int released(ByteBuf frames) {
        int bytes = frames.readableBytes();
        boolean unused = frames.release();
        return bytes;
    }
}
