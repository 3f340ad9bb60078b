package dev.tidemark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Position;
import org.junit.jupiter.api.Test;

class SeamReadTest {
    private final World world = new World();

    private Seam seam() {
        return world.reads().seam(world.id.name()).result();
    }

    @Test
    void anEmptyStreamHasNoPositions() {
        Seam seam = seam();
        assertEquals(Position.ZERO, seam.earliest());
        assertEquals(Position.ZERO, seam.watermark());
        assertEquals(Position.ZERO, seam.firstLive());
        assertEquals(Position.ZERO, seam.tail());
        assertEquals(0, seam.liveEvents() + seam.archivedEvents() + seam.foldLagMs());
        assertEquals("none", seam.lastFold().outcome());
        assertEquals(world.id.generation(), seam.generation());
    }

    @Test
    void beforeTheFirstFoldTheEarliestIsLive() {
        world.append(5);
        Seam seam = seam();
        assertEquals(world.position(1), seam.earliest());
        assertEquals(Position.ZERO, seam.watermark());
        assertEquals(world.position(1), seam.firstLive());
        assertEquals(world.position(5), seam.tail());
        assertEquals(5, seam.liveEvents());
        assertEquals(0, seam.archivedEvents());
    }

    @Test
    void theSeamIsWhereTheArchiveEndsWithoutAskingRedis() {
        world.append(40).foldAll().trimAll().nextMs(10).append(20);
        world.elapse(3_010);
        Folding.Figures figures = new Folding.Figures(
                new Seam.LastFold("ok", World.START_MS, ""),
                4,
                new Folding.LiveLogFigures(Position.ZERO, 0, 1_234, 40));
        Seam seam = new SeamRead(stream -> figures, world).of(world.source());
        assertEquals(world.position(1), seam.earliest());
        assertEquals(world.position(40), seam.watermark());
        assertEquals(world.position(41), seam.firstLive());
        assertEquals(world.position(60), seam.frontier());
        assertEquals(20, seam.liveEvents());
        assertEquals(40, seam.archivedEvents());
        long since = world.source().snapshot().payloadBytesAfter(world.position(40));
        assertEquals(1_234 + since, seam.liveBytes(), "as Redis estimated it, and what came since");
        assertEquals(3_000, seam.foldLagMs());
        assertEquals("ok", seam.lastFold().outcome());
        assertEquals(4, seam.overRetained());
        assertEquals(0, world.redisReads);
    }

    @Test
    void afterARestartTheLiveLogIsAskedWhereItBegins() {
        world.append(40).nextMs(10).seal().append(20).release(true);
        world.elapse(3_010);
        Seam seam = seam();
        assertEquals(world.position(1), seam.earliest());
        assertEquals(world.position(1), seam.firstLive());
        assertEquals(60, seam.liveEvents());
        assertEquals(3_010, seam.foldLagMs());
        assertEquals(1, world.redisReads);
    }

    @Test
    void withRedisAwayAColdStreamShowsWhatTheArchiveKnows() {
        world.append(40).foldAll().trimAll().retire();
        world.redisAway = true;
        Seam seam = seam();
        assertEquals(world.position(40), seam.watermark());
        assertEquals(world.position(40), seam.tail());
        assertTrue(seam.archivedEvents() == 40 && seam.foldLagMs() == 0);
    }
}
