package dev.tidemark.read;

import dev.tidemark.archive.ArchivePage;
import dev.tidemark.event.Chunk;
import dev.tidemark.event.Event;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Slice;
import dev.tidemark.keeper.StartLoss;
import dev.tidemark.keeper.StreamSnapshot;
import dev.tidemark.livelog.LiveLogException;
import dev.tidemark.livelog.LiveLogPage;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A {@link MergeRead} from older to newer events. A subscription's cursor: it is also told what its follower was given. */
final class AscendingMerge implements MergeRead {
    private final StreamSource source;
    private final Neighbours neighbours;
    private final View view;
    private final Position through;
    private final Continuity continuity;
    private final LivePageSize liveSize = new LivePageSize();
    private final Floors floors;
    /** Everything at or below it is done, whether there was an event or not. */
    private Position position;
    /** The last event given or gap announced. */
    private Position given;

    /** What the start found missing has been announced, or lies below. */
    private boolean startLossTold;

    private boolean fromEarliest;
    /** The earliest event for which it was found that nothing was removed between the position and it. */
    private Position checkedEarliest = Position.ZERO;
    /** What lies before the position couldn't be found, but the archive knows what lies behind it. */
    private boolean archiveFirst;

    /**
     * @param start exclusive
     * @param fromEarliest the start is wherever the stream starts: what retention removed before it is no gap
     * @param through inclusive; {@link Position#MAX} to go on with the tail
     */
    AscendingMerge(StreamSource source, View view, Position start, boolean fromEarliest, Position through) {
        this(source, view, start, Floors.NONE, fromEarliest, through);
    }

    /** @param floors what the reader was given before is left out */
    AscendingMerge(
            StreamSource source, View view, Position start, Floors floors, boolean fromEarliest, Position through) {
        this.source = source;
        this.floors = floors;
        this.view = view;
        this.through = through;
        this.fromEarliest = fromEarliest;
        neighbours = new Neighbours(source);
        continuity = new Continuity(start, source::finalOnArrival);
        position = start;
        given = start;
    }

    @Override
    public Position cursor() {
        return given;
    }

    @Override
    public Future<MergePage> next(int eventsMax, long bytesMax) {
        PageBuilder page = new PageBuilder(eventsMax, bytesMax);
        return fill(page)
                .recover(failure -> page.isEmpty()
                        ? Future.failedFuture(failure)
                        : Future.succeededFuture(page.rising(MergePage.End.MORE)));
    }

    private Future<MergePage> fill(PageBuilder page) {
        while (true) {
            if (source.isDeleted()) {
                return Future.failedFuture(source.deleted());
            }
            StreamSnapshot snapshot = source.snapshot();
            Position end = snapshot.isOpen() ? Position.min(through, StreamSource.end(snapshot, view)) : through;
            if (position.compareTo(end) >= 0) {
                return reached(page, snapshot, end);
            }
            if (page.isFull()) {
                return Future.succeededFuture(page.rising(MergePage.End.MORE));
            }
            Position earliest = source.archive().earliest();
            if (fromEarliest) {
                startAt(earliest);
            } else if (mayBeRemovedBefore(earliest)) {
                return passRemoved(page, earliest);
            }
            boolean inMemory = snapshot.covers(position) && !archiveFirst;
            if (inMemory && !continuity.isUnknown()) {
                takeMemory(page, snapshot, end);
            } else if (position.isBefore(source.watermark()) && !inMemory) {
                return takeArchive(page);
            } else if (!snapshot.isOpen()) {
                return source.open()
                        .compose(opened ->
                                opened ? fill(page) : Future.succeededFuture(page.rising(MergePage.End.AWAY)));
            } else if (continuity.isUnknown()) {
                return lookUp(snapshot).compose(found -> fill(page)).recover(failure -> awayOr(failure, page));
            } else {
                return takeLive(page, snapshot, end);
            }
        }
    }

    private Future<MergePage> reached(PageBuilder page, StreamSnapshot snapshot, Position end) {
        if (snapshot.isOpen()) {
            StartLoss loss = source.stream().lossAtStart();
            if (loss != null && through.isAfter(loss.from())) {
                // All that was found at the start is given, and nothing will come there any more.
                List<Gap> gaps = startLoss();
                page.announce(gaps);
                if (!gaps.isEmpty() && through.equals(Position.MAX)) {
                    position =
                            Position.max(position, Position.min(loss.through().next(), snapshot.frontier()));
                    given = Position.max(given, position);
                }
            }
            passEmpty(end);
        }
        if (snapshot.isOpen() && continuity.isUnknown() && position.compareTo(snapshot.tail()) >= 0) {
            continuity.isAt(position, snapshot.lastOrdinal());
        }
        return Future.succeededFuture(page.rising(MergePage.End.REACHED));
    }

    /** Nothing lies between the last event given and {@code end}, nor ever will: where order isn't final on arrival, that is said in the cursor. */
    void passEmpty(Position end) {
        StartLoss loss = startLossTold ? null : source.stream().lossAtStart();
        // Where something is missing a reader doesn't go without being told, and that waits for an event behind it.
        Position to = loss != null && !position.isAfter(loss.through()) ? Position.min(end, loss.from()) : end;
        if (!source.finalOnArrival() && to.isAfter(given)) {
            given = to;
            position = Position.max(position, to);
        }
    }

    private void startAt(Position earliest) {
        fromEarliest = false;
        Position start = earliest.equals(Position.ZERO) ? Position.ZERO : Positions.below(earliest);
        if (start.isAfter(position)) {
            position = start;
            given = start;
            continuity.isAt(start);
        }
    }

    private boolean mayBeRemovedBefore(Position earliest) {
        return Positions.isFarBelow(position, earliest) && !earliest.equals(checkedEarliest);
    }

    private Future<MergePage> passRemoved(PageBuilder page, Position earliest) {
        return neighbours.removed(position, continuity.last(), through).compose(gap -> {
            checkedEarliest = earliest;
            gap.ifPresent(removed -> passGap(page, removed));
            return fill(page);
        });
    }

    private void passGap(PageBuilder page, Gap gap) {
        page.announce(gap);
        position = Position.max(position, gap.to());
        given = position;
        continuity.isAt(position);
    }

    private Future<Void> lookUp(StreamSnapshot snapshot) {
        return neighbours.ordinalAt(snapshot, position).map(ordinal -> {
            if (ordinal == Neighbours.NONE) {
                archiveFirst = position.isBefore(source.watermark());
                continuity.isAt(position);
            } else {
                continuity.isAt(position, ordinal);
            }
            return null;
        });
    }

    /** Once there is an event behind it. */
    private void tellStartLoss(PageBuilder page, StreamSnapshot snapshot) {
        StartLoss loss = source.stream().lossAtStart();
        if (loss != null && snapshot.tail().isAfter(loss.through())) {
            page.announce(startLoss());
        }
    }

    private void takeMemory(PageBuilder page, StreamSnapshot snapshot, Position end) {
        tellStartLoss(page, snapshot);
        int eventsMax = page.eventsRoom();
        long bytesMax = page.bytesRoom();
        List<Slice> slices = through(snapshot.after(position, eventsMax, bytesMax), end);
        // What the reader was given before isn't on the page: whether there is more is told by what memory gave.
        boolean all = TailRead.count(slices) < eventsMax && TailRead.jsonBytes(slices) < bytesMax;
        if (give(page, slices) && all && announceMissing(page, Neighbours.inMemory(snapshot, end), end)) {
            position = end;
        }
    }

    /** The part of rising slices at or below {@code end}. */
    static List<Slice> through(List<Slice> slices, Position end) {
        if (slices.isEmpty() || !slices.get(slices.size() - 1).last().isAfter(end)) {
            return slices;
        }
        List<Slice> cut = new ArrayList<>();
        for (Slice slice : slices) {
            Slice kept = slice.through(end);
            if (!kept.isEmpty()) {
                cut.add(kept);
            }
        }
        return cut;
    }

    /** Puts the next events on the page, if that is all there is to say; see {@link #follow}. */
    private boolean give(PageBuilder page, List<Slice> slices) {
        if (slices.isEmpty()) {
            return true;
        }
        List<Gap> gaps = follow(slices);
        if (gaps == null) {
            return false;
        }
        page.announce(gaps);
        page.addAll(floors.unseen(slices));
        return true;
    }

    /**
     * The follower is given these events, which come next; returns what is missing before and between them. Null if only the archive
     * knows that: then it is asked next, and nothing has changed.
     */
    @Nullable
    List<Gap> follow(List<Slice> slices) {
        List<Hole> losses = source.losses(continuity.holes(slices), slices);
        if (source.isArchived(losses)) {
            archiveFirst = true;
            return null;
        }
        List<Gap> gaps = new ArrayList<>(startLoss());
        continuity.take(slices);
        position = slices.get(slices.size() - 1).last();
        given = position;
        losses.forEach(loss -> gaps.add(loss.gap()));
        return gaps;
    }

    /**
     * Where order isn't final on arrival: what the start of the process found missing, if the reader hasn't passed it and wasn't told of it.
     * It is told all of its bounds, also where it was given events within them.
     */
    List<Gap> startLoss() {
        StartLoss loss = startLossTold ? null : source.stream().lossAtStart();
        if (loss == null || position.isAfter(loss.through())) {
            return List.of();
        }
        startLossTold = true;
        return List.of(new Gap(loss.from(), loss.through(), Gap.Reason.LOST));
    }

    /** The reader gives up what lies between its cursor and the tail of {@code snapshot}. */
    Gap skipTo(StreamSnapshot snapshot) {
        Gap gap = new Gap(given, snapshot.tail(), Gap.Reason.SKIPPED);
        position = snapshot.tail();
        given = position;
        continuity.isAt(position, snapshot.lastOrdinal());
        return gap;
    }

    Floors floors() {
        return floors;
    }

    /** Ordinal of the last event given; negative if it isn't known. */
    long ordinal() {
        return continuity.last();
    }

    /** Announces what is missing up to the reader's bound; false if only the archive knows, which is asked next. */
    private boolean announceMissing(PageBuilder page, Neighbour next, Position end) {
        if (!continuity.isBroken(next)) {
            return true;
        }
        List<Hole> losses = source.losses(List.of(continuity.hole(next)), List.of());
        if (source.isArchived(losses) && position.isBefore(source.watermark())) {
            archiveFirst = true;
            return false;
        }
        for (Hole loss : losses) {
            Gap gap = loss.gap();
            Position to = Position.min(gap.to(), end);
            if (to.isAfter(gap.from())) {
                passGap(page, new Gap(gap.from(), to, gap.reason()));
            }
        }
        return true;
    }

    private Future<MergePage> takeArchive(PageBuilder page) {
        Position end = Position.min(through, source.watermark());
        return source.archived(position, end, page.eventsRoom(), page.bytesRoom())
                .compose(archived -> {
                    if (mayBeRemovedBefore(source.archive().earliest())) {
                        // As with W, the other way round: what the page should start with may be gone.
                        return fill(page);
                    }
                    Position last = lastOf(archived);
                    if (archived.more() && !last.isAfter(position)) {
                        return Future.failedFuture(noProgress(position));
                    }
                    Chunk events = archived.events();
                    archived.gaps().forEach(page::announce);
                    page.addAll(floors.unseen(List.of(events.slice())));
                    given = Position.max(given, last);
                    archiveFirst = false;
                    if (events.count() > 0 && events.last().equals(last)) {
                        continuity.isAt(last, events.ordinal(events.count() - 1));
                    } else if (last.isAfter(position)) {
                        continuity.isAt(last);
                    }
                    position = archived.more() ? last : Position.max(end, last);
                    return fill(page);
                });
    }

    private Position lastOf(ArchivePage archived) {
        Position last = position;
        if (archived.events().count() > 0) {
            last = Position.max(last, archived.events().last());
        }
        for (Gap gap : archived.gaps()) {
            last = Position.max(last, gap.to());
        }
        return last;
    }

    static Problem noProgress(Position position) {
        return new Problem(
                Problem.Kind.DAMAGED, "the archive says that it goes on at " + position + ", but gives nothing");
    }

    private Future<MergePage> takeLive(PageBuilder page, StreamSnapshot snapshot, Position end) {
        Position start = position;
        Position watermark = source.watermark();
        Position upTo = Position.min(end, snapshot.floor());
        return source.live(start, upTo, liveSize.count(page))
                .compose(live -> source.watermarkAgain(watermark).isAfter(start)
                        ? fill(page)
                        : takeLive(page, snapshot, upTo, live))
                .recover(failure -> awayOr(failure, page));
    }

    private static Future<MergePage> awayOr(Throwable failure, PageBuilder page) {
        return failure instanceof LiveLogException
                ? Future.succeededFuture(page.rising(MergePage.End.AWAY))
                : Future.failedFuture(failure);
    }

    private Future<MergePage> takeLive(PageBuilder page, StreamSnapshot snapshot, Position upTo, LiveLogPage live) {
        liveSize.learn(live);
        List<Event> between = live.events().stream()
                .filter(event -> event.id().isAfter(position) && !event.id().isAfter(upTo))
                .toList();
        List<Event> events = LivePageSize.fitting(between, page);
        if (live.full() || events.size() < between.size()) {
            giveLive(page, events);
            position = events.isEmpty() ? Position.max(position, live.last()) : position;
            return fill(page);
        }
        // The live log has no more up to here: what comes next tells whether something is missing at the end.
        return neighbours.above(snapshot, upTo).compose(next -> {
            if (next.isPresent()) {
                giveLive(page, events);
                if (announceMissing(page, next.get(), upTo)) {
                    position = Position.max(position, upTo);
                }
            }
            return fill(page);
        });
    }

    /** Gives events of the live log, all of them above W: what is missing there is lost. */
    private void giveLive(PageBuilder page, List<Event> events) {
        if (!events.isEmpty()) {
            Generation generation = source.stream().id().generation();
            Slice slice = LivePageSize.chunk(generation, events, false).slice();
            boolean all = give(page, List.of(slice));
            assert all : "W can't have passed " + slice.last();
        }
    }
}
