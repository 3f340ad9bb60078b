package dev.tidemark.keeper;

import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.Event;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.StripeId;
import dev.tidemark.livelog.StripeAppender;
import io.vertx.core.Future;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * First use of a stripe after a start: asks the archive for W, fences the stripe above everything that the predecessor may have
 * minted, and loads the newest entries into memory. Older unfolded ones stay in Redis, where the fold reads them. On the keeper's
 * event loop.
 */
final class StripeOpening {
    /** How much is loaded, so that tails are answered from memory at once. */
    private static final int NEWEST_EVENTS = 1_000;

    private static final long NEWEST_BYTES = 1 << 20;
    private static final int PAGE = 250;

    private final StripeId stripe;
    private final KeeperStream stream;
    private final Keeper keeper;
    private final Deque<Event> newest = new ArrayDeque<>();
    private long newestBytes;

    StripeOpening(StripeId stripe, KeeperStream stream, Keeper keeper) {
        this.stripe = stripe;
        this.stream = stream;
        this.keeper = keeper;
    }

    /**
     * @param watermark W
     * @param lastPossible ids begin above it
     * @param floor memory begins above it
     * @param tail newest event of the stripe, in the live log or the archive
     * @param lastOrdinal its ordinal
     * @param newest the newest entries, oldest first
     */
    record Opened(
            Position watermark,
            Position lastPossible,
            Position floor,
            Position tail,
            long lastOrdinal,
            List<Event> newest) {}

    Future<Opened> open() {
        StripeAppender appender = keeper.appender();
        if (appender == null) {
            return Future.failedFuture(Problem.unavailable(Problem.Stored.NO, "the live log can't be reached"));
        }
        Mint mint = new Mint(stripe.index());
        return keeper.archivedState().recover(stream, stripe.index()).compose(archived -> {
            mint.startAfter(archived.watermark());
            return StripeResume.startAboveLiveLog(
                            appender, stripe, mint, keeper.clock().wallMs())
                    .compose(ready -> fenceIfNeeded(appender, mint))
                    .compose(fenced -> load(appender, Position.MAX))
                    .map(all -> opened(archived, mint.last(), all));
        });
    }

    /** After a clean stop, and in a stream made since the start, nothing of a predecessor can still be on its way. */
    private Future<Void> fenceIfNeeded(StripeAppender appender, Mint mint) {
        if (!keeper.reservation().needsFence(stream.createdHere())) {
            return Future.succeededFuture();
        }
        return StripeResume.fence(appender, stripe, mint, keeper.reservation().startMs())
                .mapEmpty();
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

    private Opened opened(ArchivedState.Archived archived, Position lastPossible, boolean all) {
        Position watermark = archived.watermark();
        boolean archiveIsAhead =
                newest.isEmpty() || watermark.isAfter(newest.getLast().id());
        if (archiveIsAhead) {
            // The live log is empty, or Redis came back with less than was folded: memory begins behind the archive.
            long last = newest.isEmpty() ? 0 : newest.getLast().ordinal();
            return new Opened(
                    watermark, lastPossible, watermark, watermark, Math.max(archived.lastOrdinal(), last), List.of());
        }
        Event first = newest.getFirst();
        Event last = newest.getLast();
        boolean joinsArchive = all && first.id().isAfter(watermark) && first.ordinal() == archived.lastOrdinal() + 1;
        Position floor = joinsArchive ? watermark : first.id().previous();
        return new Opened(watermark, lastPossible, floor, last.id(), last.ordinal(), List.copyOf(newest));
    }
}
