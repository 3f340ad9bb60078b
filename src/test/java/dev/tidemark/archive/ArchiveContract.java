package dev.tidemark.archive;

import static dev.tidemark.archive.Sample.DAY;
import static dev.tidemark.archive.Sample.DAY_MS;
import static dev.tidemark.archive.Sample.at;
import static dev.tidemark.archive.Sample.event;
import static dev.tidemark.archive.Sample.run;
import static dev.tidemark.archive.Sample.slices;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.BodyHash;
import dev.tidemark.event.Chunk;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventExtras;
import dev.tidemark.event.Gap;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Producer;
import dev.tidemark.event.RequestIds;
import dev.tidemark.event.RequestMark;
import dev.tidemark.event.Slice;
import dev.tidemark.event.StoredRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What every archive does, in memory or on disk. */
abstract class ArchiveContract {
    static final int ALL = Integer.MAX_VALUE;

    /** A new, empty archive that rolls daily. */
    abstract ArchiveAppender create();

    /** The same archive after the process ended without closing it; everything that was appended is still on disk. */
    abstract ArchiveAppender reopen(ArchiveAppender archive);

    static void fold(ArchiveAppender archive, List<Event> events) {
        archive.append(slices(events));
        archive.force();
        archive.publish(events.get(events.size() - 1).id());
    }

    static ArchivePage readAll(ArchiveReader archive) {
        return archive.read(Position.ZERO, Position.MAX, ALL, ALL);
    }

    static List<Position> ids(ArchivePage page) {
        return ids(page.events());
    }

    static List<Position> ids(Chunk events) {
        List<Position> ids = new ArrayList<>();
        for (int i = 0; i < events.count(); i++) {
            ids.add(events.position(i));
        }
        return ids;
    }

    static List<Position> ids(List<Event> events) {
        return events.stream().map(Event::id).toList();
    }

    static void assertSame(List<Event> expected, Chunk actual) {
        assertEquals(ids(expected), ids(actual));
        for (int i = 0; i < actual.count(); i++) {
            Event wanted = expected.get(i);
            Event read = actual.event(i);
            assertEquals(wanted.entry(), read.entry());
            assertEquals(wanted.ordinal(), read.ordinal());
            assertEquals(wanted.time(), read.time());
            assertEquals(wanted.late(), read.late());
            assertEquals(wanted.type(), read.type());
            assertEquals(wanted.extras(), read.extras());
            assertArrayEquals(wanted.payload(), read.payload());
        }
    }

    static void assertRefused(org.junit.jupiter.api.function.Executable call) {
        assertEquals(
                ArchiveException.Kind.SLICE_REFUSED,
                assertThrows(ArchiveException.class, call).kind());
    }

    @Test
    @Tag("F4")
    void anEmptyArchiveHasNoWatermarkAndNoEvents() {
        ArchiveAppender archive = create();
        archive.open();
        assertEquals(Position.ZERO, archive.watermark());
        assertEquals(Position.ZERO, archive.earliest());
        assertEquals(0, archive.events());
        assertEquals(new ArchiveEnd(Position.ZERO, Map.of()), archive.end());
        ArchivePage page = readAll(archive);
        assertEquals(List.of(), ids(page));
        assertEquals(List.of(), page.gaps());
        assertFalse(page.more());
        assertEquals(List.of(), ids(archive.readReverse(Position.MAX, Position.ZERO, 10, ALL)));
    }

    @Test
    @Tag("F1")
    @Tag("R26")
    void whatWasFoldedComesBackByteForByte() {
        ArchiveAppender archive = create();
        Random random = new Random(26);
        List<Event> events = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            events.add(Sample.random(at(i / 3, i), i + 1, random));
        }
        events.add(event(at(200_000, 0), 501, new byte[0]));
        events.add(event(at(200_000, 1), 502, new byte[] {(byte) 0xc3, 0x28}));
        events.add(event(at(200_000, 2), 503, new byte[] {0}));
        events.add(event(at(200_000, 3), 504, new byte[] {(byte) 0xff, '\r', '\n'}));
        fold(archive, events);
        assertSame(events, readAll(archive).events());
        assertEquals(504, archive.events());
        assertEquals(events.get(0).id(), archive.earliest());
        assertTrue(archive.bytes() > 0);
    }

    @Test
    void nothingIsVisibleBeforeItIsPublished() {
        ArchiveAppender archive = create();
        fold(archive, run(0, 1, 5));
        archive.append(slices(run(5, 6, 5)));
        assertEquals(5, readAll(archive).events().count());
        archive.force();
        assertEquals(5, readAll(archive).events().count());
        assertEquals(
                5,
                archive.readReverse(Position.MAX, Position.ZERO, ALL, ALL)
                        .events()
                        .count());
        assertEquals(5, archive.events());
        archive.publish(at(9, 0));
        assertEquals(10, readAll(archive).events().count());
        assertEquals(at(9, 0), archive.watermark());
    }

    @Test
    @Tag("F2")
    void anEmptySliceIsANoOp() {
        ArchiveAppender archive = create();
        fold(archive, run(0, 1, 3));
        archive.append(List.of());
        archive.append(List.of(new Slice(Sample.chunk(run(9, 9, 3)), 1, 1)));
        archive.force();
        assertEquals(at(2, 0), archive.end().watermark());
        fold(archive, run(3, 4, 1));
        assertEquals(4, readAll(archive).events().count());
    }

    @Test
    @Tag("F2")
    void aSliceThatDoesNotRiseIsRefusedBeforeAnythingIsWritten() {
        ArchiveAppender archive = create();
        fold(archive, run(0, 1, 3));
        assertRefused(() -> archive.append(slices(run(2, 3, 3))));
        assertRefused(() -> archive.append(List.of(
                Sample.chunk(run(10, 4, 3)).slice(), Sample.chunk(run(11, 7, 3)).slice())));
        fold(archive, run(3, 4, 2));
        assertSame(run(0, 1, 5), readAll(archive).events());
    }

    @Test
    void afterARefusalTheNextAppendStartsAtTheWatermark() {
        ArchiveAppender archive = create();
        fold(archive, run(0, 1, 3));
        archive.append(slices(run(3, 4, 3)));
        assertRefused(() -> archive.append(slices(run(5, 6, 3))));
        fold(archive, run(3, 4, 5));
        assertSame(run(0, 1, 8), readAll(archive).events());
        assertEquals(8, archive.end().lastOrdinal(0));
        assertSame(run(0, 1, 8), readAll(reopen(archive)).events());
    }

    @Test
    @Tag("F2")
    void aSliceOverTheBorderOfARollFileIsRefused() {
        ArchiveAppender archive = create();
        assertRefused(() -> archive.append(slices(run(DAY_MS - 2, 1, 4))));
        assertEquals(new Position(DAY + DAY_MS - 1, Long.MAX_VALUE), archive.sliceEnd(at(DAY_MS - 2, 0)));
        assertEquals(new Position(DAY + DAY_MS - 1, Long.MAX_VALUE), archive.sliceEnd(at(0, 0)));
        fold(archive, run(DAY_MS - 2, 1, 2));
        fold(archive, run(DAY_MS, 3, 2));
        assertSame(run(DAY_MS - 2, 1, 4), readAll(archive).events());
    }

    @Test
    @Tag("F12")
    void anExactMillisecondWindowHasItsFirstMillisecondAndNotTheOneAtItsEnd() {
        ArchiveAppender archive = create();
        List<Event> events = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            events.add(event(at(i / 3, i % 3 == 0 ? 0 : i), i + 1));
        }
        fold(archive, events);
        List<Event> wanted = events.subList(15, 30);
        Position from = new Position(DAY + 5, 0);
        Position to = new Position(DAY + 10, 0);
        assertEquals(ids(wanted), ids(archive.read(Position.before(DAY + 5), Position.before(DAY + 10), ALL, ALL)));
        assertEquals(ids(wanted), ids(archive.readReverse(to, from, ALL, ALL)));
    }

    @Test
    void pagesEndAtTheirBoundsAndSayWhetherTheRangeGoesOn() {
        ArchiveAppender archive = create();
        fold(archive, run(0, 1, 10));
        assertPage(archive.read(Position.ZERO, Position.MAX, 4, ALL), 0, 4, true);
        assertPage(archive.read(at(3, 0), Position.MAX, 6, ALL), 4, 10, false);
        assertPage(archive.read(at(3, 0), at(5, 0), 2, ALL), 4, 6, false);
        assertPage(archive.read(at(3, 0), at(6, 0), 2, ALL), 4, 6, true);
        assertPage(archive.read(at(3, 0), at(3, 9), 2, ALL), 4, 4, false);
        assertPage(archive.read(at(3, 0), at(3, 0), 2, ALL), 4, 4, false);
        assertPage(archive.read(at(5, 0), at(3, 0), 2, ALL), 4, 4, false);
        assertPage(archive.read(at(9, 0), Position.MAX, 2, ALL), 10, 10, false);
        assertPage(archive.readReverse(Position.MAX, Position.ZERO, 4, ALL), 6, 10, true);
        assertPage(archive.readReverse(at(6, 0), Position.ZERO, 6, ALL), 0, 6, false);
        assertPage(archive.readReverse(at(6, 0), at(4, 0), 2, ALL), 4, 6, false);
        assertPage(archive.readReverse(at(6, 0), at(3, 0), 2, ALL), 4, 6, true);
        assertPage(archive.readReverse(at(6, 0), at(6, 0), 2, ALL), 4, 4, false);
        assertPage(archive.readReverse(at(0, 0), Position.ZERO, 2, ALL), 0, 0, false);
    }

    private static void assertPage(ArchivePage page, int from, int to, boolean more) {
        assertEquals(ids(run(from, from + 1, to - from)), ids(page));
        assertEquals(more, page.more());
        assertEquals(List.of(), page.gaps());
    }

    @Test
    void aPageHasOneEventHoweverLargeAndEndsBehindTheOneThatReachesTheBytes() {
        ArchiveAppender archive = create();
        List<Event> events = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            events.add(event(at(i, 0), i + 1, new byte[10_000]));
        }
        fold(archive, events);
        assertEquals(
                1, archive.read(Position.ZERO, Position.MAX, ALL, 1).events().count());
        assertEquals(
                1,
                archive.readReverse(Position.MAX, Position.ZERO, ALL, 1)
                        .events()
                        .count());
        assertEquals(List.of(at(9, 0)), ids(archive.readReverse(Position.MAX, Position.ZERO, ALL, 1)));
        int three = (int) (2 * ArchivePage.weight("application/octet-stream", 10_000)) + 1;
        assertEquals(
                3,
                archive.read(Position.ZERO, Position.MAX, ALL, three).events().count());
        ArchivePage newest = archive.readReverse(Position.MAX, Position.ZERO, ALL, three);
        assertEquals(List.of(at(7, 0), at(8, 0), at(9, 0)), ids(newest));
        assertTrue(newest.more());
    }

    @Test
    void lostOrdinalsAreAGapAndRefusedOnesAreNot() {
        ArchiveAppender archive = create();
        fold(archive, run(0, 1, 2));
        archive.appendMissing(
                0, new OrdinalRange(3, 5), true, at(1, 0), at(10, 0).previous());
        archive.append(slices(event(at(10, 0), 6)));
        archive.appendMissing(
                0, new OrdinalRange(7, 7), false, at(10, 0), at(20, 0).previous());
        archive.append(slices(event(at(20, 0), 8)));
        archive.force();
        archive.publish(at(20, 0));
        Gap gap = new Gap(at(1, 0), at(10, 0).previous(), Gap.Reason.LOST);
        ArchivePage all = readAll(archive);
        assertEquals(List.of(at(0, 0), at(1, 0), at(10, 0), at(20, 0)), ids(all));
        assertEquals(List.of(gap), all.gaps());
        assertEquals(4, archive.events());
        assertEquals(
                List.of(gap),
                archive.readReverse(Position.MAX, Position.ZERO, ALL, ALL).gaps());
        assertEquals(List.of(gap), archive.read(at(1, 0), at(10, 0), ALL, ALL).gaps());
        assertEquals(List.of(), archive.read(Position.ZERO, at(1, 0), ALL, ALL).gaps());
        assertEquals(List.of(), archive.read(at(10, 0), Position.MAX, ALL, ALL).gaps());
        assertEquals(
                List.of(new Gap(at(5, 0), at(7, 0), Gap.Reason.LOST)),
                archive.read(at(5, 0), at(7, 0), ALL, ALL).gaps());
        ArchivePage first = archive.read(Position.ZERO, Position.MAX, 2, ALL);
        assertEquals(List.of(), first.gaps());
        assertTrue(first.more());
        assertEquals(List.of(gap), archive.read(at(1, 0), Position.MAX, 1, ALL).gaps());
        assertEquals(8, archive.end().lastOrdinal(0));
    }

    @Test
    void ordinalsLostBeforeTheFirstAndBehindTheLastEventCount() {
        ArchiveAppender archive = create();
        archive.appendMissing(0, new OrdinalRange(1, 2), true, Position.ZERO, at(4, 0));
        archive.append(slices(event(at(5, 0), 3)));
        archive.appendMissing(0, new OrdinalRange(4, 9), true, at(5, 0), at(8, 0));
        archive.force();
        archive.publish(at(5, 0));
        assertEquals(new ArchiveEnd(at(5, 0), Map.of(0, 9L)), archive.end());
        assertEquals(
                List.of(new Gap(Position.ZERO, at(4, 0), Gap.Reason.LOST)),
                readAll(archive).gaps());
        ArchiveAppender next = reopen(archive);
        assertEquals(new ArchiveEnd(at(5, 0), Map.of(0, 9L)), next.end());
        fold(next, List.of(event(at(9, 0), 10)));
        assertEquals(
                List.of(
                        new Gap(Position.ZERO, at(4, 0), Gap.Reason.LOST),
                        new Gap(at(5, 0), at(8, 0), Gap.Reason.LOST)),
                readAll(next).gaps());
    }

    @Test
    void ordinalsAreToldFromAPlaceOn() {
        ArchiveAppender archive = create();
        fold(archive, run(0, 1, 3));
        archive.append(slices(event(at(10, 0), 6)));
        archive.appendMissing(
                0, new OrdinalRange(7, 8), false, at(10, 0), at(20, 0).previous());
        archive.append(slices(event(at(20, 0), 4), event(at(21, 0), 9)));
        archive.force();
        archive.publish(at(21, 0));
        for (ArchiveAppender each : List.of(archive, reopen(archive))) {
            ArchivedOrdinals found =
                    Objects.requireNonNull(each.ordinalsAbove(at(2, 0)).get(0));
            List<Long> ordinals = found.ranges().stream()
                    .flatMap(range ->
                            LongStream.rangeClosed(range.first(), range.last()).boxed())
                    .toList();
            assertEquals(List.of(6L, 7L, 8L, 4L, 9L), ordinals);
            assertEquals(9, found.last());
            assertEquals(at(21, 0), found.lastEntry());
            assertEquals(null, found.untold());
            assertEquals(at(20, 0), each.entryOf(0, 4, at(2, 0)));
            assertEquals(Position.ZERO, each.entryOf(0, 1, at(2, 0)));
            assertEquals(Map.of(), each.ordinalsAbove(at(21, 0)));
        }
    }

    @Test
    void aLossThatIsAnnouncedBehindTheLastEventIsUntold() {
        ArchiveAppender archive = create();
        fold(archive, run(0, 1, 2));
        archive.appendMissing(0, new OrdinalRange(3, 3), true, at(1, 0), at(9, 0));
        archive.force();
        ArchiveAppender next = reopen(archive);
        Gap gap = new Gap(at(1, 0), at(9, 0), Gap.Reason.LOST);
        assertEquals(
                gap,
                Objects.requireNonNull(next.ordinalsAbove(Position.ZERO).get(0)).untold());
        fold(next, List.of(event(at(10, 0), 4)));
        assertEquals(
                null,
                Objects.requireNonNull(next.ordinalsAbove(Position.ZERO).get(0)).untold());
        assertEquals(List.of(gap), readAll(next).gaps());
    }

    @Test
    void aLossThatReachesBelowTheEventBeforeItIsToldWholeToWhoeverReadsOn() {
        ArchiveAppender archive = create();
        fold(archive, run(0, 1, 5));
        archive.appendMissing(0, new OrdinalRange(6, 6), true, at(1, 0), at(4, 1));
        archive.append(slices(event(at(10, 0), 7)));
        archive.force();
        archive.publish(at(10, 0));
        Gap gap = new Gap(at(1, 0), at(4, 1), Gap.Reason.LOST);
        assertEquals(List.of(gap), readAll(archive).gaps());
        assertEquals(
                List.of(gap), archive.read(at(3, 0), Position.MAX, ALL, ALL).gaps());
        assertEquals(List.of(), archive.read(at(10, 0), Position.MAX, ALL, ALL).gaps());
    }

    @Test
    @Tag("F4")
    @Tag("F5")
    void theEndIsFoundAgainAfterAnUncleanStop() {
        ArchiveAppender archive = create();
        fold(archive, run(0, 1, 100));
        archive.append(slices(run(100, 101, 7)));
        ArchiveAppender next = reopen(archive);
        assertEquals(new ArchiveEnd(at(106, 0), Map.of(0, 107L)), next.end());
        assertEquals(at(106, 0), next.watermark());
        assertEquals(107, next.events());
        assertEquals(at(0, 0), next.earliest());
        assertSame(run(0, 1, 107), readAll(next).events());
        assertRefused(() -> next.append(slices(run(100, 101, 7))));
        fold(next, run(107, 108, 3));
        assertSame(run(0, 1, 110), readAll(next).events());
    }

    @Test
    @Tag("F4")
    void theWatermarkNeverGoesBackAndNeverPassesWhatIsForced() {
        ArchiveAppender archive = create();
        fold(archive, run(0, 1, 3));
        assertThrows(IllegalArgumentException.class, () -> archive.publish(at(1, 0)));
        archive.append(slices(run(3, 4, 3)));
        assertThrows(IllegalArgumentException.class, () -> archive.publish(at(5, 0)));
        archive.publish(at(2, 0));
        assertEquals(at(2, 0), archive.watermark());
    }

    @Test
    void aClosedArchiveOpensAgain() {
        ArchiveAppender archive = create();
        fold(archive, run(0, 1, 3));
        archive.close();
        archive.close();
        assertEquals(at(2, 0), archive.watermark());
        assertEquals(3, readAll(archive).events().count());
        archive.close();
        fold(archive, run(3, 4, 3));
        assertSame(run(0, 1, 6), readAll(archive).events());
    }

    @Test
    void fileBordersDoNotShowInReads() {
        ArchiveAppender archive = create();
        List<Event> events = new ArrayList<>();
        for (int day = 0; day < 6; day++) {
            if (day != 3) {
                List<Event> one = run(day * DAY_MS + 50, events.size() + 1, 20);
                fold(archive, one);
                events.addAll(one);
            }
        }
        assertSame(events, readAll(archive).events());
        for (int size = 1; size <= 41; size += 8) {
            assertEquals(ids(events), forwards(archive, size));
            assertEquals(ids(events), backwards(archive, size));
        }
        assertEquals(List.of(), readAll(archive).gaps());
        assertEquals(100, archive.events());
    }

    static List<Position> forwards(ArchiveReader archive, int pageSize) {
        List<Position> read = new ArrayList<>();
        Position after = Position.ZERO;
        ArchivePage page;
        do {
            page = archive.read(after, Position.MAX, pageSize, ALL);
            read.addAll(ids(page));
            after = page.events().count() == 0 ? after : page.events().last();
        } while (page.more());
        return read;
    }

    static List<Position> backwards(ArchiveReader archive, int pageSize) {
        List<Position> read = new ArrayList<>();
        Position before = Position.MAX;
        ArchivePage page;
        do {
            page = archive.readReverse(before, Position.ZERO, pageSize, ALL);
            read.addAll(0, ids(page));
            before = page.events().count() == 0 ? before : page.events().first();
        } while (page.more());
        return read;
    }

    @Test
    void randomSlicesAndRandomReadsInBothDirectionsAgreeWithAList() {
        long seed = Objects.requireNonNull(Long.getLong("seed", System.nanoTime()));
        System.out.println("randomSlicesAndRandomReads: -Dseed=" + seed);
        Random random = new Random(seed);
        ArchiveAppender archive = create();
        List<Event> model = new ArrayList<>();
        Position last = at(0, 0);
        for (int round = 0; round < 60; round++) {
            last = new Position(last.ms() + (random.nextInt(6) == 0 ? DAY_MS : 5), 0);
            List<Event> slice = new ArrayList<>();
            for (int i = random.nextInt(40); i >= 0; i--) {
                last = random.nextBoolean()
                        ? new Position(last.ms(), last.seq() + 1 + random.nextInt(3))
                        : new Position(last.ms() + random.nextInt(20), last.seq() + 1);
                slice.add(Sample.random(last, model.size() + slice.size() + 1, random));
            }
            Position end = archive.sliceEnd(slice.get(0).id());
            slice.removeIf(event -> event.id().isAfter(end));
            fold(archive, slice);
            model.addAll(slice);
            last = slice.get(slice.size() - 1).id();
            if (random.nextInt(12) == 0) {
                archive = reopen(archive);
            }
            assertEquals(last, archive.end().watermark());
            readSomewhere(archive, model, random);
        }
        assertSame(model, readAll(archive).events());
    }

    private static void readSomewhere(ArchiveReader archive, List<Event> model, Random random) {
        Position low = somewhere(model, random);
        Position high = somewhere(model, random);
        int size = 1 + random.nextInt(30);
        List<Event> range = model.stream()
                .filter(event -> event.id().isAfter(low) && !event.id().isAfter(high))
                .toList();
        ArchivePage page = archive.read(low, high, size, ALL);
        assertSame(range.subList(0, Math.min(size, range.size())), page.events());
        assertEquals(range.size() > size, page.more());
        List<Event> reverse = model.stream()
                .filter(event -> !event.id().isBefore(low) && event.id().isBefore(high))
                .toList();
        ArchivePage back = archive.readReverse(high, low, size, ALL);
        assertSame(reverse.subList(Math.max(0, reverse.size() - size), reverse.size()), back.events());
        assertEquals(reverse.size() > size, back.more());
    }

    private static Position somewhere(List<Event> model, Random random) {
        Position id = model.get(random.nextInt(model.size())).id();
        return switch (random.nextInt(4)) {
            case 0 -> id.next();
            case 1 -> id.previous();
            case 2 -> new Position(id.ms() + random.nextInt(2_000), 0);
            default -> id;
        };
    }

    private static Event marked(long ms, long ordinal, String id, long seq) {
        Position at = at(ms, 0);
        RequestMark mark = new RequestMark(new BodyHash(ordinal, seq), RequestIds.of(List.of(at, at(ms, 1))));
        EventExtras extras = new EventExtras(new Producer(id, 0, seq), mark, List.of());
        return new Event(at, at, ordinal, Event.NO_TIME, false, "application/json", extras, new byte[] {'1'});
    }

    private static List<StoredRequest> requests(Event... events) {
        List<StoredRequest> requests = new ArrayList<>();
        for (Event event : events) {
            requests.add(Objects.requireNonNull(StoredRequest.of(event)));
        }
        return requests;
    }

    @Test
    @Tag("R28")
    void anArchiveWithoutProducersKnowsNone() {
        ArchiveAppender archive = create();
        assertFalse(archive.hasProducers());
        fold(archive, run(0, 1, 10));
        assertFalse(archive.hasProducers());
        assertEquals(Map.of(), archive.producers());
        assertFalse(reopen(archive).hasProducers());
    }

    @Test
    @Tag("R28")
    void requestsOfProducersAreFoundUpToW() {
        ArchiveAppender archive = create();
        Event first = marked(5, 11, "p", 0);
        Event second = marked(7, 12, "q", 9);
        fold(archive, run(0, 1, 5));
        fold(archive, List.of(first));
        fold(archive, List.of(event(at(6, 0), 2), second));
        fold(archive, run(8, 13, 20));
        archive.append(slices(marked(99, 40, "unpublished", 0)));
        assertTrue(archive.hasProducers());
        assertEquals(Map.of(0, requests(first, second)), archive.producers());
    }

    @Test
    @Tag("R28")
    void aCheckpointStandsForAllBeforeItAlsoAfterAKill() {
        ArchiveAppender archive = create();
        fold(archive, List.of(marked(1, 1, "forgotten", 0), event(at(2, 0), 2)));
        List<StoredRequest> many = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            many.addAll(requests(marked(3, 3, "p" + i, i)));
        }
        archive.append(slices(marked(3, 3, "p0", 0)));
        archive.appendProducers(Map.of(0, many));
        archive.force();
        archive.publish(at(3, 0));
        assertEquals(Map.of(0, many), archive.producers());
        Event behind = marked(4, 4, "q", 0);
        fold(archive, List.of(behind));
        List<StoredRequest> all = new ArrayList<>(many);
        all.addAll(requests(behind));
        assertEquals(Map.of(0, all), archive.producers());
        ArchiveAppender again = reopen(archive);
        assertEquals(Map.of(0, all), again.producers());
        assertEquals(at(4, 0), again.end().watermark());
        assertEquals(List.of(at(1, 0), at(2, 0), at(3, 0), at(4, 0)), ids(readAll(again)));
        assertEquals(4, again.events());
    }

    @Test
    @Tag("R28")
    void aCheckpointInANewRollFileAndOneOfNothingAreTaken() {
        ArchiveAppender archive = create();
        Event old = marked(1, 1, "p", 0);
        fold(archive, List.of(old));
        archive.append(slices(run(DAY_MS, 2, 3)));
        archive.appendProducers(Map.of(0, requests(old), 3, requests(marked(1, 1, "other stripe", 0))));
        archive.force();
        archive.publish(at(DAY_MS + 2, 0));
        assertEquals(Map.of(0, requests(old), 3, requests(marked(1, 1, "other stripe", 0))), archive.producers());
        fold(archive, run(DAY_MS + 10, 5, 1));
        ArchiveAppender again = reopen(archive);
        assertEquals(2, again.producers().size());
        again.append(slices(run(DAY_MS + 20, 6, 1)));
        again.appendProducers(Map.of());
        again.force();
        again.publish(at(DAY_MS + 20, 0));
        assertEquals(Map.of(), again.producers());
        assertEquals(Map.of(), reopen(again).producers());
    }

    @Test
    @Tag("R28")
    void missingOrdinalsBehindACheckpointsFileAreStillTold() {
        ArchiveAppender archive = create();
        archive.append(slices(marked(1, 1, "p", 0)));
        archive.appendMissing(0, new OrdinalRange(2, 3), true, at(1, 0), at(DAY_MS, 5));
        archive.appendProducers(Map.of(0, requests(marked(1, 1, "p", 0))));
        archive.force();
        archive.publish(at(1, 0));
        fold(archive, List.of(event(at(DAY_MS, 6), 4)));
        ArchivePage page = archive.read(at(DAY_MS, 0), Position.MAX, ALL, ALL);
        assertEquals(List.of(new Gap(at(DAY_MS, 0), at(DAY_MS, 5), Gap.Reason.LOST)), page.gaps());
        assertEquals(List.of(at(DAY_MS, 6)), ids(page));
    }
}
