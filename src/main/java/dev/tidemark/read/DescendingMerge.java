package dev.tidemark.read;

import dev.tidemark.archive.ArchivePage;
import dev.tidemark.event.Chunk;
import dev.tidemark.event.Event;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import dev.tidemark.keeper.TimelineSnapshot;
import dev.tidemark.livelog.LiveLogException;
import dev.tidemark.livelog.LiveLogPage;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A {@link MergeRead} from newer to older events. With the live log away from the start, it starts at W and isn't complete. */
final class DescendingMerge implements MergeRead {
    private final StreamSource source;
    private final Neighbours neighbours;
    private final View view;
    private final Position from;
    private final boolean toEarliest;
    private final LivePageSize liveSize = new LivePageSize();
    /** Everything at or above it is done. */
    private Position before;

    /** The oldest event given, or the start. */
    private Position oldest = Position.MAX;

    private Position top = Position.MAX;
    private boolean started;
    private boolean complete = true;
    private boolean neighbourKnown;
    /** What lies next above {@link #before}; null in the archive, which announces its own gaps. */
    private @Nullable Neighbour newer;

    private boolean bottomDone;

    /**
     * @param before exclusive; {@link Position#MAX} for the tail
     * @param after exclusive
     * @param toEarliest the end is wherever the stream starts: what retention removed before it is no gap
     */
    DescendingMerge(StreamSource source, View view, Position before, Position after, boolean toEarliest) {
        this.source = source;
        this.view = view;
        this.before = before;
        this.from = after.equals(Position.MAX) ? Position.MAX : after.next();
        this.toEarliest = toEarliest;
        neighbours = new Neighbours(source);
    }

    @Override
    public Position cursor() {
        return before;
    }

    @Override
    public Future<MergePage> next(int eventsMax, long bytesMax) {
        return fill(new PageBuilder(eventsMax, bytesMax));
    }

    private Future<MergePage> fill(PageBuilder page) {
        while (true) {
            if (source.isDeleted()) {
                return Future.failedFuture(source.deleted());
            }
            TimelineSnapshot snapshot = source.snapshot();
            Position aboveArchive = source.watermark().next();
            if (!snapshot.isOpen() && before.isAfter(aboveArchive)) {
                return open(page);
            }
            start(snapshot, aboveArchive);
            Position earliest = source.archive().earliest();
            if (!before.isAfter(from) || !before.isAfter(earliest)) {
                return bottom(page, snapshot);
            }
            if (page.isFull()) {
                return Future.succeededFuture(page.falling(MergePage.End.MORE, complete));
            }
            boolean inMemory =
                    snapshot.isOpen() && before.isAfter(snapshot.floor().next());
            if (!inMemory && !before.isAfter(aboveArchive)) {
                return takeArchive(page);
            }
            if (!neighbourKnown) {
                return lookUp(page, snapshot);
            }
            if (!inMemory) {
                return takeLive(page);
            }
            takeMemory(page, snapshot, earliest);
        }
    }

    private Future<MergePage> open(PageBuilder page) {
        return source.open().compose(opened -> {
            if (opened) {
                return fill(page);
            }
            if (started) {
                return away(page);
            }
            complete = false;
            before = Position.min(before, source.watermark().next());
            neighbourKnown = true;
            return fill(page);
        });
    }

    private Future<MergePage> away(PageBuilder page) {
        return Future.succeededFuture(page.falling(MergePage.End.AWAY, false));
    }

    private void start(TimelineSnapshot snapshot, Position aboveArchive) {
        if (!started) {
            started = true;
            before = Position.min(
                    before, snapshot.isOpen() ? StreamSource.end(snapshot, view).next() : aboveArchive);
            top = before;
            oldest = before;
        }
    }

    private Future<MergePage> lookUp(PageBuilder page, TimelineSnapshot snapshot) {
        return neighbours
                .above(snapshot, before.previous())
                .compose(above -> {
                    neighbourKnown = above.isPresent();
                    newer = above.orElse(null);
                    return fill(page);
                })
                .recover(failure -> awayOr(failure, page));
    }

    private Future<MergePage> awayOr(Throwable failure, PageBuilder page) {
        return failure instanceof LiveLogException ? away(page) : Future.failedFuture(failure);
    }

    private void takeMemory(PageBuilder page, TimelineSnapshot snapshot, Position earliest) {
        Position lowest = Position.max(Position.max(from, snapshot.floor().next()), earliest);
        List<Slice> slices = snapshot.before(before, lowest, page.eventsRoom(), page.bytesRoom());
        give(page, slices);
        before = page.isFull() ? slices.get(0).first() : lowest;
    }

    private void give(PageBuilder page, List<Slice> slices) {
        if (slices.isEmpty()) {
            return;
        }
        Slice last = slices.get(slices.size() - 1);
        announceBefore(page, last.last(), last.chunk().ordinal(last.to() - 1));
        Continuity within = new Continuity(slices.get(0).first());
        announceReversed(page, within.take(slices));
        newer = Neighbour.firstOf(slices);
        oldest = newer.position();
        page.addReversed(slices);
    }

    /** Announces what is missing between the event given last and an older one. */
    private void announceBefore(PageBuilder page, Position older, long ordinal) {
        if (newer != null && newer.missingAfter(ordinal) > 0) {
            page.announce(lost(older, newer));
        }
    }

    private Gap lost(Position older, Neighbour next) {
        Position to = Position.min(Positions.below(next.position()), top.previous());
        return new Gap(older, Position.max(older, to), Gap.Reason.LOST);
    }

    private static void announceReversed(PageBuilder page, List<Gap> gaps) {
        List<Gap> reversed = new ArrayList<>(gaps);
        Collections.reverse(reversed);
        page.announce(reversed);
    }

    private Future<MergePage> takeArchive(PageBuilder page) {
        return source.archivedReverse(before, from, page.eventsRoom(), page.bytesRoom())
                .compose(archived -> {
                    Position lowest = lowestOf(archived);
                    if (archived.more() && !lowest.isBefore(before)) {
                        return Future.failedFuture(AscendingMerge.noProgress(before));
                    }
                    giveArchived(page, archived);
                    before = archived.more() ? lowest : from;
                    return fill(page);
                });
    }

    private void giveArchived(PageBuilder page, ArchivePage archived) {
        Chunk events = archived.events();
        if (events.count() == 0 && archived.gaps().isEmpty()) {
            return;
        }
        boolean explained = events.count() == 0
                || archived.gaps().stream().anyMatch(gap -> !gap.to().isBefore(events.last()));
        if (!explained) {
            announceBefore(page, events.last(), events.ordinal(events.count() - 1));
        }
        newer = null;
        neighbourKnown = true;
        announceReversed(page, archived.gaps());
        page.add(events.slice());
        oldest = events.count() == 0 ? oldest : events.first();
    }

    private Position lowestOf(ArchivePage archived) {
        Position lowest = before;
        if (archived.events().count() > 0) {
            lowest = Position.min(lowest, archived.events().first());
        }
        for (Gap gap : archived.gaps()) {
            lowest = Position.min(lowest, gap.from().next());
        }
        return lowest;
    }

    private Future<MergePage> takeLive(PageBuilder page) {
        Position watermark = source.watermark();
        Position lowest = Position.max(from, watermark.next());
        return source.liveReverse(before, lowest, liveSize.count(page))
                .compose(live -> {
                    takeLive(page, watermark, live);
                    return fill(page);
                })
                .recover(failure -> awayOr(failure, page));
    }

    /** THE RULE, downwards: what lies above W as it is now can't have been trimmed; the rest is thrown away. */
    private void takeLive(PageBuilder page, Position watermark, LiveLogPage live) {
        Position lowest = Position.max(from, source.watermarkAgain(watermark).next());
        if (!before.isAfter(lowest)) {
            return;
        }
        liveSize.learn(live);
        List<Event> above = live.events().stream()
                .filter(event -> event.id().isBefore(before) && event.id().compareTo(lowest) >= 0)
                .toList();
        List<Event> events = LivePageSize.fitting(above, page);
        if (!events.isEmpty()) {
            give(
                    page,
                    List.of(LivePageSize.chunk(source.stream().id().generation(), events, true)
                            .slice()));
        }
        boolean all = events.size() == above.size()
                && (!live.full() || above.size() < live.events().size());
        if (all) {
            before = lowest;
        } else {
            before = events.isEmpty()
                    ? Position.min(before, live.last())
                    : events.get(events.size() - 1).id();
        }
    }

    /** Nothing is left: what is missing before the last event given is announced. */
    private Future<MergePage> bottom(PageBuilder page, TimelineSnapshot snapshot) {
        if (bottomDone) {
            return Future.succeededFuture(page.falling(MergePage.End.REACHED, complete));
        }
        bottomDone = true;
        Position below = from.previous();
        if (Positions.isFarBelow(below, source.archive().earliest())) {
            return toEarliest ? bottom(page, snapshot) : announceRemoved(page, snapshot, below);
        }
        Neighbour last = newer;
        if (last == null || !snapshot.isOpen()) {
            return bottom(page, snapshot);
        }
        return below.isBefore(source.watermark())
                ? announceArchived(page, snapshot, last)
                : announceBelow(page, snapshot, below, last);
    }

    private Future<MergePage> announceBelow(
            PageBuilder page, TimelineSnapshot snapshot, Position below, Neighbour last) {
        return neighbours
                .ordinalAt(snapshot, below)
                .compose(ordinal -> {
                    if (below.isBefore(source.watermark())) {
                        return announceArchived(page, snapshot, last);
                    }
                    if (ordinal != Neighbours.NONE && last.missingAfter(ordinal) > 0) {
                        page.announce(lost(below, last));
                    }
                    return bottom(page, snapshot);
                })
                .recover(failure -> awayOr(failure, page));
    }

    /** Below what was read from memory or the live log lies nothing but what the archive knows to be missing. */
    private Future<MergePage> announceArchived(PageBuilder page, TimelineSnapshot snapshot, Neighbour last) {
        return source.archivedReverse(last.position(), from, 1, 1).compose(archived -> {
            announceReversed(page, archived.gaps());
            return bottom(page, snapshot);
        });
    }

    private Future<MergePage> announceRemoved(PageBuilder page, TimelineSnapshot snapshot, Position below) {
        return neighbours.removed(below, -1, Positions.below(oldest)).compose(gap -> {
            gap.ifPresent(page::announce);
            return bottom(page, snapshot);
        });
    }
}
