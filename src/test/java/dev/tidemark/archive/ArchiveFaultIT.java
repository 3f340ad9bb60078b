package dev.tidemark.archive;

import static dev.tidemark.archive.ArchiveContract.ALL;
import static dev.tidemark.archive.ArchiveContract.assertSame;
import static dev.tidemark.archive.ArchiveContract.fold;
import static dev.tidemark.archive.ArchiveContract.ids;
import static dev.tidemark.archive.ArchiveContract.readAll;
import static dev.tidemark.archive.Sample.DAY_MS;
import static dev.tidemark.archive.Sample.at;
import static dev.tidemark.archive.Sample.event;
import static dev.tidemark.archive.Sample.run;
import static dev.tidemark.archive.Sample.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Event;
import dev.tidemark.event.Limits;
import dev.tidemark.event.Position;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Writing fails, or the process dies between two steps: W and the archive agree, nothing is there twice, it goes on. */
@Tag("failure-7")
class ArchiveFaultIT {
    @TempDir
    Path root;

    private final ArchiveFiles files = new ArchiveFiles();
    private final FaultyStorage disk = new FaultyStorage();

    @AfterEach
    void close() {
        files.close();
    }

    private static ArchiveException.Kind failure(org.junit.jupiter.api.function.Executable call) {
        return assertThrows(ArchiveException.class, call).kind();
    }

    @Test
    @Tag("F3")
    @Tag("R05")
    void aFailedForceIsNoFoldAndIsWrittenAgain() {
        StreamArchive archive = files.open(root, disk);
        fold(archive, run(0, 1, 100));
        archive.append(slices(run(100, 101, 50)));
        disk.failForces = 1;
        assertEquals(ArchiveException.Kind.IO, failure(archive::force));
        assertEquals(ArchiveException.Kind.IO, failure(archive::force));
        assertEquals(at(99, 0), archive.watermark());
        assertEquals(100, readAll(archive).events().count());
        fold(archive, run(100, 101, 60));
        assertSame(run(0, 1, 160), readAll(archive).events());
        assertSame(run(0, 1, 160), readAll(files.open(root)).events());
        assertEquals(
                1,
                ArchiveFiles.names(root).stream()
                        .filter(name -> name.contains("F.cq4"))
                        .count());
    }

    @Test
    @Tag("F3")
    void aFailedForceOfTheFirstSliceLeavesAnEmptyArchive() {
        StreamArchive archive = files.open(root, disk);
        archive.append(slices(run(0, 1, 50)));
        disk.failForces = 1;
        assertEquals(ArchiveException.Kind.IO, failure(archive::force));
        assertEquals(Position.ZERO, archive.watermark());
        fold(archive, run(0, 1, 60));
        assertSame(run(0, 1, 60), readAll(files.open(root)).events());
    }

    @Test
    @Tag("F3")
    void aFailedForceAfterARollIsWrittenAgain() {
        StreamArchive archive = files.open(root, disk);
        fold(archive, run(0, 1, 100));
        for (int i = 0; i < 3; i++) {
            archive.append(slices(run(DAY_MS, 101, 50)));
            disk.failForces = 1;
            assertEquals(ArchiveException.Kind.IO, failure(archive::force));
        }
        assertEquals(100, readAll(archive).events().count());
        fold(archive, run(200, 101, 5));
        fold(archive, run(DAY_MS, 106, 50));
        List<Event> all = new ArrayList<>(run(0, 1, 100));
        all.addAll(run(200, 101, 5));
        all.addAll(run(DAY_MS, 106, 50));
        assertSame(all, readAll(archive).events());
        assertSame(all, readAll(files.open(root)).events());
        assertEquals(List.of(), readAll(archive).gaps());
    }

    @Test
    @Tag("R05")
    void everyFileTouchedAndTheDirectoryOfANewOneAreForced() {
        StreamArchive archive = files.open(root, disk);
        fold(archive, run(0, 1, 10));
        String first = String.valueOf(ArchiveFiles.file(root, 0).getFileName());
        String second = String.valueOf(ArchiveFiles.file(root, 1).getFileName());
        String folder = String.valueOf(ArchiveFiles.folder(root).getFileName());
        assertEquals(List.of(first, folder), disk.forced);
        disk.forced.clear();
        fold(archive, run(10, 11, 10));
        assertEquals(List.of(first), disk.forced);
        disk.forced.clear();
        fold(archive, run(DAY_MS, 21, 10));
        assertEquals(List.of(first, second, folder), disk.forced);
    }

    @Test
    @Tag("R09")
    void aFullDiskRefusesTheSliceAndHeals() {
        StreamArchive archive = files.open(root, disk);
        fold(archive, run(0, 1, 10));
        disk.full = true;
        for (int i = 0; i < 3; i++) {
            assertEquals(ArchiveException.Kind.DISK_FULL, failure(() -> archive.append(slices(run(10, 11, 10)))));
            assertEquals(ArchiveException.Kind.DISK_FULL, failure(() -> archive.append(slices(run(DAY_MS, 11, 10)))));
        }
        assertEquals(10, readAll(archive).events().count());
        disk.full = false;
        fold(archive, run(10, 11, 10));
        assertSame(run(0, 1, 20), readAll(archive).events());
    }

    @Test
    @Tag("R04")
    void anArchiveWhoseFolderIsGoneFailsAndGoesOnWhenItIsBack() throws IOException {
        StreamArchive archive = files.open(root, disk);
        fold(archive, run(0, 1, 10));
        archive.close();
        Path folder = ArchiveFiles.folder(root);
        Path away = root.resolve("away");
        Files.move(folder, away);
        Files.writeString(folder, "in the way");
        assertEquals(ArchiveException.Kind.IO, failure(() -> archive.append(slices(run(10, 11, 10)))));
        assertEquals(at(9, 0), archive.watermark());
        Files.delete(folder);
        Files.move(away, folder);
        fold(archive, run(10, 11, 10));
        assertSame(run(0, 1, 20), readAll(archive).events());
    }

    /** As where the volume of an archive is lost for a while: what was taken for gone is used again, and never removed. */
    @Test
    @Tag("R04")
    @Tag("R37")
    void filesThatWereAwayAndCameBackAreAllThereAgain() throws IOException {
        List<Event> all = new ArrayList<>(files.days(root, 2, 100));
        StreamArchive archive = files.open(root, disk);
        List<Event> third = run(2 * DAY_MS, 201, 50);
        fold(archive, third);
        all.addAll(third);
        Path away = root.resolve("away");
        Files.createDirectory(away);
        List<String> names = ArchiveFiles.names(root).stream()
                .filter(name -> name.endsWith("F.cq4"))
                .toList();
        for (String name : names) {
            Files.move(ArchiveFiles.folder(root).resolve(name), away.resolve(name));
        }
        List<Event> next = run(2 * DAY_MS + 50, 251, 50);
        archive.append(slices(next));
        assertEquals(ArchiveException.Kind.IO, failure(archive::force));
        disk.full = true;
        for (int i = 0; i < 2; i++) {
            assertEquals(ArchiveException.Kind.DISK_FULL, failure(() -> archive.append(slices(next))));
        }
        assertEquals(at(2 * DAY_MS + 49, 0), archive.watermark());
        for (String name : names) {
            Files.move(away.resolve(name), ArchiveFiles.folder(root).resolve(name));
        }
        disk.full = false;
        fold(archive, next);
        all.addAll(next);
        assertSame(all, readAll(archive).events());
        assertEquals(all.size(), archive.events());
        StreamArchive restarted = files.open(root, disk);
        assertSame(all, readAll(restarted).events());
        assertEquals(List.of(), readAll(restarted).gaps());
    }

    @Test
    @Tag("F5")
    @Tag("R06")
    void aCrashBetweenAnyTwoStepsLeavesEveryEventOnce() {
        StreamArchive archive = files.open(root.resolve("live"));
        List<Event> all = new ArrayList<>();
        for (int day = 0; day < 3; day++) {
            List<Event> slice = run(day * DAY_MS, all.size() + 1, 200);
            fold(archive, slice);
            all.addAll(slice);
            List<Event> next = run(day * DAY_MS + 200, all.size() + 1, 100);
            assertGoesOn("before append " + day, all, all.size());
            archive.append(slices(next));
            all.addAll(next);
            assertGoesOn("after append " + day, all, all.size() - 100);
            archive.force();
            assertGoesOn("after force " + day, all, all.size());
            archive.publish(next.get(99).id());
            assertGoesOn("after publish " + day, all, all.size());
        }
    }

    /** A process that starts on a copy of the files has all that was forced, and folds the rest again. */
    private void assertGoesOn(String step, List<Event> appended, int forced) {
        Path image = root.resolve(step.replace(' ', '-'));
        Trees.copy(root.resolve("live"), image);
        StreamArchive archive = files.open(image);
        int kept = readAll(archive).events().count();
        assertTrue(kept >= forced, step);
        assertEquals(ids(appended.subList(0, kept)), ids(readAll(archive)), step);
        if (kept < appended.size()) {
            fold(archive, appended.subList(kept, appended.size()));
        }
        Position last = appended.get(appended.size() - 1).id();
        fold(archive, List.of(event(last.next(), appended.size() + 1)));
        assertEquals(appended.size() + 1, readAll(files.open(image)).events().count(), step);
    }

    @Test
    @Tag("R18")
    void largeEventsAreCarriedByteForByte() {
        StreamArchive archive = files.open(root);
        Random random = new Random(18);
        List<Event> events = new ArrayList<>();
        int limit = Limits.DEFAULT.eventBytesMax();
        for (int size : new int[] {60 << 10, 64 << 10, 70 << 10, 300 << 10, limit - 1, limit}) {
            for (int i = 0; i < 3; i++) {
                byte[] payload = new byte[i == 0 ? 10 : size];
                random.nextBytes(payload);
                events.add(event(at(events.size(), 0), events.size() + 1, payload));
            }
        }
        fold(archive, events);
        assertSame(events, readAll(archive).events());
        assertSame(events, readAll(files.open(root)).events());
        assertSame(
                events.subList(12, 18),
                archive.readReverse(Position.MAX, Position.ZERO, 6, ALL).events());
        byte[] beyond = new byte[2 << 20];
        assertEquals(
                ArchiveException.Kind.SLICE_REFUSED,
                failure(() -> archive.append(slices(event(at(500, 0), 19, beyond)))));
        fold(archive, List.of(event(at(501, 0), 19)));
        assertEquals(19, archive.events());
    }

    @Test
    void theGreatestEventThatLimitsAllowIsChecked() {
        Archive.checkLimits(Limits.DEFAULT);
        Archive.checkLimits(new Limits(Limits.EVENT_BYTES_CEILING, 64 << 20, 10, 64 << 20));
        assertFalse(new Archive(root, new Limits(4 << 20, 16 << 20, 10, 16 << 20)).excerptBytesMax() < (4 << 20));
    }

    @Test
    void anEventOfSixteenMegabytesFitsIfLimitsAllowIt() {
        Limits large = new Limits(Limits.EVENT_BYTES_CEILING, 64 << 20, 10, 64 << 20);
        try (Archive archive = new Archive(root, large)) {
            StreamArchive stream = archive.stream(StreamArchiveIT.RECORD);
            List<Event> events = List.of(event(at(0, 0), 1, new byte[Limits.EVENT_BYTES_CEILING]));
            fold(stream, events);
            assertSame(events, readAll(stream).events());
        }
    }
}
