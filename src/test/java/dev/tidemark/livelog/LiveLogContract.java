package dev.tidemark.livelog;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.StripeId;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What every live log does, the real one and the fake: each has a subclass. */
abstract class LiveLogContract {
    private static final long MS = 1_764_440_000_000L;

    private final StreamId stream =
            new StreamId(new StreamName("contract"), Generation.random(new java.util.SplittableRandom()));
    private final StripeId stripe = new StripeId(stream, 0);

    abstract LiveLogReader reader();

    abstract LiveLogTrimmer trimmer();

    abstract LiveLogAdmin admin();

    abstract StripeAppender.Connector connector();

    /** Runs a call where an appender may be used, and gives its future. */
    abstract <T> Future<T> onLoop(Supplier<Future<T>> call);

    /** Adds an entry that isn't ours, under an id of its own. */
    abstract void addForeign(StripeId to, Position entry);

    abstract void deleteByOthers(StripeId key);

    /** {@code EVT… ms-seq generation} under the seam's key, or an empty text. */
    abstract String seamText(StreamName name);

    @CanIgnoreReturnValue
    static <T> T await(Future<T> future) {
        try {
            return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new AssertionError(e.getCause());
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    static LiveLogException.Kind kindOf(Future<?> future) {
        CompletableFuture<?> stage = future.toCompletionStage().toCompletableFuture();
        try {
            Object result = stage.get(20, TimeUnit.SECONDS);
            throw new AssertionError("should have been refused, but gave " + result);
        } catch (ExecutionException e) {
            return e.getCause() instanceof LiveLogException refused
                    ? refused.kind()
                    : failUntyped(e.getCause() == null ? e : e.getCause());
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    private static LiveLogException.Kind failUntyped(Throwable cause) {
        throw new AssertionError("not a LiveLogException", cause);
    }

    static Position at(long ordinal) {
        return new Position(MS + ordinal, ordinal % 3);
    }

    static Event event(long ordinal) {
        return event(ordinal, "{\"n\":" + ordinal + "}");
    }

    static Event event(long ordinal, String payload) {
        return new Event(
                at(ordinal),
                at(ordinal),
                ordinal,
                Event.NO_TIME,
                false,
                "application/json",
                null,
                payload.getBytes(StandardCharsets.UTF_8));
    }

    static List<Event> events(long from, long through) {
        List<Event> events = new ArrayList<>();
        for (long n = from; n <= through; n++) {
            events.add(event(n));
        }
        return events;
    }

    static List<Long> ordinals(LiveLogPage page) {
        return page.events().stream().map(Event::ordinal).toList();
    }

    static List<Long> longs(long from, long through) {
        return java.util.stream.LongStream.rangeClosed(from, through).boxed().toList();
    }

    static List<Long> reversed(List<Long> numbers) {
        List<Long> turned = new ArrayList<>(numbers);
        java.util.Collections.reverse(turned);
        return turned;
    }

    private StripeAppender connected() {
        return await(onLoop(() -> connector().connect(() -> {})));
    }

    private StripeAppender withKey() {
        StripeAppender appender = connected();
        await(onLoop(() -> appender.create(stripe)));
        return appender;
    }

    @CanIgnoreReturnValue
    private StripeAppender with(long from, long through) {
        StripeAppender appender = withKey();
        await(onLoop(() -> appender.append(stripe, events(from, through))));
        return appender;
    }

    private LiveLogPage all() {
        return await(reader().range(stripe, Position.ZERO, Position.MAX, 1_000));
    }

    @Test
    void aMissingKeyIsNotAnEmptyOneAndIsNeverMadeByAnAppend() {
        StripeAppender appender = connected();
        assertFalse(await(reader().state(stripe)).exists());
        assertEquals(
                LiveLogException.Kind.KEY_MISSING, kindOf(onLoop(() -> appender.append(stripe, List.of(event(1))))));
        assertEquals(LiveLogException.Kind.KEY_MISSING, kindOf(onLoop(() -> appender.append(stripe, events(1, 3)))));
        assertEquals(LiveLogException.Kind.KEY_MISSING, kindOf(onLoop(() -> appender.fence(stripe, at(9)))));
        assertFalse(await(reader().state(stripe)).exists());
        assertEquals(List.of(), all().events());
    }

    @Test
    void createMakesAnEmptyStreamAndLeavesAnExistingOneAlone() {
        StripeAppender appender = withKey();
        LiveLogState empty = await(reader().state(stripe));
        assertTrue(empty.exists());
        assertEquals(0, empty.length());
        assertEquals(Position.ZERO, empty.first());
        assertEquals(Position.ZERO, empty.lastGenerated());
        await(onLoop(() -> appender.append(stripe, events(1, 5))));
        await(onLoop(() -> appender.create(stripe)));
        LiveLogState state = await(reader().state(stripe));
        assertEquals(5, state.length());
        assertEquals(at(5), state.lastGenerated());
    }

    @Test
    void whatWasAppendedIsReadInBothDirections() {
        StripeAppender appender = withKey();
        await(onLoop(() -> appender.append(stripe, List.of(event(1)))));
        await(onLoop(() -> appender.append(stripe, events(2, 10))));
        LiveLogPage page = await(reader().range(stripe, at(2), at(8), 4));
        assertEquals(longs(3, 6), ordinals(page));
        assertEquals(at(6), page.last());
        assertTrue(page.full());
        LiveLogPage rest = await(reader().range(stripe, page.last(), at(8), 4));
        assertEquals(longs(7, 8), ordinals(rest));
        assertFalse(rest.full());
        LiveLogPage newest = await(reader().rangeReverse(stripe, Position.MAX, at(3), 100));
        assertEquals(reversed(longs(3, 10)), ordinals(newest));
        LiveLogPage before = await(reader().rangeReverse(stripe, at(10), Position.ZERO, 2));
        assertEquals(List.of(9L, 8L), ordinals(before));
        assertEquals(at(8), before.last());
        assertTrue(before.full());
        assertArrayEquals(event(9).payload(), before.events().get(0).payload());
        assertEquals(at(9), before.events().get(0).id());
    }

    @Test
    void anEmptyRangeEndsWhereItStarted() {
        with(1, 5);
        LiveLogPage above = await(reader().range(stripe, at(5), Position.MAX, 10));
        assertEquals(new LiveLogPage(List.of(), 0, at(5), false), above);
        LiveLogPage below = await(reader().rangeReverse(stripe, at(1), Position.ZERO, 10));
        assertEquals(new LiveLogPage(List.of(), 0, at(1), false), below);
        assertEquals(List.of(), ordinals(await(reader().range(stripe, at(4), at(2), 10))));
        assertEquals(List.of(), ordinals(await(reader().rangeReverse(stripe, Position.ZERO, Position.ZERO, 10))));
        assertEquals(List.of(), ordinals(await(reader().range(stripe, Position.MAX, Position.MAX, 10))));
    }

    @Test
    void theAppendersOwnReadsSeeWhatItWroteBefore() {
        StripeAppender appender = withKey();
        Future<LiveLogPage> read = onLoop(() -> {
            Future<Void> first = appender.append(stripe, events(1, 3));
            Future<LiveLogPage> behind = appender.range(stripe, Position.ZERO, Position.MAX, 10);
            return first.compose(none -> behind);
        });
        assertEquals(longs(1, 3), ordinals(await(read)));
        assertEquals(
                List.of(3L), ordinals(await(onLoop(() -> appender.rangeReverse(stripe, at(9), Position.ZERO, 1)))));
        assertEquals(3, await(onLoop(() -> appender.state(stripe))).length());
        assertEquals(0, await(onLoop(() -> Future.succeededFuture(appender.inFlight()))));
    }

    @Test
    void aBatchWithALowIdIsRefusedWhole() {
        StripeAppender appender = with(1, 5);
        assertEquals(LiveLogException.Kind.ID_TOO_LOW, kindOf(onLoop(() -> appender.append(stripe, events(5, 9)))));
        assertEquals(
                LiveLogException.Kind.ID_TOO_LOW, kindOf(onLoop(() -> appender.append(stripe, List.of(event(5))))));
        assertEquals(longs(1, 5), ordinals(all()));
        await(onLoop(() -> appender.append(stripe, events(6, 9))));
        assertEquals(longs(1, 9), ordinals(all()));
    }

    @Test
    @Tag("F15")
    void belowAFenceNothingIsAcceptedAndAboveItEverythingIs() {
        StripeAppender appender = with(1, 5);
        await(onLoop(() -> appender.fence(stripe, at(20))));
        assertEquals(at(20), await(reader().state(stripe)).lastGenerated());
        assertEquals(at(5), await(reader().state(stripe)).last());
        assertEquals(
                LiveLogException.Kind.ID_TOO_LOW, kindOf(onLoop(() -> appender.append(stripe, List.of(event(6))))));
        assertEquals(LiveLogException.Kind.ID_TOO_LOW, kindOf(onLoop(() -> appender.append(stripe, events(20, 21)))));
        await(onLoop(() -> appender.append(stripe, events(21, 22))));
        assertEquals(List.of(1L, 2L, 3L, 4L, 5L, 21L, 22L), ordinals(all()));
    }

    @Test
    void aFenceBelowTheTopEntryIsRefused() {
        StripeAppender appender = with(1, 5);
        assertEquals(LiveLogException.Kind.ID_TOO_LOW, kindOf(onLoop(() -> appender.fence(stripe, at(4)))));
        assertEquals(at(5), await(reader().state(stripe)).lastGenerated());
        await(onLoop(() -> appender.fence(stripe, at(5))));
    }

    @Test
    @Tag("R27")
    void aTrimIsExactWhateverTheNumber() {
        with(1, 250);
        assertEquals(149, await(trimmer().trim(stripe, at(150))));
        assertEquals(longs(150, 250), ordinals(all()));
        assertEquals(0, await(trimmer().trim(stripe, at(150))));
        assertEquals(100, await(trimmer().trim(stripe, at(250))));
        LiveLogState state = await(reader().state(stripe));
        assertEquals(1, state.length());
        assertEquals(at(250), state.first());
        assertEquals(1, await(trimmer().trim(stripe, at(250).next())));
        LiveLogState empty = await(reader().state(stripe));
        assertTrue(empty.exists());
        assertEquals(0, empty.length());
        assertEquals(at(250), empty.lastGenerated());
    }

    @Test
    void aTrimOfAMissingKeyRemovesNothing() {
        assertEquals(0, await(trimmer().trim(stripe, at(9))));
    }

    @Test
    void foreignEntriesAreCountedAndPassedOver() {
        StripeAppender appender = with(1, 2);
        addForeign(stripe, at(3));
        await(onLoop(() -> appender.append(stripe, List.of(event(4)))));
        addForeign(stripe, at(5));
        LiveLogPage page = all();
        assertEquals(List.of(1L, 2L, 4L), ordinals(page));
        assertEquals(2, page.foreign());
        assertEquals(at(5), page.last());
        LiveLogPage two = await(reader().range(stripe, at(1), Position.MAX, 2));
        assertEquals(List.of(2L), ordinals(two));
        assertEquals(1, two.foreign());
        assertEquals(at(3), two.last());
        assertTrue(two.full());
    }

    @Test
    void aKeyThatOthersDeletedIsReportedByTheNextAppend() {
        StripeAppender appender = with(1, 5);
        deleteByOthers(stripe);
        assertEquals(
                LiveLogException.Kind.KEY_MISSING, kindOf(onLoop(() -> appender.append(stripe, List.of(event(6))))));
        assertFalse(await(reader().state(stripe)).exists());
    }

    @Test
    void aClosedAppenderSendsNothing() {
        StripeAppender appender = with(1, 2);
        await(onLoop(() -> {
            appender.close();
            return Future.succeededFuture();
        }));
        assertEquals(LiveLogException.Kind.NOT_SENT, kindOf(onLoop(() -> appender.append(stripe, List.of(event(3))))));
        assertEquals(LiveLogException.Kind.NOT_SENT, kindOf(onLoop(() -> appender.fence(stripe, at(9)))));
        assertEquals(LiveLogException.Kind.NOT_SENT, kindOf(onLoop(() -> appender.state(stripe))));
        assertEquals(longs(1, 2), ordinals(all()));
    }

    @Test
    void adminMakesAndRemovesAllOfAStream() {
        StripeId second = new StripeId(stream, 1);
        await(admin().create(stream, 2, "{\"stripes\":2}"));
        assertTrue(await(reader().state(stripe)).exists());
        assertTrue(await(reader().state(second)).exists());
        await(admin().create(stream, 2, "{\"stripes\":2}"));
        await(trimmer().copySeam(stream, at(7)));
        assertEquals(EventId.of(at(7)) + " " + at(7) + " " + stream.generation(), seamText(stream.name()));
        assertEquals(at(7), await(trimmer().copiedSeam(stream)));
        StreamId another =
                new StreamId(stream.name(), new Generation(stream.generation().number() ^ 1));
        assertEquals(Position.ZERO, await(trimmer().copiedSeam(another)));
        await(admin().delete(stream, 2));
        assertFalse(await(reader().state(stripe)).exists());
        assertFalse(await(reader().state(second)).exists());
        assertEquals("", seamText(stream.name()));
        await(admin().delete(stream, 2));
    }

    @Test
    void aDeletedGenerationTakesNothingOfANewerOneWithIt() {
        StreamId later = new StreamId(stream.name(), new Generation(77));
        await(admin().create(stream, 1, "{\"generation\":\"" + stream.generation() + "\"}"));
        await(admin().create(later, 1, "{\"generation\":\"" + later.generation() + "\"}"));
        await(trimmer().copySeam(later, at(7)));
        await(admin().delete(stream, 1));
        assertFalse(await(reader().state(stripe)).exists());
        assertTrue(await(reader().state(new StripeId(later, 0))).exists());
        assertTrue(seamText(stream.name()).endsWith(later.generation().toString()));
        await(admin().delete(later, 1));
        assertEquals("", seamText(stream.name()));
    }

    @Test
    void stripesAndGenerationsNeverMeet() {
        StripeAppender appender = with(1, 3);
        StreamId later = new StreamId(stream.name(), new Generation(77));
        await(admin().create(later, 2, "{}"));
        await(onLoop(() -> appender.append(new StripeId(later, 1), events(1, 1))));
        assertEquals(longs(1, 3), ordinals(all()));
        assertEquals(0, await(reader().state(new StripeId(later, 0))).length());
        assertEquals(1, await(reader().state(new StripeId(later, 1))).length());
        assertNotNull(await(reader().state(stripe)));
        await(admin().delete(later, 2));
        assertEquals(longs(1, 3), ordinals(all()));
    }

    @Test
    void foreignEntriesAreMovedToQuarantineAndOursStay() {
        StripeAppender appender = with(1, 2);
        addForeign(stripe, at(3));
        await(onLoop(() -> appender.append(stripe, List.of(event(4)))));
        addForeign(stripe, at(5));
        assertEquals(new LiveLogCensus(true, 5, 1, 0), await(onLoop(() -> appender.census(stripe))));
        StripeAppender.Quarantined first = await(onLoop(() -> appender.quarantine(stripe, Position.ZERO, false, 3)));
        assertEquals(new StripeAppender.Quarantined(1, at(3), at(3), true), first);
        StripeAppender.Quarantined rest = await(onLoop(() -> appender.quarantine(stripe, first.last(), false, 3)));
        assertEquals(new StripeAppender.Quarantined(1, at(5), at(5), false), rest);
        assertEquals(List.of(1L, 2L, 4L), ordinals(all()));
        assertEquals(0, all().foreign());
        LiveLogCensus census = await(onLoop(() -> appender.census(stripe)));
        assertEquals(new LiveLogCensus(true, 3, 1, 4), census);
        assertEquals(-1, census.surplus());
        await(onLoop(() -> appender.append(stripe, List.of(event(6)))));
    }

    @Test
    void aPositionThatOthersPutAheadIsPutBackAndNothingOfOursIsLost() {
        StripeAppender appender = with(1, 250);
        addForeign(stripe, at(1_000_000));
        assertEquals(
                LiveLogException.Kind.ID_TOO_LOW, kindOf(onLoop(() -> appender.append(stripe, List.of(event(300))))));
        assertEquals(
                LiveLogException.Kind.NOT_NOW,
                kindOf(onLoop(() -> appender.restorePosition(stripe, at(250), at(260)))));
        assertEquals(
                new StripeAppender.Quarantined(1, at(1_000_000), at(1_000_000), false),
                await(onLoop(() -> appender.quarantine(stripe, at(250), true, 10))));
        await(onLoop(() -> appender.restorePosition(stripe, at(250), at(260))));
        assertEquals(longs(1, 250), ordinals(all()));
        assertEquals(at(260), await(reader().state(stripe)).lastGenerated());
        assertEquals(
                LiveLogException.Kind.ID_TOO_LOW, kindOf(onLoop(() -> appender.append(stripe, List.of(event(259))))));
        await(onLoop(() -> appender.append(stripe, List.of(event(300)))));
    }

    @Test
    void aPositionAheadInAnEmptyStreamIsPutBack() {
        StripeAppender appender = withKey();
        addForeign(stripe, at(1_000_000));
        await(onLoop(() -> appender.quarantine(stripe, Position.ZERO, true, 10)));
        await(onLoop(() -> appender.restorePosition(stripe, Position.ZERO, at(3))));
        LiveLogState state = await(reader().state(stripe));
        assertEquals(0, state.length());
        assertEquals(at(3), state.lastGenerated());
        assertEquals(new LiveLogCensus(true, 0, 0, 0), await(onLoop(() -> appender.census(stripe))));
        await(onLoop(() -> appender.append(stripe, List.of(event(4)))));
    }

    @Test
    void theCensusOfAMissingKeySaysSo() {
        StripeAppender appender = connected();
        assertEquals(new LiveLogCensus(false, 0, 0, 0), await(onLoop(() -> appender.census(stripe))));
    }
}
