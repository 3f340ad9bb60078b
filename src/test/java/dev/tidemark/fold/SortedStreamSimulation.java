package dev.tidemark.fold;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.archive.ArchiveException;
import dev.tidemark.event.Chunk;
import dev.tidemark.event.ContentType;
import dev.tidemark.event.Cursor;
import dev.tidemark.event.Event;
import dev.tidemark.event.Gap;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Setting;
import dev.tidemark.event.Slice;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.keeper.Appends;
import dev.tidemark.keeper.KeeperWorld;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.StreamSnapshot;
import dev.tidemark.keeper.Streams;
import dev.tidemark.keeper.StripeTails;
import dev.tidemark.livelog.FakeLiveLog.Command;
import dev.tidemark.livelog.LiveLogException.Kind;
import dev.tidemark.read.EventLoop;
import dev.tidemark.read.Folding;
import dev.tidemark.read.ReadPage;
import dev.tidemark.read.ReadRequest;
import dev.tidemark.read.Reads;
import dev.tidemark.read.Seam;
import dev.tidemark.read.StreamReads;
import dev.tidemark.read.SubscribeRequest;
import dev.tidemark.read.Subscriber;
import dev.tidemark.read.Subscription;
import dev.tidemark.read.TailAnswer;
import dev.tidemark.read.View;
import dev.tidemark.read.Workers;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;

/**
 * A stream with several stripes or an acceptance window, from append to subscriber, on one thread: writers claim times, the clock runs,
 * steps and stands, folds run and fail, the process stops or is killed; readers read, and followers come and go with their cursors.
 *
 * <p>Fault model: commands to Redis refused, or their answers lost with the connection; a force that fails; a kill that takes any part
 * of what wasn't forced; a wall clock that steps. Redis loses nothing.
 */
final class SortedStreamSimulation implements EventLoop, Streams {
    private final Random random;
    private final KeeperWorld world;
    private final FoldCycle cycle;
    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private final TreeMap<Long, List<Runnable>> timers = new TreeMap<>();
    private final int stripes;
    private final long windowMs;
    private final Map<String, Acked> acked = new HashMap<>();
    /** Sent, but the answer was an error that leaves it open. */
    private final Set<String> open = new HashSet<>();

    private final List<Follower> followers = new ArrayList<>();
    private final List<Poller> pollers = List.of(new Poller(View.LIVE), new Poller(View.LIVE), new Poller(View.SEALED));
    private final List<String> trace = new ArrayList<>();
    private StreamFold fold;
    private StreamReads reads;
    private Position finalThrough = Position.ZERO;
    private int sent;
    /** A restart forgets which ordinals were refused if no later append has carried them: they look lost. */
    private boolean refused;

    private boolean mayLookLost;

    /** What the writer knows of an acknowledged event. */
    private record Acked(Position id, long time) {}

    SortedStreamSimulation(long seed) {
        random = new Random(seed);
        stripes = random.nextBoolean() ? 1 : 1 + random.nextInt(4);
        windowMs = stripes > 1 && random.nextInt(3) == 0
                ? 0
                : List.of(20L, 200L, 3_000L).get(random.nextInt(3));
        Map<Setting, Long> chosen = new EnumMap<>(Setting.class);
        chosen.put(Setting.STRIPES, (long) stripes);
        chosen.put(Setting.ACCEPTANCE_WINDOW, windowMs);
        chosen.put(Setting.LIVE_MAX_EVENTS, 1L + random.nextInt(60));
        chosen.put(Setting.CHUNK_MAX_EVENTS, 1L + random.nextInt(20));
        chosen.put(Setting.TAIL_CAPACITY, 1L + random.nextInt(50));
        world = new KeeperWorld(chosen);
        cycle = new FoldCycle(world, world.liveLog, world.liveLog, new dev.tidemark.retention.Windows(), world.clock);
        fold = new StreamFold(world.liveStream(), world.archive);
        reads = newReads();
        world.open();
        note("stripes " + stripes + ", window " + windowMs + " ms, " + chosen);
    }

    List<String> trace() {
        return trace;
    }

    private void note(String what) {
        trace.add(what);
    }

    private StreamReads newReads() {
        return new StreamReads(new StreamReads.Ports(
                this,
                stream -> world.archive,
                world.liveLog,
                new Workers() {
                    @Override
                    public <T> Future<T> call(Callable<T> blocking) {
                        try {
                            return Future.succeededFuture(blocking.call());
                        } catch (Exception e) {
                            return Future.failedFuture(e);
                        }
                    }
                },
                new Tails(),
                5_000,
                () -> this,
                stream -> Folding.Figures.NONE,
                world.clock));
    }

    void run(int steps) {
        for (int i = 0; i < steps; i++) {
            step();
            drain();
            checkFrontier();
        }
        settle();
    }

    private void step() {
        switch (random.nextInt(20)) {
            case 0, 1, 2, 3, 4, 5 -> append();
            case 6, 7, 8 -> pass(random.nextInt(random.nextInt(10) == 0 ? 4_000 : 60));
            case 9, 10 -> foldNow();
            case 11 -> checkTail();
            case 12 -> checkRead(false);
            case 13, 14 -> follow();
            case 15 -> {
                drop();
                pollers.get(random.nextInt(pollers.size())).poll(1 + random.nextInt(3));
            }
            case 16 -> faults();
            case 17 -> restart();
            case 18 -> world.clock.stepMs(random.nextInt(200) - 100);
            default -> checkRead(true);
        }
    }

    // ---- writers

    private void append() {
        List<NewEvent> events = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (int i = 1 + random.nextInt(4); i > 0; i--) {
            String name = Integer.toString(++sent);
            names.add(name);
            events.add(new NewEvent(name.getBytes(StandardCharsets.UTF_8), ContentType.JSON, claimed(), null));
        }
        int stripe = random.nextInt(stripes);
        open.addAll(names);
        world.append(stripe, events).onComplete(answer -> {
            if (answer.succeeded()) {
                stored(names, events, answer.result());
            } else if (answer.cause() instanceof Problem problem
                    && "no".equals(String.valueOf(problem.fields().get("stored")))) {
                names.forEach(open::remove);
                refused = true;
            }
        });
        note("append " + names + " to " + stripe);
    }

    private long claimed() {
        long now = world.clock.wallMs();
        return switch (random.nextInt(6)) {
            case 0 -> Event.NO_TIME;
            case 1 -> now + random.nextInt(1_000);
            case 2 -> now - windowMs - random.nextInt(10_000);
            case 3 -> random.nextInt(5);
            default -> now - (long) (windowMs * random.nextDouble());
        };
    }

    private void stored(List<String> names, List<NewEvent> events, Appends.Appended answer) {
        for (int i = 0; i < names.size(); i++) {
            Position id = answer.ids().get(i);
            assertTrue(id.isAfter(finalThrough), "event " + id + " was added below the frontier " + finalThrough);
            note("acked " + names.get(i) + " " + id + " claimed "
                    + events.get(i).time());
            acked.put(names.get(i), new Acked(id, events.get(i).time()));
            open.remove(names.get(i));
        }
    }

    private void checkFrontier() {
        StreamSnapshot snapshot = world.liveStream().snapshot();
        if (snapshot.isOpen()) {
            if (snapshot.frontier().isAfter(finalThrough)) note("frontier " + snapshot.frontier());
            finalThrough = Position.max(finalThrough, snapshot.frontier());
        }
        assertTrue(world.archive.watermark().compareTo(finalThrough) <= 0, "W is above the frontier");
    }

    // ---- time and faults

    private void pass(long ms) {
        world.pass(ms);
        runTimers();
        drain();
    }

    private void runTimers() {
        while (!timers.isEmpty() && timers.firstKey() <= world.clock.monotonicNs()) {
            timers.pollFirstEntry().getValue().forEach(this::post);
        }
    }

    private void foldNow() {
        if (!world.liveStream().snapshot().isOpen() || fold.isBusy()) {
            return;
        }
        if (random.nextBoolean()) {
            world.seal();
        }
        if (random.nextInt(8) == 0) {
            world.archive.failForces(1, ArchiveException.Kind.IO);
        }
        Position before = world.archive.watermark();
        cycle.run(fold).onComplete(done -> {});
        assertTrue(world.archive.watermark().compareTo(before) >= 0);
        note("fold: W " + before + " -> " + world.archive.watermark());
    }

    private void faults() {
        switch (random.nextInt(4)) {
            case 0 -> world.liveLog.refuseNext(Command.APPEND, Kind.OUT_OF_MEMORY, 1 + random.nextInt(2));
            case 1 -> world.liveLog.executeThenUnknown(Command.APPEND);
            case 2 -> {
                world.liveLog.holdReplies(Command.APPEND);
                append();
                append();
                checkTail();
                if (random.nextBoolean()) {
                    world.liveLog.deliver();
                }
            }
            default -> {}
        }
        if (random.nextBoolean()) {
            world.liveLog.dropConnections();
        } else {
            world.liveLog.deliver();
        }
        note("faults");
        pass(400);
    }

    private void restart() {
        world.liveLog.deliver();
        drain();
        followers.forEach(Follower::cut);
        boolean kill = random.nextBoolean();
        mayLookLost |= refused;
        if (kill) {
            world.killAndRestart(random.nextInt(1 + world.archive.unforced()));
        } else {
            pass(1_500);
            world.stopAndRestart();
        }
        fold = new StreamFold(world.liveStream(), world.archive);
        reads = newReads();
        world.pass(200);
        world.open();
        note(kill ? "killed" : "stopped");
        checkFrontier();
    }

    // ---- readers

    /** Acknowledged events by id. */
    private List<String> inIdOrder(Position through) {
        return acked.entrySet().stream()
                .filter(entry -> !entry.getValue().id().isAfter(through))
                .sorted(Comparator.comparing(entry -> entry.getValue().id()))
                .map(Map.Entry::getKey)
                .toList();
    }

    private void checkTail() {
        int n = random.nextInt(4) == 0 ? 10_000 : random.nextInt(30);
        View view = random.nextBoolean() ? View.LIVE : View.SEALED;
        StreamSnapshot snapshot = world.liveStream().snapshot();
        if (!snapshot.isOpen()) {
            return;
        }
        Position end = view == View.SEALED ? snapshot.frontier() : Position.MAX;
        List<String> expected = inIdOrder(end);
        Future<TailAnswer> answer = reads.tail(world.liveStream().name(), n, view, Long.MAX_VALUE);
        drain();
        TailAnswer tail = KeeperWorld.succeeded(answer);
        List<String> given = names(tail.events());
        assertTrue(
                tail.complete() || mayLookLost,
                () -> "tail " + n + " " + view + " isn't complete: " + given + ", archive " + world.archive.calls());
        List<String> known = withoutOpen(given);
        List<String> wanted = newest(expected, known.size());
        assertEquals(wanted, known, "tail " + n + " " + view);
        assertTrue(given.size() == n || known.size() == expected.size(), "tail " + n + " gave " + given.size());
        checkMarks(tail.events(), snapshot.frontier());
        if (view == View.LIVE && n > 0) {
            resumeFrom(tail.cursor(), known);
        }
    }

    private static List<String> newest(List<String> all, int n) {
        return all.subList(Math.max(0, all.size() - n), all.size());
    }

    private List<String> withoutOpen(List<String> names) {
        List<String> known = new ArrayList<>();
        for (String name : names) {
            if (acked.containsKey(name)) {
                known.add(name);
            } else {
                assertTrue(open.contains(name), "nobody sent " + name);
            }
        }
        return known;
    }

    private static void checkMarks(List<Slice> events, Position frontier) {
        for (Slice slice : events) {
            for (int i = slice.from(); i < slice.to(); i++) {
                Chunk chunk = slice.chunk();
                String json = new String(chunk.slab(), chunk.jsonStart(i), chunk.jsonLength(i), StandardCharsets.UTF_8);
                boolean above = chunk.position(i).isAfter(frontier);
                assertEquals(above, json.contains("\"provisional\":true"), json + " at frontier " + frontier);
            }
        }
    }

    /** A reader that has the whole tail has nothing more to get. */
    private void resumeFrom(Cursor cursor, List<String> given) {
        List<String> rest = read(cursor.toString(), View.LIVE, false, 1_000);
        rest.removeIf(name -> !acked.containsKey(name));
        assertEquals(List.of(), rest, "after the tail " + given);
    }

    private void checkRead(boolean descending) {
        StreamSnapshot snapshot = world.liveStream().snapshot();
        if (!snapshot.isOpen()) {
            return;
        }
        View view = random.nextBoolean() ? View.LIVE : View.SEALED;
        Position end = view == View.SEALED ? snapshot.frontier() : Position.MAX;
        List<String> expected = new ArrayList<>(inIdOrder(end));
        int limit = 1 + random.nextInt(40);
        List<String> known = withoutOpen(read(null, view, descending, limit));
        if (descending) {
            java.util.Collections.reverse(known);
        } else if (view == View.LIVE) {
            int settled = inIdOrder(snapshot.frontier()).size();
            assertEquals(expected.subList(0, settled), known.subList(0, settled), "final part, limit " + limit);
            known.sort(Comparator.comparing(name -> acked.get(name).id()));
        }
        assertEquals(expected, known, "read " + view + " descending " + descending + " limit " + limit);
    }

    /** Reads to the end, each page by a request of its own. */
    private List<String> read(String start, View view, boolean descending, int limit) {
        List<String> names = new ArrayList<>();
        String position = start;
        while (true) {
            ReadRequest request = new ReadRequest(
                    descending ? null : position,
                    descending ? position : null,
                    null,
                    null,
                    limit,
                    descending,
                    view,
                    true);
            Reads.Scan scan = done(reads.scan(world.liveStream().name(), request));
            while (true) {
                ReadPage page = done(scan.next(1 + random.nextInt(20), 1 << 20));
                List<String> given = names(page.events());
                if (descending) {
                    java.util.Collections.reverse(given);
                }
                names.addAll(given);
                assertTrue(
                        mayLookLost || page.gaps().isEmpty(), () -> page.gaps().toString());
                if (page.end() && page.bounded()) {
                    return names;
                }
                if (page.end()) {
                    position = page.cursor().toString();
                    break;
                }
            }
        }
    }

    private <T> T done(Future<T> future) {
        drain();
        return KeeperWorld.succeeded(future);
    }

    private static List<String> names(List<Slice> slices) {
        List<String> names = new ArrayList<>();
        for (Slice slice : slices) {
            for (int i = slice.from(); i < slice.to(); i++) {
                names.add(new String(slice.chunk().payload(i), StandardCharsets.UTF_8));
            }
        }
        return names;
    }

    // ---- followers

    private void follow() {
        if (followers.size() < 4 && random.nextInt(3) > 0) {
            followers.add(new Follower(random.nextBoolean() ? View.LIVE : View.SEALED));
        } else if (!followers.isEmpty()) {
            followers.get(random.nextInt(followers.size())).change();
        }
    }

    private void drop() {
        if (!followers.isEmpty()) {
            followers.get(random.nextInt(followers.size())).cut();
        }
    }

    /** Everything that was acknowledged has become final and reached every follower, once. */
    private void settle() {
        world.liveLog.deliver();
        world.liveLog.accept();
        pass(windowMs + 3_000);
        for (int i = 0; i < 10; i++) {
            followers.forEach(Follower::reconnect);
            followers.forEach(Follower::open);
            pass(1_100);
        }
        StreamSnapshot snapshot = world.liveStream().snapshot();
        assertTrue(snapshot.frontier().compareTo(snapshot.tail()) >= 0, "everything has become final");
        for (Follower follower : followers) {
            Set<String> missing = new HashSet<>(acked.keySet());
            missing.removeAll(follower.given.keySet());
            missing.removeIf(name -> !acked.get(name).id().isAfter(follower.startsBehind));
            assertEquals(Set.of(), missing, follower + " misses some");
        }
        for (Poller poller : pollers) {
            while (poller.poll(1 + random.nextInt(5))) {}
            Set<String> missed = new HashSet<>(acked.keySet());
            missed.removeAll(poller.given);
            assertEquals(Set.of(), missed, "a poller of " + poller.view + " misses some");
        }
        world.archive.failForces(0, ArchiveException.Kind.IO);
        world.seal();
        KeeperWorld.succeeded(cycle.run(fold));
        assertEquals(inIdOrder(Position.MAX), withoutOpen(read(null, View.SEALED, false, 10_000)));
    }

    /** A reader that comes back with the cursor of its last page, or of its last event, and asks for a few more. */
    private final class Poller {
        final View view;
        final Set<String> given = new HashSet<>();
        private String cursor;

        Poller(View view) {
            this.view = view;
        }

        /** Whether there was something. */
        boolean poll(int limit) {
            if (!world.liveStream().snapshot().isOpen()) {
                return false;
            }
            ReadRequest request = new ReadRequest(cursor, null, null, null, limit, false, view, true);
            Reads.Scan scan = done(reads.scan(world.liveStream().name(), request));
            ReadPage page = done(scan.next());
            int count = 0;
            while (true) {
                for (Slice slice : page.events()) {
                    for (int i = slice.from(); i < slice.to(); i++) {
                        String name = new String(slice.chunk().payload(i), StandardCharsets.UTF_8);
                        assertTrue(given.add(name), "a poller of " + view + " is given " + name + " twice");
                        cursor = cursorOf(slice.chunk(), i);
                        count++;
                    }
                }
                if (page.end()) {
                    break;
                }
                page = done(scan.next());
            }
            assertTrue(count > 0 || page.bounded(), "nothing, but not the end");
            if (count == 0 || random.nextBoolean()) {
                cursor = page.cursor().toString();
            }
            return count > 0;
        }
    }

    private static String cursorOf(Chunk chunk, int i) {
        int start = chunk.jsonStart(i) + "{\"id\":\"EVT00000000000\",\"cursor\":\"".length();
        return new String(chunk.slab(), start, chunk.cursorLength(i), StandardCharsets.US_ASCII);
    }

    /** A subscriber that remembers what it was given and the cursor of its last event, and resumes with that. */
    private final class Follower implements Subscriber {
        private final View view;
        private final Map<String, Position> given = new HashMap<>();
        private String cursor = "earliest";
        private Position startsBehind = Position.ZERO;
        private Subscription subscription;
        private boolean writable = true;
        private Position last = Position.ZERO;
        private Position sealed = Position.ZERO;

        Follower(View view) {
            this.view = view;
            reconnect();
        }

        void reconnect() {
            if (subscription == null && world.liveStream().snapshot().isOpen()) {
                SubscribeRequest request = new SubscribeRequest(cursor, -1, view, false, SubscribeRequest.Slow.ARCHIVE);
                subscription = reads.subscribe(world.liveStream().name(), request, this);
                note(this + " connects at " + dev.tidemark.event.Cursor.parseOrNull(cursor));
            }
        }

        void cut() {
            if (subscription != null) {
                if (random.nextInt(3) == 0) {
                    cursor = subscription.cursor().toString();
                }
                subscription.close();
                subscription = null;
                note(this + " is cut");
            }
        }

        void change() {
            reconnect();
            writable = random.nextBoolean();
            open();
        }

        void open() {
            if (writable && subscription != null) {
                subscription.drained();
            }
            writable = true;
        }

        @Override
        public void hello(StreamId stream, Cursor at, Seam seam) {
            cursor = at.toString();
        }

        @Override
        public void events(List<Slice> events) {
            for (Slice slice : events) {
                for (int i = slice.from(); i < slice.to(); i++) {
                    event(slice.chunk(), i);
                }
            }
        }

        private void event(Chunk chunk, int i) {
            String name = new String(chunk.payload(i), StandardCharsets.UTF_8);
            Position id = chunk.position(i);
            note(this + " gets " + name + " entry " + chunk.entry(i) + " id " + id);
            assertEquals(null, given.put(name, id), this + " is given " + name + " twice");
            if (view == View.SEALED) {
                assertTrue(id.isAfter(last), this + " is given " + id + " after " + last);
                last = id;
            }
            assertTrue(id.isAfter(sealed), this + " is given " + id + " though order was final up to " + sealed);
            cursor = cursorOf(chunk, i);
        }

        @Override
        public void caughtUp(Cursor at) {
            cursor = at.toString();
        }

        @Override
        public void sealed(Position through) {
            assertTrue(through.compareTo(sealed) >= 0);
            sealed = through;
        }

        @Override
        public void fellBehind(Cursor at) {
            cursor = at.toString();
        }

        @Override
        public void gap(Gap gap, Position earliest) {
            assertTrue(mayLookLost && gap.reason() == Gap.Reason.LOST, this + " is told of " + gap);
        }

        @Override
        public void closed(Problem problem, Cursor at) {
            subscription = null;
            note(this + " is closed: " + problem.getMessage());
        }

        @Override
        public boolean writable() {
            return writable;
        }

        @Override
        public String toString() {
            return "follower " + followers.indexOf(this) + " (" + view + ")";
        }
    }

    /** Keepers that answer at once. */
    private final class Tails implements StripeTails {
        @Override
        public Future<StripeNewest> newest(LiveStream stream, int stripe, int n, Position top) {
            return Future.succeededFuture(StripeNewest.of(stream.snapshot(stripe), n, top));
        }

        @Override
        public Future<Chunk> payloads(LiveStream stream, int stripe, List<Position> ids) {
            return Future.succeededFuture(
                    stream.snapshot(stripe).copy(stream.id().generation(), stripe, ids));
        }

        @Override
        public long payloadsMoved() {
            return 0;
        }
    }

    // ---- loop and streams

    private void drain() {
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
    }

    @Override
    public void post(Runnable task) {
        tasks.add(task);
    }

    @Override
    public void schedule(long delayMs, Runnable task) {
        timers.computeIfAbsent(world.clock.monotonicNs() + delayMs * 1_000_000, at -> new ArrayList<>())
                .add(task);
    }

    @Override
    public LiveStream find(StreamName name) {
        return world.liveStream();
    }

    @Override
    public List<LiveStream> all() {
        return List.of(world.liveStream());
    }

    @Override
    public Future<Created> put(StreamName name, Map<Setting, Long> changes) {
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
}
