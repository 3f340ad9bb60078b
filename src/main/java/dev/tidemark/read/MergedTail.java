package dev.tidemark.read;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.Cursor;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.MergedSnapshot;
import dev.tidemark.keeper.SliceMerge;
import dev.tidemark.keeper.StartLoss;
import dev.tidemark.keeper.StripeTails;
import dev.tidemark.keeper.StripeTails.StripeNewest;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;

/**
 * The newest N of a stream whose order isn't final on arrival, in two phases: every stripe's keeper is asked for the ids of its newest
 * N, then those of the winners for their payloads. A keeper that doesn't answer in time is left out of the promise, not of the answer:
 * what it published last is taken, and the answer isn't complete. A winner that left memory between the phases is folded, and comes
 * from the archive.
 */
final class MergedTail {
    private final StreamSource source;
    private final StripeTails keepers;
    private final EventLoop loop;
    private final long timeoutMs;
    private final int n;
    private final View view;
    private boolean complete = true;

    /** @param timeoutMs how long a keeper may take ({@code tail_timeout}), for both phases together */
    MergedTail(StreamSource source, StripeTails keepers, EventLoop loop, long timeoutMs, int n, View view) {
        this.source = source;
        this.keepers = keepers;
        this.loop = loop;
        this.timeoutMs = timeoutMs;
        this.n = n;
        this.view = view;
    }

    /** The stripes' answers of phase one, and what follows from all of them. */
    private record Choice(
            List<List<Position>> winners,
            Position top,
            Position frontier,
            Position floor,
            Position tail,
            List<Position> arrived) {}

    Future<TailAnswer> read(long bytesMax) {
        LiveStream stream = source.stream();
        // What is final now stays final: the frontier only rises.
        Position top = view == View.SEALED ? source.snapshot().frontier() : Position.MAX;
        Promise<Void> timeout = Promise.promise();
        loop.schedule(timeoutMs, timeout::tryComplete);
        List<Future<StripeNewest>> asked = new ArrayList<>();
        for (int s = 0; s < stream.stripes(); s++) {
            int stripe = s;
            asked.add(inTime(
                    keepers.newest(stream, s, n, top),
                    timeout.future(),
                    () -> StripeNewest.of(stream.snapshot(stripe), n, top)));
        }
        return Future.join(asked)
                .compose(all -> {
                    Choice choice = choose(asked.stream().map(Future::result).toList(), top);
                    return fetch(choice, timeout.future()).compose(found -> answer(choice, found, bytesMax));
                })
                .onComplete(done -> timeout.tryComplete());
    }

    private <T> Future<T> inTime(Future<T> answer, Future<Void> timeout, Supplier<T> otherwise) {
        Promise<T> first = Promise.promise();
        answer.onSuccess(first::tryComplete).onFailure(first::tryFail);
        timeout.onSuccess(late -> {
            if (!first.future().isComplete()) {
                complete = false;
                first.tryComplete(otherwise.get());
            }
        });
        return first.future();
    }

    /** Chooses the newest N overall, of what all stripes' memories are complete for. */
    private Choice choose(List<StripeNewest> stripes, Position top) {
        Position frontier = Position.MAX;
        Position floor = Position.ZERO;
        Position tail = Position.ZERO;
        List<Position> arrived = new ArrayList<>();
        for (StripeNewest stripe : stripes) {
            frontier = Position.min(frontier, stripe.frontier());
            floor = Position.max(floor, stripe.floor());
            tail = Position.max(tail, stripe.tail());
            arrived.add(stripe.arrived());
        }
        List<Position> all = new ArrayList<>();
        for (StripeNewest stripe : stripes) {
            for (Position id : stripe.ids()) {
                if (id.isAfter(floor) && !id.isAfter(top)) {
                    all.add(id);
                }
            }
        }
        all.sort(Comparator.reverseOrder());
        Position lowest = all.size() > n ? all.get(n - 1) : Position.ZERO;
        List<List<Position>> winners = new ArrayList<>();
        for (StripeNewest stripe : stripes) {
            Position above = floor;
            winners.add(
                    n == 0
                            ? List.of()
                            : stripe.ids().stream()
                                    .filter(id -> id.isAfter(above) && !id.isAfter(top) && id.compareTo(lowest) >= 0)
                                    .toList());
        }
        return new Choice(winners, top, frontier, floor, tail, arrived);
    }

    // ---- phase two ----

    private Future<List<Slice>> fetch(Choice choice, Future<Void> timeout) {
        LiveStream stream = source.stream();
        List<Future<List<Slice>>> parts = new ArrayList<>();
        for (int s = 0; s < choice.winners.size(); s++) {
            int stripe = s;
            List<Position> ids = choice.winners.get(s);
            if (!ids.isEmpty()) {
                parts.add(inTime(
                                keepers.payloads(stream, s, ids),
                                timeout,
                                () -> stream.snapshot(stripe).copy(source.generation(), stripe, ids))
                        .compose(copied -> withEvicted(copied, ids)));
            }
        }
        return Future.join(parts)
                .map(all -> SliceMerge.oldest(
                        parts.stream().map(Future::result).toList(), Integer.MAX_VALUE, Long.MAX_VALUE));
    }

    /** What has left memory between the phases is folded. */
    private Future<List<Slice>> withEvicted(Chunk copied, List<Position> ids) {
        if (copied.count() == ids.size()) {
            return Future.succeededFuture(List.of(copied.slice()));
        }
        List<Position> evicted = new ArrayList<>(ids);
        for (int i = 0; i < copied.count(); i++) {
            evicted.remove(copied.position(i));
        }
        List<List<Slice>> parts = new ArrayList<>();
        if (copied.count() > 0) {
            parts.add(List.of(copied.slice()));
        }
        Future<Void> fetched = Future.succeededFuture();
        for (Position id : evicted) {
            fetched = fetched.compose(before -> source.archived(id.previous(), id, 1, Long.MAX_VALUE))
                    .map(page -> {
                        if (page.events().count() == 1) {
                            parts.add(List.of(page.events().slice()));
                        } else {
                            complete = false;
                        }
                        return null;
                    });
        }
        return fetched.map(done -> SliceMerge.oldest(parts, Integer.MAX_VALUE, Long.MAX_VALUE));
    }

    // ---- the answer ----

    private Future<TailAnswer> answer(Choice choice, List<Slice> found, long bytesMax) {
        return answer(
                source,
                new Cut(found, Position.min(choice.frontier, choice.top), choice.floor, choice.tail, choice.arrived),
                n,
                view,
                bytesMax,
                complete);
    }

    /** What one moment gave: everything above the floor, or the newest N of it. */
    private record Cut(List<Slice> events, Position frontier, Position floor, Position tail, List<Position> arrived) {}

    /** With one stripe, one step: its snapshot has ids and payloads. */
    static Future<TailAnswer> ofOneStripe(
            StreamSource source, MergedSnapshot snapshot, int n, View view, long bytesMax) {
        List<Slice> provisional = view == View.SEALED ? List.of() : snapshot.provisional();
        int taken = Math.min(n, provisional.size());
        List<Slice> events = new ArrayList<>(snapshot.newest(n - taken));
        events.addAll(provisional.subList(provisional.size() - taken, provisional.size()));
        Cut cut = new Cut(events, snapshot.frontier(), snapshot.floor(), snapshot.tail(), snapshot.arrived());
        return answer(source, cut, n, view, bytesMax, true);
    }

    private static Future<TailAnswer> answer(
            StreamSource source, Cut cut, int n, View view, long bytesMax, boolean complete) {
        List<Slice> above = new ArrayList<>();
        List<Slice> settled = new ArrayList<>();
        for (Slice slice : cut.events) {
            Slice below = slice.count() == 1 && slice.first().isAfter(cut.frontier)
                    ? new Slice(slice.chunk(), slice.from(), slice.from())
                    : slice.through(cut.frontier);
            if (!below.isEmpty()) {
                settled.add(below);
            }
            if (below.count() < slice.count()) {
                above.add(new Slice(slice.chunk(), below.to(), slice.to()));
            }
        }
        List<Slice> events = new ArrayList<>(settled);
        events.addAll(ProvisionalEvents.marked(
                source.generation(), ProvisionalEvents.single(above), cut.frontier, cut.arrived));
        Cursor cursor = view == View.SEALED
                ? source.cursor(Position.min(cut.tail, cut.frontier))
                : Arrived.cursor(source.generation(), cut.frontier, cut.arrived);
        int missing = n - TailRead.count(events);
        StartLoss loss = source.stream().lossAtStart();
        boolean whole = complete && (loss == null || isAbove(loss.through(), events, n));
        if (missing == 0 || cut.floor.equals(Position.ZERO)) {
            return Future.succeededFuture(TailRead.fitted(source, events, whole, cursor, bytesMax));
        }
        Position before = Position.min(cut.floor, cut.frontier).next();
        DescendingMerge merge = new DescendingMerge(source, View.SEALED, before, Position.ZERO, true);
        return TailRead.deeper(merge, events, missing, bytesMax, whole)
                .map(deep -> TailRead.fitted(source, deep.events(), deep.complete(), cursor, bytesMax));
    }

    /** Whether there are as many events above a position as were asked for. */
    private static boolean isAbove(Position position, List<Slice> events, int n) {
        int above = 0;
        for (Slice slice : events) {
            for (int i = slice.from(); i < slice.to(); i++) {
                above += slice.chunk().position(i).isAfter(position) ? 1 : 0;
            }
        }
        return above >= n;
    }
}
