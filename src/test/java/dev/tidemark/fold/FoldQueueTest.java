package dev.tidemark.fold;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.tidemark.archive.MemoryArchive;
import dev.tidemark.event.Chunk;
import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.Event;
import dev.tidemark.event.FakeClock;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.keeper.FixedStream;
import dev.tidemark.keeper.TimelineSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Whose turn it is to be folded. */
class FoldQueueTest {
    private final FakeClock clock = FakeClock.atStart();
    private final FoldQueue queue = new FoldQueue(clock, 1);

    /** A stream with one sealed event of that age. */
    private StreamFold fold(String name, long ageMs) {
        Generation generation = new Generation(7);
        FixedStream stream = new FixedStream(new StreamId(new StreamName(name), generation), Map.of());
        Position at = new Position(clock.wallMs() - ageMs, 0);
        ChunkBuilder builder = new ChunkBuilder(generation, 0);
        builder.add(new Event(at, at, 1, Event.NO_TIME, false, "application/json", null, new byte[] {'1'}));
        Chunk chunk = builder.seal();
        stream.snapshot = TimelineSnapshot.of(List.of(chunk), 1, Position.ZERO, at, at, 1);
        return new StreamFold(stream, new MemoryArchive(generation));
    }

    private List<String> drain() {
        List<String> order = new ArrayList<>();
        for (StreamFold next = queue.next(); next != null; next = queue.next()) {
            order.add(next.stream.toString());
            queue.ended();
        }
        return order;
    }

    @Test
    void theOldestUnfoldedEventComesFirst() {
        queue.add(fold("young", 1_000));
        queue.add(fold("old", 3_000));
        queue.add(fold("middle", 2_000));
        assertEquals(List.of("old", "middle", "young"), drain());
    }

    @Test
    void whatSomebodyWaitsForComesBeforeAllElseAndOnlyOnce() {
        queue.add(fold("old", 3_000));
        StreamFold wanted = fold("wanted", 10);
        queue.add(wanted);
        wanted.urgent = true;
        queue.add(wanted);
        assertEquals(List.of("wanted", "old"), drain());
    }

    @Test
    void aStreamWithMuchToFoldGoesBehindThoseThatWaitedMeanwhileAndIsNotForgotten() {
        StreamFold large = fold("large", 60_000);
        queue.add(large);
        queue.add(fold("slow", 10_000));
        assertEquals(large, queue.next());
        queue.ended();
        queue.addAgain(large);
        assertEquals("slow", String.valueOf(Objects.requireNonNull(queue.next()).stream));
        queue.ended();
        clock.advanceMs(5_000);
        queue.add(fold("later", 0));
        assertEquals(List.of("large", "later"), drain());
    }

    @Test
    void noMoreThanTheBoundHaveTheirTurnAtATime() {
        FoldQueue two = new FoldQueue(clock, 2);
        for (int i = 0; i < 5; i++) {
            two.add(fold("s" + i, 1_000 - i));
        }
        assertEquals("s0", String.valueOf(Objects.requireNonNull(two.next()).stream));
        assertEquals("s1", String.valueOf(Objects.requireNonNull(two.next()).stream));
        assertNull(two.next());
        two.ended();
        assertEquals("s2", String.valueOf(Objects.requireNonNull(two.next()).stream));
        assertNull(two.next());
        assertEquals(2, two.takeAll().size());
    }
}
