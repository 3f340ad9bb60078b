package dev.tidemark.livelog;

import dev.tidemark.event.Event;
import dev.tidemark.event.Position;
import dev.tidemark.event.StripeId;
import dev.tidemark.livelog.LiveLogException.Kind;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A keeper's connection to Redis ({@link RedisLink}), on the keeper's event loop. */
final class RedisAppender implements StripeAppender {
    private static final byte[] NOMKSTREAM = EntryCodec.ascii("NOMKSTREAM");
    private static final int REQUEST_BYTES = 200;

    private final RedisLink link;
    private final LiveLogKeysCache keys;
    private final LiveLogKeys names;
    private final RedisRanges ranges;
    private final RedisForeigners foreigners;

    RedisAppender(RedisLink link, LiveLogKeys names) {
        this.link = link;
        this.names = names;
        this.keys = new LiveLogKeysCache(names);
        this.ranges = new RedisRanges(link, keys);
        this.foreigners = new RedisForeigners(link, names, ranges);
    }

    @Override
    public Future<Void> append(StripeId stripe, List<Event> events) {
        long bytes = wireBytes(events);
        byte[] key = keys.live(stripe);
        if (events.size() == 1) {
            Request request = Request.cmd(Command.XADD).arg(key).arg(NOMKSTREAM);
            EntryCodec.addEntry(events.get(0), request);
            return link.send(request, bytes).map(added -> checked(added, stripe));
        }
        if (Scripts.argumentCount(events) > Scripts.ARGUMENTS_MAX) {
            return failed(Kind.REFUSED, "Redis takes no batch of " + events.size() + " events with so many fields");
        }
        return link.send(Scripts.append(key, events), bytes, Scripts.APPEND).map(added -> checked(added, stripe));
    }

    private static long wireBytes(List<Event> events) {
        if (events.isEmpty()) {
            throw new IllegalArgumentException("an append of nothing");
        }
        long bytes = 0;
        Position last = null;
        for (Event event : events) {
            if (last != null && !event.entry().isAfter(last)) {
                throw new IllegalArgumentException("entry ids don't rise: " + event.entry() + " after " + last);
            }
            last = event.entry();
            bytes += EntryCodec.wireBytes(event);
        }
        return bytes;
    }

    private @Nullable Void checked(@Nullable Response added, StripeId stripe) {
        if (added == null) {
            throw new LiveLogException(Kind.KEY_MISSING, names.live(stripe) + " is gone from Redis");
        }
        return null;
    }

    private <T> Future<T> failed(Kind kind, String why) {
        return link.context().failedFuture(new LiveLogException(kind, why));
    }

    @Override
    public Future<Void> fence(StripeId stripe, Position fence) {
        Request request = Scripts.eval(Scripts.FENCE, names.live(stripe)).arg(Digits.ofEntryId(fence));
        return link.send(request, REQUEST_BYTES).mapEmpty();
    }

    @Override
    public Future<Void> create(StripeId stripe) {
        return link.send(Scripts.eval(Scripts.CREATE, names.live(stripe)), Scripts.CREATE.source().length)
                .mapEmpty();
    }

    @Override
    public Future<LiveLogPage> range(StripeId stripe, Position after, Position through, int count) {
        return ranges.range(stripe, after, through, count);
    }

    @Override
    public Future<LiveLogPage> rangeReverse(StripeId stripe, Position before, Position from, int count) {
        return ranges.rangeReverse(stripe, before, from, count);
    }

    @Override
    public Future<LiveLogState> state(StripeId stripe) {
        return ranges.state(stripe);
    }

    @Override
    public Future<LiveLogCensus> census(StripeId stripe) {
        return foreigners.census(stripe);
    }

    @Override
    public Future<Quarantined> quarantine(StripeId stripe, Position after, boolean everything, int count) {
        return foreigners.quarantine(stripe, after, everything, count);
    }

    @Override
    public Future<Void> restorePosition(StripeId stripe, Position through, Position fence) {
        return foreigners.restorePosition(stripe, through, fence);
    }

    @Override
    public int inFlight() {
        return link.inFlight();
    }

    @Override
    public void close() {
        link.close();
    }
}
