package dev.tidemark.keeper;

import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.Event;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.StripeId;
import dev.tidemark.livelog.LiveLogState;
import dev.tidemark.livelog.StripeAppender;
import io.vertx.core.Future;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * First use of a stripe after a start: asks the archive for W, fences the stripe above everything that the predecessor may have
 * minted, and loads the newest entries into memory. Older unfolded ones stay in Redis, where the fold reads them. On the keeper's
 * event loop.
 */
final class StripeOpening {
    private static final Logger LOG = LoggerFactory.getLogger(StripeOpening.class);
    /** How much is loaded, so that tails are answered from memory at once. */
    private static final int NEWEST_EVENTS = 1_000;

    private static final long NEWEST_BYTES = 1 << 20;
    private static final int PAGE = 250;

    private final StripeId stripe;
    private final KeeperStream stream;
    private final Keeper keeper;
    /** How the stream was when this began. */
    private final boolean finalOnArrival;

    private final Deque<Event> newest = new ArrayDeque<>();
    private long newestBytes;
    private Position lost = Position.ZERO;
    private Position missingThrough = Position.ZERO;
    private Position missingAfter = Position.ZERO;
    private Position keyPosition = Position.ZERO;

    StripeOpening(StripeId stripe, KeeperStream stream, Keeper keeper) {
        this.stripe = stripe;
        this.stream = stream;
        this.keeper = keeper;
        this.finalOnArrival = stream.finalOnArrival();
    }

    /**
     * @param watermark W
     * @param lastPossible ids begin above it
     * @param floor memory begins above it
     * @param tail newest event of the stripe, in the live log or the archive
     * @param lastOrdinal its ordinal
     * @param sorted whether order isn't final on arrival
     * @param lastEntry entry id below which nothing unfolded stands; where order is final on arrival it says nothing
     * @param lost events behind all these may be lost, up to this position; {@link Position#ZERO} if nothing suggests it
     * @param archivedOrdinal highest ordinal that the archive accounts for
     * @param newest the newest entries, oldest first; all unfolded ones where order isn't final on arrival
     */
    record Opened(
            Position watermark,
            Position lastPossible,
            Position floor,
            Position tail,
            long lastOrdinal,
            boolean sorted,
            Position lastEntry,
            Position lost,
            long archivedOrdinal,
            List<Event> newest) {
        /** Whether events behind all these may be lost. */
        boolean mayHaveLost() {
            return !lost.equals(Position.ZERO);
        }
    }

    /** Once opened, where order isn't final on arrival: something is missing up to here, at the end or below; {@link Position#ZERO} if nothing is. */
    Position missingThrough() {
        return missingThrough;
    }

    /** And above here. */
    Position missingAfter() {
        return missingAfter;
    }

    /** Once opened: where the key's position was. */
    Position keyPosition() {
        return keyPosition;
    }

    Future<Opened> open() {
        StripeAppender appender = keeper.appender();
        if (appender == null) {
            return Future.failedFuture(Problem.unavailable(Problem.Stored.NO, "the live log can't be reached"));
        }
        Mint mint = new Mint(stripe.index());
        return keeper.archivedState().recover(stream, stripe.index()).compose(archived -> {
            mint.startAfter(archived.watermark());
            return position(appender, mint)
                    .startAbove()
                    .compose(there -> hasLess(appender, archived, there)
                            .compose(less -> fenceIfNeeded(appender, mint, archived.watermark(), there, less)))
                    .compose(fenced -> finalOnArrival
                            ? load(appender, Position.MAX)
                                    .compose(all -> standInIdOrder()
                                            ? Future.succeededFuture(opened(archived, mint.last(), all))
                                            : sorted(appender, archived, mint))
                            : sorted(appender, archived, mint));
        });
    }

    private StripePosition position(StripeAppender appender, Mint mint) {
        long expectedMs = Math.max(
                keeper.clock().wallMs(),
                Math.max(keeper.reservation().startMs(), keeper.reservation().highMs()));
        return new StripePosition(stripe, appender, mint, expectedMs, keeper.counters());
    }

    /**
     * Whether the key has less than the archive proves that it had. Where stripes share W, one that had little to do since stands below W
     * rightly: there its newest ordinal says it.
     */
    private Future<Boolean> hasLess(StripeAppender appender, ArchivedState.Archived archived, LiveLogState there) {
        if (!there.exists() || stream.stripes() == 1) {
            return Future.succeededFuture(
                    !there.exists() || there.lastGenerated().isBefore(archived.watermark()));
        }
        if (there.last().equals(Position.ZERO)) {
            boolean neverHadAny = there.lastGenerated().equals(Position.ZERO);
            return Future.succeededFuture(neverHadAny && archived.lastOrdinal() > 0);
        }
        return appender.rangeReverse(stripe, Position.MAX, Position.ZERO, 1)
                .map(page -> page.events().stream()
                        .anyMatch(newest -> newest.ordinal() > 0 && newest.ordinal() < archived.lastOrdinal()));
    }

    /**
     * After a clean stop, and in a stream made since the start, nothing of a predecessor can still be on its way. Over a loss the fence
     * is an id like any other: that keeps the evidence until an event stands behind it.
     */
    private Future<Void> fenceIfNeeded(
            StripeAppender appender, Mint mint, Position watermark, LiveLogState there, boolean hasLess) {
        IdReservation reservation = keeper.reservation();
        keyPosition = there.lastGenerated();
        if (!stream.createdHere()) {
            lost = LossAtStart.through(there, watermark, hasLess, reservation);
        }
        if (!lost.equals(Position.ZERO)) {
            LOG.warn("stripe {}: what was acknowledged between {} and {} may be lost", stripe, watermark, lost);
            mint.startAfter(lost);
            return appender.fence(stripe, mint.next(reservation.startMs()));
        }
        return reservation.needsFence(stream.createdHere())
                ? appender.fence(stripe, mint.fence(reservation.startMs()))
                : Future.succeededFuture();
    }

    /** Reads backwards until enough is loaded; true if that is the whole live log. */
    private Future<Boolean> load(StripeAppender appender, Position before) {
        return appender.rangeReverse(stripe, before, Position.ZERO, PAGE).compose(page -> {
            for (Event event : page.events()) {
                newest.addFirst(event);
                byte[] payload = event.payload();
                newestBytes += ChunkBuilder.slabBytesMax(event.type(), payload, 0, payload.length);
            }
            boolean enough = newest.size() >= NEWEST_EVENTS || newestBytes >= NEWEST_BYTES;
            return page.full() && !enough ? load(appender, page.last()) : Future.succeededFuture(!page.full());
        });
    }

    /** Not if the stream had an acceptance window until shortly before its last process ended. */
    private boolean standInIdOrder() {
        return newest.stream().allMatch(event -> event.id().equals(event.entry()));
    }

    private Future<Opened> sorted(StripeAppender appender, ArchivedState.Archived archived, Mint mint) {
        stream.sorted();
        newest.clear();
        return loadUnfolded(appender, archived.watermark(), archived.watermark())
                .map(all -> unfolded(archived, mint.last()));
    }

    /** Where order isn't final on arrival, all that isn't folded is held in memory: its entries don't stand in id order. */
    private Future<Void> loadUnfolded(StripeAppender appender, Position watermark, Position after) {
        return appender.range(stripe, after, Position.MAX, PAGE).compose(page -> {
            newest.addAll(page.events());
            return page.full() ? loadUnfolded(appender, watermark, page.last()) : Future.succeededFuture();
        });
    }

    private Opened unfolded(ArchivedState.Archived archived, Position lastPossible) {
        Position watermark = archived.watermark();
        long lastOrdinal = archived.lastOrdinal();
        for (Event event : newest) {
            lastOrdinal = Math.max(lastOrdinal, event.ordinal());
        }
        List<Event> above =
                newest.stream().filter(event -> event.id().isAfter(watermark)).toList();
        Position lastOfPredecessor = Position.max(
                lastPossible, Acceptance.endBefore(keeper.reservation().startMs()));
        Position missing = StartLoss.below(archived, newest, lastOfPredecessor);
        if (!missing.equals(Position.ZERO)) {
            LOG.warn(
                    "stripe {}: some of what was acknowledged between {} and {} is missing",
                    stripe,
                    watermark,
                    missing);
        }
        missingThrough = Position.max(missing, lost);
        missingAfter = archived.openAfter();
        Gap untold = archived.untold();
        if (untold != null) {
            missingThrough = Position.max(missingThrough, untold.to());
            missingAfter = Position.min(missingAfter, untold.from());
        }
        return new Opened(
                watermark,
                Position.max(lastPossible, missingThrough),
                watermark,
                watermark,
                lastOrdinal,
                true,
                watermark,
                lost,
                archived.lastOrdinal(),
                above);
    }

    /**
     * Where Redis came back with less than was folded, what it has at or below W ends somewhere below W: memory must not join that to what
     * came later.
     */
    private boolean dropWhatTheArchiveContinues(ArchivedState.Archived archived) {
        long next = archived.lastOrdinal();
        int joined = newest.size();
        Iterator<Event> falling = newest.descendingIterator();
        while (falling.hasNext()) {
            Event event = falling.next();
            if (!event.id().isAfter(archived.watermark())) {
                if (event.ordinal() != next) {
                    break;
                }
                next--;
            }
            joined--;
        }
        for (int i = joined; i > 0; i--) {
            newest.removeFirst();
        }
        return joined > 0;
    }

    private Opened opened(ArchivedState.Archived archived, Position lastPossible, boolean loadedAll) {
        Position watermark = archived.watermark();
        boolean dropped = dropWhatTheArchiveContinues(archived);
        boolean all = loadedAll || dropped;
        boolean archiveIsAhead =
                newest.isEmpty() || watermark.isAfter(newest.getLast().id());
        if (archiveIsAhead) {
            // The live log is empty, or Redis came back with less than was folded: memory begins behind the archive.
            long last = newest.isEmpty() ? 0 : newest.getLast().ordinal();
            return new Opened(
                    watermark,
                    lastPossible,
                    watermark,
                    watermark,
                    Math.max(archived.lastOrdinal(), last),
                    false,
                    watermark,
                    lost,
                    archived.lastOrdinal(),
                    List.of());
        }
        Event first = newest.getFirst();
        Event last = newest.getLast();
        boolean joinsArchive = all && first.id().isAfter(watermark) && first.ordinal() == archived.lastOrdinal() + 1;
        Position floor = joinsArchive ? watermark : first.id().previous();
        return new Opened(
                watermark,
                lastPossible,
                floor,
                last.id(),
                last.ordinal(),
                false,
                floor,
                lost,
                archived.lastOrdinal(),
                List.copyOf(newest));
    }
}
