package dev.tidemark.read;

import dev.tidemark.archive.ArchivePage;
import dev.tidemark.event.Chunk;
import dev.tidemark.event.Event;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import dev.tidemark.keeper.StartLoss;
import dev.tidemark.keeper.StreamSnapshot;
import dev.tidemark.livelog.LiveLogException;
import dev.tidemark.livelog.LiveLogPage;
import io.vertx.core.Future;
import java.util.ArrayList;
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

    /** The oldest event given. */
    private @Nullable Neighbour oldest;

    private Position top = Position.MAX;
    private boolean started;
    private boolean complete = true;
    private boolean neighbourKnown;
    /** What lies next above {@link #before}; null in the archive, which announces its own gaps. */
    private @Nullable Neighbour newer;

    /** Something is missing at or below W in memory: the archive knows what, and is asked for all that it has. */
    private boolean archiveFirst;

    private boolean startLossTold;
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
        PageBuilder page = new PageBuilder(eventsMax, bytesMax);
        return fill(page)
                .recover(failure -> page.isEmpty()
                        ? Future.failedFuture(failure)
                        : Future.succeededFuture(page.falling(MergePage.End.MORE, complete)));
    }

    private Future<MergePage> fill(PageBuilder page) {
        while (true) {
            if (source.isDeleted()) {
                return Future.failedFuture(source.deleted());
            }
            StreamSnapshot snapshot = source.snapshot();
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
                    snapshot.isOpen() && before.isAfter(floor(snapshot).next());
            if (!inMemory && !before.isAfter(aboveArchive)) {
                return takeArchive(page);
            }
            if (!neighbourKnown && source.finalOnArrival()) {
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

    private void start(StreamSnapshot snapshot, Position aboveArchive) {
        if (!started) {
            started = true;
            before = Position.min(
                    before, snapshot.isOpen() ? StreamSource.end(snapshot, view).next() : aboveArchive);
            top = before;
        }
    }

    private Future<MergePage> lookUp(PageBuilder page, StreamSnapshot snapshot) {
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

    /** What lies above it is read from memory. */
    private Position floor(StreamSnapshot snapshot) {
        return archiveFirst ? Position.max(snapshot.floor(), source.watermark()) : snapshot.floor();
    }

    private void takeMemory(PageBuilder page, StreamSnapshot snapshot, Position earliest) {
        Position lowest = Position.max(Position.max(from, floor(snapshot).next()), earliest);
        List<Slice> slices = snapshot.before(before, lowest, page.eventsRoom(), page.bytesRoom());
        if (give(page, slices)) {
            before = page.isFull() ? slices.get(0).first() : lowest;
            announceStartLoss(page);
        }
    }

    /** What the start of the process found missing, once the reader has come that far. */
    private void announceStartLoss(PageBuilder page) {
        StartLoss loss = startLossTold ? null : source.stream().lossAtStart();
        if (loss != null && !before.isAfter(loss.through())) {
            startLossTold = true;
            page.announce(new Gap(loss.from(), loss.through(), Gap.Reason.LOST));
        }
    }

    /** Puts the next older events on the page; false if only the archive knows what is missing: then nothing has changed. */
    private boolean give(PageBuilder page, List<Slice> slices) {
        if (slices.isEmpty()) {
            return true;
        }
        List<Hole> losses = source.losses(holes(slices), slices);
        if (source.isArchived(losses)) {
            archiveFirst = true;
            return false;
        }
        announceReversed(page, losses.stream().map(this::lost).toList());
        if (source.finalOnArrival()) {
            newer = Neighbour.firstOf(slices);
            oldest = newer;
        }
        page.addReversed(slices);
        return true;
    }

    /** What is missing within some events and between them and the event given last, in rising order. */
    private List<Hole> holes(List<Slice> slices) {
        Continuity within = new Continuity(slices.get(0).first(), source::finalOnArrival);
        List<Hole> holes = within.holes(slices);
        within.take(slices);
        if (newer == null || !within.isBroken(newer)) {
            return holes;
        }
        List<Hole> all = new ArrayList<>(holes);
        all.add(within.hole(newer));
        return all;
    }

    private Gap lost(Hole hole) {
        Gap gap = hole.gap();
        return new Gap(gap.from(), Position.min(gap.to(), top.previous()), gap.reason());
    }

    /** Announces what is missing between the event given last and an older one. */
    private void announceBetween(PageBuilder page, Position older, long ordinal) {
        Neighbour last = newer;
        if (last != null && !last.follows(ordinal)) {
            List<Hole> losses = source.losses(List.of(new Hole(older, ordinal, last)), List.of());
            announceReversed(page, losses.stream().map(this::lost).toList());
        }
    }

    private static void announceReversed(PageBuilder page, List<Gap> gaps) {
        for (int i = gaps.size() - 1; i >= 0; i--) {
            if (gaps.get(i).to().isAfter(gaps.get(i).from())) {
                page.announce(gaps.get(i));
            }
        }
    }

    private Future<MergePage> takeArchive(PageBuilder page) {
        Position watermark = source.watermark();
        // From the event given last down, if the archive has that: then it announces all that is missing below it.
        Position given = newer != null && !newer.position().isAfter(watermark) ? newer.position() : before;
        Position end = Position.min(given, top);
        return source.archivedReverse(end, from, page.eventsRoom(), page.bytesRoom())
                .compose(archived -> {
                    // It may lie above what memory was done with: what memory didn't have is given now.
                    Position lowest = lowestOf(archived, end);
                    if (archived.more() && !lowest.isBefore(end)) {
                        return Future.failedFuture(AscendingMerge.noProgress(end));
                    }
                    if (giveArchived(page, archived, watermark)) {
                        before = archived.more() ? lowest : from;
                    }
                    return fill(page);
                });
    }

    /**
     * Puts a page of the archive on the page.
     *
     * @param watermark W before it was read: what is missing below an event at or below it, the archive has announced
     * @return false if W has passed the event given last meanwhile: then it has to be read again to know what is missing below that
     */
    private boolean giveArchived(PageBuilder page, ArchivePage archived, Position watermark) {
        Chunk events = archived.events();
        if (events.count() == 0 && archived.gaps().isEmpty()) {
            return true;
        }
        Neighbour last = newer;
        if (last != null && last.position().isAfter(watermark) && !joins(archived, last)) {
            List<Hole> losses = source.losses(
                    List.of(new Hole(events.last(), events.ordinal(events.count() - 1), last)), List.of());
            if (source.isArchived(losses)) {
                return false;
            }
            announceReversed(page, losses.stream().map(this::lost).toList());
        }
        newer = null;
        neighbourKnown = true;
        announceReversed(page, archived.gaps());
        page.add(events.slice());
        oldest = events.count() == 0 || !source.finalOnArrival() ? oldest : Neighbour.of(events, 0);
        return true;
    }

    private static boolean joins(ArchivePage archived, Neighbour last) {
        Chunk events = archived.events();
        return events.count() == 0
                || last.follows(events.ordinal(events.count() - 1))
                || archived.gaps().stream().anyMatch(gap -> !gap.to().isBefore(events.last()));
    }

    private static Position lowestOf(ArchivePage archived, Position end) {
        Position lowest = end;
        if (archived.events().count() > 0) {
            lowest = Position.min(lowest, archived.events().first());
        }
        for (Gap gap : archived.gaps()) {
            // One that reaches above events says something of them too, and nothing of what lies below.
            if (gap.to().isBefore(lowest)) {
                lowest = gap.from().next();
            }
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
            Generation generation = source.stream().id().generation();
            boolean given = give(
                    page, List.of(LivePageSize.chunk(generation, events, true).slice()));
            assert given : "W can't have passed " + lowest;
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
    private Future<MergePage> bottom(PageBuilder page, StreamSnapshot snapshot) {
        if (bottomDone || (oldest != null && oldest.follows(0))) {
            return reached(page);
        }
        Position below = from.previous();
        if (Positions.isFarBelow(below, source.archive().earliest())) {
            return toEarliest ? reached(page) : announceRemoved(page, below);
        }
        Neighbour last = newer;
        if (last == null) {
            return reached(page);
        }
        if (below.isBefore(source.watermark())) {
            return announceArchived(page, last);
        }
        return snapshot.isOpen() ? announceBelow(page, snapshot, below, last) : open(page);
    }

    private Future<MergePage> reached(PageBuilder page) {
        bottomDone = true;
        return Future.succeededFuture(page.falling(MergePage.End.REACHED, complete));
    }

    private Future<MergePage> announceBelow(PageBuilder page, StreamSnapshot snapshot, Position below, Neighbour last) {
        return neighbours
                .ordinalAt(snapshot, below)
                .compose(ordinal -> {
                    if (below.isBefore(source.watermark())) {
                        return announceArchived(page, last);
                    }
                    if (ordinal != Neighbours.NONE) {
                        announceBetween(page, below, ordinal);
                    }
                    return reached(page);
                })
                .recover(failure -> awayOr(failure, page));
    }

    /** Below what was read from memory or the live log lies nothing but what the archive knows to be missing. */
    private Future<MergePage> announceArchived(PageBuilder page, Neighbour last) {
        return source.archivedReverse(last.position(), from, 1, 1).compose(archived -> {
            announceReversed(page, archived.gaps());
            return reached(page);
        });
    }

    private Future<MergePage> announceRemoved(PageBuilder page, Position below) {
        Position bound = oldest == null ? top.previous() : Positions.below(oldest.position());
        return neighbours.removed(below, -1, bound).compose(gap -> {
            gap.ifPresent(page::announce);
            return reached(page);
        });
    }
}
