package dev.tidemark.fold;

import static dev.tidemark.keeper.KeeperWorld.succeeded;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.archive.ArchiveException;
import dev.tidemark.event.BodyHash;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Producer;
import dev.tidemark.event.ProducerRequest;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StoredRequest;
import dev.tidemark.keeper.Appends;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("R28")
class ProducerCheckpointsTest {
    private static final long DAY_MS = 86_400_000;

    private final FoldWorld world =
            new FoldWorld(Map.of(Setting.LIVE_MAX_EVENTS, 1L, Setting.CHUNK_MAX_EVENTS, 8_192L));

    private Appends.Appended append(Producer producer, int count) {
        return succeeded(world.keeper.append(events(count), request(producer)));
    }

    private static ProducerRequest request(Producer producer) {
        return new ProducerRequest(producer, new BodyHash(5, 6));
    }

    private static List<NewEvent> events(int count) {
        List<NewEvent> events = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            events.add(NewEvent.json(Integer.toString(i).getBytes(StandardCharsets.UTF_8)));
        }
        return events;
    }

    private Appends.Appended append(long seq) {
        return append(new Producer("p", 0, seq), 1);
    }

    private List<Long> seqs() {
        return world.fold().producers.requests(0).stream()
                .map(StoredRequest::producer)
                .map(Producer::seq)
                .toList();
    }

    private List<String> checkpoints() {
        return world.keeper.archive.calls().stream()
                .filter(call -> call.startsWith("producers"))
                .toList();
    }

    @Test
    void withoutProducersNoCheckpointIsWritten() {
        succeeded(world.keeper.append(9_000));
        world.sealAndRun();
        succeeded(world.keeper.append(9_000));
        world.sealAndRun();
        world.keeper.clock.advanceMs(DAY_MS);
        succeeded(world.keeper.append(1));
        world.sealAndRun();
        assertEquals(List.of(), checkpoints());
        assertEquals(List.of(), seqs());
    }

    @Test
    void whatTheFoldKnowsIsWhatIsArchived() {
        append(0);
        world.sealAndRun();
        append(1);
        assertEquals(List.of(0L), seqs());
        world.sealAndRun();
        assertEquals(List.of(0L, 1L), seqs());
        world.killAndRestart(0);
        assertEquals(List.of(0L, 1L), seqs());
    }

    @Test
    void aCheckpointComesBehindTenThousandEventsAndNotBehindEverySlice() {
        for (int seq = 0; seq < 5; seq++) {
            append(seq);
            world.sealAndRun();
        }
        assertEquals(List.of(), checkpoints());
        succeeded(world.keeper.append(9_999));
        append(5);
        world.sealAndRun();
        assertEquals(List.of("producers 5"), checkpoints());
        append(6);
        world.sealAndRun();
        assertEquals(List.of("producers 5"), checkpoints());
        assertEquals(List.of(2L, 3L, 4L, 5L, 6L), seqs());
    }

    @Test
    void plainEventsAloneBringNoCheckpoint() {
        append(0);
        succeeded(world.keeper.append(10_000));
        world.sealAndRun();
        assertEquals(1, checkpoints().size());
        succeeded(world.keeper.append(20_000));
        world.sealAndRun();
        assertEquals(1, checkpoints().size());
    }

    @Test
    void aLargeTableWaitsForMoreEvents() {
        for (int i = 0; i < 2_000; i++) {
            append(new Producer("p" + i, 0, 0), 1);
        }
        succeeded(world.keeper.append(13_000));
        world.sealAndRun();
        assertEquals(List.of(), checkpoints());
        append(new Producer("p0", 0, 1), 1_500);
        world.sealAndRun();
        assertEquals(List.of("producers 2001"), checkpoints());
    }

    @Test
    void theFirstSliceOfANewRollFileHasOne() {
        world.keeper.clock.advanceMs(DAY_MS / 2);
        append(0);
        world.sealAndRun();
        world.keeper.clock.advanceMs(DAY_MS - 1_000);
        succeeded(world.keeper.append(1));
        world.sealAndRun();
        assertEquals(List.of("producers 1"), checkpoints());
        succeeded(world.keeper.append(1));
        world.sealAndRun();
        assertEquals(1, checkpoints().size());
    }

    @Test
    void afterAStartTheFirstSliceWithAProducerHasOneAndOthersHaveNot() {
        append(0);
        world.sealAndRun();
        world.killAndRestart(0);
        succeeded(world.keeper.append(3));
        world.sealAndRun();
        assertEquals(List.of(), checkpoints());
        append(1);
        world.sealAndRun();
        assertEquals(List.of("producers 2"), checkpoints());
        append(2);
        world.sealAndRun();
        assertEquals(1, checkpoints().size());
    }

    @Test
    void aCheckpointHoldsNothingThatIsAboveIt() {
        append(0);
        world.sealAndRun();
        world.killAndRestart(0);
        append(1);
        world.keeper.seal();
        append(2);
        succeeded(world.run());
        assertEquals(List.of("producers 2"), checkpoints());
        assertEquals(List.of(0L, 1L), seqs());
    }

    @Test
    void aFailedForceLeavesTheFoldWithWhatTheArchiveReallyHolds() {
        append(0);
        world.sealAndRun();
        append(1);
        world.keeper.seal();
        world.keeper.archive.failForces(1, ArchiveException.Kind.IO);
        assertTrue(world.run().failed());
        assertEquals(List.of(0L), seqs());
        succeeded(world.run());
        assertEquals(List.of(0L, 1L), seqs());
    }

    @Test
    @Tag("T13")
    void aDuplicateIsKnownAfterFoldTrimCheckpointAndKill() {
        Appends.Appended first = append(0);
        succeeded(world.keeper.append(10_000));
        world.sealAndRun();
        assertEquals(1, checkpoints().size());
        assertEquals(1, world.keeper.live().size());
        for (int kill = 0; kill < 3; kill++) {
            world.killAndRestart(0);
            Appends.Appended again = append(0);
            assertTrue(again.duplicate());
            assertEquals(first.ids(), again.ids());
        }
        assertFalse(append(1).duplicate());
    }
}
