package dev.tidemark.archive;

import static dev.tidemark.archive.ArchiveContract.ALL;
import static dev.tidemark.archive.ArchiveContract.assertSame;
import static dev.tidemark.archive.ArchiveContract.fold;
import static dev.tidemark.archive.ArchiveContract.readAll;
import static dev.tidemark.archive.Sample.DAY_MS;
import static dev.tidemark.archive.Sample.at;
import static dev.tidemark.archive.Sample.run;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Generation;
import dev.tidemark.event.Limits;
import dev.tidemark.event.Position;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many streams, few open files; many readers beside one appender. */
class ManyArchivesIT {
    @TempDir
    Path root;

    private static StreamRecord record(String name, long generation) {
        return new StreamRecord(
                new StreamId(new StreamName(name), new Generation(generation)),
                Map.of(Setting.STRIPES, 1L, Setting.ROLL, 1L),
                Sample.DAY,
                false);
    }

    @Test
    @Tag("F9")
    @Tag("R49")
    void streamsShareNothingAndFewAreOpenAtATime() {
        try (Archive archive = new Archive(root, Limits.DEFAULT, 5, Storage.REAL)) {
            List<StreamArchive> streams = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                StreamArchive stream = archive.stream(record(i % 2 == 0 ? "a" + i : "a/" + i, i + 1));
                fold(stream, run(i, 1, i + 1));
                streams.add(stream);
            }
            assertTrue(archive.openCount() <= 5, archive.openCount() + " are open");
            for (int i = 0; i < 40; i++) {
                StreamArchive stream = streams.get(i);
                assertSame(stream, archive.stream(record(i % 2 == 0 ? "a" + i : "a/" + i, i + 1)));
                assertEquals(at(2L * i, 0), stream.watermark());
                assertSame(run(i, 1, i + 1), readAll(stream).events());
                assertTrue(stream.bytes() > 0 && stream.bytes() < 1 << 20, stream.bytes() + " bytes");
            }
            for (int i = 39; i >= 0; i--) {
                fold(streams.get(i), run(DAY_MS, i + 2, 3));
                assertEquals(i + 4, readAll(streams.get(i)).events().count());
            }
            assertTrue(archive.openCount() <= 5);
        }
    }

    @Test
    @Tag("T10")
    void whatWasNotUsedForAWhileIsClosedWithAMarkerAndOpensAgainAtItsNextUse() {
        try (Archive archive = new Archive(root, Limits.DEFAULT)) {
            StreamRecord idle = record("idle", 1);
            StreamArchive stream = archive.stream(idle);
            StreamArchive busy = archive.stream(record("busy", 2));
            fold(stream, run(0, 1, 10));
            fold(busy, run(0, 1, 10));
            archive.closeUnused();
            assertEquals(2, archive.openCount(), "they were used since");
            assertEquals(10, readAll(busy).events().count());
            archive.closeUnused();
            assertEquals(1, archive.openCount());
            assertTrue(Files.exists(Archive.folderOf(root, idle.id()).resolve(CleanClose.FILE)));
            assertEquals(10, readAll(stream).events().count());
            fold(stream, run(10, 11, 5));
            assertEquals(15, readAll(stream).events().count());
            archive.closeUnused();
            archive.closeUnused();
            assertEquals(0, archive.openCount());
        }
    }

    @Test
    void aDeletedIncarnationIsGoneAndTheNextOneIsEmpty() {
        try (Archive archive = new Archive(root, Limits.DEFAULT)) {
            StreamRecord old = record("a", 1);
            StreamArchive stream = archive.stream(old);
            fold(stream, run(0, 1, 10));
            archive.delete(old.id());
            archive.delete(old.id());
            assertEquals(
                    ArchiveException.Kind.CLOSED,
                    assertThrows(ArchiveException.class, () -> fold(stream, run(10, 11, 2)))
                            .kind());
            assertThrows(ArchiveException.class, () -> readAll(stream));
            StreamArchive next = archive.stream(record("a", 2));
            assertEquals(Position.ZERO, next.end().watermark());
            fold(next, run(0, 1, 3));
            assertEquals(3, readAll(next).events().count());
            assertFalse(Files.exists(Archive.folderOf(root, old.id()).resolve("20251129-00F.cq4")));
        }
    }

    @Test
    @Tag("F7")
    void readersOnManyThreadsSeeContiguousPagesWhileFoldsRollAndFilesClose() throws Exception {
        AtomicBoolean done = new AtomicBoolean();
        ExecutorService threads = Executors.newFixedThreadPool(5);
        try (Archive archive = new Archive(root, Limits.DEFAULT, 1, Storage.REAL)) {
            StreamArchive stream = archive.stream(record("busy", 1));
            StreamArchive other = archive.stream(record("other", 2));
            fold(stream, run(0, 1, 50));
            List<Future<Long>> readers = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                boolean forward = t % 2 == 0;
                readers.add(threads.submit(() -> {
                    long pages = 0;
                    while (!done.get()) {
                        pages += forward ? assertForward(stream) : assertBackward(stream);
                    }
                    return pages;
                }));
            }
            for (int i = 1; i < 120; i++) {
                fold(stream, run(i * 600_000L, i * 50 + 1, 50));
                if (i % 10 == 0) {
                    fold(other, run(i, i, 1));
                }
            }
            done.set(true);
            for (Future<Long> reader : readers) {
                assertTrue(reader.get() > 3);
            }
            assertEquals(6_000, readAll(stream).events().count());
        } catch (ExecutionException e) {
            throw new AssertionError(e.getCause());
        } finally {
            done.set(true);
            threads.shutdownNow();
        }
    }

    private static long assertForward(StreamArchive stream) {
        Position after = Position.ZERO;
        long ordinal = 1;
        long pages = 0;
        Position end = stream.watermark();
        while (after.isBefore(end)) {
            ArchivePage page = stream.read(after, end, 77, ALL);
            assertEquals(List.of(), page.gaps());
            for (int i = 0; i < page.events().count(); i++) {
                assertEquals(ordinal++, page.events().ordinal(i));
            }
            after = page.events().last();
            pages++;
        }
        return pages;
    }

    private static long assertBackward(StreamArchive stream) {
        Position before = stream.watermark().next();
        long ordinal = -1;
        long pages = 0;
        while (ordinal != 1) {
            ArchivePage page = stream.readReverse(before, Position.ZERO, 77, ALL);
            assertEquals(List.of(), page.gaps());
            for (int i = page.events().count() - 1; i >= 0; i--) {
                if (ordinal != -1) {
                    assertEquals(ordinal - 1, page.events().ordinal(i));
                }
                ordinal = page.events().ordinal(i);
            }
            before = page.events().first();
            pages++;
        }
        return pages;
    }
}
