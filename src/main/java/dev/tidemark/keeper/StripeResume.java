package dev.tidemark.keeper;

import dev.tidemark.event.Event;
import dev.tidemark.event.Position;
import dev.tidemark.event.StripeId;
import dev.tidemark.livelog.LiveLogException;
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
    /** Ids in the live log further ahead than this weren't minted here: nothing can be appended above them. */
    private static final long AHEAD_MS_MAX = 86_400_000;

    private final StripeId stripe;
    private final StripeAppender appender;
    private final Mint mint;
    private final Position lastEntry;
    private final long nowMs;
    private final List<Event> found = new ArrayList<>();

    StripeResume(StripeId stripe, StripeAppender appender, Mint mint, Position lastEntry, long nowMs) {
        this.stripe = stripe;
        this.appender = appender;
        this.mint = mint;
        this.lastEntry = lastEntry;
        this.nowMs = nowMs;
    }

    /** The keeper's entries above the last acknowledged one, once nothing can be added to them. */
    Future<List<Event>> resume() {
        return startAboveLiveLog(appender, stripe, mint, nowMs)
                .compose(ready -> fence(appender, stripe, mint, 0))
                .compose(fence -> read(lastEntry, fence))
                .map(found);
    }

    /** Makes the key if it isn't there, and lets the mint start above whatever the live log holds or held. */
    static Future<Void> startAboveLiveLog(StripeAppender appender, StripeId stripe, Mint mint, long nowMs) {
        return appender.state(stripe).compose(there -> {
            Position highest = Position.max(there.lastGenerated(), there.last());
            if (highest.ms() > nowMs + AHEAD_MS_MAX) {
                return Future.failedFuture(new LiveLogException(
                        LiveLogException.Kind.REFUSED,
                        "the live log of " + stripe + " has an entry id far ahead of the clock: " + highest));
            }
            mint.startAfter(highest);
            return there.exists() ? Future.<Void>succeededFuture() : appender.create(stripe);
        });
    }

    /** Fences above everything minted so far, at a time of at least {@code atLeastMs}; returns the fence. */
    static Future<Position> fence(StripeAppender appender, StripeId stripe, Mint mint, long atLeastMs) {
        Position fence = mint.next(atLeastMs);
        return appender.fence(stripe, fence).map(fence);
    }

    private Future<Void> read(Position after, Position fence) {
        return appender.range(stripe, after, fence, PAGE).compose(page -> {
            found.addAll(page.events());
            return page.full() ? read(page.last(), fence) : Future.succeededFuture();
        });
    }
}
