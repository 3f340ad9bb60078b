package dev.tidemark.archive;

import static dev.tidemark.archive.ArchiveContract.fold;
import static dev.tidemark.archive.Sample.DAY_MS;
import static dev.tidemark.archive.Sample.at;
import static dev.tidemark.archive.Sample.run;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.CheckProgress;
import dev.tidemark.event.ContentType;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Finding;
import dev.tidemark.event.Finding.Kind;
import dev.tidemark.event.Limits;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A check of an archive finds what is wrong with it, each thing once, names file, excerpt and event, and changes nothing. */
class ArchiveCheckIT {
    private static final int DAYS = 4;
    private static final int EACH = 1_000;

    @TempDir
    Path root;

    private final ArchiveFiles files = new ArchiveFiles();

    @AfterEach
    void close() {
        files.close();
    }

    private record Checked(List<Finding> findings, CheckProgress end) {
        List<Finding> damages() {
            return findings.stream().filter(Finding::isDamage).toList();
        }

        List<Finding> notes() {
            return findings.stream().filter(finding -> !finding.isDamage()).toList();
        }

        Finding only() {
            assertEquals(1, damages().size(), () -> "findings: " + findings);
            return damages().get(0);
        }

        void assertGood() {
            assertEquals(List.of(), damages());
        }
    }

    private static Checked walk(ArchiveCheck check) {
        List<Finding> findings = new ArrayList<>();
        while (true) {
            CheckProgress progress = check.next();
            findings.addAll(progress.findings());
            if (progress.end()) {
                check.close();
                return new Checked(findings, progress);
            }
        }
    }

    private Checked check() {
        List<String> before = ArchiveFiles.names(root);
        Checked checked = walk(ArchiveCheck.of(root, StreamArchiveIT.RECORD));
        assertEquals(before, ArchiveFiles.names(root), "a check changes nothing");
        return checked;
    }

    private static String name(Path file) {
        return String.valueOf(file.getFileName());
    }

    private Path file(int day) {
        return ArchiveFiles.file(root, day);
    }

    private static String id(Event event) {
        return EventId.of(event.id()).toString();
    }

    @Test
    void aGoodArchiveIsGoodWithAllItsEventsCounted() {
        List<Event> events = files.days(root, DAYS, EACH);
        Checked checked = check();
        assertEquals(List.of(), checked.findings());
        assertEquals(events.size(), checked.end().events());
        assertEquals(events.get(0).id(), checked.end().first());
        assertEquals(events.get(events.size() - 1).id(), checked.end().last());
        assertEquals(DAYS, checked.end().files());
    }

    @Test
    void anArchiveThatIsWrittenIsGoodUpToItsWatermark() {
        StreamArchive archive = files.open(root);
        for (int i = 0; i < 3; i++) {
            fold(archive, run(i * 10_000L, i * 10_000L + 1, 10_000));
        }
        fold(archive, run(DAY_MS, 30_001, 10_000));
        archive.append(Sample.slices(run(DAY_MS + 10_000, 40_001, 500)));
        Checked checked = walk(archive.check());
        assertEquals(List.of(), checked.findings());
        assertEquals(40_000, checked.end().events());
        assertEquals(archive.watermark(), checked.end().last());
    }

    @Test
    void anArchiveThatNeverClosedSaysWhatIsUnproven() {
        StreamArchive archive = files.open(root);
        fold(archive, run(0, 1, 1_000));
        Checked checked = check();
        checked.assertGood();
        assertEquals(1, checked.notes().size(), () -> "notes: " + checked.notes());
        Finding note = checked.notes().get(0);
        assertEquals(name(file(0)), note.file());
        assertTrue(note.what().contains("wasn't closed cleanly"), note::what);
        ArchiveFiles.flip(file(0), ArchiveFiles.find(file(0), "{\"n\":990}") + 2);
        Checked damaged = check();
        damaged.assertGood();
        assertEquals(2, damaged.notes().size(), () -> "the damage may never have been forced: " + damaged.notes());
    }

    @Test
    @Tag("R37")
    void aFlippedByteIsFoundWithFileExcerptAndEvent() {
        List<Event> events = files.days(root, DAYS, EACH);
        Path file = file(1);
        ArchiveFiles.flip(file, ArchiveFiles.find(file, "{\"n\":1500}") + 3);
        Finding finding = check().only();
        assertEquals(Kind.DAMAGED, finding.kind());
        assertEquals(name(file), finding.file());
        assertEquals(500, finding.excerpt(), "behind a waypoint and 499 events");
        assertEquals(events.get(1_498).id(), finding.event());
        assertTrue(finding.what().contains("CRC") && finding.what().contains(id(events.get(1_498))), finding::what);
    }

    @Test
    void anyFlippedByteOfWhatIsWrittenIsFound() {
        files.days(root, 2, 300);
        Path file = file(0);
        int from = ArchiveFiles.find(file, "{\"n\":100}") - 60;
        for (int at = from; at < from + 140; at++) {
            ArchiveFiles.flip(file, at);
            Checked checked = check();
            int place = at;
            boolean padding = checked.damages().isEmpty();
            if (padding) {
                byte[] here = ArchiveFiles.read(file, at, 1);
                assertEquals(0x10, here[0], () -> "a flip at byte " + place + " isn't found: " + checked.findings());
            }
            assertTrue(
                    checked.damages().stream()
                            .allMatch(finding -> finding.file().equals(name(file))),
                    () -> "byte " + place + ": " + checked.damages());
            ArchiveFiles.flip(file, at);
        }
        check().assertGood();
    }

    @Test
    void aZeroedPageIsFoundAndTheRestIsStillChecked() {
        files.days(root, DAYS, EACH);
        int page = ArchiveFiles.find(file(2), "{\"n\":2500}") / ArchiveFiles.PAGE;
        ArchiveFiles.zero(file(2), (long) page * ArchiveFiles.PAGE, ArchiveFiles.PAGE);
        ArchiveFiles.flip(file(3), ArchiveFiles.find(file(3), "{\"n\":3500}") + 2);
        List<Finding> damages = check().damages();
        assertTrue(damages.stream().allMatch(f -> f.kind() == Kind.DAMAGED), () -> "" + damages);
        assertTrue(damages.get(damages.size() - 2).what().contains("can't be read"), () -> "" + damages);
        assertEquals(name(file(2)), damages.get(damages.size() - 2).file());
        assertEquals(name(file(3)), damages.get(damages.size() - 1).file());
        assertEquals(500, damages.get(damages.size() - 1).excerpt());
    }

    @Test
    void aZeroedEndOfAClosedFileIsFound() {
        files.days(root, DAYS, EACH);
        int from = ArchiveFiles.find(file(2), "{\"n\":2900}");
        ArchiveFiles.zero(file(2), from, 60_000);
        List<Finding> damages = check().damages();
        assertFalse(damages.isEmpty());
        assertTrue(
                damages.stream()
                        .allMatch(f -> f.kind() == Kind.DAMAGED && f.file().equals(name(file(2)))),
                () -> "" + damages);
    }

    @Test
    void anIndexThatLeadsAstrayIsFound() {
        files.days(root, 2, EACH);
        Path file = file(0);
        int first = ArchiveFiles.find(file, "{\"n\":256}");
        byte[] place = ArchiveFiles.read(file, indexPlaceOf(file), 8);
        assertTrue(Math.abs(le(place) - first) < 200, () -> "not the place of excerpt 256: " + le(place));
        place[0] ^= 0x40;
        ArchiveFiles.write(file, indexPlaceOf(file), place);
        Finding finding = check().only();
        assertEquals(256, finding.excerpt());
        assertTrue(finding.what().contains("index"), finding::what);
    }

    private static long le(byte[] bytes) {
        return java.nio.ByteBuffer.wrap(bytes)
                .order(java.nio.ByteOrder.nativeOrder())
                .getLong(0);
    }

    private static long indexPlaceOf(Path file) {
        long page = le(ArchiveFiles.read(file, 0xf0, 8));
        return (page + 12 + 7 & ~7L) + 16 + 8;
    }

    @Test
    @Tag("R37")
    void aMissingFileInTheMiddleIsNamedWithWhatItHeld() throws IOException {
        List<Event> events = files.days(root, DAYS, EACH);
        Files.delete(file(2));
        Finding finding = check().only();
        assertEquals(Kind.MISSING, finding.kind());
        assertEquals(name(file(2)), finding.file());
        assertTrue(
                finding.what().contains("1000 events behind " + id(events.get(1_999)))
                        && finding.what().contains(id(events.get(2_999))),
                finding::what);
    }

    @Test
    @Tag("R37")
    void theFirstAndTheLastFileAreMissed() throws IOException {
        List<Event> events = files.days(root, DAYS, EACH);
        Files.delete(file(0));
        Files.delete(file(3));
        Checked checked = check();
        assertEquals(
                List.of(name(file(0)), name(file(3))),
                checked.damages().stream().map(Finding::file).toList());
        assertTrue(checked.damages().get(0).what().contains(id(events.get(999))), () -> "" + checked.damages());
        assertTrue(checked.damages().get(1).what().contains(id(events.get(3_999))), () -> "" + checked.damages());
    }

    @Test
    @Tag("R37")
    void allFilesAreMissed() throws IOException {
        List<Event> events = files.days(root, DAYS, EACH);
        for (int day = 0; day < DAYS; day++) {
            Files.delete(file(day));
        }
        Finding finding = check().only();
        assertEquals(Kind.MISSING, finding.kind());
        assertEquals(name(file(3)), finding.file());
        assertTrue(finding.what().contains(id(events.get(3_999))), finding::what);
    }

    @Test
    @Tag("R37")
    void exchangedFilesAreBothNamed() throws IOException {
        files.days(root, DAYS, EACH);
        Path aside = root.resolve("aside");
        Files.move(file(1), aside);
        Files.move(file(2), file(1));
        Files.move(aside, file(2));
        Checked checked = check();
        assertEquals(
                List.of(name(file(1)), name(file(2))),
                checked.damages().stream().map(Finding::file).toList());
        assertTrue(checked.damages().stream().allMatch(f -> f.kind() == Kind.SWAPPED), () -> "" + checked.damages());
    }

    @Test
    void aFileThatIsThereTwiceAndTheOneItReplacedAreNamed() throws IOException {
        files.days(root, DAYS, EACH);
        Files.copy(file(2), file(1), StandardCopyOption.REPLACE_EXISTING);
        Checked checked = check();
        assertEquals(
                List.of(Kind.SWAPPED, Kind.MISSING, Kind.REPEATED),
                checked.damages().stream().map(Finding::kind).toList(),
                () -> "" + checked.damages());
        assertEquals(name(file(1)), checked.damages().get(1).file());
    }

    @Test
    void aFileOfAnotherStreamIsFoundThoughItHasTheSameDay() throws IOException {
        files.days(root, DAYS, EACH);
        Path other = root.resolve("other");
        ArchiveFiles others = new ArchiveFiles();
        others.days(other, DAYS, 700);
        others.close();
        Files.copy(ArchiveFiles.file(other, 2), file(2), StandardCopyOption.REPLACE_EXISTING);
        Checked checked = check();
        assertFalse(checked.damages().isEmpty());
        assertTrue(
                checked.damages().stream().allMatch(f -> f.file().equals(name(file(2)))), () -> "" + checked.damages());
        assertTrue(
                checked.damages().stream().anyMatch(f -> f.what().contains("another stream's")),
                () -> "" + checked.damages());
    }

    @Test
    void aRepeatedEventIsFound() {
        List<Event> events = files.days(root, DAYS, EACH);
        int from = ArchiveFiles.find(file(1), "{\"n\":1600}");
        int to = ArchiveFiles.find(file(1), "{\"n\":1601}");
        int length = to - from;
        byte[] record = ArchiveFiles.read(file(1), from - (length - 10), length);
        ArchiveFiles.write(file(1), to - (length - 10), record);
        Checked checked = check();
        Finding finding = checked.damages().get(0);
        assertEquals(Kind.REPEATED, finding.kind());
        assertEquals(name(file(1)), finding.file());
        assertEquals(601, finding.excerpt());
        assertEquals(events.get(1_599).id(), finding.event());
        assertTrue(finding.what().contains(id(events.get(1_599)) + " once more"), finding::what);
        assertTrue(
                checked.damages().stream()
                        .anyMatch(f -> f.kind() == Kind.ORDINALS && f.what().contains("1601-1601")),
                () -> "what it replaced is missing: " + checked.damages());
    }

    @Test
    @Tag("R37")
    void emptyAndTruncatedFilesAreFound() throws IOException {
        files.days(root, DAYS, EACH);
        Files.write(file(1), new byte[0]);
        try (FileChannel channel = FileChannel.open(file(2), StandardOpenOption.WRITE)) {
            channel.truncate(ArchiveFiles.find(file(2), "{\"n\":2700}"));
        }
        Checked checked = check();
        List<String> named =
                checked.damages().stream().map(Finding::file).distinct().toList();
        assertEquals(List.of(name(file(1)), name(file(2))), named, () -> "" + checked.damages());
        assertTrue(checked.damages().get(0).what().contains("0 bytes"), () -> "" + checked.damages());
    }

    @Test
    void aDamagedHeaderIsFound() {
        files.days(root, DAYS, EACH);
        ArchiveFiles.flip(file(1), 8);
        Checked checked = check();
        assertFalse(checked.damages().isEmpty());
        assertTrue(
                checked.damages().stream().allMatch(f -> f.file().equals(name(file(1)))), () -> "" + checked.damages());
    }

    @Test
    void ordinalsThatWereRefusedOrAnnouncedAsLostAreAccountedFor() {
        StreamArchive archive = files.open(root);
        fold(archive, run(0, 1, 100));
        archive.append(Sample.slices(run(100, 101, 10)));
        archive.appendMissing(0, new OrdinalRange(111, 120), true, at(109, 0), at(199, 0));
        archive.append(Sample.slices(run(200, 121, 10)));
        archive.force();
        archive.publish(at(209, 0));
        walk(archive.check()).assertGood();
        fold(archive, run(300, 141, 10));
        Finding finding = walk(archive.check()).only();
        assertEquals(Kind.ORDINALS, finding.kind());
        assertTrue(finding.what().contains("131-140 of stripe 0"), finding::what);
    }

    @Test
    void ordinalsInAnotherOrderThanIdsAreGoodWhenTheyAllComeInTime() {
        StreamArchive archive = files.open(root);
        fold(archive, List.of(claimed(10, 500, 3), claimed(20, 300, 1), claimed(30, 400, 2), claimed(40, 600, 4)));
        walk(archive.check()).assertGood();
        fold(archive, List.of(claimed(50, 2_000, 6), claimed(60_000, 60_000, 7)));
        Finding finding = walk(archive.check()).only();
        assertEquals(Kind.ORDINALS, finding.kind());
        assertTrue(finding.what().contains("5-5"), finding::what);
    }

    private static Event claimed(long ms, long entryMs, long ordinal) {
        return new Event(
                at(ms, 0), at(entryMs, 0), ordinal, Event.NO_TIME, false, ContentType.JSON, null, new byte[] {'1'});
    }

    @Test
    void damageBeforeAnUncleanEndIsDamage() {
        StreamArchive archive = files.open(root);
        for (int i = 0; i < 5; i++) {
            fold(archive, run(i * 10_000L, i * 10_000L + 1, 10_000));
        }
        ArchiveFiles.flip(file(0), ArchiveFiles.find(file(0), "{\"n\":5000}") + 2);
        assertEquals(Kind.DAMAGED, check().only().kind());
    }

    @Test
    void memoryStaysFlatAndNoEventIsTooLarge() {
        StreamArchive archive = files.open(root);
        byte[] large = new byte[Limits.DEFAULT.eventBytesMax()];
        List<Event> events = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            events.add(Sample.event(at(i, 0), i + 1, large));
        }
        fold(archive, events);
        Checked checked = walk(archive.check());
        assertEquals(List.of(), checked.findings());
        assertEquals(6, checked.end().events());
    }

    @Test
    void whatIsLeftAfterFilesWereRemovedWhileRunningIsCheckedUpToItsWatermark() throws IOException {
        files.days(root, 3, 100);
        StreamArchive archive = files.open(root);
        archive.open();
        Files.delete(file(1));
        Finding finding = walk(archive.check()).only();
        assertEquals(name(file(1)), finding.file());
        Files.delete(file(2));
        Checked checked = walk(archive.check());
        assertEquals(Position.ZERO.compareTo(checked.end().last()) < 0, true);
        assertEquals(name(file(2)), checked.only().file());
    }
}
