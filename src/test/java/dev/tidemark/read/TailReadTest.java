package dev.tidemark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.StreamName;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class TailReadTest {
    private static final long ALL = 16 << 20;

    private final World world = new World();

    private TailAnswer tail(int n) {
        return tail(n, ALL);
    }

    private TailAnswer tail(int n, long bytesMax) {
        Future<TailAnswer> answer = world.reads().tail(world.id.name(), n, View.LIVE, bytesMax);
        assertTrue(answer.isComplete(), "memory answers within the call");
        return answer.result();
    }

    private static List<Long> ordinals(TailAnswer answer) {
        List<Long> ordinals = new ArrayList<>();
        answer.events().forEach(slice -> {
            for (int i = slice.from(); i < slice.to(); i++) {
                ordinals.add(slice.chunk().ordinal(i));
            }
        });
        return ordinals;
    }

    private static void assertRun(long from, long to, TailAnswer answer) {
        List<Long> ordinals = ordinals(answer);
        List<Long> run = new ArrayList<>();
        for (long i = from; i <= to; i++) {
            run.add(i);
        }
        assertEquals(run, ordinals);
    }

    @Test
    @Tag("T1")
    void theNewestInMemoryAreAnsweredWithinTheCallAndWithoutIo() {
        world.append(50).foldAll().append(50);
        world.redisAway = true;
        world.archiveAway = true;
        TailAnswer answer = tail(70);
        assertRun(31, 100, answer);
        assertTrue(answer.complete());
        assertEquals(world.position(100), answer.cursor().position());
        assertEquals(0, world.redisReads + world.archiveReads);
        assertEquals("{\"n\":100}", new String(answer.events().get(1).chunk().payload(49), StandardCharsets.UTF_8));
    }

    @Test
    @Tag("T2")
    @Tag("R46")
    void zeroIsNoneMoreThanThereIsIsAllAndAnEmptyStreamIsEmpty() {
        TailAnswer empty = tail(10);
        assertEquals(List.of(), empty.events());
        assertTrue(empty.complete());
        assertEquals(Position.ZERO, empty.cursor().position());
        world.append(5);
        TailAnswer none = tail(0);
        assertEquals(List.of(), none.events());
        assertTrue(none.complete());
        assertEquals(world.position(5), none.cursor().position());
        assertRun(1, 5, tail(10_000));
        assertTrue(tail(50).complete());
    }

    @Test
    @Tag("R15")
    void nBeyondMemoryGoesOnIntoLiveLogAndArchiveExactly() {
        world.append(1_000)
                .foldAll()
                .trimAll()
                .releaseAll()
                .append(60)
                .seal()
                .releaseAll()
                .append(40);
        for (int n : new int[] {1, 40, 41, 99, 100, 101, 500, 1_099}) {
            TailAnswer answer = tail(n);
            assertRun(1_101 - n, 1_100, answer);
            assertTrue(answer.complete(), "tail " + n);
        }
        assertRun(1, 1_100, tail(5_000));
        assertTrue(tail(5_000).complete());
    }

    @Test
    @Tag("R15")
    void aStreamThatIsOnlyInTheArchiveIsAnsweredFromIt() {
        world.append(300).foldAll().trimAll().retire();
        TailAnswer answer = tail(100);
        assertRun(201, 300, answer);
        assertTrue(answer.complete());
    }

    @Test
    @Tag("R15")
    void withRedisAwayAColdStreamIsAnsweredFromTheArchiveAndSaysThatItMayNotBeAll() {
        world.append(300).foldAll().trimAll().retire();
        world.redisAway = true;
        TailAnswer answer = tail(100);
        assertRun(201, 300, answer);
        assertFalse(answer.complete());
    }

    @Test
    void aPartThatIsAwayLeavesWhatThereIsAndNotComplete() {
        world.append(100)
                .foldAll()
                .trimAll()
                .releaseAll()
                .append(50)
                .seal()
                .releaseAll()
                .append(20);
        world.redisAway = true;
        TailAnswer answer = tail(60);
        assertRun(151, 170, answer);
        assertFalse(answer.complete());
        assertTrue(tail(20).complete());
        world.redisAway = false;
        world.archiveAway = true;
        TailAnswer partial = tail(100);
        assertRun(101, 170, partial);
        assertFalse(partial.complete());
    }

    @Test
    void anAnswerEndsWithTheNewestThatFitItsBytes() {
        world.append(100).foldAll().releaseAll().append(100);
        long each = tail(1).events().get(0).jsonBytes();
        TailAnswer answer = tail(50, each * 10 + 5);
        assertRun(191, 200, answer);
        assertFalse(answer.complete());
        TailAnswer deep = tail(200, each * 150);
        assertFalse(deep.complete());
        List<Long> ordinals = ordinals(deep);
        assertEquals(200L, ordinals.get(ordinals.size() - 1));
        assertTrue(ordinals.size() >= 145 && ordinals.size() <= 155, ordinals.size() + " events");
        assertRun(200 - ordinals.size() + 1, 200, deep);
    }

    @Test
    @Tag("R03")
    void whatExpiredIsNotAvailableThoughMemoryStillHoldsIt() {
        world.append(100).foldAll().prune(60);
        TailAnswer answer = tail(100);
        assertRun(61, 100, answer);
        assertTrue(answer.complete());
    }

    @Test
    void aLossWithinTheAnswerIsSaid() {
        world.append(50).seal().releaseAll().append(5);
        world.removeByOthers(world.position(40));
        assertTrue(tail(10).complete());
        assertFalse(tail(30).complete());
        assertEquals(30, ordinals(tail(30)).size());
    }

    @Test
    void unknownStreamsAreNotFound() {
        Future<TailAnswer> answer = world.reads().tail(new StreamName("none"), 10, View.LIVE, ALL);
        assertEquals(
                Problem.Kind.NOT_FOUND,
                assertInstanceOf(Problem.class, answer.cause()).kind());
    }

    @Test
    void theSealedViewEndsAtTheFrontier() {
        world.append(10);
        assertRun(
                8, 10, world.reads().tail(world.id.name(), 3, View.SEALED, ALL).result());
    }
}
