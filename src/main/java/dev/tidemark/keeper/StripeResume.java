package dev.tidemark.keeper;

import dev.tidemark.event.Event;
import dev.tidemark.event.Position;
import dev.tidemark.event.StripeId;
import dev.tidemark.livelog.StripeAppender;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;

/**
 * Fence and re-read after a reconnect: first Redis is made to refuse everything that may still be on its way, then what it really
 * holds is read. On the keeper's event loop.
 */
final class StripeResume {
    static final int PAGE = 500;

    private final StripeId stripe;
    private final StripeAppender appender;
    private final Mint mint;
    private final Position lastEntry;
    private final Position known;
    private final Position watermark;
    private final StripePosition position;
    private final boolean lossPending;
    private final List<Event> found = new ArrayList<>();
    private boolean hasLess;

    /**
     * @param lastEntry the last acknowledged one, or where what isn't folded begins
     * @param known where the key's position was at least
     * @param watermark W: entries above it aren't trimmed
     * @param lossPending something may have been lost behind the last event, and no event stands behind that yet
     */
    StripeResume(
            StripeId stripe,
            StripeAppender appender,
            Mint mint,
            Position lastEntry,
            Position known,
            Position watermark,
            StripePosition position,
            boolean lossPending) {
        this.stripe = stripe;
        this.appender = appender;
        this.mint = mint;
        this.lastEntry = lastEntry;
        this.known = known;
        this.watermark = watermark;
        this.position = position;
        this.lossPending = lossPending;
    }

    /** The keeper's entries above the last acknowledged one, once nothing can be added to them. */
    Future<List<Event>> resume() {
        return position.startAbove()
                .compose(there -> {
                    boolean newestIsGone =
                            lastEntry.isAfter(watermark) && there.last().isBefore(lastEntry);
                    hasLess = !there.exists() || there.lastGenerated().isBefore(known) || newestIsGone;
                    // An ordinary id says to the next start that something is missing below it, until an event stands
                    // behind it.
                    Position fence = hasLess || lossPending ? mint.next(0) : mint.fence(0);
                    return appender.fence(stripe, fence).map(fence);
                })
                .compose(fence -> read(lastEntry, fence))
                .map(found);
    }

    /** Whether Redis came back with less than was acknowledged. */
    boolean hasLess() {
        return hasLess;
    }

    private Future<Void> read(Position after, Position fence) {
        return appender.range(stripe, after, fence, PAGE).compose(page -> {
            found.addAll(page.events());
            return page.full() ? read(page.last(), fence) : Future.succeededFuture();
        });
    }
}
