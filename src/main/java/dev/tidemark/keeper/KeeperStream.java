package dev.tidemark.keeper;

import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamSettings;
import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A stream as its keepers publish it and everybody else sees it. */
final class KeeperStream implements LiveStream {
    private final StreamId id;
    private final long createdMs;
    private final boolean createdHere;
    private final Function<KeeperStream, Future<Void>> opener;
    private final CopyOnWriteArrayList<Runnable> followers = new CopyOnWriteArrayList<>();

    /** Written by the keeper of the stripe, read by any thread. */
    private final AtomicReferenceArray<TimelineSnapshot> snapshots;

    private final AtomicReferenceArray<List<OrdinalRange>> voided;
    private final AtomicLongArray passedOver;
    private final AtomicReferenceArray<@Nullable StartLoss> startLosses;
    /** All of them together: each reader asks for it with each page. */
    private final AtomicReference<@Nullable StartLoss> startLoss = new AtomicReference<>();

    private final AtomicIntegerArray unreachable;
    private final AtomicReferenceArray<@Nullable Keeper> keepers;

    /** Written by the owner of the streams' settings. */
    private volatile StreamSettings settings;

    /** What was chosen for this stream; the rest of the settings are defaults. */
    private volatile Map<Setting, Long> chosen;

    private volatile boolean deleted;
    private volatile Position foldSoonThrough = Position.ZERO;
    private volatile boolean finalOnArrival;
    private volatile StreamActivity activity = new StreamActivity();
    /** Whether {@link #activity} has it already. */
    private final AtomicBoolean noted = new AtomicBoolean();

    /** Of each stripe, 1 if somebody has read the stream since its keeper looked. */
    private final AtomicIntegerArray used;

    /**
     * @param createdHere whether it was made since this process started
     * @param opener opens its stripes on their keepers
     */
    KeeperStream(
            StreamId id,
            long createdMs,
            boolean createdHere,
            Map<Setting, Long> chosen,
            StreamSettings settings,
            Function<KeeperStream, Future<Void>> opener) {
        this.id = id;
        this.createdMs = createdMs;
        this.createdHere = createdHere;
        this.chosen = Map.copyOf(chosen);
        this.settings = settings;
        this.opener = opener;
        this.snapshots = new AtomicReferenceArray<>(settings.stripes());
        this.voided = new AtomicReferenceArray<>(settings.stripes());
        this.passedOver = new AtomicLongArray(settings.stripes());
        this.startLosses = new AtomicReferenceArray<>(settings.stripes());
        this.unreachable = new AtomicIntegerArray(settings.stripes());
        this.keepers = new AtomicReferenceArray<>(settings.stripes());
        this.finalOnArrival = settings.stripes() == 1 && settings.acceptanceWindowMs() == 0;
        this.used = new AtomicIntegerArray(settings.stripes());
        for (int i = 0; i < settings.stripes(); i++) {
            snapshots.set(i, TimelineSnapshot.COLD);
            voided.set(i, List.of());
            unreachable.set(i, 1);
        }
    }

    @Override
    public StreamId id() {
        return id;
    }

    @Override
    public StreamSettings settings() {
        return settings;
    }

    Map<Setting, Long> chosen() {
        return chosen;
    }

    void settings(Map<Setting, Long> changedChoice, StreamSettings changed) {
        chosen = Map.copyOf(changedChoice);
        settings = changed;
        changed();
    }

    @Override
    public long createdMs() {
        return createdMs;
    }

    boolean createdHere() {
        return createdHere;
    }

    @Override
    public int stripes() {
        return snapshots.length();
    }

    @Override
    public TimelineSnapshot snapshot(int stripe) {
        return snapshots.get(stripe);
    }

    @Override
    public Future<Void> open() {
        if (deleted) {
            return Future.failedFuture(gone());
        }
        for (int i = 0; i < stripes(); i++) {
            if (!snapshot(i).isOpen()) {
                return opener.apply(this);
            }
        }
        return Future.succeededFuture();
    }

    @Override
    public boolean finalOnArrival() {
        return finalOnArrival;
    }

    @Override
    public boolean liveLogReachable() {
        for (int i = 0; i < stripes(); i++) {
            if (unreachable.get(i) != 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean isDeleted() {
        return deleted;
    }

    @Override
    public List<OrdinalRange> voided(int stripe) {
        return voided.get(stripe);
    }

    @Override
    public long passedOver(int stripe) {
        return passedOver.get(stripe);
    }

    @Override
    public @Nullable StartLoss lossAtStart() {
        return startLoss.get();
    }

    @Override
    public @Nullable StartLoss lossAtStart(int stripe) {
        return startLosses.get(stripe);
    }

    @Override
    public Position foldSoonThrough() {
        return foldSoonThrough;
    }

    /** Redis hasn't got all of what isn't folded any more: what memory holds is to be folded at once. */
    void foldSoon() {
        foldSoonThrough = newest();
        changed();
    }

    @Override
    public Runnable follow(Runnable onAdvance) {
        followers.add(onAdvance);
        return () -> followers.remove(onAdvance);
    }

    /** From now on that is told of changes. */
    void tellsChanges(StreamActivity to) {
        activity = to;
    }

    private void changed() {
        if (!noted.get() && noted.compareAndSet(false, true)) {
            activity.add(this);
        }
    }

    /** Changes from now on are told again. */
    void changesTaken() {
        noted.set(false);
    }

    @Override
    public void used() {
        for (int i = 0; i < used.length(); i++) {
            if (used.get(i) == 0) {
                used.set(i, 1);
            }
        }
    }

    @Override
    public boolean isKept(long withinMs) {
        for (int i = 0; i < stripes(); i++) {
            Keeper keeper = keepers.get(i);
            if (keeper != null && keeper.awayNs() > withinMs * 1_000_000) {
                return false;
            }
        }
        return true;
    }

    // ---- called by its keeper ----

    void keptBy(int stripe, Keeper keeper) {
        keepers.set(stripe, keeper);
    }

    boolean hasFollowers() {
        return !followers.isEmpty();
    }

    /** Whether {@link #used} was called since the last call of this. */
    boolean takeUsed(int stripe) {
        return used.get(stripe) != 0 && used.getAndSet(stripe, 0) != 0;
    }

    void publish(int stripe, TimelineSnapshot snapshot) {
        snapshots.set(stripe, snapshot);
        changed();
        advanced();
    }

    void advanced() {
        for (Runnable follower : followers) {
            follower.run();
        }
    }

    void voided(int stripe, List<OrdinalRange> ranges) {
        voided.set(stripe, List.copyOf(ranges));
    }

    void passedOver(int stripe, long ordinal) {
        passedOver.set(stripe, ordinal);
    }

    void lostAtStart(int stripe, StartLoss loss) {
        startLosses.set(stripe, loss);
        StartLoss unused = startLoss.accumulateAndGet(loss, (all, one) -> all == null ? one : all.and(one));
    }

    void reachable(int stripe, boolean now) {
        unreachable.set(stripe, now ? 0 : 1);
    }

    /** From now on its events are sorted by the times that they claim. Only of a stream with one stripe. */
    void sorted() {
        finalOnArrival = false;
    }

    /** Order of the stream is final up to it. */
    Position frontier() {
        Position frontier = Position.MAX;
        for (int i = 0; i < stripes(); i++) {
            frontier = Position.min(frontier, snapshot(i).frontier());
        }
        return frontier;
    }

    /** The newest event of all stripes. */
    Position newest() {
        Position newest = Position.ZERO;
        for (int i = 0; i < stripes(); i++) {
            newest = Position.max(newest, snapshot(i).tail());
        }
        return newest;
    }

    void deleted() {
        deleted = true;
        advanced();
    }

    Problem gone() {
        return Problem.noStream(id.name());
    }
}
