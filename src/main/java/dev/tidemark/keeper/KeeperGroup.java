package dev.tidemark.keeper;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.Clock;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Position;
import dev.tidemark.event.ProducerRequest;
import dev.tidemark.livelog.StripeAppender;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The keepers of this process: places streams on them by hash, and takes calls from any thread to the loop that owns the stripe. */
public final class KeeperGroup implements Appends, SealedChunks, StripeTails {
    private final Vertx vertx;
    private final Clock clock;
    private final List<Keeper> keepers = new ArrayList<>();
    private final List<KeeperVerticle> verticles = new ArrayList<>();
    private final LongAdder payloadsMoved = new LongAdder();

    /** @param count number of keepers, each with an event loop and a connection of its own */
    public KeeperGroup(
            Vertx vertx,
            Clock clock,
            int count,
            StripeAppender.Connector connector,
            ArchivedState archivedState,
            IdReservation reservation,
            KeeperLimits limits) {
        this.vertx = vertx;
        this.clock = clock;
        TimelineMemory memory = new TimelineMemory(limits.memoryBytesMax());
        for (int i = 0; i < count; i++) {
            Keeper keeper = new Keeper(clock, connector, archivedState, reservation, limits, memory);
            keepers.add(keeper);
            verticles.add(new KeeperVerticle(keeper));
        }
    }

    /** Starts the keepers; completes when all are connected, fails if one can't connect now. */
    public Future<Void> start() {
        List<Future<String>> deployments = verticles.stream()
                .map(verticle -> vertx.deployVerticle(verticle, new DeploymentOptions()))
                .toList();
        return Future.all(deployments).mapEmpty();
    }

    /** Ends all keepers and their connections. */
    public Future<Void> stop() {
        List<Future<Void>> ended = verticles.stream()
                .map(KeeperVerticle::deploymentID)
                .map(id -> id == null ? Future.<Void>succeededFuture() : vertx.undeploy(id))
                .toList();
        return Future.join(ended).mapEmpty();
    }

    @Override
    public Future<Appended> append(
            LiveStream stream, int stripe, List<NewEvent> events, @Nullable ProducerRequest request) {
        KeeperStream target = (KeeperStream) stream;
        return onKeeper(
                target,
                stripe,
                (keeper, promise) -> keeper.append(
                        target, stripe, new PendingAppend(events, request, clock.monotonicNs(), promise)));
    }

    Future<Void> open(KeeperStream stream) {
        List<Future<Void>> opened = new ArrayList<>();
        for (int i = 0; i < stream.stripes(); i++) {
            int stripe = i;
            opened.add(onKeeper(
                    stream,
                    stripe,
                    (keeper, promise) -> keeper.open(stream, stripe).onComplete(promise)));
        }
        return opened.size() == 1 ? opened.get(0) : Future.all(opened).mapEmpty();
    }

    @Override
    public Future<Position> seal(LiveStream stream) {
        KeeperStream target = (KeeperStream) stream;
        return target.open().compose(opened -> {
            List<Future<Position>> sealed = new ArrayList<>();
            for (int i = 0; i < target.stripes(); i++) {
                int stripe = i;
                sealed.add(
                        onKeeper(target, stripe, (keeper, promise) -> promise.complete(keeper.seal(target, stripe))));
            }
            return Future.all(sealed).map(all -> all.<Position>list().stream().reduce(Position.MAX, Position::min));
        });
    }

    @Override
    public void folded(LiveStream stream, int stripe, Position watermark, long lastOrdinal) {
        execute(stream, stripe, keeper -> keeper.folded(stream.stripe(stripe), watermark, lastOrdinal));
    }

    @Override
    public Future<StripeNewest> newest(LiveStream stream, int stripe, int n, Position top) {
        return onKeeper(
                stream,
                stripe,
                (keeper, promise) -> promise.complete(StripeNewest.of(stream.snapshot(stripe), n, top)));
    }

    @Override
    public Future<Chunk> payloads(LiveStream stream, int stripe, List<Position> ids) {
        return onKeeper(stream, stripe, (keeper, promise) -> {
            Chunk copied = stream.snapshot(stripe).copy(stream.id().generation(), stripe, ids);
            payloadsMoved.add(copied.count());
            promise.complete(copied);
        });
    }

    @Override
    public long payloadsMoved() {
        return payloadsMoved.sum();
    }

    /** The stream got an acceptance window: claimed times are looked at from now on. */
    Future<Void> sortFromNow(KeeperStream stream) {
        return onKeeper(stream, 0, (keeper, promise) -> {
            keeper.sortFromNow(stream);
            promise.complete();
        });
    }

    /** Closes the stripes of a deleted stream; appends under way fail. */
    Future<Void> close(KeeperStream stream) {
        List<Future<Void>> closed = new ArrayList<>();
        for (int i = 0; i < stream.stripes(); i++) {
            int stripe = i;
            closed.add(onKeeper(
                    stream,
                    stripe,
                    (keeper, promise) -> keeper.close(stream, stripe).onComplete(promise)));
        }
        return Future.all(closed).mapEmpty();
    }

    /** Late events that were stored since the start. Any thread. */
    public long lateRescued() {
        return keepers.stream()
                .mapToLong(keeper -> keeper.counters().lateRescued.sum())
                .sum();
    }

    /** Events that were refused for the times that they, or others of their requests, claimed. Any thread. */
    public long timesRefused() {
        return keepers.stream()
                .mapToLong(keeper -> keeper.counters().timesRefused.sum())
                .sum();
    }

    /** Entries that weren't ours and were moved from live logs to quarantine since the start. Any thread. */
    public long quarantined() {
        return keepers.stream()
                .mapToLong(keeper -> keeper.counters().quarantined.sum())
                .sum();
    }

    /** Appends that Redis refused for its memory since the start. Any thread. */
    public long refusedForMemory() {
        return keepers.stream()
                .mapToLong(keeper -> keeper.counters().refusedForMemory.sum())
                .sum();
    }

    /** Heap bytes of all timelines, and of the appends under way to them. Any thread. */
    public long memoryBytes() {
        return keepers.isEmpty() ? 0 : keepers.get(0).memory().bytes();
    }

    /** What keeps a keeper from its connection; empty if nothing does. Any thread. */
    public String trouble() {
        for (Keeper keeper : keepers) {
            if (!keeper.trouble().isEmpty()) {
                return keeper.trouble();
            }
        }
        return "";
    }

    /** Whether no append waits for an answer. */
    public Future<Boolean> isQuiet() {
        List<Future<Boolean>> answers = new ArrayList<>();
        for (int i = 0; i < keepers.size(); i++) {
            Keeper keeper = keepers.get(i);
            Promise<Boolean> promise = ((ContextInternal) vertx.getOrCreateContext()).promise();
            verticles.get(i).execute(() -> promise.complete(keeper.isQuiet()));
            answers.add(promise.future());
        }
        return Future.all(answers).map(all -> all.<Boolean>list().stream().allMatch(quiet -> quiet));
    }

    private int placed(LiveStream stream, int stripe) {
        return Math.floorMod(stream.id().hashCode() + stripe, keepers.size());
    }

    private void execute(LiveStream stream, int stripe, Consumer<Keeper> task) {
        int index = placed(stream, stripe);
        verticles.get(index).execute(() -> task.accept(keepers.get(index)));
    }

    private <T> Future<T> onKeeper(LiveStream stream, int stripe, Task<T> task) {
        Promise<T> promise = ((ContextInternal) vertx.getOrCreateContext()).promise();
        execute(stream, stripe, keeper -> {
            try {
                task.run(keeper, promise);
            } catch (RuntimeException failure) {
                promise.tryFail(failure);
            }
        });
        return promise.future();
    }

    private interface Task<T> {
        void run(Keeper keeper, Promise<T> promise);
    }
}
