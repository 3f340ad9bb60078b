package dev.tidemark.keeper;

import dev.tidemark.event.Clock;
import dev.tidemark.event.Position;
import dev.tidemark.event.StripeId;
import dev.tidemark.livelog.LiveLogCensus;
import dev.tidemark.livelog.StripeAppender;
import io.vertx.core.Future;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds what others do to one stripe's key. A look costs Redis next to nothing: entries are counted against the ordinals of the first
 * and the last one. Only when there are more entries than ordinals, or an end is foreign, is the live log swept for entries that aren't
 * the keeper's; they go to quarantine. On the keeper's event loop.
 */
final class StripePatrol {
    private static final Logger LOG = LoggerFactory.getLogger(StripePatrol.class);
    private static final int PAGE = 500;
    /** After a sweep that found nothing, a count that differs again is left alone for so long: refused appends leave ordinals out, too. */
    private static final long FRUITLESS_NS = 60_000_000_000L;

    private final StripeId stripe;
    private final Clock clock;
    private final LongSupplier voided;
    private final LongSupplier voidedArchived;
    /** Entries beyond one for each ordinal, as it was found last. */
    private long surplus;
    /** {@code voidedArchived} before the last look: those were missing for it already. */
    private long voidedSeen;

    private boolean looking;
    private long sweepAtNs;

    /**
     * What was found.
     *
     * @param moved entries put to quarantine
     * @param highest the highest of them; {@link Position#ZERO} if there were none
     * @param keyGone whether there is no key
     * @param hasLess whether events that aren't folded are gone
     */
    record Found(long moved, Position highest, boolean keyGone, boolean hasLess) {
        static final Found NOTHING = new Found(0, Position.ZERO, false, false);
    }

    /**
     * @param voided how many ordinals are of refused appends and not accounted for by the archive
     * @param voidedArchived how many such ordinals the archive has come to account for
     */
    StripePatrol(StripeId stripe, Clock clock, LongSupplier voided, LongSupplier voidedArchived) {
        this.stripe = stripe;
        this.clock = clock;
        this.voided = voided;
        this.voidedArchived = voidedArchived;
        this.sweepAtNs = clock.monotonicNs();
    }

    /**
     * Looks, unless a look is under way.
     *
     * @param lastOrdinal of the newest acknowledged event
     * @param archivedOrdinal the archive accounts for all up to it
     */
    Future<Found> look(StripeAppender appender, long lastOrdinal, long archivedOrdinal) {
        if (looking) {
            return Future.succeededFuture(Found.NOTHING);
        }
        looking = true;
        long seen = voidedArchived.getAsLong();
        return appender.census(stripe)
                .compose(census -> judge(appender, census, lastOrdinal, archivedOrdinal))
                .onComplete(looked -> {
                    looking = false;
                    voidedSeen = looked.succeeded() ? seen : voidedSeen;
                });
    }

    private Future<Found> judge(StripeAppender appender, LiveLogCensus census, long lastOrdinal, long archivedOrdinal) {
        if (!census.exists()) {
            LOG.warn("stripe {}: others removed its key", stripe);
            return Future.succeededFuture(new Found(0, Position.ZERO, true, lastOrdinal > archivedOrdinal));
        }
        boolean more = census.hasForeignEnd() || (census.surplus() > surplus && clock.monotonicNs() - sweepAtNs >= 0);
        if (more) {
            return sweep(appender, Position.ZERO, Found.NOTHING).compose(found -> settle(appender, found));
        }
        // Ordinals of refused appends that the last look may not have found missing.
        long leftOut = voided.getAsLong() + voidedArchived.getAsLong() - voidedSeen;
        boolean fewer = census.surplus() < surplus - leftOut;
        surplus = Math.min(surplus, census.surplus());
        boolean oldestGone = census.length() > 0 && census.firstOrdinal() > archivedOrdinal + 1;
        boolean newestGone = census.lastOrdinal() < lastOrdinal && lastOrdinal > archivedOrdinal;
        return Future.succeededFuture(new Found(0, Position.ZERO, false, fewer || oldestGone || newestGone));
    }

    private Future<Found> sweep(StripeAppender appender, Position after, Found before) {
        return appender.quarantine(stripe, after, false, PAGE).compose(page -> {
            Found found = new Found(
                    before.moved() + page.moved(), Position.max(before.highest(), page.highest()), false, false);
            return page.full() ? sweep(appender, page.last(), found) : Future.succeededFuture(found);
        });
    }

    private Future<Found> settle(StripeAppender appender, Found found) {
        if (found.moved() > 0) {
            LOG.warn("stripe {}: {} entries of others are put to quarantine", stripe, found.moved());
        } else {
            sweepAtNs = clock.monotonicNs() + FRUITLESS_NS;
        }
        return appender.census(stripe).map(census -> {
            surplus = census.surplus();
            return found;
        });
    }
}
