package dev.tidemark.archive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.EventId;
import dev.tidemark.event.Position;
import org.junit.jupiter.api.Test;

class RollFilesTest {
    @Test
    void filesAreNamedAfterTheStartOfTheTimeTheyCover() {
        int day = RollFiles.DAILY.cycleOf(Sample.at(5, 0));
        assertEquals("20251129F.cq4", RollFiles.DAILY.fileName(day));
        int hour = RollFiles.HOURLY.cycleOf(Sample.at(13 * 3_600_000, 0));
        assertEquals("20251129-13F.cq4", RollFiles.HOURLY.fileName(hour));
        assertEquals(Sample.DAY, RollFiles.DAILY.startMs(day));
        assertEquals(Position.before(Sample.DAY + Sample.DAY_MS), RollFiles.DAILY.last(day));
    }

    @Test
    void everyNameLeadsBackToItsCycle() {
        for (RollFiles files : RollFiles.values()) {
            for (int cycle = 0; cycle < 3_000_000; cycle += 997) {
                if (files.startMs(cycle) <= 253_402_300_799_999L) {
                    assertEquals(cycle, files.cycleOf(files.fileName(cycle)));
                }
            }
        }
    }

    @Test
    void otherNamesAreNone() {
        for (String name : new String[] {
            "20251140F.cq4",
            "20251129-24F.cq4",
            "20251129F.cq4.damaged",
            "metadata.cq4t",
            "x.cq4",
            ".cq4",
            "20251129.cq4"
        }) {
            assertEquals(RollFiles.NONE, RollFiles.DAILY.cycleOf(name), name);
            assertEquals(RollFiles.NONE, RollFiles.HOURLY.cycleOf(name), name);
        }
        assertEquals(RollFiles.NONE, RollFiles.DAILY.cycleOf("20251129-13F.cq4"));
        assertEquals(RollFiles.NONE, RollFiles.HOURLY.cycleOf("20251129F.cq4"));
    }

    @Test
    void positionsOfAnySizeHaveACycle() {
        for (RollFiles files : RollFiles.values()) {
            assertEquals(0, files.cycleOf(Position.ZERO));
            int last = files.cycleOf(Position.MAX);
            assertEquals(last, files.cycleOf(files.fileName(last)));
            assertEquals(Position.MAX, files.last(last));
            assertTrue(files.cycleOf(new Position(EventId.LAST_MS, 0)) < last);
        }
    }
}
