package dev.tidemark.keeper;

import dev.tidemark.event.Event;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Position;
import dev.tidemark.event.StripeId;
import dev.tidemark.livelog.LiveLogPage;
import dev.tidemark.livelog.LiveLogState;
import dev.tidemark.livelog.StripeAppender;
import io.vertx.core.Future;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets the mint start above whatever a stripe's key holds or held. An id further ahead than any of ours can be was put there by
 * others, and Redis would take nothing below it: such entries go to quarantine, and the key's position is put back. On the keeper's
 * event loop.
 */
final class StripePosition {
    private static final Logger LOG = LoggerFactory.getLogger(StripePosition.class);
    /** Clocks differ: what others add by Redis's clock is passed over, not put back. */
    private static final long AHEAD_MS = 10_000;
    /** What looks like ours and is further ahead than this isn't: a data directory may be older than Redis, but not that much. */
    private static final long OURS_AHEAD_MS_MAX = 86_400_000;

    private static final int PAGE = 250;

    private final StripeId stripe;
    private final StripeAppender appender;
    private final Mint mint;
    private final long expectedMs;
    private final KeeperCounters counters;

    /** @param expectedMs no id of ours is above it, as far as is known here */
    StripePosition(StripeId stripe, StripeAppender appender, Mint mint, long expectedMs, KeeperCounters counters) {
        this.stripe = stripe;
        this.appender = appender;
        this.mint = mint;
        this.expectedMs = Math.max(expectedMs, mint.last().ms());
        this.counters = counters;
    }

    /** Starts the mint above the key's position, and makes the key if it isn't there; gives what was there. */
    Future<LiveLogState> startAbove() {
        return appender.state(stripe).compose(there -> {
            Position highest = highest(there);
            if (highest.ms() > expectedMs + AHEAD_MS) {
                return newestOfOurs(Position.MAX).compose(ours -> startAbove(there, ours));
            }
            mint.startAfter(highest);
            return there.exists()
                    ? Future.succeededFuture(there)
                    : appender.create(stripe).map(there);
        });
    }

    private static Position highest(LiveLogState there) {
        return Position.max(there.lastGenerated(), there.last());
    }

    private Future<LiveLogState> startAbove(LiveLogState there, Position ours) {
        boolean foreign = there.last().isAfter(ours);
        long aheadMs = foreign ? AHEAD_MS : OURS_AHEAD_MS_MAX;
        if (highest(there).ms() <= Math.max(expectedMs, ours.ms()) + aheadMs) {
            mint.startAfter(highest(there));
            return Future.succeededFuture(there);
        }
        LOG.warn("stripe {}: others put its position to {}; it is put back", stripe, highest(there));
        mint.startAfter(ours);
        return quarantineAbove(ours)
                .compose(clean -> appender.restorePosition(stripe, ours, mint.fence(0)))
                .compose(restored -> appender.state(stripe));
    }

    /** The newest entry that the keeper may have written; {@link Position#ZERO} if there is none. */
    private Future<Position> newestOfOurs(Position before) {
        return appender.rangeReverse(stripe, before, Position.ZERO, PAGE).compose(page -> {
            Position found = newestOfOurs(page);
            return found.equals(Position.ZERO) && page.full()
                    ? newestOfOurs(page.last())
                    : Future.succeededFuture(found);
        });
    }

    private Position newestOfOurs(LiveLogPage page) {
        return page.events().stream()
                .map(Event::entry)
                .filter(entry -> EventId.fits(entry) && entry.ms() <= expectedMs + OURS_AHEAD_MS_MAX)
                .findFirst()
                .orElse(Position.ZERO);
    }

    private Future<Void> quarantineAbove(Position ours) {
        return appender.quarantine(stripe, ours, true, PAGE).compose(page -> {
            counters.quarantined.add(page.moved());
            return page.full() ? quarantineAbove(ours) : Future.succeededFuture();
        });
    }
}
