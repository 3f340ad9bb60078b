package dev.tidemark.read;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.tidemark.archive.ArchiveException;
import dev.tidemark.archive.ArchivePage;
import dev.tidemark.archive.ArchiveReader;
import dev.tidemark.event.Chunk;
import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.Clock;
import dev.tidemark.event.ContentType;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventExtras;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Generation;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.StreamSettings;
import dev.tidemark.event.StripeId;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.Streams;
import dev.tidemark.keeper.TimelineSnapshot;
import dev.tidemark.livelog.LiveLogException;
import dev.tidemark.livelog.LiveLogPage;
import dev.tidemark.livelog.LiveLogReader;
import dev.tidemark.livelog.LiveLogState;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One stream with its memory, live log and archive, and the queues between a reader and them, on one thread: a test does to it what
 * keeper, fold and trim do, and lets one thing happen at a time.
 *
 * <p>Fault model: Redis or archive away; entries removed by others; a retired stream; memory that releases unfolded chunks. Every
 * command to Redis is executed and answered in two steps, in order; worker tasks run in any order; loop tasks in theirs.
 */
final class World implements LiveStream, Workers, EventLoop, Clock, Streams {
    static final long START_MS = EventId.EPOCH_MS + 1_000;

    final StreamId id = new StreamId(new StreamName("flights"), new Generation(77));
    final List<Event> all = new ArrayList<>();
    final TreeMap<Position, Event> redis = new TreeMap<>();
    final TreeMap<Position, Event> archived = new TreeMap<>();
    private final Set<Position> pruned = new HashSet<>();
    private final Set<Position> lost = new HashSet<>();
    final FakeArchive archive = new FakeArchive();
    final FakeLiveLog liveLog = new FakeLiveLog();

    private final List<Chunk> sealed = new ArrayList<>();
    private ChunkBuilder active = new ChunkBuilder(id.generation(), 0);
    private Position floor = Position.ZERO;
    private Position sealedThrough = Position.ZERO;
    private Position frontierMin = Position.ZERO;
    private long lastOrdinal;
    private int refused;
    private TimelineSnapshot snapshot = snap();
    private Position watermark = Position.ZERO;
    private long ms = START_MS;
    private long seq = -1;
    private long wallMs = START_MS;
    private long monotonicNs;

    boolean redisAway;
    boolean archiveAway;
    boolean deleted;
    int archiveReads;
    int redisReads;
    private boolean stepped;

    private final List<Runnable> followers = new ArrayList<>();
    private final Deque<Runnable> loopTasks = new ArrayDeque<>();
    private final Deque<Runnable> commands = new ArrayDeque<>();
    private final Deque<Runnable> replies = new ArrayDeque<>();
    private final List<Runnable> workerTasks = new ArrayList<>();
    private final TreeMap<Long, List<Runnable>> timers = new TreeMap<>();

    private final List<OrdinalRange> voided = new ArrayList<>();
    private final List<OrdinalRange> unwritten = new ArrayList<>();

    // ---- what keeper, fold and trim do

    /** An append is refused while others behind it are under way: its ordinals are written with the one after the next. */
    void refuse(int count) {
        OrdinalRange range = new OrdinalRange(lastOrdinal + 1, lastOrdinal + count);
        voided.add(range);
        unwritten.add(range);
        refused += count;
    }

    @Override
    public List<OrdinalRange> voided(int stripe) {
        return List.copyOf(voided);
    }

    @CanIgnoreReturnValue
    World append(int count) {
        for (int i = 0; i < count; i++) {
            append(("{\"n\":" + (lastOrdinal + 1) + "}").getBytes(StandardCharsets.UTF_8), 0);
        }
        return this;
    }

    /** @param voidedBefore ordinals that a refused append got before it */
    @CanIgnoreReturnValue
    Event append(byte[] payload, int voidedBefore) {
        seq++;
        Position position = new Position(ms, seq);
        List<OrdinalRange> carried = new ArrayList<>();
        if (voidedBefore > 0 && refused == 0) {
            carried.add(new OrdinalRange(lastOrdinal + 1, lastOrdinal + voidedBefore));
        } else if (refused == 0) {
            carried.addAll(unwritten);
            unwritten.clear();
        }
        EventExtras extras = carried.isEmpty() ? null : new EventExtras(null, carried);
        lastOrdinal += (refused == 0 ? voidedBefore : refused) + 1;
        refused = 0;
        Event event =
                new Event(position, position, lastOrdinal, Event.NO_TIME, false, ContentType.JSON, extras, payload);
        appendAsItIs(event);
        return event;
    }

    void appendAsItIs(Event event) {
        lastOrdinal = event.ordinal();
        all.add(event);
        redis.put(event.id(), event);
        if (snapshot.isOpen()) {
            active.add(event);
            snapshot = snap();
        }
        notifyFollowers();
    }

    @CanIgnoreReturnValue
    World nextMs(long more) {
        ms += more;
        seq = -1;
        return this;
    }

    @CanIgnoreReturnValue
    World seal() {
        if (!active.isEmpty()) {
            sealed.add(active.seal());
            active = new ChunkBuilder(id.generation(), 0);
            sealedThrough = sealed.get(sealed.size() - 1).last();
            snapshot = snap();
        }
        return this;
    }

    /** Folds at most {@code count} sealed events; what is in neither memory nor Redis becomes a gap. */
    @CanIgnoreReturnValue
    World fold(int count) {
        int left = count;
        boolean missing = false;
        for (Event event : all) {
            if (left > 0 && event.id().isAfter(watermark) && !event.id().isAfter(sealedThrough)) {
                left--;
                if (isHeld(event)) {
                    if (missing) {
                        archive.gaps.add(new Gap(watermark, Positions.below(event.id()), Gap.Reason.LOST));
                        missing = false;
                    }
                    archived.put(event.id(), event);
                    watermark = event.id();
                    voided.removeIf(range -> range.last() < event.ordinal());
                } else {
                    missing = true;
                    lost.add(event.id());
                }
            }
        }
        return this;
    }

    /** Whether nobody can give an event any more, or may: it is pruned, or neither memory nor Redis nor the archive has it. */
    boolean isGone(Event event) {
        return pruned.contains(event.id())
                || lost.contains(event.id())
                || !(isHeld(event) || archived.containsKey(event.id()));
    }

    private boolean isHeld(Event event) {
        return redis.containsKey(event.id())
                || (snapshot.isOpen()
                        && !snapshot.before(event.id().next(), event.id(), 1, 1).isEmpty());
    }

    @CanIgnoreReturnValue
    World foldAll() {
        return seal().fold(Integer.MAX_VALUE);
    }

    /** Trims at most {@code count} folded entries. */
    @CanIgnoreReturnValue
    World trim(int count) {
        for (int i = 0; i < count && !redis.isEmpty() && !redis.firstKey().isAfter(watermark); i++) {
            redis.pollFirstEntry();
        }
        return this;
    }

    @CanIgnoreReturnValue
    World trimAll() {
        return trim(Integer.MAX_VALUE);
    }

    /** Releases the oldest sealed chunk from memory, if it is folded or {@code unfolded} may go too. */
    @CanIgnoreReturnValue
    World release(boolean unfolded) {
        if (snapshot.isOpen() && !sealed.isEmpty()) {
            Position last = sealed.get(0).last();
            if (unfolded || !last.isAfter(watermark)) {
                sealed.remove(0);
                floor = last;
                snapshot = snap();
            }
        }
        return this;
    }

    @CanIgnoreReturnValue
    World releaseAll() {
        while (!sealed.isEmpty()) {
            release(true);
        }
        return this;
    }

    /** Removes the oldest {@code count} events from the archive, but never the last one. */
    @CanIgnoreReturnValue
    World prune(int count) {
        for (int i = 0; i < count && archived.size() > 1; i++) {
            pruned.add(archived.firstKey());
            archived.pollFirstEntry();
        }
        return this;
    }

    /** Memory forgets the stream; the next {@link #open} reads what Redis has above W. */
    @CanIgnoreReturnValue
    World retire() {
        seal();
        sealed.clear();
        snapshot = TimelineSnapshot.COLD;
        return this;
    }

    /** Somebody else removes an entry from Redis. */
    void removeByOthers(Position entry) {
        redis.remove(entry);
    }

    void delete() {
        deleted = true;
        notifyFollowers();
    }

    void redisAway(boolean away) {
        redisAway = away;
        notifyFollowers();
    }

    void notifyFollowers() {
        List.copyOf(followers).forEach(Runnable::run);
    }

    private TimelineSnapshot snap() {
        List<Chunk> chunks = new ArrayList<>(sealed);
        if (!active.isEmpty()) {
            chunks.add(active.view());
        }
        Position tail = all.isEmpty() ? Position.ZERO : all.get(all.size() - 1).id();
        return TimelineSnapshot.of(chunks, sealed.size(), floor, tail, frontier(tail), lastOrdinal);
    }

    private Position frontier(Position tail) {
        return Position.max(tail, frontierMin);
    }

    /** Nothing will be added at or below it. */
    @CanIgnoreReturnValue
    World frontierAt(Position frontier) {
        frontierMin = frontier;
        snapshot = snap();
        ms = frontier.ms() + 1;
        seq = -1;
        return this;
    }

    Position floor() {
        return floor;
    }

    int followers() {
        return followers.size();
    }

    // ---- what happens between a reader and them

    /** From now on nothing completes within its call: {@link #step} makes it happen. */
    @CanIgnoreReturnValue
    World stepped() {
        stepped = true;
        return this;
    }

    /** Lets one thing happen, if there is any. */
    @CanIgnoreReturnValue
    boolean step(Random random) {
        List<Supplier<Runnable>> possible = new ArrayList<>();
        addIfAny(possible, loopTasks);
        addIfAny(possible, commands);
        addIfAny(possible, replies);
        if (!workerTasks.isEmpty()) {
            possible.add(() -> workerTasks.remove(random.nextInt(workerTasks.size())));
        }
        if (!timers.isEmpty() && (possible.isEmpty() || random.nextInt(8) == 0)) {
            possible.add(this::nextTimer);
        }
        if (possible.isEmpty()) {
            return false;
        }
        possible.get(random.nextInt(possible.size())).get().run();
        return true;
    }

    private static void addIfAny(List<Supplier<Runnable>> possible, Deque<Runnable> tasks) {
        if (!tasks.isEmpty()) {
            possible.add(tasks::removeFirst);
        }
    }

    private Runnable nextTimer() {
        long at = timers.firstKey();
        elapse(Math.max(0, at - monotonicNs / 1_000_000));
        return () -> {};
    }

    /** Lets everything happen that can, but no time pass. */
    @CanIgnoreReturnValue
    World settle() {
        Random order = new Random(1);
        while (!loopTasks.isEmpty() || !commands.isEmpty() || !replies.isEmpty() || !workerTasks.isEmpty()) {
            boolean stepped = step(order);
            assert stepped;
        }
        return this;
    }

    @CanIgnoreReturnValue
    World elapse(long elapsedMs) {
        monotonicNs += elapsedMs * 1_000_000;
        wallMs += elapsedMs;
        while (!timers.isEmpty() && timers.firstKey() <= monotonicNs / 1_000_000) {
            Map.Entry<Long, List<Runnable>> due = timers.pollFirstEntry();
            loopTasks.addAll(due.getValue());
        }
        return this;
    }

    @Override
    public void post(Runnable task) {
        loopTasks.add(task);
    }

    @Override
    public void schedule(long delayMs, Runnable task) {
        timers.computeIfAbsent(monotonicNs / 1_000_000 + delayMs, at -> new ArrayList<>())
                .add(task);
    }

    @Override
    public <T> Future<T> call(Callable<T> blocking) {
        Promise<T> promise = Promise.promise();
        Runnable task = () -> {
            Future<T> outcome = outcome(blocking);
            if (stepped) {
                replies.add(() -> outcome.onComplete(promise));
            } else {
                outcome.onComplete(promise);
            }
        };
        if (stepped) {
            workerTasks.add(task);
        } else {
            task.run();
        }
        return promise.future();
    }

    private static <T> Future<T> outcome(Callable<T> blocking) {
        try {
            return Future.succeededFuture(blocking.call());
        } catch (Exception e) {
            return Future.failedFuture(e);
        }
    }

    private <T> Future<T> command(Callable<T> executed) {
        redisReads++;
        Promise<T> promise = Promise.promise();
        Runnable command = () -> {
            Future<T> outcome = redisAway
                    ? Future.failedFuture(new LiveLogException(LiveLogException.Kind.NOT_SENT, "away"))
                    : outcome(executed);
            if (stepped) {
                replies.add(() -> outcome.onComplete(promise));
            } else {
                outcome.onComplete(promise);
            }
        };
        if (stepped) {
            commands.add(command);
        } else {
            command.run();
        }
        return promise.future();
    }

    @Override
    public long wallMs() {
        return wallMs;
    }

    @Override
    public long monotonicNs() {
        return monotonicNs;
    }

    // ---- the stream

    @Override
    public StreamId id() {
        return id;
    }

    @Override
    public StreamSettings settings() {
        return StreamSettings.DEFAULT;
    }

    @Override
    public long createdMs() {
        return START_MS;
    }

    @Override
    public int stripes() {
        return 1;
    }

    @Override
    public TimelineSnapshot snapshot(int stripe) {
        return snapshot;
    }

    @Override
    public Future<Void> open() {
        if (snapshot.isOpen()) {
            return Future.succeededFuture();
        }
        return command(() -> {
                    reopen();
                    return true;
                })
                .recover(failure -> Future.failedFuture(Problem.unavailable(Problem.Stored.NO, "the live log is away")
                        .causedBy(failure)))
                .mapEmpty();
    }

    private void reopen() {
        if (snapshot.isOpen()) {
            return;
        }
        floor = watermark;
        active = new ChunkBuilder(id.generation(), 0);
        redis.tailMap(watermark, false).values().forEach(active::add);
        snapshot = snap();
        notifyFollowers();
    }

    @Override
    public boolean liveLogReachable() {
        return !redisAway;
    }

    @Override
    public boolean isDeleted() {
        return deleted;
    }

    @Override
    public Runnable follow(Runnable onAdvance) {
        followers.add(onAdvance);
        return () -> followers.remove(onAdvance);
    }

    // ---- the streams

    @Override
    public @Nullable LiveStream find(StreamName name) {
        return name.equals(id.name()) ? this : null;
    }

    @Override
    public List<LiveStream> all() {
        return List.of(this);
    }

    @Override
    public Future<Created> put(StreamName name, Map<Setting, @Nullable Long> changes) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Future<LiveStream> findOrCreate(StreamName name) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Future<Boolean> delete(StreamName name) {
        throw new UnsupportedOperationException();
    }

    // ---- readers

    StreamReads.Ports ports() {
        return new StreamReads.Ports(
                this, stream -> archive, liveLog, this, null, 1, () -> this, stream -> Folding.Figures.NONE, this);
    }

    StreamReads reads() {
        return new StreamReads(ports());
    }

    StreamSource source() {
        return new StreamSource(this, archive, liveLog, this);
    }

    Position position(int ordinal) {
        for (Event event : all) {
            if (event.ordinal() == ordinal) {
                return event.id();
            }
        }
        throw new AssertionError("no event has ordinal " + ordinal);
    }

    String cursor(int ordinal) {
        return source().cursor(position(ordinal)).toString();
    }

    /** The archive: what was folded and not pruned. */
    final class FakeArchive implements ArchiveReader {
        final List<Gap> gaps = new ArrayList<>();

        @Override
        public dev.tidemark.archive.ArchiveCheck check() {
            throw new UnsupportedOperationException("it has no files");
        }

        @Override
        public dev.tidemark.archive.ArchiveCount count() {
            throw new UnsupportedOperationException("it doesn't count");
        }

        @Override
        public Position watermark() {
            return watermark;
        }

        @Override
        public Position earliest() {
            return archived.isEmpty() ? Position.ZERO : archived.firstKey();
        }

        @Override
        public long events() {
            return archived.size();
        }

        @Override
        public long eventsRemoved() {
            return pruned.size();
        }

        @Override
        public long bytes() {
            return archived.size() * 100L;
        }

        @Override
        public void open() {}

        @Override
        public ArchivePage read(Position after, Position through, int eventsMax, int bytesMax) {
            Position end = Position.min(through, watermark);
            return page(
                    end.isAfter(after) ? archived.subMap(after, false, end, true) : new TreeMap<>(),
                    after,
                    end,
                    eventsMax,
                    bytesMax);
        }

        @Override
        public ArchivePage readReverse(Position before, Position from, int eventsMax, int bytesMax) {
            Position end = Position.min(before, watermark.next());
            return page(
                    end.isAfter(from) ? archived.subMap(from, true, end, false).descendingMap() : new TreeMap<>(),
                    from.previous(),
                    end.previous(),
                    eventsMax,
                    bytesMax);
        }

        private ArchivePage page(
                NavigableMap<Position, Event> range, Position after, Position end, int eventsMax, int bytesMax) {
            archiveReads++;
            if (archiveAway) {
                throw new ArchiveException(ArchiveException.Kind.IO, "away");
            }
            TreeMap<Position, Event> events = new TreeMap<>();
            long bytes = 0;
            boolean more = false;
            for (Event event : range.values()) {
                more = events.size() == eventsMax || bytes >= bytesMax;
                if (more) {
                    break;
                }
                events.put(event.id(), event);
                bytes += event.payload().length + 100;
            }
            ChunkBuilder builder = new ChunkBuilder(id.generation(), 0);
            events.values().forEach(builder::add);
            boolean rising = range.comparator() == null;
            Position low = more && !rising ? events.firstKey().previous() : after;
            Position high = more && rising ? events.lastKey() : end;
            List<Gap> within = gaps.stream()
                    .filter(gap -> gap.to().isAfter(low) && gap.from().isBefore(high))
                    .map(gap -> new Gap(Position.max(gap.from(), low), Position.min(gap.to(), high), gap.reason()))
                    .toList();
            return new ArchivePage(builder.view(), within, more);
        }
    }

    /** The live log: what was appended and neither trimmed nor removed by others. */
    final class FakeLiveLog implements LiveLogReader {
        @Override
        public Future<LiveLogPage> range(StripeId stripe, Position after, Position through, int count) {
            return command(() -> page(
                    through.isAfter(after) ? redis.subMap(after, false, through, true) : new TreeMap<>(),
                    after,
                    count));
        }

        @Override
        public Future<LiveLogPage> rangeReverse(StripeId stripe, Position before, Position from, int count) {
            return command(() -> page(
                    before.isAfter(from)
                            ? redis.subMap(from, true, before, false).descendingMap()
                            : new TreeMap<>(),
                    before,
                    count));
        }

        private LiveLogPage page(NavigableMap<Position, Event> range, Position start, int count) {
            List<Event> events = range.values().stream().limit(count).toList();
            Position last =
                    events.isEmpty() ? start : events.get(events.size() - 1).id();
            return new LiveLogPage(events, 0, last, events.size() == count);
        }

        @Override
        public Future<LiveLogState> state(StripeId stripe) {
            return command(() -> {
                Position first = redis.isEmpty() ? Position.ZERO : redis.firstKey();
                Position last = redis.isEmpty() ? Position.ZERO : redis.lastKey();
                return new LiveLogState(true, redis.size(), first, last, last, 0);
            });
        }
    }
}
