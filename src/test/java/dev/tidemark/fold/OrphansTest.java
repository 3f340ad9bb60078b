package dev.tidemark.fold;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Event;
import dev.tidemark.event.FakeClock;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.Units;
import dev.tidemark.keeper.FixedStream;
import dev.tidemark.keeper.KeeperWorld;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.TimelineSnapshot;
import dev.tidemark.livelog.FakeLiveLog;
import dev.tidemark.livelog.StripeAppender;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What dead processes left is found by asking Redis a little, and nothing else is opened. */
@Tag("T11")
class OrphansTest {
    private final FakeClock clock = FakeClock.atStart();
    private final FakeLiveLog liveLog = new FakeLiveLog();
    private final StripeAppender appender = KeeperWorld.succeeded(liveLog.connect(() -> {}));
    private final List<LiveStream> streams = new ArrayList<>();
    private final Map<String, Promise<Void>> folding = new LinkedHashMap<>();
    private final List<String> asked = new ArrayList<>();
    private final Map<String, Long> later = new LinkedHashMap<>();
    private final List<Promise<Void>> pauses = new ArrayList<>();

    private final Orphans.Ports ports = new Orphans.Ports() {
        @Override
        public Future<?> fold(LiveStream stream) {
            Promise<Void> promise = Promise.promise();
            folding.put(stream.toString(), promise);
            asked.add(stream.toString());
            return promise.future();
        }

        @Override
        public void foldIn(LiveStream stream, long delayMs) {
            later.put(stream.toString(), delayMs);
        }

        @Override
        public Future<?> pause(long ms) {
            Promise<Void> promise = Promise.promise();
            pauses.add(promise);
            return promise.future();
        }

        @Override
        public boolean isStopping() {
            return stopping;
        }
    };

    private boolean stopping;

    private final Orphans orphans = new Orphans(liveLog, liveLog, ports, clock);

    private FixedStream stream(String name, int entries, int archived, Map<Setting, Long> settings) {
        StreamId id = new StreamId(new StreamName(name), new Generation(7));
        FixedStream stream = new FixedStream(id, settings);
        KeeperWorld.succeeded(liveLog.create(id, 1, "{}"));
        for (int i = 1; i <= entries; i++) {
            Position at = at(i);
            byte[] payload = "1".getBytes(StandardCharsets.UTF_8);
            Event event = new Event(at, at, i, Event.NO_TIME, false, "application/json", null, payload);
            KeeperWorld.succeeded(appender.append(stream.stripe(0), List.of(event)));
        }
        if (archived > 0) {
            KeeperWorld.succeeded(liveLog.copySeam(id, at(archived)));
        }
        streams.add(stream);
        return stream;
    }

    private Position at(int i) {
        return new Position(clock.wallMs() - 100_000 + i * 1_000L, 0);
    }

    private void end(String name) {
        folding.remove(name).complete();
    }

    @Test
    void streamsWithEntriesAboveTheCopyOfTheSeamAreFoldedWhetherOrNotSomebodyOpenedThem() {
        stream("empty", 0, 0, Map.of());
        stream("folded", 3, 3, Map.of());
        stream("left", 3, 2, Map.of());
        stream("never folded", 1, 0, Map.of());
        stream("trimmed", 0, 3, Map.of());
        stream("in use", 3, 1, Map.of()).snapshot = TimelineSnapshot.of(List.of(), 0, at(3), at(3), at(3), 3);
        stream("deleted", 3, 1, Map.of()).deleted = true;
        orphans.lookAt(streams);
        assertEquals(List.of("left", "never folded", "in use"), asked);
        end("left");
        end("never folded");
        end("in use");
        assertTrue(orphans.isDone());
    }

    @Test
    void foldedEntriesThatNobodyUsesAreTrimmedWhenTheirAgeComes() {
        stream("an hour", 3, 3, Map.of());
        stream("no age", 3, 3, Map.of(Setting.LIVE_MAX_AGE, Units.NONE));
        stream("a minute", 3, 3, Map.of(Setting.LIVE_MAX_AGE, 60_000L));
        orphans.lookAt(streams);
        assertEquals(List.of(), asked);
        assertEquals(Map.of("an hour", 3_600_000L - 99_000, "a minute", 0L), later);
    }

    @Test
    void moreThanTheWindowOfEventsIsFoldedAndTrimmedAtOnce() {
        stream("many", 9, 9, Map.of(Setting.LIVE_MAX_EVENTS, 5L));
        orphans.lookAt(streams);
        assertEquals(List.of("many"), asked);
    }

    @Test
    void aFewAreFoldedAtATime() {
        for (int i = 0; i < 50; i++) {
            stream("s" + i, 2, 1, Map.of());
        }
        orphans.lookAt(streams);
        for (int i = 0; i < 50; i++) {
            assertTrue(folding.size() <= 4);
            assertFalse(orphans.isDone());
            end(folding.keySet().iterator().next());
        }
        assertTrue(orphans.isDone());
        assertEquals(50, asked.stream().distinct().count());
        assertEquals(50, asked.size());
    }

    @Test
    @Tag("F9")
    void aSeamOfAnotherStreamOrGenerationIsNoHint() {
        FixedStream reborn = stream("reborn", 2, 0, Map.of());
        StreamId before = new StreamId(reborn.id().name(), new Generation(6));
        KeeperWorld.succeeded(liveLog.copySeam(before, at(50)));
        orphans.lookAt(streams);
        assertEquals(List.of("reborn"), asked);
    }

    @Test
    void anErrorIsNotAnEmptyLiveLogItIsAskedAgain() {
        stream("left", 3, 2, Map.of());
        liveLog.away();
        orphans.lookAt(streams);
        assertEquals(List.of(), asked);
        assertFalse(pauses.isEmpty());
        liveLog.back();
        pauses.remove(0).complete();
        assertEquals(List.of("left"), asked);
        folding.remove("left").fail("the archive can't be written");
        assertFalse(pauses.isEmpty());
        pauses.remove(0).complete();
        assertEquals(List.of("left", "left"), asked);
        end("left");
        assertTrue(orphans.isDone());
    }

    @Test
    void nothingMoreIsBegunOnceTheServerStops() {
        stream("first", 3, 2, Map.of());
        stream("second", 3, 2, Map.of());
        liveLog.away();
        orphans.lookAt(streams);
        liveLog.back();
        stopping = true;
        while (!pauses.isEmpty()) {
            pauses.remove(0).complete();
        }
        assertEquals(List.of(), asked);
    }
}
