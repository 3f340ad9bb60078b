package dev.tidemark.archive;

import dev.tidemark.benchmark.Payloads;
import dev.tidemark.benchmark.TemporaryDirectory;
import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.ContentType;
import dev.tidemark.event.Event;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Limits;
import dev.tidemark.event.Position;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** An archive on disk with events on several days, one a millisecond, as a fold leaves it. */
@State(Scope.Benchmark)
public class SampleArchive {
    private static final int DAYS = 4;
    private static final long DAY_MS = 86_400_000;
    /** Start of a day, Unix milliseconds. */
    private static final long START_MS = 1_764_374_400_000L;

    private static final int SLICE_EVENTS = 5_000;
    private static final Generation GENERATION = new Generation(4711);
    private static final StreamRecord RECORD = new StreamRecord(
            new StreamId(new StreamName("benchmark"), GENERATION),
            Map.of(Setting.STRIPES, 1L, Setting.ROLL, 0L),
            START_MS,
            false);

    /** Events in the archive. */
    @Param("200000")
    int archived;

    private final SplittableRandom random = new SplittableRandom(4711);
    private TemporaryDirectory directory;
    private Archive archive;
    private StreamArchive stream;

    @Setup(Level.Trial)
    public void fill() {
        directory = new TemporaryDirectory();
        archive = new Archive(directory.path(), Limits.DEFAULT);
        stream = archive.stream(RECORD);
        for (int first = 0; first < archived; first = fold(first)) {}
    }

    /** Folds a slice, which ends where a day ends; returns the number of the event that comes next. */
    private int fold(int first) {
        ChunkBuilder chunk = new ChunkBuilder(GENERATION, 0);
        int next = first;
        do {
            Position id = position(next);
            chunk.add(new Event(id, id, next + 1, Event.NO_TIME, false, ContentType.JSON, null, Payloads.event(next)));
            next++;
        } while (next < archived && next % perDay() != 0 && chunk.count() < SLICE_EVENTS);
        stream.append(List.of(chunk.seal().slice()));
        stream.force();
        stream.publish(position(next - 1));
        return next;
    }

    private int perDay() {
        return Math.max(1, archived / DAYS);
    }

    private Position position(int number) {
        int day = number / perDay();
        return new Position(START_MS + day * DAY_MS + number % perDay(), 0);
    }

    /** Of any event. */
    Position anyPosition() {
        return position(random.nextInt(archived));
    }

    StreamArchive stream() {
        return stream;
    }

    @TearDown(Level.Trial)
    public void remove() {
        archive.close();
        directory.close();
    }
}
