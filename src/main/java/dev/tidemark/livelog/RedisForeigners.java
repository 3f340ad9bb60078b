package dev.tidemark.livelog;

import dev.tidemark.event.Position;
import dev.tidemark.event.StripeId;
import dev.tidemark.livelog.LiveLogException.Kind;
import dev.tidemark.livelog.StripeAppender.Quarantined;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import org.jspecify.annotations.Nullable;

/**
 * What others put into a stripe's key: found, copied to quarantine, removed. The quarantine is a stream beside the live log, with the
 * same hash tag, because then copy and removal are one step, which nothing can separate; and it goes when the stream is deleted. On
 * the keeper's connection.
 */
final class RedisForeigners {
    /** Entries that the quarantine of a stripe keeps, the newest. */
    static final int KEPT_MAX = 1_000;
    /** Bytes of an entry that are kept. */
    static final int KEPT_BYTES = 16 << 10;

    private static final int COPIED_AT_ONCE = 100;
    private static final int REQUEST_BYTES = 2_000;
    private static final int ID_BYTES = 41;

    private final RedisLink link;
    private final LiveLogKeys names;
    private final RedisRanges ranges;

    RedisForeigners(RedisLink link, LiveLogKeys names, RedisRanges ranges) {
        this.link = link;
        this.names = names;
        this.ranges = ranges;
    }

    Future<LiveLogCensus> census(StripeId stripe) {
        return link.send(Scripts.eval(Scripts.CENSUS, names.live(stripe)), REQUEST_BYTES)
                .map(RedisForeigners::census);
    }

    private static LiveLogCensus census(@Nullable Response answer) {
        if (answer == null) {
            return new LiveLogCensus(false, 0, 0, 0);
        }
        return new LiveLogCensus(true, answer.get(0).toLong(), ordinal(answer.get(1)), ordinal(answer.get(2)));
    }

    private static long ordinal(Response text) {
        return Math.max(0, Digits.parse(text.toBuffer()));
    }

    Future<Quarantined> quarantine(StripeId stripe, Position after, boolean everything, int count) {
        return ranges.foreign(stripe, after, everything, count).compose(found -> {
            if (found.ids().isEmpty()) {
                return link.context().succeededFuture(new Quarantined(0, Position.ZERO, found.last(), found.full()));
            }
            Request move = Scripts.eval(Scripts.QUARANTINE, names.live(stripe), names.quarantine(stripe))
                    .arg(KEPT_MAX)
                    .arg(KEPT_BYTES);
            found.ids().forEach(move::arg);
            return link.send(move, REQUEST_BYTES + (long) ID_BYTES * found.ids().size())
                    .map(moved -> new Quarantined(
                            moved == null ? 0 : moved.toLong(), found.highest(), found.last(), found.full()));
        });
    }

    Future<Void> restorePosition(StripeId stripe, Position through, Position fence) {
        String copy = names.restored(stripe);
        return link.send(Request.cmd(Command.UNLINK).arg(copy), REQUEST_BYTES)
                .compose(gone -> copyEntries(stripe, Position.ZERO, through))
                .compose(copied -> link.send(
                        Scripts.eval(Scripts.TAKE_PLACE, names.live(stripe), copy)
                                .arg(Digits.ofEntryId(through))
                                .arg(Digits.ofEntryId(fence)),
                        REQUEST_BYTES))
                .mapEmpty();
    }

    private Future<Void> copyEntries(StripeId stripe, Position after, Position through) {
        if (!through.isAfter(after)) {
            return link.context().succeededFuture();
        }
        Request copy = Scripts.eval(Scripts.COPY_ENTRIES, names.live(stripe), names.restored(stripe))
                .arg(Digits.ofEntryId(after.next()))
                .arg(Digits.ofEntryId(through))
                .arg(COPIED_AT_ONCE);
        return link.send(copy, REQUEST_BYTES).compose(last -> {
            if (last == null) {
                return link.context().succeededFuture();
            }
            Position copied = EntryDecoder.position(last.toBuffer());
            return copied == null
                    ? link.context()
                            .failedFuture(new LiveLogException(Kind.REFUSED, "Redis names no entry id: " + last))
                    : copyEntries(stripe, copied, through);
        });
    }
}
