package dev.tidemark.livelog;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.tidemark.event.Event;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.StripeId;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A live log in memory, for tests without Redis; passes {@link LiveLogContract} as the real one does. Deterministic: nothing happens
 * but within a call, and without a Vert.x context futures complete within the call that completes them.
 *
 * <p>Fault model, what can be made to happen:
 * <ul>
 *   <li>replies are held and delivered later, in order ({@link #holdReplies}, {@link #deliver});
 *   <li>commands are on the wire but not executed yet ({@link #holdBytes}, {@link #arrive});
 *   <li>connections break ({@link #dropConnections}): what was unanswered is UNKNOWN, replies are lost, and commands that had not
 *       arrived wait until {@link #arriveLate} executes them (bytes of a closed connection) or {@link #forgetLate} drops them;
 *   <li>Redis is away ({@link #away}, {@link #back}): connects and reads are NOT_SENT;
 *   <li>a command is refused with any kind ({@link #refuse}, {@link #refuseNext}, {@link #accept}); UNKNOWN may execute it first
 *       ({@link #executeThenUnknown});
 *   <li>others write, trim or delete ({@link #addForeign}, {@link #removeByOthers}, {@link #trimByOthers},
 *       {@link #deleteByOthers});
 *   <li>Redis comes back with what it had before ({@link #image}, {@link #restore}).
 * </ul>
 * Not in it: half a command, replies out of order, altered bytes.
 */
public final class FakeLiveLog implements LiveLogReader, LiveLogTrimmer, LiveLogAdmin, StripeAppender.Connector {
    /** What is sent to Redis; faults are chosen by it. */
    public enum Command {
        CONNECT,
        APPEND,
        FENCE,
        CREATE_KEY,
        CENSUS,
        QUARANTINE,
        RESTORE_POSITION,
        RANGE,
        RANGE_REVERSE,
        STATE,
        TRIM,
        COPY_SEAM,
        COPIED_SEAM,
        CREATE_STREAM,
        DELETE_STREAM
    }

    /** All that Redis holds at one moment. */
    public record Image(Map<StripeId, FakeKey> keys, Map<StreamName, String> seams, Map<StreamName, String> registry) {}

    private final Map<StripeId, FakeKey> keys = new TreeMap<>(FakeLiveLog::byText);
    private final Map<StreamName, String> seams = new TreeMap<>();
    private final Map<StreamName, String> registry = new TreeMap<>();
    private final List<FakeConnection> connections = new ArrayList<>();
    private final List<Runnable> late = new ArrayList<>();
    private final Set<Command> heldReplies = EnumSet.noneOf(Command.class);
    private final Set<Command> heldBytes = EnumSet.noneOf(Command.class);
    private final Map<Command, Refusal> refusals = new EnumMap<>(Command.class);
    private final Map<Command, Integer> executed = new EnumMap<>(Command.class);
    private final List<String> trace = new ArrayList<>();
    private boolean away;
    private boolean fencesIgnored;
    private boolean failedRangesAreEmpty;
    private int inFlightMax = Integer.MAX_VALUE;

    /** How a command is answered instead of with its result; {@code times} counts down. */
    private record Refusal(LiveLogException.Kind kind, int times, boolean executes) {}

    private static int byText(StripeId left, StripeId right) {
        return left.toString().compareTo(right.toString());
    }

    // ---- faults
    // -------------------------------------------------------------------------------------------------------------

    /** From now on these commands (none named: all) are executed, but their replies wait for {@link #deliver}. */
    public synchronized void holdReplies(Command... commands) {
        heldReplies.addAll(chosen(commands));
    }

    /** Delivers all held replies, in order, and holds no more. */
    public synchronized void deliver() {
        heldReplies.clear();
        pumpAll(FakeConnection::releaseReplies);
    }

    /** From now on these commands (none named: all) stay on the wire, unexecuted, and all behind them on their connection. */
    public synchronized void holdBytes(Command... commands) {
        heldBytes.addAll(chosen(commands));
    }

    /** Executes what is held on open connections, in order, and holds no more. */
    public synchronized void arrive() {
        heldBytes.clear();
        pumpAll(FakeConnection::releaseBytes);
    }

    private void pumpAll(java.util.function.Consumer<FakeConnection> release) {
        for (FakeConnection connection : List.copyOf(connections)) {
            release.accept(connection);
            connection.pump();
        }
    }

    /** Breaks all connections. Unexecuted commands are kept for {@link #arriveLate}; nothing is held any more. */
    public synchronized void dropConnections() {
        heldReplies.clear();
        heldBytes.clear();
        List<FakeConnection> broken = List.copyOf(connections);
        connections.clear();
        for (FakeConnection connection : broken) {
            late.addAll(connection.unexecuted());
        }
        for (FakeConnection connection : broken) {
            connection.broken();
        }
    }

    /** Bytes of closed connections are executed now; nobody gets their replies. Returns how many commands there were. */
    @CanIgnoreReturnValue
    public synchronized int arriveLate() {
        List<Runnable> commands = List.copyOf(late);
        late.clear();
        commands.forEach(Runnable::run);
        return commands.size();
    }

    /** Bytes of closed connections never arrive. */
    public synchronized void forgetLate() {
        late.clear();
    }

    /** Redis is gone: connections break, connects and reads fail with NOT_SENT, until {@link #back}. */
    public synchronized void away() {
        away = true;
        dropConnections();
    }

    public synchronized void back() {
        away = false;
    }

    /** Refuses these commands (none named: all) from now on. */
    public synchronized void refuse(LiveLogException.Kind kind, Command... commands) {
        for (Command command : chosen(commands)) {
            refusals.put(command, new Refusal(kind, Integer.MAX_VALUE, false));
        }
    }

    /** Refuses the next {@code times} of a command. */
    public synchronized void refuseNext(Command command, LiveLogException.Kind kind, int times) {
        refusals.put(command, new Refusal(kind, times, false));
    }

    /** The next one of a command is executed, but its answer is UNKNOWN (its connection stays open: a time-out). */
    public synchronized void executeThenUnknown(Command command) {
        refusals.put(command, new Refusal(LiveLogException.Kind.UNKNOWN, 1, true));
    }

    /** Refuses nothing any more. */
    public synchronized void accept() {
        refusals.clear();
    }

    /** How many commands may be without an answer on one connection; more are NOT_SENT. */
    public synchronized void inFlightMax(int max) {
        inFlightMax = max;
    }

    /** Somebody else's entry, without an ordinal. */
    public synchronized void addForeign(StripeId stripe, Position entry) {
        keys.computeIfAbsent(stripe, s -> new FakeKey()).add(entry, null);
    }

    /** Somebody else's entry that looks exactly like one of ours. */
    public synchronized void forge(StripeId stripe, Event event) {
        append(stripe, List.of(event));
    }

    /** Somebody else sets a key's position (XSETID). */
    public synchronized void positionByOthers(StripeId stripe, Position position) {
        key(stripe).positionByOthers(position);
    }

    /** What was put to a stripe's quarantine, by entry id. */
    public synchronized List<Position> quarantined(StripeId stripe) {
        FakeKey key = keys.get(stripe);
        return key == null ? List.of() : key.quarantined();
    }

    /** Somebody else removes one entry (XDEL). */
    public synchronized void removeByOthers(StripeId stripe, Position entry) {
        FakeKey key = keys.get(stripe);
        if (key != null) {
            key.remove(entry);
        }
    }

    /** Somebody else trims (XTRIM MINID); returns how many entries are gone. */
    @CanIgnoreReturnValue
    public synchronized long trimByOthers(StripeId stripe, Position minId) {
        FakeKey key = keys.get(stripe);
        return key == null ? 0 : key.trim(minId);
    }

    /** Somebody else deletes the key (DEL). */
    public synchronized void deleteByOthers(StripeId stripe) {
        keys.remove(stripe);
    }

    /** What Redis holds now, to come back with it later. */
    public synchronized Image image() {
        Map<StripeId, FakeKey> copies = new TreeMap<>(FakeLiveLog::byText);
        keys.forEach((stripe, key) -> copies.put(stripe, key.copy()));
        return new Image(copies, new TreeMap<>(seams), new TreeMap<>(registry));
    }

    /** Redis restarts with what it held then: connections break. */
    public synchronized void restore(Image image) {
        dropConnections();
        late.clear();
        keys.clear();
        image.keys().forEach((stripe, key) -> keys.put(stripe, key.copy()));
        seams.clear();
        seams.putAll(image.seams());
        registry.clear();
        registry.putAll(image.registry());
    }

    private static Collection<Command> chosen(Command... commands) {
        return commands.length == 0 ? EnumSet.allOf(Command.class) : List.of(commands);
    }

    /** A seeded bug: fences are acknowledged and do nothing. */
    public synchronized void ignoreFences() {
        fencesIgnored = true;
    }

    /** A seeded bug: a range that fails is given as an empty one. */
    public synchronized void takeFailedRangesForEmpty() {
        failedRangesAreEmpty = true;
    }

    /** The page, or what a seeded bug makes of a failure. */
    Future<LiveLogPage> ranged(Future<LiveLogPage> page, Position after) {
        return page.recover(failure -> failedRangesAreEmpty
                ? Future.succeededFuture(new LiveLogPage(List.of(), 0, after, false))
                : Future.failedFuture(failure));
    }

    // ---- what a test looks at
    // -----------------------------------------------------------------------------------------------

    /** Our events of a stripe, oldest first. */
    public synchronized List<Event> events(StripeId stripe) {
        FakeKey key = keys.get(stripe);
        return key == null ? List.of() : key.events();
    }

    /** Whether a key's position is above its newest entry. */
    public synchronized boolean isFenced(StripeId stripe) {
        FakeKey key = keys.get(stripe);
        return key != null && key.state().lastGenerated().isAfter(key.state().last());
    }

    public synchronized boolean exists(StripeId stripe) {
        return keys.containsKey(stripe);
    }

    /** {@code EVT… ms-seq generation}, or null. */
    public synchronized @Nullable String seam(StreamName stream) {
        return seams.get(stream);
    }

    public synchronized Map<StreamName, String> registry() {
        return Map.copyOf(registry);
    }

    /** What was executed, one line a command, in order. */
    public synchronized List<String> trace() {
        return List.copyOf(trace);
    }

    /** How many of a command were executed (refused ones aren't). */
    public synchronized int executed(Command command) {
        return executed.getOrDefault(command, 0);
    }

    public synchronized int connections() {
        return connections.size();
    }

    // ---- the ports
    // ----------------------------------------------------------------------------------------------------------

    @Override
    public synchronized Future<StripeAppender> connect(Runnable onClosed) {
        return once(Command.CONNECT, "connect", () -> {
            FakeConnection connection = new FakeConnection(this, FakeConnection.onCallersContext(onClosed));
            connections.add(connection);
            return new FakeAppender(this, connection);
        });
    }

    @Override
    public Future<LiveLogPage> range(StripeId stripe, Position after, Position through, int count) {
        return ranged(once(Command.RANGE, "range " + stripe, () -> pageAfter(stripe, after, through, count)), after);
    }

    @Override
    public Future<LiveLogPage> rangeReverse(StripeId stripe, Position before, Position from, int count) {
        return once(Command.RANGE_REVERSE, "rangeReverse " + stripe, () -> pageBefore(stripe, before, from, count));
    }

    @Override
    public Future<LiveLogState> state(StripeId stripe) {
        return once(Command.STATE, "state " + stripe, () -> stateOf(stripe));
    }

    @Override
    public Future<Long> trim(StripeId stripe, Position minId) {
        return once(Command.TRIM, "trim " + stripe + " " + minId, () -> trimByOthers(stripe, minId));
    }

    @Override
    public Future<Void> copySeam(StreamId stream, Position watermark) {
        return once(Command.COPY_SEAM, "copySeam " + stream + " " + watermark, () -> {
            seams.put(stream.name(), LiveLogKeys.seamText(stream, watermark));
            return null;
        });
    }

    @Override
    public Future<Position> copiedSeam(StreamId stream) {
        return once(
                Command.COPIED_SEAM,
                "copiedSeam " + stream,
                () -> LiveLogKeys.seamOf(stream, seams.getOrDefault(stream.name(), "")));
    }

    @Override
    public Future<Void> create(StreamId stream, int stripes, String description) {
        return once(Command.CREATE_STREAM, "create " + stream, () -> {
            for (int i = 0; i < stripes; i++) {
                createKey(new StripeId(stream, i));
            }
            registry.put(stream.name(), description);
            return null;
        });
    }

    @Override
    public Future<Void> delete(StreamId stream, int stripes) {
        return once(Command.DELETE_STREAM, "delete " + stream, () -> {
            for (int i = 0; i < stripes; i++) {
                keys.remove(new StripeId(stream, i));
            }
            String generation = stream.generation().toString();
            seams.computeIfPresent(stream.name(), (name, seam) -> seam.endsWith(generation) ? null : seam);
            registry.computeIfPresent(stream.name(), (name, text) -> isOf(generation, text) ? null : text);
            return null;
        });
    }

    private static boolean isOf(String generation, String description) {
        return description.contains(generation) || !description.contains("\"generation\"");
    }

    /** One command on a connection of its own, as from a pool. */
    private synchronized <T> Future<T> once(Command command, String text, Supplier<@Nullable T> action) {
        FakeConnection connection = new FakeConnection(this, () -> {});
        if (away) {
            return connection.failed(LiveLogException.Kind.NOT_SENT, "Redis is away");
        }
        connections.add(connection);
        return connection.send(command, text, action).onComplete(done -> forget(connection));
    }

    private synchronized void forget(FakeConnection connection) {
        connections.remove(connection);
    }

    // ---- Redis itself: called by connections when a command arrives
    // -------------------------------------------------------------

    int inFlightMax() {
        return inFlightMax;
    }

    boolean holdsReply(Command command) {
        return heldReplies.contains(command);
    }

    boolean holdsBytes(Command command) {
        return heldBytes.contains(command);
    }

    /** Executes a command as Redis would, or refuses it as a test wants. */
    <T> @Nullable T execute(Command command, String text, Supplier<@Nullable T> action) {
        Refusal refusal = refusals.get(command);
        if (refusal == null) {
            return executeNow(command, text, action);
        }
        if (refusal.times() == 1) {
            refusals.remove(command);
        } else if (refusal.times() < Integer.MAX_VALUE) {
            refusals.put(command, new Refusal(refusal.kind(), refusal.times() - 1, refusal.executes()));
        }
        if (refusal.executes()) {
            T unseen = executeNow(command, text, action);
            trace.add(text + " unseen " + unseen);
        }
        throw new LiveLogException(refusal.kind(), "refused by the test: " + text);
    }

    private <T> @Nullable T executeNow(Command command, String text, Supplier<@Nullable T> action) {
        T result = action.get();
        executed.merge(command, 1, Integer::sum);
        trace.add(text);
        return result;
    }

    void createKey(StripeId stripe) {
        keys.computeIfAbsent(stripe, s -> new FakeKey());
    }

    void append(StripeId stripe, List<Event> events) {
        key(stripe).append(events);
    }

    LiveLogCensus census(StripeId stripe) {
        FakeKey key = keys.get(stripe);
        return key == null ? new LiveLogCensus(false, 0, 0, 0) : key.census();
    }

    StripeAppender.Quarantined quarantine(StripeId stripe, Position after, boolean everything, int count) {
        FakeKey key = keys.get(stripe);
        return key == null
                ? new StripeAppender.Quarantined(0, Position.ZERO, after, false)
                : key.quarantine(after, everything, count);
    }

    void restorePosition(StripeId stripe, Position through, Position fence) {
        key(stripe).restorePosition(through, fence);
    }

    void fence(StripeId stripe, Position fence) {
        if (fencesIgnored) {
            return;
        }
        key(stripe).fence(fence);
    }

    private FakeKey key(StripeId stripe) {
        FakeKey key = keys.get(stripe);
        if (key == null) {
            throw new LiveLogException(LiveLogException.Kind.KEY_MISSING, stripe + " has no key");
        }
        return key;
    }

    LiveLogPage pageAfter(StripeId stripe, Position after, Position through, int count) {
        FakeKey key = keys.get(stripe);
        return key == null ? new LiveLogPage(List.of(), 0, after, false) : key.pageAfter(after, through, count);
    }

    LiveLogPage pageBefore(StripeId stripe, Position before, Position from, int count) {
        FakeKey key = keys.get(stripe);
        return key == null ? new LiveLogPage(List.of(), 0, before, false) : key.pageBefore(before, from, count);
    }

    LiveLogState stateOf(StripeId stripe) {
        FakeKey key = keys.get(stripe);
        return key == null ? new LiveLogState(false, 0, Position.ZERO, Position.ZERO, Position.ZERO, 0) : key.state();
    }
}
