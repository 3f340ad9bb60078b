package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.client.Event;
import dev.tidemark.client.Follow;
import dev.tidemark.client.Subscription;
import dev.tidemark.client.TidemarkClient;
import dev.tidemark.event.EventId;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Connections cut at random bytes during replay and live, on WebSocket, on event streams and under the client: what came in all of them
 * together is the stream, each event once. {@code -Dtidemark.cuts=100} is the full size, for each of the three.
 */
@Tag("R30")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class CutResumeIT {
    private static final int STORED = 20_000;
    private static final int EVENTS_A_SECOND = 1_500;
    private static final int CUTS = Integer.getInteger("tidemark.cuts", 40);
    /** So many of the cuts are in the replay at least, and as many when it is live. */
    private static final int CUTS_EACH = CUTS * 2 / 5;

    private static final long SEED = Long.getLong("tidemark.seed", System.nanoTime());

    @RegisterExtension
    static final RunningServer SERVER = new RunningServer(Map.of());

    /** One follower behind a proxy of its own. */
    private abstract static class Cut implements AutoCloseable {
        final String name;
        final FrontProxy proxy;
        final AtomicLong next = new AtomicLong();
        final AtomicReference<Throwable> failure = new AtomicReference<>();
        final AtomicInteger cutsInReplay = new AtomicInteger();
        private final SplittableRandom random;
        private final int liveBytesMax;

        /** @param liveBytesMax between two cuts when live; enough for some messages, whose size differs */
        Cut(String name, long seed, int liveBytesMax) throws Exception {
            this.name = name;
            this.liveBytesMax = liveBytesMax;
            random = new SplittableRandom(seed);
            proxy = new FrontProxy(SERVER::url);
            proxy.cutAfter(this::draw);
        }

        /** In the replay so much that the cuts spread over it; when live so that some hundredths of a second pass. Then no more. */
        private synchronized int draw() {
            if (proxy.cuts() >= CUTS) {
                return Integer.MAX_VALUE;
            }
            boolean live = next.get() >= STORED;
            if (!live) {
                cutsInReplay.set(proxy.cuts() + 1);
            }
            return live
                    ? random.nextInt(1, liveBytesMax)
                    : random.nextInt(1, 2 * STORED * 200 / Math.max(1, CUTS * 3 / 5));
        }

        void took(long number, String what) {
            long expected = next.get();
            if (number != expected) {
                AssertionError wrong = new AssertionError(what + " is number " + number + " where " + expected
                        + " was expected, after " + proxy.cuts() + " cuts");
                failure.compareAndSet(null, wrong);
                throw wrong;
            }
            next.set(number + 1);
        }

        @Override
        public void close() throws Exception {
            proxy.close();
        }
    }

    /** Comes back at once, behind the last event of which it got every byte. */
    private static final class Raw extends Cut {
        private final Thread thread;
        private volatile boolean stopping;

        Raw(FollowConnection.Kind kind, long seed) throws Exception {
            super(kind.toString(), seed, 12_000);
            thread = new Thread(() -> follow(kind), "cut-" + kind);
            thread.start();
        }

        private void follow(FollowConnection.Kind kind) {
            String after = "after=earliest";
            try {
                while (!stopping) {
                    try (FollowConnection connection = FollowConnection.open(kind, proxy.url(), "cut", after)) {
                        after = connection == null ? after : read(connection, after);
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (RuntimeException | Error e) {
                failure.compareAndSet(null, e);
            }
        }

        private String read(FollowConnection connection, String after) throws InterruptedException {
            String position = after;
            for (FollowConnection.Message message = connection.next();
                    message != null && !stopping;
                    message = connection.next()) {
                switch (message.type()) {
                    case "event" -> {
                        took(Numbers.in(message.json()), message.json());
                        position = "after=" + message.cursor();
                    }
                    case "hello", "caught_up", "fell_behind", "heartbeat" -> {}
                    default -> throw new AssertionError("unexpected: " + message);
                }
            }
            return position;
        }

        @Override
        public void close() throws Exception {
            stopping = true;
            thread.interrupt();
            super.close();
            thread.join(10_000);
        }
    }

    private static final class ByTheClient extends Cut {
        private final Subscription subscription;

        ByTheClient(long seed) throws Exception {
            super("CLIENT", seed, 80_000);
            subscription = TidemarkClient.at(proxy.url()).subscribe("cut", Follow.earliest(), this::take);
            var unused = subscription.done().whenComplete((v, why) -> {
                if (why != null) {
                    failure.compareAndSet(null, why);
                }
            });
        }

        private void take(Event event) {
            took(Numbers.in("\"data\":" + event.text()), event.toString());
        }

        @Override
        public void close() throws Exception {
            subscription.close();
            super.close();
        }
    }

    @Test
    @Order(1)
    @Timeout(600)
    void cutsAtRandomMomentsLoseNothingAndRepeatNothing() throws Exception {
        System.out.println("seed " + SEED);
        SERVER.api().put("cut", "{\"live_max_events\":2000}");
        try (Numbers numbers = Numbers.of(SERVER.api(), "cut", STORED, EVENTS_A_SECOND);
                Cut socket = new Raw(FollowConnection.Kind.WEB_SOCKET, SEED);
                Cut lines = new Raw(FollowConnection.Kind.EVENT_STREAM, SEED + 1);
                Cut client = new ByTheClient(SEED + 2)) {
            List<Cut> all = List.of(socket, lines, client);
            long startNs = System.nanoTime();
            for (Cut cut : all) {
                until(numbers, cut, () -> cut.proxy.cuts() >= CUTS);
                System.out.println(
                        cut.name + " had its cuts after " + (System.nanoTime() - startNs) / 1_000_000 + " ms");
            }
            numbers.stop();
            for (Cut cut : all) {
                until(numbers, cut, () -> cut.next.get() >= numbers.written());
                System.out.println(cut.name + ": " + cut.proxy.cuts() + " cuts, " + cut.cutsInReplay
                        + " of them in the replay; " + cut.next + " events, each once");
                assertEquals(numbers.written(), cut.next.get());
                assertTrue(cut.cutsInReplay.get() >= CUTS_EACH && CUTS - cut.cutsInReplay.get() >= CUTS / 10);
            }
        }
    }

    private static void until(Numbers numbers, Cut cut, java.util.function.BooleanSupplier reached)
            throws InterruptedException {
        long untilNs = System.nanoTime() + 120_000_000_000L;
        while (!reached.getAsBoolean()) {
            numbers.check();
            if (cut.failure.get() != null) {
                throw new AssertionError(
                        cut.name + " ended at " + cut.next + " after " + cut.proxy.cuts() + " cuts", cut.failure.get());
            }
            if (System.nanoTime() > untilNs) {
                throw new AssertionError(cut.name + " stands at " + cut.next + " after " + cut.proxy.cuts() + " cuts");
            }
            TimeUnit.MILLISECONDS.sleep(10);
        }
    }

    // ---- positions

    private static List<String> ids() {
        return Api.ids(SERVER.api().events(Api.stream("cut") + "/events"));
    }

    /** The first two events behind a position, as each kind of connection gives them. */
    private static void assertNext(String position, List<String> expected) throws InterruptedException {
        for (FollowConnection.Kind kind : FollowConnection.Kind.values()) {
            List<String> got = new ArrayList<>();
            try (FollowConnection connection = FollowConnection.open(kind, SERVER.url(), "cut", "after=" + position)) {
                while (got.size() < expected.size()) {
                    FollowConnection.Message message = connection.next();
                    if (message.type().equals("event")) {
                        got.add(new JsonObject(message.json()).getString("id"));
                    } else if (!message.type().equals("hello")) {
                        throw new AssertionError(kind + " behind " + position + " got " + message);
                    }
                }
            }
            assertEquals(expected, got, kind + " behind " + position);
        }
    }

    @Test
    @Order(2)
    @Timeout(120)
    void behindAPositionThatNeverWasAnEntryComesTheNextGreaterOne() throws Exception {
        List<String> ids = ids();
        List<Integer> jumps = new ArrayList<>();
        for (int i = 0; i + 3 < ids.size(); i++) {
            if (!behind(ids.get(i), 1).equals(ids.get(i + 1))) {
                jumps.add(i);
            }
        }
        SplittableRandom random = new SplittableRandom(SEED);
        int tried = 0;
        for (int k = 0; k < jumps.size() && jumps.get(k) < STORED; k++, tried++) {
            assertBetween(ids, jumps.get(k));
        }
        for (; tried < 30; tried++) {
            assertBetween(ids, jumps.get(random.nextInt(jumps.size())));
        }
        assertNext(behind(ids.get(0), -1), ids.subList(0, 2));
    }

    private static void assertBetween(List<String> ids, int i) throws InterruptedException {
        assertNext(behind(ids.get(i), 1), ids.subList(i + 1, i + 3));
    }

    private static String behind(String id, int by) {
        return new EventId(EventId.parse(id).number() + by).toString();
    }

    @Test
    @Order(3)
    @Timeout(60)
    void behindTheFirstComesTheSecondAndBehindTheLastWhatIsAppendedNext() throws Exception {
        List<JsonObject> events = SERVER.api().events(Api.stream("cut") + "/events");
        List<String> ids = Api.ids(events);
        assertNext(ids.get(0), ids.subList(1, 3));
        assertNext(String.valueOf(events.get(0).getString("cursor")), ids.subList(1, 3));
        for (FollowConnection.Kind kind : FollowConnection.Kind.values()) {
            for (String member : List.of("id", "cursor")) {
                String position = last(member);
                List<String> got = new ArrayList<>();
                try (FollowConnection connection =
                        FollowConnection.open(kind, SERVER.url(), "cut", "after=" + position)) {
                    String appended = "";
                    while (got.isEmpty()) {
                        FollowConnection.Message message = connection.next();
                        switch (message.type()) {
                            case "caught_up" ->
                                appended = SERVER.api()
                                        .append("cut", List.of("{\"n\":0,\"filler\":\"\"}"))
                                        .json()
                                        .getString("first");
                            case "event" -> got.add(new JsonObject(message.json()).getString("id"));
                            case "hello" -> {}
                            default -> throw new AssertionError("unexpected: " + message);
                        }
                    }
                    assertEquals(List.of(appended), got);
                }
            }
        }
    }

    private static String last(String member) {
        List<JsonObject> tail = SERVER.api().events(Api.stream("cut") + "/tail?n=1");
        return String.valueOf(tail.get(0).getString(member));
    }
}
