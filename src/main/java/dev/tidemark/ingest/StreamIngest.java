package dev.tidemark.ingest;

import dev.tidemark.event.Cursor;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Limits;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Producer;
import dev.tidemark.event.ProducerRequest;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamName;
import dev.tidemark.keeper.Appends;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.Streams;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Checks and parses what comes in and hands it to the keepers. It holds no state of its own: any thread, any number of contexts.
 *
 * <p>A body that would hold an event loop for long (packed or large) is parsed on a worker; the others
 * where they came. So two appends in flight may overtake each other here: who wants them stored in the order of one connection
 * waits for the first before calling with the second, as {@code http} does.
 */
public final class StreamIngest implements Ingest {
    /** Bodies up to this are parsed on the event loop: about a millisecond at most. */
    static final int INLINE_BYTES_MAX = 256 << 10;
    /** The same for envelopes, which cost some eight times as much a byte. */
    static final int INLINE_ENVELOPE_BYTES_MAX = INLINE_BYTES_MAX / 8;
    /** What the packed bodies under way may decode to, all together. */
    static final long DECODED_BYTES_MAX = 64 << 20;
    /** How long {@code ack=archived} waits. */
    static final long ARCHIVED_WAIT_MS = 10_000;

    static final String ACK_LIVE = "live";
    static final String ACK_ARCHIVED = "archived";

    private final Streams streams;
    private final Appends appends;
    private final ArchivedAck archivedAck;
    private final BodyParser parser;
    private final int bodyBytesMax;
    private final Workers workers;
    private final Timers timers;
    private final AtomicLong decodedInFlight = new AtomicLong();

    public StreamIngest(
            Streams streams, Appends appends, ArchivedAck archivedAck, Limits limits, Workers workers, Timers timers) {
        this.streams = streams;
        this.appends = appends;
        this.archivedAck = archivedAck;
        this.parser = new BodyParser(limits);
        this.bodyBytesMax = limits.bodyBytesMax();
        this.workers = workers;
        this.timers = timers;
    }

    @Override
    public Future<AppendResult> append(AppendRequest request) {
        try {
            StreamName name = new StreamName(request.stream());
            Producer producer = request.producer().producer();
            BodyFormat format = BodyFormat.of(request.contentType());
            ContentCoding coding = ContentCoding.of(request.contentEncoding());
            long time = claimedTime(request.eventTime());
            Buffer body = request.body();
            if (body.length() > bodyBytesMax) {
                throw BodyParser.bodyTooLarge(bodyBytesMax, "the body");
            }
            int inlineMax = format.form() == BodyFormat.Form.ENVELOPES ? INLINE_ENVELOPE_BYTES_MAX : INLINE_BYTES_MAX;
            if (coding == ContentCoding.IDENTITY && body.length() <= inlineMax) {
                return findAndStore(name, parse(format, body.getBytes(), time, producer), request);
            }
            return parseOnWorker(name, new Form(format, coding, time, producer), request);
        } catch (Problem e) {
            return Future.failedFuture(storedNothing(e));
        } catch (RuntimeException e) {
            return Future.failedFuture(e);
        }
    }

    /** What the headers say of a body. */
    private record Form(
            BodyFormat format,
            ContentCoding coding,
            long time,
            @Nullable Producer producer) {}

    private Future<AppendResult> parseOnWorker(StreamName name, Form form, AppendRequest request) {
        AtomicLong decodedBytes = new AtomicLong();
        return workers.call(() -> {
                    byte[] sent = request.body().getBytes();
                    byte[] decoded = form.coding() == ContentCoding.GZIP ? decode(sent, decodedBytes) : sent;
                    return parse(form.format(), decoded, form.time(), form.producer());
                })
                .recover(e -> Future.failedFuture(e instanceof Problem problem ? storedNothing(problem) : e))
                .compose(parsed -> findAndStore(name, parsed, request))
                .onComplete(done -> decodedInFlight.addAndGet(-decodedBytes.get()));
    }

    /**
     * A request's events.
     *
     * @param once what makes it exactly-once; null if nothing does
     */
    private record Parsed(List<NewEvent> events, @Nullable ProducerRequest once) {}

    private Parsed parse(BodyFormat format, byte[] body, long time, @Nullable Producer producer) {
        List<NewEvent> events = parser.parse(format, body, time);
        return new Parsed(
                events, producer == null ? null : new ProducerRequest(producer, RequestHash.of(format, time, body)));
    }

    /** A packed body holds many times what came in, so what all of them decode to has a bound of its own. */
    private byte[] decode(byte[] sent, AtomicLong decodedBytes) {
        int length = Gunzip.decodedLength(sent, bodyBytesMax);
        decodedBytes.set(length);
        if (decodedInFlight.addAndGet(length) > Math.max(DECODED_BYTES_MAX, bodyBytesMax)) {
            throw Problem.overloaded("too many bytes of decoded bodies are in flight; try again");
        }
        return Gunzip.decode(sent, length);
    }

    /** The claimed time of a request; envelopes with a time of their own keep that. */
    private static long claimedTime(@Nullable String header) {
        if (header == null) {
            return Event.NO_TIME;
        }
        try {
            return EventTime.parse(header);
        } catch (Problem e) {
            throw e.with("parameter", "Event-Time");
        }
    }

    /** R19: an answer always says what was stored. */
    private static Problem storedNothing(Problem problem) {
        return problem.with("stored", Problem.Stored.NO.text());
    }

    /** The stream isn't touched, or made, before all of a request is good. */
    private Future<AppendResult> findAndStore(StreamName name, Parsed parsed, AppendRequest request) {
        LiveStream known = streams.find(name);
        return known == null
                ? streams.findOrCreate(name).compose(made -> store(made, parsed, request))
                : store(known, parsed, request);
    }

    private Future<AppendResult> store(LiveStream stream, Parsed parsed, AppendRequest request) {
        if (request.archived() && stream.settings().acceptanceWindowMs() > 0) {
            throw storedNothing(
                    Problem.badRequest("ack=archived isn't possible in a stream with an acceptance_window: the frontier"
                                    + " passes an event, and it can be folded, only when the window has; use ack=live")
                            .with("parameter", "ack"));
        }
        ProducerRequest once = parsed.once();
        int stripe = Placement.stripeOf(once == null ? null : once.producer(), request.connection(), stream.stripes());
        List<NewEvent> events = request.rescueLate()
                ? parsed.events().stream().map(NewEvent::rescuedIfLate).toList()
                : parsed.events();
        Future<Appends.Appended> stored = appends.append(stream, stripe, events, once);
        if (!request.archived()) {
            return stored.map(appended -> result(stream, stripe, appended, ACK_LIVE, true));
        }
        return stored.compose(appended -> archived(stream, appended.highest())
                .map(done -> result(stream, stripe, appended, done ? ACK_ARCHIVED : ACK_LIVE, done)));
    }

    /**
     * Behind the events of a request, hiding nothing of others: where order isn't final on arrival, the frontier was at least at the end
     * of the millisecond before the last one's arrival less the window, and nothing else is known to have been given.
     */
    private static Cursor cursorBehind(LiveStream stream, int stripe, Appends.Appended appended) {
        Generation generation = stream.id().generation();
        if (stream.finalOnArrival()) {
            return new Cursor(generation, appended.highest());
        }
        Position entry = appended.lastEntry();
        long finalMs = entry.ms() - stream.settings().acceptanceWindowMs() - 1;
        Position through = new Position(Math.max(0, finalMs), EventId.LOW_MASK);
        List<Position> floors = new ArrayList<>(Collections.nCopies(stream.stripes(), Position.ZERO));
        floors.set(stripe, entry);
        return new Cursor(generation, Position.min(through, stream.merged().frontier()), floors);
    }

    private static AppendResult result(
            LiveStream stream, int stripe, Appends.Appended appended, String ack, boolean complete) {
        List<EventId> ids = appended.ids().stream().map(EventId::of).toList();
        Cursor cursor = cursorBehind(stream, stripe, appended);
        return new AppendResult(stream.name(), ids, appended.count(), cursor, appended.duplicate(), ack, complete);
    }

    /**
     * Whether the events are archived in time. They are in the live log in any case, so neither a timeout nor a failed fold may look
     * like a failed append: the writer would send them again.
     */
    private Future<Boolean> archived(LiveStream stream, Position through) {
        Promise<Boolean> outcome = Promise.promise();
        Runnable cancel = timers.start(ARCHIVED_WAIT_MS, () -> outcome.tryComplete(false));
        archivedAck.archived(stream, through).onComplete(archived -> {
            cancel.run();
            outcome.tryComplete(archived.succeeded());
        });
        return outcome.future();
    }

    @Override
    public List<StreamInfo> streams(@Nullable String after, int limit) {
        return streams.all().stream()
                .filter(stream -> after == null || stream.name().value().compareTo(after) > 0)
                .limit(limit)
                .map(StreamIngest::info)
                .toList();
    }

    @Override
    public StreamInfo stream(StreamName name) {
        LiveStream stream = streams.find(name);
        if (stream == null) {
            throw noSuchStream(name);
        }
        return info(stream);
    }

    @Override
    public Future<Put> put(StreamName name, Map<String, @Nullable Object> settings) {
        try {
            Map<Setting, @Nullable Long> changes = SettingChanges.parse(settings);
            LiveStream existing = streams.find(name);
            if (existing != null) {
                SettingChanges.check(existing.settings(), changes);
            }
            return streams.put(name, changes)
                    .map(put -> new Put(info(put.stream()), put.created()))
                    .recover(e ->
                            Future.failedFuture(e instanceof IllegalArgumentException ? SettingChanges.refused(e) : e));
        } catch (RuntimeException e) {
            return Future.failedFuture(e);
        }
    }

    @Override
    public Future<Void> delete(StreamName name) {
        return streams.delete(name)
                .compose(deleted -> deleted ? Future.succeededFuture() : Future.failedFuture(noSuchStream(name)));
    }

    private static StreamInfo info(LiveStream stream) {
        return new StreamInfo(stream.id(), stream.settings(), stream.createdMs());
    }

    private static Problem noSuchStream(StreamName name) {
        return Problem.noStream(name);
    }
}
