package dev.tidemark.read;

import dev.tidemark.event.Clock;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.StreamName;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.Streams;
import dev.tidemark.keeper.StripeTails;
import dev.tidemark.livelog.LiveLogReader;
import io.vertx.core.Future;
import java.util.function.Function;

/** The reads of this process's streams. */
public final class StreamReads implements Reads, Audits.Port {
    /** Pages of entries that an audit counts when somebody asks for it, and in the background. */
    private static final int AUDIT_PAGES_ASKED = 4_000;

    private static final int AUDIT_PAGES = 40;

    private final Ports ports;
    private final ReadPace pace;
    private final SeamRead seams;
    private final StreamFeeds feeds;

    /**
     * What reading needs.
     *
     * @param streams the streams there are
     * @param archives their archives
     * @param liveLog reads Redis
     * @param workers where archives are read
     * @param tails asks keepers for tails
     * @param tailTimeoutMs how long a keeper may take for that
     * @param loops where subscriptions live
     * @param folding what seams show of folds and live logs
     * @param clock of the process
     */
    public record Ports(
            Streams streams,
            Archives archives,
            LiveLogReader liveLog,
            Workers workers,
            StripeTails tails,
            long tailTimeoutMs,
            EventLoop.Current loops,
            Folding folding,
            Clock clock) {}

    public StreamReads(Ports ports) {
        this(ports, ReadPace.DEFAULT);
    }

    public StreamReads(Ports ports, ReadPace pace) {
        this.ports = ports;
        this.pace = pace;
        seams = new SeamRead(ports.folding(), ports.clock());
        feeds = new StreamFeeds(ports.clock(), pace);
    }

    @Override
    public Future<TailAnswer> tail(StreamName name, int n, View view, long bytesMax) {
        return with(name, source -> tail(source, n, view, bytesMax));
    }

    private Future<TailAnswer> tail(StreamSource source, int n, View view, long bytesMax) {
        if (source.stream().stripes() == 1 || !source.snapshot().isOpen()) {
            return TailRead.read(source, n, view, bytesMax)
                    .map(answer -> source.stream().isKept(ports.tailTimeoutMs()) ? answer : answer.incomplete());
        }
        EventLoop loop = ports.loops().loop();
        return new MergedTail(source, ports.tails(), loop, ports.tailTimeoutMs(), n, view).read(bytesMax);
    }

    @Override
    public Future<Scan> scan(StreamName name, ReadRequest request) {
        return with(name, source -> StreamScan.start(source, pace, request));
    }

    @Override
    public Future<Event> event(StreamName name, EventId id) {
        return with(name, source -> EventRead.read(source, id));
    }

    @Override
    public Future<Seam> seam(StreamName name) {
        return with(name, source -> source.open().compose(opened -> seams.read(source)));
    }

    @Override
    public Future<StreamAudit> audit(StreamName name) {
        return with(
                name,
                source -> source.open()
                        .compose(opened -> opened
                                ? source.onWorker(() -> {
                                    source.archive().open();
                                    return source;
                                })
                                : Future.failedFuture(source.away()))
                        .compose(ready -> audit(ready, AUDIT_PAGES_ASKED)));
    }

    @Override
    public Future<StreamAudit> audit(LiveStream stream) {
        return audit(source(stream), AUDIT_PAGES);
    }

    private Future<StreamAudit> audit(StreamSource source, int pagesMax) {
        return new AuditRead(source, ports.loops().loop(), ports.clock(), pagesMax).read();
    }

    @Override
    public Position watermark(LiveStream stream) {
        return ports.archives().of(stream).watermark();
    }

    @Override
    public Future<Verification> verify(StreamName name) {
        return with(name, StreamVerification::start);
    }

    @Override
    public Subscription subscribe(StreamName name, SubscribeRequest request, Subscriber subscriber) {
        EventLoop loop = ports.loops().loop();
        LiveStream stream = ports.streams().find(name);
        if (stream == null || stream.isDeleted()) {
            return refused(subscriber, notFound(name), loop);
        }
        StreamSource source;
        try {
            source = source(stream);
        } catch (Problem deletedMeanwhile) {
            return refused(subscriber, deletedMeanwhile, loop);
        }
        StreamSubscription subscription = new StreamSubscription(source, request, subscriber, seams, pace, feeds, loop);
        loop.post(subscription::start);
        return subscription;
    }

    private static Subscription refused(Subscriber subscriber, Problem problem, EventLoop loop) {
        UnknownStream unknown = new UnknownStream();
        loop.post(() -> unknown.start(subscriber, problem));
        return unknown;
    }

    /** Subscriptions under way. Any thread. */
    public long subscriptions() {
        return feeds.subscriptions();
    }

    /** Those of them that are given history, or fell behind. Any thread. */
    public long subscriptionsBehind() {
        return feeds.behind();
    }

    /** The server stops: every subscriber is closed with the cursor to resume from. Any thread. */
    public void stop() {
        feeds.stop();
    }

    private <T> Future<T> with(StreamName name, Function<StreamSource, Future<T>> read) {
        LiveStream stream = ports.streams().find(name);
        if (stream == null || stream.isDeleted()) {
            return Future.failedFuture(notFound(name));
        }
        stream.used();
        try {
            return read.apply(source(stream));
        } catch (Problem deletedMeanwhile) {
            return Future.failedFuture(deletedMeanwhile);
        }
    }

    private StreamSource source(LiveStream stream) {
        return new StreamSource(stream, ports.archives().of(stream), ports.liveLog(), ports.workers());
    }

    private static Problem notFound(StreamName name) {
        return Problem.noStream(name);
    }
}
