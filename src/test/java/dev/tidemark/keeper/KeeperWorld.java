package dev.tidemark.keeper;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.tidemark.archive.ArchiveAppender;
import dev.tidemark.archive.ArchiveEnd;
import dev.tidemark.archive.MemoryArchive;
import dev.tidemark.event.Chunk;
import dev.tidemark.event.Event;
import dev.tidemark.event.FakeClock;
import dev.tidemark.event.Generation;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Position;
import dev.tidemark.event.ProducerRequest;
import dev.tidemark.event.Setting;
import dev.tidemark.event.Slice;
import dev.tidemark.event.StoredRequest;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.StreamSettings;
import dev.tidemark.livelog.FakeLiveLog;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One keeper with one stream over a fake live log and archive: everything happens within the call that causes it. */
public final class KeeperWorld implements SealedChunks {
    public static final StreamId STREAM = new StreamId(new StreamName("flights"), new Generation(4711));

    public final FakeClock clock = FakeClock.atStart();
    public final FakeLiveLog liveLog = new FakeLiveLog();
    public final MemoryArchive archive = new MemoryArchive(STREAM.generation());
    private final KeeperLimits limits;
    private final Map<Setting, Long> chosen;
    private Keeper keeper;
    private KeeperStream stream;
    private IdReservation reservation;
    private long highMs;
    private long lostBelowMs;
    private @Nullable Fold fold;

    /** What the fold says of a stripe that is opened. */
    @FunctionalInterface
    public interface Fold {
        ArchivedState.Archived archived(LiveStream stream, ArchiveAppender archive, int stripe);
    }

    private boolean redisRestarted;
    private IdReservation.Stop stop = IdReservation.Stop.NONE;
    private @Nullable Promise<Void> heldReservation;
    private int sent;

    public KeeperWorld(Map<Setting, Long> chosen) {
        this(chosen, KeeperLimits.DEFAULT);
    }

    KeeperWorld(Map<Setting, Long> chosen, KeeperLimits limits) {
        this.chosen = chosen;
        this.limits = limits;
        succeeded(
                liveLog.create(STREAM, chosen.getOrDefault(Setting.STRIPES, 1L).intValue(), "{}"));
        boot(true, true);
    }

    private void boot(boolean streamIsNew, boolean clean) {
        reservation = new IdReservation(
                high -> {
                    if (heldReservation != null) {
                        return heldReservation.future().map(released -> {
                            highMs = high;
                            return null;
                        });
                    }
                    highMs = high;
                    return Future.succeededFuture();
                },
                clock,
                highMs,
                clean,
                stop,
                lostBelowMs);
        ArchivedState archived = new ArchivedState() {
            @Override
            public Future<Archived> recover(LiveStream live, int stripe) {
                ArchiveEnd end = archive.end();
                Archived plain =
                        new Archived(end.watermark(), end.lastOrdinal(stripe), List.of(), end.watermark(), null);
                return Future.succeededFuture(fold == null ? plain : fold.archived(live, archive, stripe));
            }

            @Override
            public Future<List<StoredRequest>> requests(LiveStream live, int stripe) {
                return Future.succeededFuture(archive.producers().getOrDefault(stripe, List.of()));
            }
        };
        keeper = new Keeper(clock, liveLog, archived, reservation, limits, new TimelineMemory(limits.memoryBytesMax()));
        StreamSettings settings = StreamSettings.DEFAULT.with(chosen);
        stream = new KeeperStream(STREAM, clock.wallMs(), streamIsNew, chosen, settings, this::openStripes);
        keeper.start().onComplete(decided -> {});
    }

    private Future<Void> openStripes(KeeperStream live) {
        List<Future<Void>> opened = new ArrayList<>();
        for (int i = 0; i < live.stripes(); i++) {
            opened.add(keeper.open(live, i));
        }
        return Future.all(opened).mapEmpty();
    }

    /**
     * The process stops in order, with nothing in flight, and a new one starts. As the server does it, a stop that leaves a loss behind
     * which no event stands isn't a clean one.
     */
    public void stopAndRestart() {
        if (lossPending()) {
            liveLog.dropConnections();
            keeper.stop();
            boot(false, false);
            return;
        }
        highMs = Math.max(reservation.startMs(), reservation.usedMs() + 1);
        stop = reservation.stop(List.of(stream));
        liveLog.dropConnections();
        keeper.stop();
        redisRestarted = false;
        boot(false, true);
    }

    private boolean lossPending() {
        Position last =
                liveLog.events(stream.stripe(0)).stream().map(Event::id).reduce(archive.watermark(), Position::max);
        return stream.finalOnArrival() && stream.snapshot().tail().isAfter(last);
    }

    /** Asked at the next starts. */
    public void ask(Fold asked) {
        fold = asked;
    }

    /** From the next start on Redis may have lost what it had acknowledged at times below this one. */
    void lostBelowMs(long ms) {
        lostBelowMs = ms;
    }

    /** Redis was restarted, and doesn't sync always: a start that doesn't follow on a clean stop knows that. */
    public void redisRestarted() {
        redisRestarted = true;
    }

    /** From now on the reservation of ids isn't written. */
    void holdReservation() {
        heldReservation = Promise.promise();
    }

    /** What was held is written. */
    void releaseReservation() {
        Promise<Void> held = heldReservation;
        heldReservation = null;
        if (held != null) {
            held.complete();
        }
    }

    /** The process is killed: connections break, nothing is written down; a new one starts. */
    public void killAndRestart(int unforcedKept) {
        liveLog.dropConnections();
        keeper.stop();
        archive.crash(unforcedKept);
        if (redisRestarted) {
            lostBelowMs = Math.max(lostBelowMs, highMs);
            redisRestarted = false;
        }
        boot(false, false);
    }

    public KeeperStream stream() {
        return stream;
    }

    public LiveStream liveStream() {
        return stream;
    }

    Keeper keeper() {
        return keeper;
    }

    IdReservation reservation() {
        return reservation;
    }

    /** Appends {@code count} events of one request, numbered on from the last ones. */
    public Future<Appends.Appended> append(int count) {
        List<NewEvent> events = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            events.add(NewEvent.json(Integer.toString(++sent).getBytes(StandardCharsets.UTF_8)));
        }
        return append(events);
    }

    public Future<Appends.Appended> append(List<NewEvent> events) {
        return append(0, events, null);
    }

    public Future<Appends.Appended> append(int stripe, List<NewEvent> events) {
        return append(stripe, events, null);
    }

    public Future<Appends.Appended> append(List<NewEvent> events, @Nullable ProducerRequest request) {
        return append(0, events, request);
    }

    public Future<Appends.Appended> append(int stripe, List<NewEvent> events, @Nullable ProducerRequest request) {
        Promise<Appends.Appended> promise = Promise.promise();
        keeper.append(stream, stripe, new PendingAppend(events, request, clock.monotonicNs(), promise));
        return promise.future();
    }

    /** Time passes in steps of the keeper's tick. */
    public void pass(long ms) {
        for (long passed = 0; passed < ms; passed += 20) {
            clock.advanceMs(20);
            keeper.tick();
        }
    }

    /** Opens the stream if that works now. */
    public void tryOpen() {
        stream.open().onComplete(opened -> {});
    }

    public void open() {
        succeeded(stream.open());
    }

    @CanIgnoreReturnValue
    public Position seal() {
        Position frontier = Position.MAX;
        for (int i = 0; i < stream.stripes(); i++) {
            frontier = Position.min(frontier, keeper.seal(stream, i));
        }
        return frontier;
    }

    @Override
    public Future<Position> seal(LiveStream live) {
        return Future.succeededFuture(seal());
    }

    @Override
    public void folded(LiveStream live, int stripe, Position watermark, long lastOrdinal) {
        keeper.folded(live.stripe(stripe), watermark, lastOrdinal);
    }

    /** Payloads in memory, oldest first. */
    public List<String> memory() {
        return payloads(stream.snapshot(0).newest(Integer.MAX_VALUE));
    }

    /** Payloads in the live log, oldest first. */
    public List<String> live() {
        return liveLog.events(stream.stripe(0)).stream().map(KeeperWorld::text).toList();
    }

    public static String text(Event event) {
        return new String(event.payload(), StandardCharsets.UTF_8);
    }

    public static List<String> payloads(List<Slice> slices) {
        List<String> payloads = new ArrayList<>();
        for (Slice slice : slices) {
            Chunk chunk = slice.chunk();
            for (int i = slice.from(); i < slice.to(); i++) {
                payloads.add(new String(chunk.payload(i), StandardCharsets.UTF_8));
            }
        }
        return payloads;
    }

    /** The result of a future that must have succeeded. */
    @CanIgnoreReturnValue
    public static <T> T succeeded(Future<T> future) {
        if (!future.succeeded()) {
            throw new AssertionError("not succeeded: " + future, future.cause());
        }
        return future.result();
    }

    /** "1", "2", … "count". */
    public static List<String> numbers(int from, int to) {
        List<String> numbers = new ArrayList<>();
        for (int i = from; i <= to; i++) {
            numbers.add(Integer.toString(i));
        }
        return numbers;
    }
}
