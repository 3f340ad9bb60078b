package dev.tidemark.keeper;

import dev.tidemark.event.Clock;
import dev.tidemark.event.Position;
import dev.tidemark.event.StripeId;
import dev.tidemark.livelog.LiveLogException;
import dev.tidemark.livelog.StripeAppender;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Owns the stripes that were placed on one event loop, and the connection that they share. Everything here runs on that loop;
 * {@link KeeperVerticle} drives it, a test does so by hand.
 */
final class Keeper {
    private static final Logger LOG = LoggerFactory.getLogger(Keeper.class);
    static final long TICK_MS = 20;
    static final long TICK_MS_IDLE = 250;
    /** A loop that comes no later than so much isn't away. */
    private static final long LATE_NS = 80_000_000;

    private static final long BACKOFF_NS_MIN = 50_000_000;
    private static final long BACKOFF_NS_MAX = 500_000_000;
    /** How often it is looked for idle stripes, in the time until one is idle. */
    private static final int IDLE_LOOKS = 6;

    private final Clock clock;
    private final StripeAppender.Connector connector;
    private final ArchivedState archivedState;
    private final IdReservation reservation;
    private final KeeperLimits limits;
    private final TimelineMemory memory;
    private final MemoryRelief relief;
    private final LiveLogPatrol<StripeKeeper> patrol;
    private final KeeperCounters counters = new KeeperCounters();

    private final Map<StripeId, StripeKeeper> stripes = new HashMap<>();
    private final Map<StripeId, List<Promise<Void>>> openings = new HashMap<>();
    /** Stripes that have something to do with time. */
    private final Set<StripeKeeper> ticking = new LinkedHashSet<>();

    private Runnable becameBusy = () -> {};

    private @Nullable StripeAppender appender;
    private boolean connecting;
    private boolean stopped;
    private long idleLookNs;
    private long connectAtNs;
    private long backoffNs = BACKOFF_NS_MIN;
    private long answeredNs;
    private volatile String trouble = "";
    /** When the loop is to be here again, at the latest. */
    private volatile long beatDueNs;

    Keeper(
            Clock clock,
            StripeAppender.Connector connector,
            ArchivedState archivedState,
            IdReservation reservation,
            KeeperLimits limits,
            TimelineMemory memory) {
        this.clock = clock;
        this.connector = connector;
        this.archivedState = archivedState;
        this.reservation = reservation;
        this.limits = limits;
        this.memory = memory;
        this.relief = new MemoryRelief(memory, clock, stripes.values());
        this.patrol = new LiveLogPatrol<>(clock, stripes.values(), StripeKeeper::patrol);
        this.answeredNs = clock.monotonicNs();
        this.beatDueNs = answeredNs;
    }

    Clock clock() {
        return clock;
    }

    ArchivedState archivedState() {
        return archivedState;
    }

    IdReservation reservation() {
        return reservation;
    }

    KeeperLimits limits() {
        return limits;
    }

    @Nullable
    StripeAppender appender() {
        return appender;
    }

    /** What is in the way of the connection; empty if it stands. */
    String trouble() {
        return trouble;
    }

    KeeperCounters counters() {
        return counters;
    }

    /** What all keepers share. */
    TimelineMemory memory() {
        return memory;
    }

    /** Whether an append may be taken on; if need be, and if it helps, older events leave memory for it. */
    boolean hasMemoryFor(PendingAppend append) {
        return relief.makesRoomFor(append.heapBytes());
    }

    /** Memory of this keeper's timelines. */
    long memoryBytes() {
        return relief.bytes();
    }

    void memoryChanged(long bytes) {
        relief.changed(bytes);
    }

    /** Redis has answered an append. */
    void answered() {
        answeredNs = clock.monotonicNs();
    }

    /** When Redis answered an append last. */
    long answeredNs() {
        return answeredNs;
    }

    LiveLogException asLiveLogException(Throwable cause) {
        return cause instanceof LiveLogException known
                ? known
                : new LiveLogException(LiveLogException.Kind.UNKNOWN, String.valueOf(cause.getMessage()), cause);
    }

    // ---- connection ----

    /** Makes the first connection attempt; completes when it is decided, and goes on trying if it failed. */
    Future<Void> start() {
        return connect();
    }

    private Future<Void> connect() {
        connecting = true;
        return connector.connect(this::connectionLost).transform(connected -> {
            connecting = false;
            if (connected.succeeded()) {
                connected(connected.result());
                return Future.succeededFuture();
            }
            String reason = String.valueOf(connected.cause().getMessage());
            if (!reason.equals(trouble)) {
                LOG.warn("no connection to the live log, tried again until there is one: {}", reason);
            }
            trouble = reason;
            connectAtNs = clock.monotonicNs() + backoffNs;
            backoffNs = Math.min(BACKOFF_NS_MAX, backoffNs * 2);
            return Future.failedFuture(connected.cause());
        });
    }

    private void connected(StripeAppender connection) {
        if (stopped) {
            connection.close();
            return;
        }
        appender = connection;
        if (!trouble.isEmpty()) {
            LOG.info("connected to the live log");
        }
        trouble = "";
        backoffNs = BACKOFF_NS_MIN;
        List.copyOf(stripes.values()).forEach(StripeKeeper::tryResume);
    }

    private void connectionLost() {
        if (stopped) {
            return;
        }
        LOG.warn("the connection to the live log is lost");
        trouble = "the connection was lost";
        appender = null;
        connectAtNs = clock.monotonicNs();
        becameBusy.run();
        for (StripeKeeper stripe : stripes.values()) {
            stripe.disconnected();
            tickFor(stripe);
        }
    }

    // ---- stripes ----

    void append(KeeperStream stream, int index, PendingAppend append) {
        StripeKeeper stripe = stripe(stream, index);
        stripe.append(append);
        watch(stripe);
    }

    /** Opens a stripe; completes when it is open. */
    Future<Void> open(KeeperStream stream, int index) {
        StripeKeeper stripe = stripe(stream, index);
        return switch (stripe.state()) {
            case COLD, OPENING -> {
                Promise<Void> promise = Promise.promise();
                openings.computeIfAbsent(stripe.stripe(), id -> new ArrayList<>())
                        .add(promise);
                stripe.open();
                watch(stripe);
                yield promise.future();
            }
            case CLOSED -> Future.failedFuture(stream.gone());
            default -> Future.succeededFuture();
        };
    }

    void opened(StripeKeeper stripe) {
        List<Promise<Void>> waiting = openings.remove(stripe.stripe());
        if (waiting != null) {
            waiting.forEach(Promise::tryComplete);
        }
        watch(stripe);
    }

    void openFailed(StripeKeeper stripe, Throwable cause) {
        List<Promise<Void>> waiting = openings.remove(stripe.stripe());
        if (waiting != null) {
            waiting.forEach(promise -> promise.tryFail(cause));
        }
    }

    /** The stream got an acceptance window. */
    void sortFromNow(KeeperStream stream) {
        StripeKeeper there = stripes.get(stream.stripe(0));
        if (there != null) {
            there.sortFromNow();
            watch(there);
        }
    }

    /** Seals what is acknowledged; the stripe must be open. */
    Position seal(KeeperStream stream, int index) {
        return stripe(stream, index).seal();
    }

    void folded(StripeId id, Position watermark, long lastOrdinal) {
        StripeKeeper stripe = stripes.get(id);
        if (stripe != null) {
            stripe.folded(watermark, lastOrdinal);
        }
    }

    /** Closes a stripe of a deleted stream; completes when nothing of it is under way to Redis that could make its key again. */
    Future<Void> close(KeeperStream stream, int index) {
        StripeKeeper stripe = stripes.remove(stream.stripe(index));
        if (stripe == null) {
            return Future.succeededFuture();
        }
        Future<Void> closed = stripe.close(stream.gone());
        ticking.remove(stripe);
        openFailed(stripe, stream.gone());
        return closed;
    }

    private StripeKeeper stripe(KeeperStream stream, int index) {
        StripeKeeper there = stripes.get(stream.stripe(index));
        if (there != null) {
            return there;
        }
        StripeKeeper fresh = new StripeKeeper(stream, index, this);
        if (stream.isDeleted()) {
            fresh.close(stream.gone()).onComplete(closed -> {});
        } else {
            stripes.put(stream.stripe(index), fresh);
        }
        return fresh;
    }

    /** Something of the stripe waits for the time now, maybe. */
    void watch(StripeKeeper stripe) {
        if (stripe.needsTick()) {
            tickFor(stripe);
        }
    }

    // ---- time ----

    /** For how long its event loop has been away, nanoseconds; zero or less if it comes when it should. Any thread. */
    long awayNs() {
        return clock.monotonicNs() - beatDueNs - LATE_NS;
    }

    /** Whether something waits for the time. */
    boolean isBusy() {
        return !ticking.isEmpty() || appender == null;
    }

    /** {@code busy} is called whenever {@link #isBusy} becomes true. */
    void onBusy(Runnable busy) {
        becameBusy = busy;
    }

    private void tickFor(StripeKeeper stripe) {
        boolean wasBusy = isBusy();
        ticking.add(stripe);
        if (!wasBusy) {
            beatDueNs = clock.monotonicNs() + TICK_MS * 1_000_000;
            becameBusy.run();
        }
    }

    /** Called every {@link #TICK_MS}, or every {@link #TICK_MS_IDLE} while it isn't busy. */
    void tick() {
        if (stopped) {
            return;
        }
        beatDueNs = clock.monotonicNs() + TICK_MS_IDLE * 1_000_000;
        if (appender == null && !connecting && clock.monotonicNs() >= connectAtNs) {
            connect().onComplete(decided -> {});
        }
        for (StripeKeeper stripe : List.copyOf(ticking)) {
            stripe.tick();
            if (!stripe.needsTick()) {
                ticking.remove(stripe);
            }
        }
        relief.tick();
        patrol.tick();
        retireIdle();
        beatDueNs = clock.monotonicNs() + (isBusy() ? TICK_MS : TICK_MS_IDLE) * 1_000_000;
    }

    private void retireIdle() {
        long nowNs = clock.monotonicNs();
        if (nowNs - idleLookNs >= limits.idleMs() * 1_000_000 / IDLE_LOOKS) {
            idleLookNs = nowNs;
            stripes.values().forEach(StripeKeeper::retireIfIdle);
        }
    }

    /** Ends the connection; what is in flight gets no answer from here. */
    void stop() {
        stopped = true;
        if (appender != null) {
            appender.close();
            appender = null;
        }
    }

    /** Appends that have no answer yet, for an orderly stop. */
    boolean isQuiet() {
        return stripes.values().stream().allMatch(StripeKeeper::isQuiet);
    }
}
