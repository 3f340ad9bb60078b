package dev.tidemark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.ContentType;
import dev.tidemark.event.Cursor;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.StreamName;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class StreamScanTest {
    private final World world = new World();

    private static ReadRequest request(
            @Nullable String after, @Nullable String before, @Nullable Long fromMs, @Nullable Long toMs, boolean down) {
        return new ReadRequest(after, before, fromMs, toMs, Long.MAX_VALUE, down, View.LIVE, false);
    }

    private static ReadRequest everything() {
        return request(null, null, null, null, false);
    }

    private static ReadRequest after(String position) {
        return request(position, null, null, null, false);
    }

    private Future<Reads.Scan> scan(ReadRequest request) {
        return world.reads().scan(world.id.name(), request);
    }

    private Problem refused(ReadRequest request) {
        Future<Reads.Scan> scan = scan(request);
        assertTrue(scan.failed(), "it was taken");
        return assertInstanceOf(Problem.class, scan.cause());
    }

    /** All pages of a read as one, in reading order. */
    private record Whole(List<Long> ordinals, List<Gap> gaps, ReadPage last, int pages) {}

    private Whole read(ReadRequest request) {
        return read(request, 7, 1 << 20);
    }

    private Whole read(ReadRequest request, int eventsMax, long bytesMax) {
        Reads.Scan scan = scan(request).result();
        List<Long> ordinals = new ArrayList<>();
        List<Gap> gaps = new ArrayList<>();
        for (int pages = 1; ; pages++) {
            ReadPage page = scan.next(eventsMax, bytesMax).result();
            List<Long> given = ordinals(page);
            if (request.descending()) {
                java.util.Collections.reverse(given);
            }
            assertTrue(given.size() <= eventsMax);
            ordinals.addAll(given);
            gaps.addAll(page.gaps());
            if (page.end()) {
                return new Whole(ordinals, gaps, page, pages);
            }
        }
    }

    private List<Long> ordinals(ReadPage page) {
        List<Long> ordinals = new ArrayList<>();
        page.events().forEach(slice -> {
            for (int i = slice.from(); i < slice.to(); i++) {
                ordinals.add(slice.chunk().ordinal(i));
            }
        });
        return ordinals;
    }

    private static List<Long> run(long from, long to) {
        List<Long> run = new ArrayList<>();
        for (long i = from; from <= to ? i <= to : i >= to; i += from <= to ? 1 : -1) {
            run.add(i);
        }
        return run;
    }

    /** 1 to 40 archived and trimmed, 41 to 60 archived and still in Redis, 61 to 80 only in Redis, 81 to 100 in memory. */
    private void spread() {
        world.append(40)
                .foldAll()
                .trimAll()
                .append(20)
                .foldAll()
                .append(20)
                .seal()
                .releaseAll()
                .append(20);
    }

    @Test
    @Tag("F7")
    void archiveLiveLogAndMemoryAreOneOrderedStreamInBothDirections() {
        spread();
        Whole up = read(everything());
        assertEquals(run(1, 100), up.ordinals());
        assertTrue(up.last().bounded() && up.last().complete());
        assertTrue(world.redisReads > 0 && world.archiveReads > 0);
        assertEquals(run(100, 1), read(request(null, null, null, null, true)).ordinals());
    }

    @Test
    @Tag("F7")
    void withNothingFoldedEverythingComesFromMemory() {
        world.append(50);
        assertEquals(run(1, 50), read(everything()).ordinals());
        assertEquals(0, world.redisReads + world.archiveReads);
    }

    @Test
    @Tag("F12")
    void anExactMillisecondWindowHasItsFirstMillisecondAndNotItsLast() {
        for (int i = 0; i < 5; i++) {
            world.append(3).nextMs(1);
        }
        long first = World.START_MS + 1;
        for (int place = 0; place < 2; place++) {
            assertEquals(
                    run(4, 9),
                    read(request(null, null, first, first + 2, false)).ordinals());
            assertEquals(
                    run(9, 4), read(request(null, null, first, first + 2, true)).ordinals());
            assertEquals(
                    List.of(), read(request(null, null, first, first, false)).ordinals());
            world.foldAll().trimAll().releaseAll();
        }
    }

    @Test
    void afterAndBeforeAreExclusiveAsCursorOrBareId() {
        spread();
        assertEquals(
                run(31, 69),
                read(request(world.cursor(30), world.cursor(70), null, null, false))
                        .ordinals());
        String id = EventId.of(world.position(30)).toString();
        String other = EventId.of(world.position(70)).toString();
        assertEquals(run(69, 31), read(request(id, other, null, null, true)).ordinals());
    }

    @Test
    void aPageLimitedByTheRequestSaysThatMoreMayFollow() {
        spread();
        ReadRequest ten = new ReadRequest(null, null, null, null, 10, false, View.LIVE, false);
        Whole first = read(ten);
        assertEquals(run(1, 10), first.ordinals());
        assertFalse(first.last().bounded());
        List<Long> all = new ArrayList<>(first.ordinals());
        ReadPage last = first.last();
        while (!last.bounded()) {
            Whole next = read(new ReadRequest(last.cursor().toString(), null, null, null, 9, false, View.LIVE, false));
            all.addAll(next.ordinals());
            last = next.last();
        }
        assertEquals(run(1, 100), all);
    }

    @Test
    void descendingPagesGoOnBeforeTheirCursor() {
        spread();
        Reads.Scan scan = scan(request(null, null, null, null, true)).result();
        ReadPage page = scan.next(30, 1 << 20).result();
        assertEquals(run(71, 100), ordinals(page));
        assertEquals(
                run(70, 1),
                read(request(null, page.cursor().toString(), null, null, true)).ordinals());
    }

    @Test
    @Tag("R48")
    void anEmptyRangeAnswersAtOnce() {
        spread();
        world.redisAway = true;
        world.archiveAway = true;
        Whole none = read(request(null, null, 5_000L, 5_000L, false));
        assertEquals(List.of(), none.ordinals());
        assertTrue(none.last().bounded() && none.last().complete());
        Whole beyond = read(request(world.cursor(50), world.cursor(50), null, null, false));
        assertEquals(List.of(), beyond.ordinals());
        assertEquals(0, world.redisReads + world.archiveReads);
    }

    @Test
    @Tag("R48")
    void aRangeWithoutAMatchAndAnEmptyStreamAreEmptyNotErrors() {
        assertEquals(List.of(), read(everything()).ordinals());
        spread();
        Whole future = read(request(null, null, World.START_MS + 1_000_000, null, false));
        assertEquals(List.of(), future.ordinals());
        assertTrue(future.last().bounded());
        assertEquals(world.position(100), future.last().cursor().position());
    }

    @Test
    @Tag("R48")
    void pagesStayWithinTheirBytesHoweverLargeTheEvents() {
        byte[] large = new byte[100_000];
        java.util.Arrays.fill(large, (byte) '1');
        for (int i = 0; i < 60; i++) {
            world.append(large, 0);
            world.append(20);
        }
        world.seal().releaseAll();
        for (boolean folded : new boolean[] {false, true}) {
            Reads.Scan scan = scan(everything()).result();
            ReadPage page;
            long events = 0;
            do {
                page = scan.next(1_000, 250_000).result();
                long bytes = page.events().stream()
                        .mapToLong(slice -> slice.jsonBytes())
                        .sum();
                assertTrue(bytes < 250_000 + 101_000, bytes + " bytes");
                events +=
                        page.events().stream().mapToLong(slice -> slice.count()).sum();
            } while (!page.end());
            assertEquals(60 * 21, events);
            assertFalse(folded && world.archiveReads == 0);
            world.fold(Integer.MAX_VALUE).trimAll();
        }
    }

    @Test
    void voidedOrdinalsAreNoLoss() {
        world.append("1".getBytes(java.nio.charset.StandardCharsets.UTF_8), 3);
        world.append(2);
        world.append("1".getBytes(java.nio.charset.StandardCharsets.UTF_8), 1);
        for (int place = 0; place < 2; place++) {
            assertEquals(List.of(), read(everything()).gaps());
            assertEquals(List.of(), read(request(null, null, null, null, true)).gaps());
            world.seal().releaseAll();
        }
    }

    @Test
    @Tag("R37")
    void whatOthersRemovedFromRedisIsAGapNotASilentHole() {
        world.append(30).seal().releaseAll().append(5);
        for (int ordinal : new int[] {1, 2, 15, 16, 30}) {
            world.removeByOthers(world.position(ordinal));
        }
        List<Gap> lost = List.of(
                new Gap(Position.ZERO, Positions.below(world.position(3)), Gap.Reason.LOST),
                new Gap(world.position(14), Positions.below(world.position(17)), Gap.Reason.LOST),
                new Gap(world.position(29), Positions.below(world.position(31)), Gap.Reason.LOST));
        Whole up = read(everything());
        assertEquals(lost, up.gaps());
        assertEquals(30, up.ordinals().size());
        List<Gap> reversed = new ArrayList<>(lost);
        java.util.Collections.reverse(reversed);
        assertEquals(reversed, read(request(null, null, null, null, true)).gaps());
    }

    @Test
    @Tag("R37")
    void aDeletedKeyIsALossUpToTheTailNotAnEmptyStream() {
        world.append(30).seal().releaseAll();
        world.redis.clear();
        Gap all = new Gap(Position.ZERO, world.position(30), Gap.Reason.LOST);
        assertEquals(List.of(all), read(everything()).gaps());
        assertEquals(List.of(all), read(request(null, null, null, null, true)).gaps());
    }

    @Test
    @Tag("R37")
    void aLossInTheMiddleOfABoundedRangeWithoutAnyEventIsSeen() {
        world.append(30).seal().releaseAll();
        for (int ordinal = 11; ordinal <= 20; ordinal++) {
            world.removeByOthers(world.position(ordinal));
        }
        for (boolean down : new boolean[] {false, true}) {
            Whole range = read(request(world.cursor(12), world.cursor(18), null, null, down));
            assertEquals(List.of(), range.ordinals());
            assertEquals(1, range.gaps().size());
            assertEquals(Gap.Reason.LOST, range.gaps().get(0).reason());
        }
    }

    @Test
    void redisAwayBeyondMemoryEndsTheReadWithWhatThereIsAndSaysSo() {
        spread();
        world.redisAway = true;
        Whole up = read(everything());
        assertEquals(run(1, 60), up.ordinals());
        assertFalse(up.last().complete());
        assertFalse(up.last().bounded());
        assertEquals(world.position(60), up.last().cursor().position());
        Whole down = read(request(null, null, null, null, true));
        assertEquals(run(100, 81), down.ordinals());
        assertFalse(down.last().complete());
        world.redisAway = false;
        assertEquals(run(61, 100), read(after(up.last().cursor().toString())).ordinals());
    }

    @Test
    @Tag("R48")
    void afterARestartWithoutRedisTheArchiveIsReadableAtOnce() {
        world.append(40).foldAll().trimAll().append(5).retire();
        world.redisAway = true;
        Whole up = read(everything());
        assertEquals(run(1, 40), up.ordinals());
        assertFalse(up.last().complete());
        Whole down = read(request(null, null, null, null, true));
        assertEquals(run(40, 1), down.ordinals());
        assertFalse(down.last().complete());
        Whole within = read(request(world.cursor(10), world.cursor(20), null, null, false));
        assertEquals(run(11, 19), within.ordinals());
        assertTrue(within.last().complete(), "all of it is archived");
    }

    @Test
    void anArchiveThatCanNotBeReadIsAProblemNotAnEmptyPage() {
        spread();
        world.archiveAway = true;
        Future<ReadPage> page = scan(everything()).result().next();
        assertEquals(
                Problem.Kind.UNAVAILABLE,
                assertInstanceOf(Problem.class, page.cause()).kind());
    }

    @Test
    void aPositionAheadOfTheStreamIsRefusedWithTheLastCursor() {
        world.append(5);
        Position ahead = new Position(World.START_MS + 1, 0);
        Problem problem = refused(after(EventId.of(ahead).toString()));
        assertEquals(Problem.Kind.POSITION_AHEAD, problem.kind());
        assertEquals(world.cursor(5), problem.fields().get("cursor"));
    }

    @Test
    void aPositionAboveTheTailButNotTheFrontierIsNotAhead() {
        world.append(5);
        Position frontier = new Position(World.START_MS + 50, 0);
        world.frontierAt(frontier);
        String cursor = world.source().cursor(frontier).toString();
        Whole none = read(after(cursor));
        assertTrue(none.last().bounded());
        assertEquals(cursor, none.last().cursor().toString());
        world.append(3);
        assertEquals(run(6, 8), read(after(cursor)).ordinals());
    }

    @Test
    void badPositionsAndRangesNameTheirParameter() {
        world.append(5);
        Problem malformed = refused(after("EVT123"));
        assertEquals(Problem.Kind.BAD_REQUEST, malformed.kind());
        assertEquals("after", malformed.fields().get("parameter"));
        assertEquals(
                "before",
                refused(request(null, "x", null, null, false)).fields().get("parameter"));
        Problem inverted = refused(request(world.cursor(4), world.cursor(2), null, null, false));
        assertEquals(Problem.Kind.BAD_REQUEST, inverted.kind());
        assertEquals("before", inverted.fields().get("parameter"));
        assertEquals("to", refused(request(null, null, 20L, 10L, true)).fields().get("parameter"));
    }

    @Test
    void aCursorOfAnotherGenerationIsToldSo() {
        world.append(5);
        String other = new Cursor(new Generation(5), world.position(3)).toString();
        assertEquals(Problem.Kind.GENERATION_CHANGED, refused(after(other)).kind());
        assertEquals(
                Problem.Kind.GENERATION_CHANGED,
                refused(request(null, other, null, null, false)).kind());
    }

    @Test
    void unknownAndDeletedStreamsAreNotFound() {
        world.append(5);
        assertEquals(
                Problem.Kind.NOT_FOUND,
                assertInstanceOf(
                                Problem.class,
                                world.reads()
                                        .scan(new StreamName("none"), everything())
                                        .cause())
                        .kind());
        Reads.Scan scan = scan(everything()).result();
        world.delete();
        assertEquals(
                Problem.Kind.NOT_FOUND,
                assertInstanceOf(Problem.class, scan.next().cause()).kind());
        assertEquals(Problem.Kind.NOT_FOUND, refused(everything()).kind());
    }

    // ---- retention

    private void expire60Of100() {
        world.append(100).nextMs(10).foldAll().trimAll().append(20);
        world.prune(60);
    }

    @Test
    @Tag("R03")
    void resumingBehindWhatExpiredIsRefusedNamingTheEarliestUnlessTheReaderGoesOn() {
        expire60Of100();
        Problem expired = refused(after(world.cursor(10)));
        assertEquals(Problem.Kind.EXPIRED, expired.kind());
        assertEquals(EventId.of(world.position(61)).toString(), expired.fields().get("earliest"));
        Whole on = read(new ReadRequest(world.cursor(10), null, null, null, Long.MAX_VALUE, false, View.LIVE, true));
        assertEquals(run(61, 120), on.ordinals());
        assertEquals(
                List.of(new Gap(world.position(10), Positions.below(world.position(61)), Gap.Reason.EXPIRED)),
                on.gaps());
    }

    @Test
    @Tag("R03")
    void aRangeThatExpiredInPartListsTheGap() {
        world.append(10).nextMs(1).append(10).nextMs(1).append(10).foldAll().trimAll();
        world.prune(15);
        Gap gap = new Gap(Position.before(World.START_MS), Positions.below(world.position(16)), Gap.Reason.EXPIRED);
        for (boolean down : new boolean[] {false, true}) {
            Whole range = read(request(null, null, World.START_MS, World.START_MS + 2, down));
            assertEquals(down ? run(20, 16) : run(16, 20), range.ordinals());
            assertEquals(List.of(gap), range.gaps());
            Whole gone = read(request(null, null, World.START_MS, World.START_MS + 1, down));
            assertEquals(List.of(), gone.ordinals());
            assertEquals(1, gone.gaps().size());
        }
        assertEquals(
                List.of(new Gap(world.position(5), Positions.below(world.position(16)), Gap.Reason.EXPIRED)),
                read(request(world.cursor(5), world.cursor(20), null, null, true))
                        .gaps());
    }

    @Test
    void aReadFromTheStartBeginsAtTheEarliestWithoutAGap() {
        expire60Of100();
        Whole all = read(everything());
        assertEquals(run(61, 120), all.ordinals());
        assertEquals(List.of(), all.gaps());
        Whole down = read(request(null, null, null, null, true));
        assertEquals(run(120, 61), down.ordinals());
        assertEquals(List.of(), down.gaps());
    }

    @Test
    void aPositionBeforeTheFirstEventEverIsNotExpired() {
        world.append(10).foldAll().trimAll();
        String early = EventId.of(new Position(EventId.EPOCH_MS, 7)).toString();
        assertEquals(run(1, 10), read(after(early)).ordinals());
        assertEquals(List.of(), read(request(null, null, 0L, null, false)).gaps());
    }

    @Test
    void theGapsOfTheArchiveAreHandedOn() {
        world.append(30).foldAll().trimAll().releaseAll();
        Gap damaged = new Gap(world.position(10), Positions.below(world.position(13)), Gap.Reason.DAMAGED);
        world.archived.remove(world.position(11));
        world.archived.remove(world.position(12));
        world.archive.gaps.add(damaged);
        assertEquals(List.of(damaged), read(everything()).gaps());
        assertEquals(
                List.of(damaged), read(request(null, null, null, null, true)).gaps());
    }

    @Test
    void eventsKeepTheirBytesOnEveryWay() {
        byte[] bytes = {0, (byte) 0xff, (byte) 0xc3, 0x28};
        Position at = new Position(World.START_MS, 0);
        Event event = new Event(at, at, 1, Event.NO_TIME, false, "application/octet-stream", null, bytes);
        assertEquals("application/octet-stream", ContentType.normalize(event.type()));
        world.appendAsItIs(event);
        for (int place = 0; place < 3; place++) {
            ReadPage page = scan(everything()).result().next().result();
            assertEquals(
                    List.of(bytes[0], bytes[1], bytes[2], bytes[3]),
                    boxed(page.events().get(0).chunk().payload(0)));
            if (place == 0) {
                world.seal().releaseAll();
            } else {
                world.fold(1).trimAll();
            }
        }
    }

    private static List<Byte> boxed(byte[] bytes) {
        List<Byte> boxed = new ArrayList<>();
        for (byte b : bytes) {
            boxed.add(b);
        }
        return boxed;
    }
}
