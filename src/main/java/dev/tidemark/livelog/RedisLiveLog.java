package dev.tidemark.livelog;

import dev.tidemark.event.Clock;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StripeId;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The live log in Redis. Keepers get connections of their own ({@link #connect}); reads, trims and admin commands share a few others,
 * so that a deep read doesn't delay an append. Any thread may call; futures complete on the caller's context. Nothing here waits for a
 * Redis that is away: calls fail within the timeouts, and the next call tries to connect again.
 */
public final class RedisLiveLog implements LiveLogReader, LiveLogTrimmer, LiveLogAdmin, StripeAppender.Connector {
    private static final int REQUEST_BYTES = 200;

    private final Vertx vertx;
    private final RedisSettings settings;
    private final LiveLogKeys keys;
    private final PrefixOwner owner;
    private final Clock clock;
    private final SharedLinks links;

    /** Nothing is connected yet. */
    public RedisLiveLog(Vertx vertx, RedisSettings settings, PrefixOwner owner, Clock clock) {
        this.vertx = vertx;
        this.settings = settings;
        this.keys = settings.keys();
        this.owner = owner;
        this.clock = clock;
        this.links = new SharedLinks(vertx, settings, owner, clock);
    }

    /**
     * Checks that this Redis is fit for use, and claims the prefix. To be called once, before anything else.
     *
     * @param takePrefix make the prefix ours even if another data directory has it
     * @return what Redis is; fails with {@link LiveLogException.Kind#REFUSED} if the prefix isn't ours or Redis isn't fit
     */
    public Future<RedisFacts> open(boolean takePrefix) {
        return links.unchecked(link -> RedisRequirements.facts(link).compose(facts -> {
            String refusal = RedisRequirements.refusal(facts, settings.allowVolatile(), settings.allowEviction());
            if (refusal != null) {
                return Future.failedFuture(new LiveLogException(LiveLogException.Kind.REFUSED, refusal));
            }
            Future<Void> claimed = takePrefix ? owner.take(link, keys) : owner.check(link, keys);
            return claimed.map(ours -> facts);
        }));
    }

    /** What Redis says of itself now; also shows whether it answers. */
    public Future<RedisFacts> facts() {
        return links.use(shared -> RedisRequirements.facts(shared.link()));
    }

    /** How full Redis is. */
    public Future<RedisMemory> memory() {
        return links.use(shared -> RedisRequirements.memory(shared.link()));
    }

    @Override
    public Future<StripeAppender> connect(Runnable onClosed) {
        return RedisLink.connect(vertx, settings, settings.commandTimeoutMs(), clock, onClosed)
                .compose(link -> owner.check(link, keys)
                        .compose(ours -> link.send(Scripts.load(Scripts.APPEND), Scripts.APPEND.source().length))
                        .map(loaded -> (StripeAppender) new RedisAppender(link, keys))
                        .onFailure(unfit -> link.close()));
    }

    @Override
    public Future<LiveLogPage> range(StripeId stripe, Position after, Position through, int count) {
        return links.use(shared -> shared.ranges().range(stripe, after, through, count));
    }

    @Override
    public Future<LiveLogPage> rangeReverse(StripeId stripe, Position before, Position from, int count) {
        return links.use(shared -> shared.ranges().rangeReverse(stripe, before, from, count));
    }

    @Override
    public Future<LiveLogState> state(StripeId stripe) {
        return links.use(shared -> shared.ranges().state(stripe));
    }

    @Override
    public Future<Long> trim(StripeId stripe, Position minId) {
        Request request = Request.cmd(Command.XTRIM)
                .arg(keys.live(stripe))
                .arg("MINID")
                .arg("=")
                .arg(minId.entryId());
        return send(request).map(RedisLiveLog::removed);
    }

    private static Long removed(@Nullable Response count) {
        if (count == null) {
            throw new LiveLogException(LiveLogException.Kind.REFUSED, "Redis doesn't say what it trimmed");
        }
        return count.toLong();
    }

    @Override
    public Future<Void> copySeam(StreamId stream, Position watermark) {
        return send(Request.cmd(Command.SET)
                        .arg(keys.archived(stream.name()))
                        .arg(LiveLogKeys.seamText(stream, watermark)))
                .mapEmpty();
    }

    @Override
    public Future<Position> copiedSeam(StreamId stream) {
        return send(Request.cmd(Command.GET).arg(keys.archived(stream.name())))
                .map(text -> text == null ? Position.ZERO : LiveLogKeys.seamOf(stream, text.toString()));
    }

    @Override
    public Future<Void> create(StreamId stream, int stripes, String description) {
        List<Request> requests = new ArrayList<>();
        for (int i = 0; i < stripes; i++) {
            requests.add(Scripts.eval(Scripts.CREATE, keys.live(new StripeId(stream, i))));
        }
        requests.add(Request.cmd(Command.HSET)
                .arg(keys.streams())
                .arg(stream.name().value())
                .arg(description));
        return sendAll(requests);
    }

    @Override
    public Future<Void> delete(StreamId stream, int stripes) {
        String generation = stream.generation().toString();
        List<Request> requests = new ArrayList<>();
        requests.add(Scripts.eval(Scripts.DELETE_REGISTERED, keys.streams())
                .arg(stream.name().value())
                .arg(generation));
        requests.add(
                Scripts.eval(Scripts.DELETE_SEAM, keys.archived(stream.name())).arg(generation));
        for (int i = 0; i < stripes; i++) {
            StripeId stripe = new StripeId(stream, i);
            requests.add(Request.cmd(Command.UNLINK)
                    .arg(keys.live(stripe))
                    .arg(keys.quarantine(stripe))
                    .arg(keys.restored(stripe)));
        }
        return sendAll(requests);
    }

    private Future<@Nullable Response> send(Request request) {
        return links.use(shared -> shared.link().send(request, REQUEST_BYTES));
    }

    /** Pipelined; fails with the first failure. */
    private Future<Void> sendAll(List<Request> requests) {
        return links.use(shared -> {
            List<Future<?>> answers = new ArrayList<>();
            for (Request request : requests) {
                answers.add(shared.link().send(request, REQUEST_BYTES));
            }
            return Future.join(answers).mapEmpty();
        });
    }

    /** Closes the shared connections; those of keepers are theirs to close. */
    public Future<Void> close() {
        return links.close();
    }
}
