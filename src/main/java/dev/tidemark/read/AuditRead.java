package dev.tidemark.read;

import dev.tidemark.archive.ArchiveCount;
import dev.tidemark.event.Clock;
import dev.tidemark.event.Event;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Slice;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.TimelineSnapshot;
import dev.tidemark.livelog.LiveLogException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;

/**
 * Audits an open stream: three counts that know nothing of each other must meet.
 *
 * <pre>
 *   appended   the keeper's last acknowledged ordinal            taken second
 *   archived   counted event by event as it was archived         taken first, with W, at one moment
 *   live       the entries above W, counted in Redis             taken third
 * </pre>
 *
 * Appends go on meanwhile, so nothing above the acknowledged ordinal is looked at. Folds and trims go on, too: if W has moved in the
 * end the count is thrown away and begun again. What doesn't add up is counted a second time later, and only that is told. On the
 * caller's context.
 */
final class AuditRead {
    static final long SECOND_LOOK_MS = 500;
    private static final int TRIES = 8;
    private static final int PAGE = 500;

    private final StreamSource source;
    private final EventLoop loop;
    private final Clock clock;
    private final int pagesMax;

    /** @param pagesMax more pages of entries above W than this aren't counted */
    AuditRead(StreamSource source, EventLoop loop, Clock clock, int pagesMax) {
        this.source = source;
        this.loop = loop;
        this.clock = clock;
        this.pagesMax = pagesMax;
    }

    /** Fails with a {@link Problem}, retryable, if it can't be counted now. */
    Future<StreamAudit> read() {
        return look(TRIES)
                .compose(first -> first.mismatches() == 0
                        ? Future.succeededFuture(first)
                        : later().compose(passed -> look(TRIES)))
                .recover(failure -> Future.failedFuture(failure instanceof LiveLogException ? source.away() : failure));
    }

    private Future<Void> later() {
        Promise<Void> passed = Promise.promise();
        loop.schedule(SECOND_LOOK_MS, passed::complete);
        return passed.future();
    }

    private Future<StreamAudit> look(int triesLeft) {
        LiveStream stream = source.stream();
        if (source.isDeleted()) {
            return Future.failedFuture(source.deleted());
        }
        boolean finalOnArrival = source.finalOnArrival();
        ArchiveCount count = source.archive().count();
        List<Future<StreamAudit.Stripe>> stripes = new ArrayList<>();
        for (int i = 0; i < stream.stripes(); i++) {
            TimelineSnapshot memory = stream.snapshot(i);
            if (!memory.isOpen()) {
                return Future.failedFuture(notNow("isn't open"));
            }
            long passedOver = stream.passedOver(i);
            // Where order isn't final on arrival it may be archived before its stripe has another event.
            boolean told = passedOver > memory.lastOrdinal() && count.lastOrdinal(i) >= passedOver;
            long appended = told ? passedOver : memory.lastOrdinal();
            StripeTally tally = new StripeTally(i, appended, passedOver, finalOnArrival, count);
            List<OrdinalRange> refused = new ArrayList<>(stream.voided(i));
            List<Slice> held = finalOnArrival
                    ? memory.after(count.watermark(), Integer.MAX_VALUE, Long.MAX_VALUE)
                    : memory.aboveAll(count.watermark());
            stripes.add(entries(i, count.watermark(), tally, refused, pagesMax).map(counted -> {
                tally.memory(held);
                tally.refused(refused);
                return tally.result();
            }));
        }
        return Future.join(stripes).compose(all -> {
            if (!source.watermark().equals(count.watermark())) {
                return triesLeft > 1 ? look(triesLeft - 1) : Future.failedFuture(notNow("is folded all the time"));
            }
            List<StreamAudit.Stripe> results =
                    stripes.stream().map(Future::result).toList();
            return Future.succeededFuture(
                    new StreamAudit(source.generation(), clock.wallMs(), results, count.missing()));
        });
    }

    private Future<Void> entries(
            int stripe, Position after, StripeTally tally, List<OrdinalRange> refused, int pagesLeft) {
        return source.live(stripe, after, Position.MAX, PAGE).compose(page -> {
            for (Event event : page.events()) {
                tally.entry(event);
                refused.addAll(StripeTally.carried(event));
            }
            if (!page.full()) {
                return Future.succeededFuture();
            }
            return pagesLeft > 1
                    ? entries(stripe, page.last(), tally, refused, pagesLeft - 1)
                    : Future.failedFuture(notNow("has too much that isn't folded"));
        });
    }

    private Problem notNow(String why) {
        return new Problem(
                Problem.Kind.UNAVAILABLE, "stream '" + source.stream().name() + "' can't be audited now: it " + why);
    }
}
