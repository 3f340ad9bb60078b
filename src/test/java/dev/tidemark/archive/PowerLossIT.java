package dev.tidemark.archive;

import static dev.tidemark.archive.ArchiveContract.fold;
import static dev.tidemark.archive.ArchiveContract.ids;
import static dev.tidemark.archive.ArchiveContract.readAll;
import static dev.tidemark.archive.ArchiveFiles.PAGE;
import static dev.tidemark.archive.Sample.DAY_MS;
import static dev.tidemark.archive.Sample.run;
import static dev.tidemark.archive.Sample.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Event;
import dev.tidemark.event.Position;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What is on disk after a power loss: every page that was forced, and of the pages written since, any subset, whole. The images are
 * put together from copies of the files taken at the force and at the loss.
 */
@Tag("failure-2")
class PowerLossIT {
    private static final int FORCED = 3_000;
    private static final int UNFORCED = 1_500;

    @TempDir
    Path root;

    private final ArchiveFiles files = new ArchiveFiles();
    private final List<Event> events = run(0, 1, FORCED + UNFORCED);

    @AfterEach
    void close() {
        files.close();
    }

    /** Copies of the archive after the force and after the append behind it. */
    private void take(Path atForce, Path atLoss) {
        Path live = root.resolve("live");
        StreamArchive archive = files.open(live);
        fold(archive, events.subList(0, FORCED));
        Trees.copy(live, atForce);
        archive.append(slices(events.subList(FORCED, FORCED + UNFORCED)));
        Trees.copy(live, atLoss);
    }

    /** The archive in the image goes on from a prefix that has all that was forced, and stays whole. */
    private int assertRecovers(Path image, String what) {
        StreamArchive archive = files.open(image);
        ArchiveEnd end = archive.end();
        List<Position> read = ids(readAll(archive));
        int kept = read.size();
        assertTrue(kept >= FORCED && kept <= FORCED + UNFORCED, what + ": " + kept + " kept");
        assertEquals(ids(events.subList(0, kept)), read, what);
        assertEquals(events.get(kept - 1).id(), end.watermark(), what);
        assertEquals(kept, end.lastOrdinal(0), what);
        assertEquals(kept, archive.events(), what);
        assertEquals(List.of(), readAll(archive).gaps(), what);
        int to = Math.min(kept + 700, events.size());
        fold(archive, kept == to ? run(DAY_MS / 2, kept + 1, 2) : events.subList(kept, to));
        List<Position> more = ids(readAll(archive));
        assertEquals(more, ids(readAll(files.open(image))), what);
        assertTrue(more.size() > kept, what);
        return kept;
    }

    @Test
    @Tag("F14")
    void aMissingPageOfTheUnforcedPartIsFoundAndNothingIsAppendedBehindIt() {
        Path atForce = root.resolve("forced");
        Path atLoss = root.resolve("lost");
        take(atForce, atLoss);
        Path file = ArchiveFiles.file(atLoss, 0);
        int firstPage = ArchiveFiles.find(file, "{\"n\":" + (FORCED + 200) + "}") / PAGE;
        int lastPage = ArchiveFiles.find(file, "{\"n\":" + (FORCED + UNFORCED - 1) + "}") / PAGE;
        assertTrue(lastPage - firstPage > 10);
        for (int page = firstPage; page <= lastPage; page += 3) {
            Path image = root.resolve("image-" + page);
            Trees.copy(atLoss, image);
            ArchiveFiles.zero(ArchiveFiles.file(image, 0), (long) page * PAGE, PAGE);
            int kept = assertRecovers(image, "page " + page);
            assertTrue(kept < FORCED + UNFORCED);
            assertTrue(ArchiveFiles.names(image).stream().anyMatch(name -> name.endsWith(".damaged")));
            Trees.delete(image);
        }
    }

    @Test
    @Tag("F14")
    @Tag("F5")
    void anySubsetOfTheUnforcedPagesLeavesAPrefix() {
        long seed = Objects.requireNonNull(Long.getLong("seed", System.nanoTime()));
        System.out.println("anySubsetOfTheUnforcedPages: -Dseed=" + seed);
        Random random = new Random(seed);
        Path atForce = root.resolve("forced");
        Path atLoss = root.resolve("lost");
        take(atForce, atLoss);
        Path before = ArchiveFiles.file(atForce, 0);
        Path after = ArchiveFiles.file(atLoss, 0);
        int length = 1 << 20;
        byte[] old = ArchiveFiles.read(before, 0, length);
        byte[] now = ArchiveFiles.read(after, 0, length);
        List<Integer> changed = new ArrayList<>();
        for (int page = 0; page < length / PAGE; page++) {
            if (!java.util.Arrays.equals(old, page * PAGE, page * PAGE + PAGE, now, page * PAGE, page * PAGE + PAGE)) {
                changed.add(page);
            }
        }
        assertTrue(changed.size() > 20);
        boolean some = false;
        for (int round = 0; round < 40; round++) {
            int likely = 1 + random.nextInt(9);
            byte[] image = old.clone();
            for (int page : changed) {
                if (random.nextInt(10) < likely) {
                    System.arraycopy(now, page * PAGE, image, page * PAGE, PAGE);
                    some = true;
                }
            }
            Path imageRoot = root.resolve("image-" + round);
            Trees.copy(round % 2 == 0 ? atForce : atLoss, imageRoot);
            ArchiveFiles.write(ArchiveFiles.file(imageRoot, 0), 0, image);
            int kept = assertRecovers(imageRoot, "seed " + seed + ", round " + round);
            assertTrue(kept >= FORCED);
            Trees.delete(imageRoot);
        }
        assertTrue(some);
        assertFalse(changed.isEmpty());
    }
}
