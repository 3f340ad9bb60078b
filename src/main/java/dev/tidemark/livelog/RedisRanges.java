package dev.tidemark.livelog;

import dev.tidemark.event.Event;
import dev.tidemark.event.Position;
import dev.tidemark.event.StripeId;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.redis.client.ResponseType;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads ranges and the state of stripes over one link. Redis bounds an answer by a count only, so a page is fetched in parts: a few
 * entries first, then as many as the largest one seen lets fit; it ends early, and says so, when it is large enough.
 */
final class RedisRanges {
    static final int COUNT_MAX = 1_000;
    /** Bytes of payloads after which a page ends. */
    static final int PAGE_BYTES = 8 << 20;

    private static final int FIRST_COUNT = 32;
    private static final int GROWTH = 8;
    private static final byte[] COUNT = EntryCodec.ascii("COUNT");
    private static final int REQUEST_BYTES = 200;

    private final RedisLink link;
    private final LiveLogKeysCache keys;

    RedisRanges(RedisLink link, LiveLogKeysCache keys) {
        this.link = link;
        this.keys = keys;
    }

    Future<LiveLogPage> range(StripeId stripe, Position after, Position through, int count) {
        return new Page(keys.live(stripe), after, through, count, false).fetch();
    }

    Future<LiveLogPage> rangeReverse(StripeId stripe, Position before, Position from, int count) {
        return new Page(keys.live(stripe), before, from, count, true).fetch();
    }

    /**
     * Entries of one page that aren't the keeper's.
     *
     * @param ids their entry ids as Redis writes them: they may be above what a position holds
     * @param highest the highest of them; {@link Position#ZERO} if there is none
     * @param last the last entry looked at
     * @param full whether there may be more behind it
     */
    record Foreign(List<String> ids, Position highest, Position last, boolean full) {}

    /** The foreign ones among the oldest entries above {@code after}; all of them if {@code everything} is. */
    Future<Foreign> foreign(StripeId stripe, Position after, boolean everything, int count) {
        Page page = new Page(keys.live(stripe), after, Position.MAX, count, false);
        page.foreign = new ArrayList<>();
        page.everything = everything;
        return page.fetch().map(seen -> {
            List<Response> found = page.foreign == null ? List.of() : page.foreign;
            Position highest = found.isEmpty() ? Position.ZERO : EntryDecoder.entryId(found.get(found.size() - 1));
            List<String> ids =
                    found.stream().map(entry -> entry.get(0).toString()).toList();
            return new Foreign(ids, highest, seen.last(), seen.full());
        });
    }

    /** One page on its way. */
    private final class Page {
        private final byte[] key;
        private final Position bound;
        private final int count;
        private final boolean reverse;
        private final EntryDecoder decoder = new EntryDecoder();
        private final List<Event> events = new ArrayList<>();
        private Position last;
        private int seen;
        private long bytes;
        private int largest = 1;
        private int asked = FIRST_COUNT / GROWTH;
        /** The foreign entries, if they are wanted. */
        private @Nullable List<Response> foreign;

        private boolean everything;

        Page(byte[] key, Position start, Position bound, int count, boolean reverse) {
            if (count < 1 || count > COUNT_MAX) {
                throw new IllegalArgumentException("count is " + count + "; allowed is 1 to " + COUNT_MAX);
            }
            this.key = key;
            this.last = start;
            this.bound = bound;
            this.count = count;
            this.reverse = reverse;
        }

        private boolean isEmptyRange() {
            return reverse ? last.compareTo(bound) <= 0 : last.compareTo(bound) >= 0;
        }

        Future<LiveLogPage> fetch() {
            if (isEmptyRange()) {
                return link.context().succeededFuture(page(false));
            }
            int fitting = (int) Math.min(COUNT_MAX, Math.max(1, (PAGE_BYTES - bytes) / largest));
            asked = Math.min(Math.min(count - seen, asked * GROWTH), fitting);
            Request request = Request.cmd(reverse ? Command.XREVRANGE : Command.XRANGE)
                    .arg(key)
                    .arg(reverse ? Digits.ofEntryId(last.previous()) : Digits.ofEntryId(last.next()))
                    .arg(reverse ? Digits.ofEntryId(bound) : through(bound))
                    .arg(COUNT)
                    .arg(Digits.of(asked));
            return link.send(request, REQUEST_BYTES).compose(this::take);
        }

        private Future<LiveLogPage> take(@Nullable Response entries) {
            if (entries == null || entries.type() != ResponseType.MULTI || !entries.isArray()) {
                return link.context()
                        .failedFuture(new LiveLogException(
                                LiveLogException.Kind.REFUSED, "Redis answered a range with " + entries));
            }
            for (int i = 0; i < entries.size(); i++) {
                Response entry = entries.get(i);
                last = EntryDecoder.entryId(entry);
                Event event = decoder.decode(entry);
                seen++;
                int size = event == null ? foreignBytes(entry) : event.payload().length;
                bytes += size;
                largest = Math.max(largest, size);
                if (event != null) {
                    events.add(event);
                }
                if (foreign != null && entry != null && (event == null || everything)) {
                    foreign.add(entry);
                }
            }
            if (entries.size() < asked) {
                return link.context().succeededFuture(page(false));
            }
            return seen >= count || bytes >= PAGE_BYTES ? link.context().succeededFuture(page(true)) : fetch();
        }

        private LiveLogPage page(boolean full) {
            return new LiveLogPage(List.copyOf(events), seen - events.size(), last, full);
        }
    }

    /** The upper bound of a range; sequences above 2^63 - 1 belong to it where {@code position} stands for all of its millisecond. */
    private static byte[] through(Position position) {
        if (position.seq() < Long.MAX_VALUE) {
            return Digits.ofEntryId(position);
        }
        return position.ms() == Long.MAX_VALUE ? EntryCodec.ascii("+") : Digits.of(position.ms());
    }

    private static int foreignBytes(@Nullable Response part) {
        if (part == null) {
            return 0;
        }
        if (part.type() != ResponseType.MULTI) {
            return part.type() == ResponseType.BULK ? part.toBuffer().length() : 8;
        }
        int bytes = 0;
        for (int i = 0; i < part.size(); i++) {
            bytes += foreignBytes(part.get(i));
        }
        return bytes;
    }

    Future<LiveLogState> state(StripeId stripe) {
        byte[] key = keys.live(stripe);
        Future<@Nullable Response> info =
                link.send(Request.cmd(Command.XINFO).arg("STREAM").arg(key), REQUEST_BYTES);
        Future<Long> memory = link.send(Request.cmd(Command.MEMORY).arg("USAGE").arg(key), REQUEST_BYTES)
                .map(usage -> usage == null ? 0L : usage.toLong())
                .recover(RedisRanges::zeroIfRefused);
        return info.compose(stream -> memory.map(bytes -> state(stream, bytes)))
                .recover(error -> kind(error) == LiveLogException.Kind.KEY_MISSING
                        ? Future.succeededFuture(
                                new LiveLogState(false, 0, Position.ZERO, Position.ZERO, Position.ZERO, 0))
                        : Future.failedFuture(error));
    }

    private static Future<Long> zeroIfRefused(Throwable error) {
        return kind(error) == LiveLogException.Kind.REFUSED ? Future.succeededFuture(0L) : Future.failedFuture(error);
    }

    private static LiveLogException.@Nullable Kind kind(Throwable error) {
        return error instanceof LiveLogException typed ? typed.kind() : null;
    }

    private static LiveLogState state(@Nullable Response stream, long bytes) {
        Response length = named(stream, "length");
        Response lastGenerated = named(stream, "last-generated-id");
        if (length == null || lastGenerated == null) {
            throw new LiveLogException(LiveLogException.Kind.REFUSED, "Redis doesn't say what the stream holds");
        }
        return new LiveLogState(
                true,
                length.toLong(),
                entryIdOrZero(named(stream, "first-entry")),
                entryIdOrZero(named(stream, "last-entry")),
                position(lastGenerated.toBuffer()),
                bytes);
    }

    private static @Nullable Response named(@Nullable Response flat, String name) {
        for (int i = 0; flat != null && i + 1 < flat.size(); i += 2) {
            Response key = flat.get(i);
            if (key != null && key.toString().equals(name)) {
                return flat.get(i + 1);
            }
        }
        return null;
    }

    private static Position entryIdOrZero(@Nullable Response entry) {
        return entry == null ? Position.ZERO : EntryDecoder.entryId(entry);
    }

    private static Position position(Buffer text) {
        Position position = EntryDecoder.position(text);
        if (position == null) {
            throw new LiveLogException(LiveLogException.Kind.REFUSED, "Redis names no entry id: " + text);
        }
        return position;
    }
}
