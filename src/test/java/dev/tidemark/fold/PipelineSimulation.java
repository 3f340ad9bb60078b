package dev.tidemark.fold;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.archive.ArchiveException;
import dev.tidemark.event.Chunk;
import dev.tidemark.event.ContentType;
import dev.tidemark.event.Event;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Seeds;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.StripeId;
import dev.tidemark.keeper.KeeperWorld;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.StreamSnapshot;
import dev.tidemark.keeper.Streams;
import dev.tidemark.keeper.StripeTails;
import dev.tidemark.livelog.FakeLiveLog;
import dev.tidemark.livelog.FakeLiveLog.Command;
import dev.tidemark.livelog.LiveLogException.Kind;
import dev.tidemark.livelog.LiveLogTrimmer;
import dev.tidemark.read.Folding;
import dev.tidemark.read.StreamReads;
import dev.tidemark.read.View;
import dev.tidemark.read.Workers;
import dev.tidemark.retention.Windows;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/**
 * The whole path of one stream of any kind on one thread, from append to subscriber, by a seed: writers, folds, trims, readers and
 * followers, while Redis, the archive, the clock and the process fail.
 *
 * <p>Fault model:
 * <ul>
 *   <li>Redis: every kind of error for every command; answers late or lost with their connection; commands of a closed connection that
 *       are executed later; away for a while; back with less than it had; others who add, remove, trim or delete. Not: what it had lost
 *       over a kill of the process, and what readers were told is lost, comes back later; nor do others take the newest entry where a
 *       fence of the keeper stands behind it or is on its way.
 *   <li>Archive: appends, forces and repairs that fail, a full disk; pages that a failed force has lost; the process killed between any
 *       two of its calls, and in the middle of one, whereof any prefix survives (what recovery leaves of a subset of pages).
 *   <li>Process: killed with anything under way, stopped in order, paused.
 *   <li>Clock: steps back and ahead.
 * </ul>
 *
 * <p>Checked at every step: ids given once and above what was final, W never back and never above the frontier, nothing trimmed that isn't
 * forced in the archive, every answer in order and without a hole that isn't announced; at the end: every acknowledged event given once to
 * every reader, unless Redis lost it from where only Redis had it, and then announced.
 */
class PipelineSimulation implements Streams {
    /** Those that decide most fail most. */
    private static final List<Command> COMMANDS = Stream.concat(
                    Stream.of(
                            Command.APPEND,
                            Command.APPEND,
                            Command.APPEND,
                            Command.APPEND,
                            Command.RANGE,
                            Command.RANGE),
                    Stream.of(Command.values()).filter(command -> command.ordinal() < Command.CREATE_STREAM.ordinal()))
            .toList();

    private static final List<Kind> REFUSALS = List.of(Kind.values());

    private final Random random;
    private final KeeperWorld world;
    private final Windows windows = new Windows();
    private final FoldCycle cycle;
    private final SimulatedLoop loop;
    private final Ledger ledger = new Ledger();
    private final SimulatedReaders readers;
    private final List<SimulatedFollower> followers = new ArrayList<>();
    private final List<String> trace = new ArrayList<>();
    private final int stripes;
    private final long windowMs;
    private final boolean forgetful;
    private StreamFold fold;
    private Future<Position> folding = Future.succeededFuture(Position.ZERO);
    private StreamReads reads;
    private Position watermark = Position.ZERO;
    private FakeLiveLog.Image image;
    private boolean redisDisturbed;
    /** Redis has come back as it once was: what nobody was told of may be there again. */
    private boolean restored;

    private int sent;
    /** A restart forgets which ordinals were refused if no later append has carried them: they look lost. */
    private boolean refused;

    PipelineSimulation(long seed) {
        random = Seeds.random(seed);
        boolean plain = random.nextBoolean();
        stripes = plain || random.nextBoolean() ? 1 : 1 + random.nextInt(4);
        windowMs = plain || stripes > 1 && random.nextInt(3) == 0
                ? 0
                : List.of(20L, 200L, 3_000L).get(random.nextInt(3));
        forgetful = random.nextInt(3) == 0;
        Map<Setting, Long> chosen = new EnumMap<>(Setting.class);
        chosen.put(Setting.STRIPES, (long) stripes);
        chosen.put(Setting.ACCEPTANCE_WINDOW, windowMs);
        chosen.put(Setting.LIVE_MAX_EVENTS, 1L + random.nextInt(60));
        chosen.put(Setting.CHUNK_MAX_EVENTS, 1L + random.nextInt(20));
        chosen.put(Setting.TAIL_CAPACITY, 1L + random.nextInt(50));
        world = new KeeperWorld(chosen);
        world.ask(MergedFold::archived);
        loop = new SimulatedLoop(world.clock);
        cycle = newCycle(world, checkedTrims());
        fold = newFold();
        reads = newReads();
        readers = new SimulatedReaders(random, ledger, loop, world.liveStream(), reads);
        world.open();
        image = world.liveLog.image();
        note("stripes " + stripes + ", window " + windowMs + " ms, " + chosen + (forgetful ? ", Redis forgets" : ""));
    }

    /** The cycle under test; a test that breaks it on purpose makes another. */
    FoldCycle newCycle(KeeperWorld of, LiveLogTrimmer trimmer) {
        return new FoldCycle(of, of.liveLog, trimmer, windows, of.clock);
    }

    KeeperWorld world() {
        return world;
    }

    List<String> trace() {
        return trace;
    }

    private void note(String what) {
        trace.add(what);
    }

    private StreamFold newFold() {
        return new StreamFold(world.liveStream(), world.archive);
    }

    private StreamReads newReads() {
        return new StreamReads(new StreamReads.Ports(
                this,
                stream -> world.archive,
                world.liveLog,
                new Inline(),
                new Tails(),
                5_000,
                () -> loop,
                stream -> Folding.Figures.NONE,
                world.clock));
    }

    void run(int steps) {
        for (int i = 0; i < steps; i++) {
            step();
            loop.drain();
            check();
        }
        settle();
    }

    private void step() {
        switch (random.nextInt(26)) {
            case 0, 1, 2, 3, 4, 5 -> append();
            case 6, 7, 8 -> pass(random.nextInt(random.nextInt(10) == 0 ? 4_000 : 60));
            case 9, 10, 11 -> fold();
            case 12 -> readers.tail();
            case 13, 14 -> readers.range();
            case 15 -> readers.poll();
            case 16, 17 -> follow();
            case 18 -> redis();
            case 19 -> calm();
            case 20 -> restart();
            case 21 -> clock();
            case 22 -> archive();
            case 23 -> lateBytes();
            case 24 -> unanswered();
            default -> others();
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
        ledger.sent(names);
        note("append " + names + " to " + stripe);
        world.append(stripe, events).onComplete(answer -> {
            if (answer.succeeded()) {
                note("acked " + names + " " + answer.result().ids());
                ledger.watch(() -> ledger.stored(names, answer.result().ids()));
            } else if (answer.cause() instanceof Problem problem
                    && "no".equals(String.valueOf(problem.fields().get("stored")))) {
                note("not stored " + names + ": " + problem.getMessage());
                ledger.notStored(names);
                refused = true;
            }
        });
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

    private void check() {
        ledger.assertUnbroken();
        StreamSnapshot snapshot = world.liveStream().snapshot();
        if (snapshot.isOpen()) {
            ledger.finalThrough(snapshot.frontier());
        }
        Position now = world.archive.watermark();
        assertTrue(now.compareTo(watermark) >= 0, "W went back from " + watermark + " to " + now);
        watermark = now;
        assertTrue(now.compareTo(ledger.finalThrough()) <= 0, "W " + now + " is above the frontier");
    }

    // ---- fold and trim

    private void fold() {
        if (!folding.isComplete()
                || fold.copying
                || !world.liveStream().snapshot().isOpen()) {
            return;
        }
        if (random.nextBoolean()) {
            world.seal();
        }
        boolean killed = random.nextInt(12) == 0;
        if (killed) {
            world.archive.killAt(1 + random.nextInt(8));
        }
        Position before = world.archive.watermark();
        folding = cycle.run(fold);
        note("fold: W " + before + " -> " + world.archive.watermark());
        world.archive.killAt(0);
        if (world.archive.isDead()) {
            kill();
        }
    }

    /** What is trimmed must be forced in the archive. */
    private LiveLogTrimmer checkedTrims() {
        return new LiveLogTrimmer() {
            @Override
            public Future<Long> trim(StripeId stripe, Position minId) {
                ledger.watch(() -> checkTrim(stripe, minId));
                note("trim " + stripe.index() + " below " + minId);
                return world.liveLog.trim(stripe, minId);
            }

            @Override
            public Future<Void> copySeam(StreamId stream, Position seam) {
                return world.liveLog.copySeam(stream, seam);
            }

            @Override
            public Future<Position> copiedSeam(StreamId stream) {
                return world.liveLog.copiedSeam(stream);
            }
        };
    }

    private void checkTrim(StripeId stripe, Position minId) {
        Set<Position> forced = world.archive.forcedIds();
        for (Event event : world.liveLog.events(stripe)) {
            // What was announced as lost may come back with an older Redis: it is below W and stays announced.
            boolean announced = ledger.lost().contains(KeeperWorld.text(event));
            // So may the first try of an append that was sent again when others had taken it out.
            boolean sentAgain = ledger.acked().contains(KeeperWorld.text(event))
                    && !ledger.idOf(KeeperWorld.text(event)).equals(event.id());
            // Nor was ever promised what nobody was told of, and what an older Redis had.
            boolean unpromised = restored && !ledger.acked().contains(KeeperWorld.text(event));
            assertTrue(
                    unpromised
                            || announced
                            || sentAgain
                            || !event.entry().isBefore(minId)
                            || forced.contains(event.id()),
                    () -> "a trim below " + minId + " takes " + event.id() + ", which isn't forced; W "
                            + world.archive.watermark());
        }
    }

    // ---- faults

    private void redis() {
        Command command = COMMANDS.get(random.nextInt(COMMANDS.size()));
        Kind kind = REFUSALS.get(random.nextInt(REFUSALS.size()));
        switch (random.nextInt(10)) {
            case 0, 1 -> {
                note("refuse " + command + " " + kind);
                refused |= command == Command.APPEND;
                world.liveLog.refuseNext(command, kind, 1 + random.nextInt(3));
            }
            case 2 -> {
                note("unknown " + command);
                world.liveLog.executeThenUnknown(command);
            }
            case 3, 4 -> {
                note("replies held of " + command);
                world.liveLog.holdReplies(command);
            }
            case 5 -> {
                note("bytes held of " + command);
                world.liveLog.holdBytes(command);
            }
            case 6, 7 -> {
                note("connections break");
                world.liveLog.dropConnections();
            }
            case 8 -> note(world.liveLog.arriveLate() + " late commands arrive");
            default -> {
                note("Redis is away");
                world.liveLog.away();
            }
        }
        redisDisturbed = true;
        readers.disturbed(true);
    }

    /** The bytes of an append are still on their way when its connection breaks; they arrive after the keeper has gone on. */
    private void lateBytes() {
        note("bytes come late");
        world.liveLog.holdBytes(Command.APPEND);
        append();
        world.liveLog.dropConnections();
        pass(400);
        if (random.nextBoolean()) {
            append();
        }
        note(world.liveLog.arriveLate() + " late commands arrive");
    }

    /** An append is stored, its answer is lost, and the look for it fails at first. */
    private void unanswered() {
        note("answer lost, look fails");
        world.liveLog.holdReplies(Command.APPEND);
        append();
        world.liveLog.refuseNext(Command.RANGE, REFUSALS.get(random.nextInt(REFUSALS.size())), 1);
        world.liveLog.dropConnections();
        pass(400);
    }

    /** Redis is well again, and what was on its way arrives, or never does. */
    private void calm() {
        note("calm");
        switch (random.nextInt(3)) {
            case 0 -> world.liveLog.arriveLate();
            case 1 -> world.liveLog.forgetLate();
            default -> {}
        }
        world.liveLog.back();
        world.liveLog.accept();
        world.liveLog.arrive();
        world.liveLog.deliver();
        world.archive.failAppends(0, ArchiveException.Kind.IO);
        world.archive.failForces(0, ArchiveException.Kind.IO);
        world.archive.failRepairs(0, ArchiveException.Kind.IO);
        for (int i = 0; i < 3; i++) {
            loop.drain();
            pass(400);
        }
        redisDisturbed = !world.liveStream().snapshot().isOpen();
        readers.disturbed(redisDisturbed);
    }

    private void archive() {
        ArchiveException.Kind kind = random.nextBoolean() ? ArchiveException.Kind.IO : ArchiveException.Kind.DISK_FULL;
        note("archive fails, " + kind);
        switch (random.nextInt(3)) {
            case 0 -> world.archive.failAppends(1 + random.nextInt(2), kind);
            case 1 -> world.archive.failForces(1 + random.nextInt(2), kind);
            default -> {
                world.archive.failAppends(1, kind);
                world.archive.failRepairs(1 + random.nextInt(2), kind);
            }
        }
    }

    private void clock() {
        if (random.nextBoolean()) {
            world.clock.stepMs(
                    random.nextInt(10) == 0 ? random.nextInt(7_200_000) - 3_600_000 : random.nextInt(200) - 100);
        } else {
            note("paused");
            world.clock.advanceMs(random.nextInt(5_000));
            // Its beat is old until it goes on.
            readers.disturbed(true);
        }
    }

    private void others() {
        if (!forgetful) {
            return;
        }
        StripeId stripe = world.liveStream().stripe(random.nextInt(stripes));
        List<Event> there = world.liveLog.events(stripe);
        switch (random.nextInt(6)) {
            case 0 -> image = world.liveLog.image();
            case 1, 2 -> {
                note("Redis comes back with what it had");
                world.liveLog.restore(image);
                restored = true;
                world.redisRestarted();
                redisDisturbed = true;
                readers.disturbed(true);
            }
            case 3 -> {
                if (!there.isEmpty()) {
                    int taken = random.nextInt(there.size());
                    // A fence behind it, or on its way, hides that there was a newest one.
                    boolean hidden = redisDisturbed || world.liveLog.isFenced(stripe);
                    if (taken < there.size() - 1 || !hidden) {
                        Event event = there.get(taken);
                        note("others remove " + event.id());
                        world.liveLog.removeByOthers(stripe, event.entry());
                    }
                }
            }
            case 4 -> {
                if (!there.isEmpty()) {
                    Event event = there.get(random.nextInt(there.size()));
                    note("others trim below " + event.id());
                    world.liveLog.trimByOthers(stripe, event.entry());
                }
            }
            default -> {
                note("others delete the key");
                world.liveLog.deleteByOthers(stripe);
            }
        }
        ledger.expectGaps();
    }

    private void restart() {
        if (random.nextBoolean()) {
            kill();
            return;
        }
        calm();
        pass(1_500);
        foldAll();
        noteLost();
        followers.forEach(SimulatedFollower::cut);
        note("stopped, tail " + world.liveStream().snapshot().tail());
        world.stopAndRestart();
        restarted();
    }

    private void kill() {
        followers.forEach(SimulatedFollower::cut);
        noteLost();
        int kept = random.nextInt(1 + world.archive.unforced());
        note("killed, of " + world.archive.unforced() + " unforced " + kept + " survive");
        world.archive.kill();
        world.killAndRestart(kept);
        restarted();
    }

    private void restarted() {
        if (refused) {
            ledger.expectGaps();
        }
        folding = Future.succeededFuture(Position.ZERO);
        fold = newFold();
        reads = newReads();
        readers.restarted(world.liveStream(), reads);
        calm();
        for (int i = 0; i < 20 && !world.liveStream().snapshot().isOpen(); i++) {
            world.tryOpen();
            calm();
        }
        assertTrue(world.liveStream().snapshot().isOpen(), "the stream opens again");
        note("tail " + world.liveStream().snapshot().tail());
        check();
    }

    /** With the process goes its memory: what is in neither Redis nor the archive now is lost. */
    private void noteLost() {
        if (!forgetful) {
            return;
        }
        Set<Position> kept = new HashSet<>(world.archive.forcedIds());
        for (int i = 0; i < stripes; i++) {
            world.liveLog.events(world.liveStream().stripe(i)).forEach(event -> kept.add(event.id()));
        }
        for (String name : ledger.acked()) {
            if (!kept.contains(ledger.idOf(name)) && !ledger.lost().contains(name)) {
                note("lost: " + name + " " + ledger.idOf(name));
                ledger.lost(name);
                image = world.liveLog.image();
            }
        }
    }

    private void pass(long ms) {
        world.pass(ms);
        loop.drain();
        if (ms > 0) {
            readers.disturbed(redisDisturbed);
        }
    }

    // ---- followers

    private void follow() {
        if (!world.liveStream().snapshot().isOpen()) {
            return;
        }
        switch (random.nextInt(4)) {
            case 0 -> {
                if (followers.size() < 4) {
                    View view = random.nextBoolean() ? View.LIVE : View.SEALED;
                    followers.add(new SimulatedFollower(
                            Integer.toString(followers.size()), view, random, ledger, this::note));
                }
                followers.forEach(
                        follower -> follower.connect(world.liveStream().name(), reads));
            }
            case 1 -> {
                if (!followers.isEmpty()) {
                    followers.get(random.nextInt(followers.size())).cut();
                }
            }
            default -> followers.forEach(SimulatedFollower::change);
        }
    }

    /** All is well again: everything that was acknowledged has become final and is folded, and every reader has it, once. */
    private void settle() {
        note("settle");
        calm();
        for (int i = 0; i < 20 && redisDisturbed; i++) {
            world.tryOpen();
            calm();
        }
        pass(windowMs + 3_000);
        foldAll();
        for (int i = 0; i < 10; i++) {
            followers.forEach(follower -> follower.connect(world.liveStream().name(), reads));
            followers.forEach(SimulatedFollower::open);
            pass(1_100);
        }
        StreamSnapshot snapshot = world.liveStream().snapshot();
        assertTrue(snapshot.frontier().compareTo(snapshot.tail()) >= 0, "everything has become final");
        for (SimulatedFollower follower : followers) {
            ledger.assertAnnounced(follower.given().keySet(), follower.gaps(), follower.toString());
        }
        readers.settle();
        SimulatedReaders.Result all = readers.readAll(null, View.SEALED, false, 10_000);
        assertTrue(all != null, "all can be read");
        assertEquals(ledger.inIdOrder(Position.MAX), ledger.certain(all.names()));
        ledger.assertAnnounced(Set.copyOf(all.names()), all.gaps(), "a read of all");
        ledger.assertUnbroken();
    }

    private void foldAll() {
        for (int i = 0; i < 10; i++) {
            loop.drain();
            world.seal();
            if (folding.isComplete() && !fold.copying) {
                folding = cycle.run(fold);
            }
            pass(400);
        }
        if (redisDisturbed) {
            return;
        }
        assertTrue(folding.succeeded(), () -> "all is folded: " + folding);
        assertTrue(world.archive.watermark().compareTo(ledger.last()) >= 0, "W is the last event's id");
    }

    // ---- what the server's parts need

    private static final class Inline implements Workers {
        @Override
        public <T> Future<T> call(Callable<T> blocking) {
            try {
                return Future.succeededFuture(blocking.call());
            } catch (Exception e) {
                return Future.failedFuture(e);
            }
        }
    }

    /** Keepers that answer at once. */
    private static final class Tails implements StripeTails {
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
