package dev.tidemark.read;

import dev.tidemark.event.Event;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.event.Seeds;
import io.vertx.core.AsyncResult;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Readers and subscribers of one stream, between any two of whose steps anything may happen that keeper, fold, trim, retention,
 * memory pressure and, by fault level, the outside do to it. Everything is drawn from the seed.
 *
 * <p>Fault levels: 0 none; 1 retention removes from the archive; 2 Redis goes and comes, entries are removed from it by others.
 */
final class ReadSimulation {
    private static final long BYTES = 1 << 20;

    final World world = new World().stepped();
    private final Random random;
    private final int faults;
    private final StreamSource source;
    private final SeamRead seams = new SeamRead(stream -> Folding.Figures.NONE, world);
    private final List<Runnable> checks = new ArrayList<>();
    private final List<Subscribed> subscribed = new ArrayList<>();
    private final ReadPace pace;
    private final StreamFeeds feeds;
    int answers;
    /** Futures may swallow what is thrown in their handlers. */
    private @Nullable AssertionError failure;

    private record Subscribed(Recorder recorder, StreamSubscription subscription) {}

    ReadSimulation(long seed, int faults, Function<World, StreamSource> source) {
        random = Seeds.random(seed);
        this.faults = faults;
        this.source = source.apply(world);
        pace = new ReadPace(
                1 + random.nextInt(20), 4_000, 1 + random.nextInt(10), 2_000, 5, 1 + random.nextInt(2), 100);
        feeds = new StreamFeeds(world, pace);
    }

    void run(int steps) {
        for (int i = 0; i < steps; i++) {
            if (random.nextInt(3) > 0) {
                world.step(random);
            } else {
                change();
            }
        }
        world.redisAway(false);
        world.archiveAway = false;
        for (Subscribed each : subscribed) {
            each.recorder.writable = true;
            each.subscription.resume();
            each.subscription.drained();
        }
        int left = 100_000;
        while (world.step(random)) {
            if (left-- == 0) {
                throw new AssertionError("it never comes to rest");
            }
        }
        AssertionError first = failure;
        if (first != null) {
            throw first;
        }
        checks.forEach(Runnable::run);
    }

    private void change() {
        int what = random.nextInt(100);
        if (what < 30) {
            append();
        } else if (what < 40) {
            world.seal();
        } else if (what < 52) {
            world.fold(1 + random.nextInt(12));
        } else if (what < 60) {
            world.trim(1 + random.nextInt(12));
        } else if (what < 66) {
            world.release(false);
        } else if (what < 72) {
            world.release(true);
        } else if (what < 74) {
            world.retire();
        } else if (what < 78) {
            fault();
        } else if (what < 84) {
            scan();
        } else if (what < 88) {
            tail();
        } else if (what < 90) {
            subscribe();
        } else {
            disturb();
        }
    }

    private void append() {
        if (random.nextInt(3) == 0) {
            world.nextMs(1 + random.nextInt(3));
        }
        if (random.nextInt(6) == 0) {
            world.refuse(1 + random.nextInt(3));
        }
        int count = 1 + random.nextInt(6);
        for (int i = 0; i < count; i++) {
            world.append(
                    ("{\"n\":" + i + "}").getBytes(StandardCharsets.UTF_8),
                    random.nextInt(10) == 0 ? 1 + random.nextInt(3) : 0);
        }
    }

    private void fault() {
        if (faults == 2 && random.nextInt(3) == 0) {
            world.archiveAway = !world.archiveAway;
        } else if (faults == 1) {
            world.prune(1 + random.nextInt(8));
        } else if (faults == 2 && random.nextBoolean()) {
            world.redisAway(!world.redisAway);
        } else if (faults == 2 && !world.redis.isEmpty()) {
            List<Position> entries = new ArrayList<>(world.redis.keySet());
            world.removeByOthers(entries.get(random.nextInt(entries.size())));
        }
    }

    private Position anyPosition() {
        if (world.all.isEmpty() || random.nextInt(8) == 0) {
            return Position.ZERO;
        }
        return world.all.get(random.nextInt(world.all.size())).id();
    }

    private Position tailNow() {
        return world.all.isEmpty()
                ? Position.ZERO
                : world.all.get(world.all.size() - 1).id();
    }

    // ---- reads

    private void scan() {
        Position one = anyPosition();
        Position other = anyPosition();
        boolean bounded = random.nextBoolean();
        boolean byTime = random.nextBoolean();
        boolean descending = random.nextBoolean();
        Position low = bounded ? Position.min(one, other) : one;
        Position high = bounded ? Position.max(one, other) : Position.MAX;
        long limit = random.nextInt(4) == 0 ? random.nextInt(20) : Long.MAX_VALUE;
        ReadRequest request = new ReadRequest(
                byTime ? null : source.cursor(low).toString(),
                byTime || !bounded ? null : source.cursor(high).toString(),
                byTime ? (Long) low.ms() : null,
                byTime && bounded ? (Long) high.ms() : null,
                limit,
                descending,
                View.LIVE,
                true);
        Position after = byTime ? Position.before(low.ms()) : low;
        Position through = !bounded ? Position.MAX : byTime ? Position.before(high.ms()) : high.previous();
        Reading reading = new Reading(after, through, limit, descending, tailNow());
        StreamScan.start(source, pace, request).onComplete(started -> {
            if (failedByFault(started)) {
                reading.ended = true;
                return;
            }
            reading.cut = world.snapshot(0).isOpen();
            reading.tailAtStart = tailNow();
            reading.next(started.result());
        });
        checks.add(reading::check);
    }

    /** One range read under way, and what it gave, in rising order. */
    private final class Reading {
        final Position after;
        final Position through;
        final long limit;
        final boolean descending;
        final Position tailAsked;
        Position tailAtStart = Position.ZERO;
        final List<Position> given = new ArrayList<>();
        final List<Gap> gaps = new ArrayList<>();
        boolean complete = true;
        /** Whether the tail was known when it started; else it reads up to the tail as it is when it gets there. */
        boolean cut;

        boolean bounded;
        boolean ended;

        Reading(Position after, Position through, long limit, boolean descending, Position tailAsked) {
            this.after = after;
            this.through = through;
            this.limit = limit;
            this.descending = descending;
            this.tailAsked = tailAsked;
        }

        void next(Reads.Scan scan) {
            scan.next(1 + random.nextInt(15), 1 + random.nextInt(3_000)).onComplete(next -> {
                if (failedByFault(next)) {
                    world.schedule(1, () -> next(scan));
                    return;
                }
                ReadPage page = next.result();
                List<Position> positions = Recorder.positions(page.events());
                given.addAll(descending ? 0 : given.size(), positions);
                gaps.addAll(page.gaps());
                complete &= page.complete();
                bounded = page.bounded();
                ended = page.end();
                tailAtStart = cut ? tailAtStart : tailNow();
                if (!ended) {
                    next(scan);
                }
            });
        }

        void check() {
            answers++;
            String what = "read of (" + after + ", " + through + "]" + (descending ? " descending" : "") + ", limit "
                    + limit + ", tail " + tailAsked + " to " + tailAtStart + " gave " + given + " and " + gaps;
            assertThat(ended, "never ended: " + what);
            assertThat(complete || faults == 2, "not complete: " + what);
            assertThat(given.size() <= limit, what);
            assertThat(complete || !bounded || descending, "bounded but not complete: " + what);
            Position low = after;
            Position high = Position.min(through, tailAsked);
            boolean whole = bounded && complete;
            if (!given.isEmpty()) {
                Position first = given.get(0);
                Position last = given.get(given.size() - 1);
                assertThat(!first.isBefore(after) && !last.isAfter(Position.min(through, tailAtStart)), what);
                if (!whole && descending) {
                    low = Positions.below(first);
                }
                high = whole || (descending && complete) ? Position.max(high, last) : last;
            } else if (!whole) {
                return;
            }
            ReadSimulation.this.check(what, given, gaps, low, high);
        }
    }

    private boolean failedByFault(AsyncResult<?> result) {
        if (result.failed()) {
            assertThat(faults == 2, String.valueOf(result.cause()));
        }
        return result.failed();
    }

    private void tail() {
        int n = random.nextInt(30);
        Position asked = tailNow();
        TailRead.read(source, n, View.LIVE, BYTES).onComplete(read -> {
            if (failedByFault(read)) {
                return;
            }
            answers++;
            TailAnswer answer = read.result();
            List<Position> given = Recorder.positions(answer.events());
            String what = "tail " + n + " from " + asked + " to " + tailNow() + " gave " + given;
            assertThat(answer.complete() || faults == 2, "not complete: " + what);
            assertThat(given.size() <= n, what);
            if (!given.isEmpty()) {
                Position last = given.get(given.size() - 1);
                assertThat(!answer.complete() || !last.isBefore(asked), what);
                Position low = Positions.below(given.get(0));
                check(
                        what,
                        given,
                        answer.complete() ? List.of() : List.of(new Gap(low, last, Gap.Reason.LOST)),
                        low,
                        last);
            }
            if (answer.complete() && given.size() < n) {
                Position first = given.isEmpty() ? Position.MAX : given.get(0);
                for (Event event : world.all) {
                    boolean missing = event.id().isBefore(first) && !event.id().isAfter(asked);
                    assertThat(!missing || world.isGone(event), what + ", not " + event);
                }
            }
        });
    }

    private void subscribe() {
        Recorder recorder = new Recorder();
        Position after = anyPosition();
        int how = random.nextInt(4);
        SubscribeRequest request = new SubscribeRequest(
                how == 0
                        ? SubscriptionStart.EARLIEST
                        : how == 1
                                ? SubscriptionStart.LATEST
                                : source.cursor(after).toString(),
                how == 3 ? random.nextInt(20) : -1,
                View.LIVE,
                false,
                random.nextInt(4) == 0 ? SubscribeRequest.Slow.SKIP : SubscribeRequest.Slow.ARCHIVE);
        recorder.onCaughtUp = () -> assertThat(
                !recorder.reached.isBefore(tailNow()), "caught up at " + recorder.reached + ", not at " + tailNow());
        StreamSubscription subscription = new StreamSubscription(source, request, recorder, seams, pace, feeds, world);
        world.post(subscription::start);
        subscribed.add(new Subscribed(recorder, subscription));
        checks.add(() -> {
            answers++;
            String what = request + " was given " + recorder.given + " and " + recorder.gaps + ": " + recorder.said;
            Position low = recorder.helloCursor.position();
            if (recorder.problem != null) {
                assertThat(faults == 2, what + ", " + recorder.problem);
                if (recorder.said.contains("hello")) {
                    check(what, recorder.given, recorder.gaps, low, recorder.closedCursor.position());
                }
                return;
            }
            assertThat(how != 2 || recorder.helloCursor.position().equals(after), what);
            assertThat(recorder.said.contains("caughtUp"), what);
            check(what, recorder.given, recorder.gaps, low, tailNow());
        });
    }

    private void disturb() {
        if (subscribed.isEmpty()) {
            return;
        }
        Subscribed one = subscribed.get(random.nextInt(subscribed.size()));
        switch (random.nextInt(4)) {
            case 0 -> one.recorder.writable = false;
            case 1 -> {
                one.recorder.writable = true;
                one.subscription.drained();
            }
            case 2 -> one.subscription.pause();
            default -> one.subscription.resume();
        }
    }

    /** Everything in {@code (low, high]} was given, once and in order, or announced because it is gone; and no gap without reason. */
    private void check(String what, List<Position> given, List<Gap> gaps, Position low, Position high) {
        List<Position> rest = new ArrayList<>(given);
        Collections.reverse(rest);
        for (Event event : world.all) {
            Position id = event.id();
            if (!id.isAfter(low) || id.isAfter(high)) {
                continue;
            }
            if (!rest.isEmpty() && rest.get(rest.size() - 1).equals(id)) {
                rest.remove(rest.size() - 1);
            } else {
                boolean announced = gaps.stream().anyMatch(gap -> id.isAfter(gap.from()) && !id.isAfter(gap.to()));
                boolean skipped = gaps.stream().anyMatch(gap -> gap.reason() == Gap.Reason.SKIPPED);
                assertThat(announced, "not given nor announced: " + event + "; " + what);
                assertThat(skipped || faults == 2 || world.isGone(event), "not given: " + event + "; " + what);
            }
        }
        assertThat(rest.isEmpty(), "not expected or not in order: " + rest + "; " + what);
        for (Gap gap : gaps) {
            // Of a part below the earliest event nobody can tell any more whether there was something in it, nor of a
            // cursor there
            // whether it stands at the last event that was removed, nor of voided ordinals before the first one.
            boolean reason = gap.reason() == Gap.Reason.SKIPPED
                    || (gap.reason() == Gap.Reason.EXPIRED
                            && (nothingIn(gap.to(), high) || nothingIn(gap.from(), gap.to()) || isGone(gap.from())))
                    || faults == 2
                    || world.all.stream()
                            .anyMatch(event -> world.isGone(event)
                                    && event.id().isAfter(gap.from())
                                    && !event.id().isAfter(gap.to()));
            assertThat(reason, "nothing is gone in " + gap + "; " + what);
        }
    }

    private boolean isGone(Position position) {
        return world.all.stream().anyMatch(event -> event.id().equals(position) && world.isGone(event));
    }

    private boolean nothingIn(Position low, Position high) {
        return world.all.stream()
                .noneMatch(event -> event.id().isAfter(low) && !event.id().isAfter(high));
    }

    private void assertThat(boolean condition, String otherwise) {
        if (!condition) {
            AssertionError wrong = new AssertionError(shown(otherwise));
            failure = failure == null ? wrong : failure;
            throw wrong;
        }
    }

    /** Positions relative to the start of the world. */
    private static String shown(String text) {
        return text.replace(String.valueOf(World.START_MS).substring(0, 10), "").replace("9223372036854775807", "M");
    }
}
