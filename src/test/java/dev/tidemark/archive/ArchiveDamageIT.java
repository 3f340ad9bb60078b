package dev.tidemark.archive;

import static dev.tidemark.archive.ArchiveContract.ALL;
import static dev.tidemark.archive.ArchiveContract.assertSame;
import static dev.tidemark.archive.ArchiveContract.fold;
import static dev.tidemark.archive.ArchiveContract.ids;
import static dev.tidemark.archive.ArchiveContract.readAll;
import static dev.tidemark.archive.ArchiveFiles.PAGE;
import static dev.tidemark.archive.Sample.DAY_MS;
import static dev.tidemark.archive.Sample.at;
import static dev.tidemark.archive.Sample.event;
import static dev.tidemark.archive.Sample.run;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Event;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of the archive damaged, missing or foreign: the rest is served, the hole is announced, appending goes on. */
class ArchiveDamageIT {
    @TempDir
    Path root;

    private final ArchiveFiles files = new ArchiveFiles();

    @AfterEach
    void close() {
        files.close();
    }

    private static List<Position> below(List<Event> events, int from, int to) {
        List<Event> rest = new ArrayList<>(events.subList(0, from));
        rest.addAll(events.subList(to, events.size()));
        return ids(rest);
    }

    private void assertServed(List<Event> events, int lostFrom, int lostTo, Gap gap) {
        StreamArchive archive = files.open(root);
        ArchivePage all = readAll(archive);
        assertEquals(below(events, lostFrom, lostTo), ids(all));
        assertEquals(List.of(gap), all.gaps());
        ArchivePage back = archive.readReverse(Position.MAX, Position.ZERO, ALL, ALL);
        assertEquals(below(events, lostFrom, lostTo), ids(back));
        assertEquals(List.of(gap), back.gaps());
        Position inside = events.get(lostFrom).id();
        assertEquals(
                List.of(new Gap(inside, gap.to(), Gap.Reason.DAMAGED)),
                gap.to().isAfter(inside)
                        ? archive.read(inside, Position.MAX, 1, ALL).gaps()
                        : List.of(new Gap(inside, gap.to(), Gap.Reason.DAMAGED)));
        Position next = new Position(events.get(events.size() - 1).id().ms() + 1, 0);
        fold(archive, List.of(event(next, events.size() + 1)));
        assertEquals(
                next,
                archive.read(events.get(events.size() - 1).id(), Position.MAX, 9, ALL)
                        .events()
                        .last());
    }

    @Test
    @Tag("R37")
    void aFlippedByteCostsOneEvent() {
        List<Event> events = files.days(root, 3, 400);
        Path file = ArchiveFiles.file(root, 1);
        ArchiveFiles.flip(file, ArchiveFiles.find(file, "{\"n\":500}") + 3);
        Gap gap = new Gap(events.get(498).id(), events.get(500).id().previous(), Gap.Reason.DAMAGED);
        assertServed(events, 499, 500, gap);
    }

    /** A hole where every search comes by. */
    @Test
    @Tag("R37")
    void aLongHoleIsNoGapForWhoIsFarBehindIt() {
        List<Event> events = files.days(root, 1, 3_000);
        Path file = ArchiveFiles.file(root, 0);
        damage(file, 2_041, 300);
        StreamArchive archive = files.open(root);
        Gap gap = new Gap(events.get(2_039).id(), events.get(2_340).id().previous(), Gap.Reason.DAMAGED);
        assertEquals(List.of(gap), readAll(archive).gaps());
        for (int last : new int[] {2_340, 2_500, 2_998}) {
            ArchivePage page = archive.read(events.get(last).id(), Position.MAX, ALL, ALL);
            assertEquals(List.of(), page.gaps(), "after " + last);
            assertEquals(ids(events.subList(last + 1, 3_000)), ids(page));
            ArchivePage back = archive.readReverse(events.get(last).id(), Position.ZERO, ALL, ALL);
            assertEquals(last - 300, back.events().count(), "before " + last);
            assertEquals(List.of(gap), back.gaps());
            assertEquals(
                    ids(events.subList(Math.max(2_340, last - 10), last)),
                    ids(archive.readReverse(
                            events.get(last).id(), events.get(2_340).id(), 10, ALL)));
        }
    }

    /** A hole so long that a search ends before it though what is wanted lies just behind it. */
    @Test
    @Tag("R37")
    void aHoleThatASearchDoesNotPassIsNoGapForWhoIsBehindIt() {
        List<Event> events = files.days(root, 1, 4_000);
        damage(ArchiveFiles.file(root, 0), 2_041, 1_100);
        StreamArchive archive = files.open(root);
        ArchivePage page = archive.read(events.get(3_200).id(), Position.MAX, ALL, ALL);
        assertEquals(List.of(), page.gaps());
        assertEquals(ids(events.subList(3_201, 4_000)), ids(page));
    }

    /** Flips a byte of each of {@code count} events from number {@code n} on; numbers of four digits. */
    private static void damage(Path file, int n, int count) {
        int first = ArchiveFiles.find(file, "{\"n\":" + n + "}");
        int stride = ArchiveFiles.find(file, "{\"n\":" + (n + 1) + "}") - first;
        for (int i = 0; i < count; i++) {
            ArchiveFiles.flip(file, first + (long) i * stride + 3);
        }
    }

    @Test
    @Tag("R37")
    void aZeroedPageInTheMiddleIsAGap() {
        List<Event> events = files.days(root, 3, 2_000);
        Path file = ArchiveFiles.file(root, 1);
        int page = ArchiveFiles.find(file, "{\"n\":2500}") / PAGE;
        ArchiveFiles.zero(file, (long) page * PAGE, PAGE);
        StreamArchive archive = files.open(root);
        ArchivePage all = readAll(archive);
        assertEquals(1, all.gaps().size());
        Gap gap = all.gaps().get(0);
        List<Event> lost = events.stream()
                .filter(e -> e.id().isAfter(gap.from()) && !e.id().isAfter(gap.to()))
                .toList();
        assertTrue(lost.size() < 400, "lost " + lost.size());
        assertEquals(events.size(), all.events().count() + lost.size());
        assertEquals(
                all.gaps(),
                archive.readReverse(Position.MAX, Position.ZERO, ALL, ALL).gaps());
        assertEquals(ids(all), ArchiveContract.backwards(archive, 700));
        assertEquals(ids(all), ArchiveContract.forwards(archive, 700));
    }

    @Test
    @Tag("R37")
    void aMissingMiddleFileIsAGap() throws IOException {
        List<Event> events = files.days(root, 4, 100);
        Files.delete(ArchiveFiles.file(root, 2));
        assertServed(
                events, 200, 300, new Gap(events.get(199).id(), events.get(299).id(), Gap.Reason.DAMAGED));
        assertEquals(301, files.open(root).end().lastOrdinal(0) - 100);
        StreamArchive archive = files.open(root);
        archive.open();
        assertEquals(301, archive.events());
    }

    @Test
    @Tag("R37")
    void aFileOfZeroLengthIsKeptAsideAndAGap() throws IOException {
        List<Event> events = files.days(root, 3, 100);
        Files.write(ArchiveFiles.file(root, 1), new byte[0]);
        assertServed(
                events, 100, 200, new Gap(events.get(99).id(), events.get(199).id(), Gap.Reason.DAMAGED));
        assertTrue(ArchiveFiles.names(root).contains(ArchiveFiles.file(root, 1).getFileName() + ".damaged"));
    }

    @Test
    @Tag("R37")
    void aMissingOldestFileMovesTheEarliest() throws IOException {
        List<Event> events = files.days(root, 3, 100);
        Files.delete(ArchiveFiles.file(root, 0));
        StreamArchive archive = files.open(root);
        assertEquals(ids(events.subList(100, 300)), ids(readAll(archive)));
        assertEquals(events.get(100).id(), archive.earliest());
        assertEquals(200, archive.events());
        assertEquals(300, archive.end().lastOrdinal(0));
    }

    @Test
    @Tag("R37")
    void whenTheNewestFileIsMissingTheWatermarkIsWhatIsLeft() throws IOException {
        List<Event> events = files.days(root, 3, 100);
        Files.delete(ArchiveFiles.file(root, 2));
        StreamArchive archive = files.open(root);
        assertEquals(events.get(199).id(), archive.end().watermark());
        assertEquals(200, archive.end().lastOrdinal(0));
        fold(archive, run(5 * DAY_MS, 201, 3));
        assertEquals(203, readAll(archive).events().count());
    }

    @Test
    @Tag("R37")
    void whenAllFilesAreMissingItIsEmptyAndGoesOn() throws IOException {
        files.days(root, 3, 100);
        for (int day = 0; day < 3; day++) {
            Files.delete(ArchiveFiles.file(root, day));
        }
        StreamArchive archive = files.open(root);
        assertEquals(Position.ZERO, archive.end().watermark());
        fold(archive, run(5 * DAY_MS, 301, 3));
        assertSame(run(5 * DAY_MS, 301, 3), readAll(files.open(root)).events());
    }

    @Test
    @Tag("R37")
    void aFileRemovedWhileRunningIsAGapAndAppendingGoesOn() throws IOException {
        List<Event> events = files.days(root, 4, 100);
        StreamArchive archive = files.open(root);
        assertEquals(
                1, archive.read(Position.ZERO, Position.MAX, 1, ALL).events().count());
        Files.delete(ArchiveFiles.file(root, 1));
        ArchivePage all = readAll(archive);
        assertEquals(below(events, 100, 200), ids(all));
        assertEquals(List.of(new Gap(events.get(99).id(), events.get(199).id(), Gap.Reason.DAMAGED)), all.gaps());
        fold(archive, run(3 * DAY_MS + 500, 401, 3));
        assertEquals(303, readAll(archive).events().count());
    }

    @Test
    @Tag("R37")
    void whenAllFilesAreRemovedWhileRunningFoldingGoesOn() throws IOException {
        files.days(root, 3, 100);
        StreamArchive archive = files.open(root);
        fold(archive, run(2 * DAY_MS + 500, 301, 10));
        for (int day = 0; day < 3; day++) {
            Files.delete(ArchiveFiles.file(root, day));
        }
        archive.append(Sample.slices(run(2 * DAY_MS + 510, 311, 10)));
        assertThrows(ArchiveException.class, archive::force);
        assertEquals(at(2 * DAY_MS + 509, 0), archive.watermark());
        fold(archive, run(2 * DAY_MS + 510, 311, 10));
        ArchivePage all = readAll(archive);
        assertEquals(ids(run(2 * DAY_MS + 510, 311, 10)), ids(all));
        assertEquals(at(2 * DAY_MS + 510, 0), archive.earliest());
        assertEquals(10, archive.events());
        StreamArchive next = files.open(root);
        assertEquals(320, next.end().lastOrdinal(0));
        assertEquals(10, next.events());
    }

    @Test
    @Tag("R37")
    void whenTheNewestFileIsRemovedWhileRunningTheHoleIsAnnounced() throws IOException {
        List<Event> events = files.days(root, 3, 100);
        StreamArchive archive = files.open(root);
        assertEquals(300, readAll(archive).events().count());
        archive.close();
        Files.delete(ArchiveFiles.file(root, 2));
        Gap gap = new Gap(events.get(199).id(), events.get(299).id(), Gap.Reason.DAMAGED);
        ArchivePage before = readAll(archive);
        assertEquals(ids(events.subList(0, 200)), ids(before));
        assertEquals(List.of(gap), before.gaps());
        List<Event> more = run(2 * DAY_MS + 510, 301, 10);
        assertThrows(ArchiveException.class, () -> fold(archive, more));
        fold(archive, more);
        ArchivePage all = readAll(archive);
        assertEquals(210, all.events().count());
        assertEquals(List.of(gap), all.gaps());
        assertEquals(210, archive.events());
        assertEquals(List.of(gap), readAll(files.open(root)).gaps());
    }

    @Test
    void damageLongBeforeTheEndOfTheNewestFileIsAGapAlsoAfterAnUncleanStop() throws IOException {
        StreamArchive archive = files.open(root);
        int slices = 9;
        for (int i = 0; i < slices; i++) {
            fold(archive, run(i * 10_000L, i * 10_000L + 1, 10_000));
        }
        Path file = ArchiveFiles.file(root, 0);
        Path image = root.resolveSibling(root.getFileName() + "-image");
        for (String lost : List.of("{\"n\":500}", "{\"n\":55000}", "{\"n\":69000}")) {
            Trees.copy(root, image);
            int at = ArchiveFiles.find(file, lost);
            ArchiveFiles.flip(ArchiveFiles.file(image, 0), at + 1);
            StreamArchive next = files.open(image);
            assertEquals(at(slices * 10_000L - 1, 0), next.end().watermark());
            assertEquals(slices * 10_000L, next.end().lastOrdinal(0));
            assertEquals(slices * 10_000L, next.events());
            ArchivePage all = readAll(next);
            assertEquals(slices * 10_000 - 1, all.events().count());
            assertEquals(1, all.gaps().size());
            next.close();
            Trees.delete(image);
        }
    }

    @Test
    void anyDamagedByteOfAHeaderLeavesTheRestServed() {
        List<Event> events = files.days(root, 3, 50);
        for (int day = 0; day < 3; day++) {
            for (int at = 0; at < 300; at += 13) {
                Path image = root.resolveSibling(root.getFileName() + "-" + day + "-" + at);
                Trees.copy(root, image);
                ArchiveFiles.flip(ArchiveFiles.file(image, day), at);
                StreamArchive archive = files.open(image);
                List<Position> read = ids(readAll(archive));
                for (int other = 0; other < (day == 2 ? 2 : 3); other++) {
                    if (other != day) {
                        assertTrue(
                                read.containsAll(ids(events.subList(other * 50, other * 50 + 50))),
                                "day " + day + " flipped at " + at);
                    }
                }
                fold(archive, run(9 * DAY_MS, 151, 3));
                archive.close();
                Trees.delete(image);
            }
        }
    }

    @Test
    @Tag("R54")
    void withoutItsMetadataFileItOpensAsBefore() throws IOException {
        List<Event> events = files.days(root, 2, 10);
        Files.deleteIfExists(ArchiveFiles.folder(root).resolve(ArchiveFolder.METADATA));
        StreamArchive archive = files.open(root);
        assertSame(events, readAll(archive).events());
        Files.deleteIfExists(ArchiveFiles.folder(root).resolve(ArchiveFolder.METADATA));
        fold(archive, run(3 * DAY_MS, 21, 3));
        assertEquals(23, readAll(archive).events().count());
    }

    @Test
    void foreignAndHalfMadeFilesAreKeptAside() throws IOException {
        List<Event> events = files.days(root, 2, 10);
        Path folder = ArchiveFiles.folder(root);
        Files.writeString(folder.resolve("notes.cq4"), "not a roll file");
        Files.writeString(folder.resolve("20251140F.cq4"), "no such day");
        Files.write(ArchiveFiles.file(root, 2), new byte[100_000]);
        byte[] unfinished = new byte[100_000];
        unfinished[3] = (byte) 0xc0;
        Files.write(ArchiveFiles.file(root, 3), unfinished);
        StreamArchive archive = files.open(root);
        long start = System.nanoTime();
        assertSame(events, readAll(archive).events());
        fold(archive, run(2 * DAY_MS, 21, 3));
        assertTrue(System.nanoTime() - start < 5_000_000_000L, "it waited for a file that nobody finishes");
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(
                    4,
                    left.filter(path -> path.toString().matches(".*(foreign|damaged)"))
                            .count());
        }
        assertEquals(at(2 * DAY_MS + 2, 0), archive.watermark());
    }
}
