package dev.tidemark.http;

import dev.tidemark.event.Cursor;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Slice;
import dev.tidemark.event.StreamName;
import dev.tidemark.read.ReadPage;
import dev.tidemark.read.ReadRequest;
import dev.tidemark.read.Reads;
import dev.tidemark.read.Seam;
import dev.tidemark.read.SubscribeRequest;
import dev.tidemark.read.Subscriber;
import dev.tidemark.read.Subscription;
import dev.tidemark.read.TailAnswer;
import dev.tidemark.read.View;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Reads over {@link FakeStream}s; subscriptions are driven by the test. */
final class FakeReads implements Reads {
    final Map<String, FakeStream> streams = new ConcurrentHashMap<>();
    final BlockingQueue<FakeSubscription> subscriptions = new LinkedBlockingQueue<>();
    final BlockingQueue<ReadRequest> scans = new LinkedBlockingQueue<>();
    final AtomicInteger pages = new AtomicInteger();
    /** Thrown or failed with instead of answering. */
    volatile @Nullable RuntimeException failure;

    volatile List<Gap> gaps = List.of();
    /** The scan fails with {@link #failure} behind so many pages. */
    volatile int failAfterPages = Integer.MAX_VALUE;

    volatile boolean tailComplete = true;

    FakeStream stream(String name) {
        return streams.computeIfAbsent(name, n -> new FakeStream(n, 4711 + streams.size()));
    }

    private FakeStream existing(StreamName name) {
        FakeStream stream = streams.get(name.value());
        if (stream == null) {
            throw Problem.noStream(name);
        }
        return stream;
    }

    private <T> Future<T> answer(java.util.function.Supplier<T> supplier) {
        RuntimeException fails = failure;
        if (fails != null && failAfterPages == Integer.MAX_VALUE) {
            return Future.failedFuture(fails);
        }
        try {
            return Future.succeededFuture(supplier.get());
        } catch (Problem e) {
            return Future.failedFuture(e);
        }
    }

    @Override
    public Future<TailAnswer> tail(StreamName name, int n, View view, long bytesMax) {
        return answer(() -> {
            FakeStream stream = existing(name);
            return new TailAnswer(stream.id, stream.last(n), tailComplete, stream.end());
        });
    }

    @Override
    public Future<Scan> scan(StreamName name, ReadRequest request) {
        scans.add(request);
        return answer(() -> new FakeScan(existing(name), request));
    }

    /** What a check finds, a step each. */
    volatile List<dev.tidemark.event.Finding> findings = List.of();

    @Override
    public Future<dev.tidemark.read.StreamAudit> audit(StreamName name) {
        return answer(() -> new dev.tidemark.read.StreamAudit(
                existing(name).id.generation(),
                1_764_440_000_123L,
                List.of(
                        new dev.tidemark.read.StreamAudit.Stripe(120, 100, 17, 1, 1, 1, 0),
                        new dev.tidemark.read.StreamAudit.Stripe(9, 5, 3, 0, 0, 0, 1)),
                2));
    }

    @Override
    public Future<dev.tidemark.read.Verification> verify(StreamName name) {
        return answer(() -> new FakeVerification(existing(name), findings));
    }

    @Override
    public Future<Event> event(StreamName name, EventId id) {
        return answer(() -> {
            for (var chunk : existing(name).chunks) {
                for (int i = 0; i < chunk.count(); i++) {
                    if (chunk.position(i).equals(id.position())) {
                        return chunk.event(i);
                    }
                }
            }
            throw Problem.notFound("there is no event " + id);
        });
    }

    @Override
    public Future<Seam> seam(StreamName name) {
        return answer(() -> seam(existing(name)));
    }

    static Seam seam(FakeStream stream) {
        Position tail = stream.end().position();
        Position first = stream.count() == 0 ? Position.ZERO : FakeStream.position(0);
        return new Seam(
                first,
                Position.ZERO,
                first,
                Position.before(FakeStream.FIRST_MS + 500),
                tail,
                stream.count(),
                0,
                100,
                0,
                5,
                new Seam.LastFold("none", 0, ""),
                0,
                stream.id.generation());
    }

    @Override
    public Subscription subscribe(StreamName name, SubscribeRequest request, Subscriber subscriber) {
        FakeSubscription subscription =
                new FakeSubscription(streams.get(name.value()), request, subscriber, Vertx.currentContext());
        if (subscription.stream == null) {
            subscriber.closed(Problem.noStream(name), new Cursor(new dev.tidemark.event.Generation(1), Position.ZERO));
        }
        subscriptions.add(subscription);
        return subscription;
    }

    /** Pages of at most 10 events unless asked for fewer. */
    private final class FakeScan implements Scan {
        private final FakeStream stream;
        private final ReadRequest request;
        private int given;

        FakeScan(FakeStream stream, ReadRequest request) {
            this.stream = stream;
            this.request = request;
        }

        @Override
        public Future<ReadPage> next() {
            return next(10, Long.MAX_VALUE);
        }

        @Override
        public Future<ReadPage> next(int eventsMax, long bytesMax) {
            int page = pages.incrementAndGet();
            RuntimeException fails = failure;
            if (fails != null && page > failAfterPages) {
                return Future.failedFuture(fails);
            }
            int size = (int) Math.min(Math.min(10, eventsMax), request.limit() - given);
            int total = stream.count();
            int to = Math.min(total, given + size);
            List<Slice> events =
                    request.descending() ? stream.range(total - to, total - given) : stream.range(given, to);
            List<Gap> announced = given == 0 ? gaps : List.of();
            given = to;
            boolean all = given == total;
            boolean end = all || given == request.limit();
            Cursor cursor = request.descending()
                    ? new Cursor(stream.id.generation(), all ? Position.ZERO : FakeStream.position(total - given))
                    : given == 0 ? stream.end() : stream.cursor(given - 1);
            return Future.succeededFuture(new ReadPage(events, announced, cursor, end, all, true));
        }
    }

    /** What the test plays the read side with; its calls go to the subscriber's context. */
    static final class FakeSubscription implements Subscription {
        final @Nullable FakeStream stream;
        final SubscribeRequest request;
        final BlockingQueue<String> calls = new LinkedBlockingQueue<>();
        private final Subscriber subscriber;
        private final Context context;

        FakeSubscription(
                @Nullable FakeStream stream, SubscribeRequest request, Subscriber subscriber, Context context) {
            this.stream = stream;
            this.request = request;
            this.subscriber = subscriber;
            this.context = context;
        }

        FakeStream of() {
            return java.util.Objects.requireNonNull(stream);
        }

        void play(java.util.function.Consumer<Subscriber> part) {
            context.runOnContext(v -> part.accept(subscriber));
        }

        void hello() {
            play(s -> s.hello(of().id, of().end(), seam()));
        }

        @Override
        public void drained() {
            calls.add("drained");
        }

        @Override
        public void pause() {
            calls.add("pause");
        }

        @Override
        public void resume() {
            calls.add("resume");
        }

        @Override
        public Cursor cursor() {
            return of().end();
        }

        @Override
        public Seam seam() {
            return FakeReads.seam(of());
        }

        @Override
        public boolean liveLogReachable() {
            return true;
        }

        @Override
        public void close() {
            calls.add("close");
        }
    }
}
