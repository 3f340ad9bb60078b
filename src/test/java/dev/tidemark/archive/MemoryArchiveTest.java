package dev.tidemark.archive;

import static dev.tidemark.archive.Sample.at;
import static dev.tidemark.archive.Sample.run;
import static dev.tidemark.archive.Sample.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tidemark.event.Gap;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The archive in memory keeps the contract, and its faults do what they say. */
class MemoryArchiveTest extends ArchiveContract {
    @Override
    ArchiveAppender create() {
        return new MemoryArchive(Sample.GENERATION);
    }

    @Override
    ArchiveAppender reopen(ArchiveAppender archive) {
        ((MemoryArchive) archive).crash(Integer.MAX_VALUE / 2);
        return archive;
    }

    @Test
    void aCrashTakesWhatWasNotForced() {
        MemoryArchive archive = new MemoryArchive(Sample.GENERATION);
        fold(archive, run(0, 1, 3));
        archive.append(slices(run(3, 4, 4)));
        archive.crash(1);
        assertEquals(at(3, 0), archive.end().watermark());
        archive.append(slices(run(4, 5, 4)));
        archive.crash(0);
        assertEquals(at(3, 0), archive.end().watermark());
    }

    @Test
    void afterAFailedAppendOrForceTheNextAppendStartsAtTheWatermark() {
        MemoryArchive archive = new MemoryArchive(Sample.GENERATION);
        fold(archive, run(0, 1, 3));
        archive.failAppends(1, ArchiveException.Kind.IO);
        assertThrows(ArchiveException.class, () -> archive.append(slices(run(3, 4, 4))));
        assertThrows(ArchiveException.class, archive::force);
        archive.failRepairs(1, ArchiveException.Kind.DISK_FULL);
        assertThrows(ArchiveException.class, () -> archive.append(slices(run(3, 4, 4))));
        fold(archive, run(3, 4, 4));
        archive.failForces(1, ArchiveException.Kind.IO);
        archive.append(slices(run(7, 8, 4)));
        assertThrows(ArchiveException.class, archive::force);
        fold(archive, run(7, 8, 4));
        assertSame(run(0, 1, 11), readAll(archive).events());
    }

    @Test
    void aDamagedPartIsAGap() {
        MemoryArchive archive = new MemoryArchive(Sample.GENERATION);
        fold(archive, run(0, 1, 10));
        archive.damage(at(3, 0), at(5, 0));
        Gap gap = new Gap(at(3, 0), at(6, 0).previous(), Gap.Reason.DAMAGED);
        assertEquals(List.of(gap), readAll(archive).gaps());
        assertEquals(
                List.of(gap), archive.readReverse(at(9, 0), at(2, 0), ALL, ALL).gaps());
        assertEquals(8, readAll(archive).events().count());
    }
}
