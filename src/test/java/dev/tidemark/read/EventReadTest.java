package dev.tidemark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.tidemark.event.Event;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import io.vertx.core.Future;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class EventReadTest {
    private final World world = new World();

    private Future<Event> read(Position position) {
        return world.reads().event(world.id.name(), EventId.of(position));
    }

    private Problem.Kind refused(Position position) {
        return assertInstanceOf(Problem.class, read(position).cause()).kind();
    }

    @Test
    @Tag("R26")
    void anEventIsFoundInArchiveLiveLogAndMemory() {
        world.append(10)
                .foldAll()
                .trimAll()
                .releaseAll()
                .append(10)
                .seal()
                .releaseAll()
                .append(10);
        for (int ordinal : new int[] {1, 10, 11, 20, 21, 30}) {
            Event event = read(world.position(ordinal)).result();
            assertEquals(ordinal, event.ordinal());
            assertEquals(
                    List.of(),
                    List.of(world.all.get(ordinal - 1).payload()).stream()
                            .filter(bytes -> !java.util.Arrays.equals(bytes, event.payload()))
                            .toList());
        }
    }

    @Test
    void whatNeverWasIsNotFoundAndWhatWasPrunedIsExpired() {
        world.append(10).nextMs(5).append(10).foldAll().trimAll().releaseAll().append(10);
        Position between = new Position(World.START_MS + 2, 0);
        assertEquals(Problem.Kind.NOT_FOUND, refused(between));
        assertEquals(Problem.Kind.NOT_FOUND, refused(new Position(World.START_MS + 99, 0)));
        assertEquals(Problem.Kind.NOT_FOUND, refused(new Position(EventId.EPOCH_MS, 1)));
        world.prune(5);
        assertEquals(Problem.Kind.EXPIRED, refused(world.position(5)));
        assertEquals(6, read(world.position(6)).result().ordinal());
    }

    @Test
    void aPartThatIsAwayOrDamagedIsNotAnAnswer() {
        world.append(10).foldAll().trimAll().releaseAll().append(10).seal().releaseAll();
        world.redisAway = true;
        assertEquals(Problem.Kind.UNAVAILABLE, refused(world.position(15)));
        world.redisAway = false;
        world.archived.remove(world.position(5));
        world.archive.gaps.add(new Gap(world.position(4), Positions.below(world.position(6)), Gap.Reason.DAMAGED));
        assertEquals(Problem.Kind.DAMAGED, refused(world.position(5)));
        world.archiveAway = true;
        assertEquals(Problem.Kind.UNAVAILABLE, refused(world.position(4)));
    }
}
