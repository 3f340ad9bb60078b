package dev.tidemark.livelog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Event;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.StripeId;
import io.vertx.core.Future;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** The fake keeps the contract, and its faults do what they say. */
final class FakeLiveLogTest extends LiveLogContract {
    private final FakeLiveLog log = new FakeLiveLog();
    private final StripeId stripe = new StripeId(new StreamId(new StreamName("faults"), new Generation(5)), 0);
    private final AtomicInteger closed = new AtomicInteger();

    @Override
    LiveLogReader reader() {
        return log;
    }

    @Override
    LiveLogTrimmer trimmer() {
        return log;
    }

    @Override
    LiveLogAdmin admin() {
        return log;
    }

    @Override
    StripeAppender.Connector connector() {
        return log;
    }

    @Override
    <T> Future<T> onLoop(Supplier<Future<T>> call) {
        return call.get();
    }

    @Override
    void addForeign(StripeId to, Position entry) {
        log.addForeign(to, entry);
    }

    @Override
    void deleteByOthers(StripeId key) {
        log.deleteByOthers(key);
    }

    @Override
    String seamText(StreamName name) {
        String seam = log.seam(name);
        return seam == null ? "" : seam;
    }

    private StripeAppender ready() {
        StripeAppender appender = log.connect(closed::incrementAndGet).result();
        assertTrue(appender.create(stripe).succeeded());
        return appender;
    }

    private List<Long> stored() {
        return log.events(stripe).stream().map(Event::ordinal).toList();
    }

    @Test
    void heldRepliesAreExecutedAndDeliveredInOrder() {
        StripeAppender appender = ready();
        log.holdReplies();
        Future<Void> first = appender.append(stripe, events(1, 1));
        Future<Void> second = appender.append(stripe, events(2, 2));
        assertEquals(longs(1, 2), stored());
        assertEquals(2, appender.inFlight());
        assertFalse(first.isComplete());
        log.deliver();
        assertTrue(first.succeeded());
        assertTrue(second.succeeded());
        assertEquals(0, closed.get());
    }

    @Test
    void bytesOfADroppedConnectionAreUnknownAndMayArriveLate() {
        StripeAppender appender = ready();
        log.holdBytes(FakeLiveLog.Command.APPEND);
        Future<Void> open = appender.append(stripe, events(1, 2));
        assertEquals(List.of(), stored());
        log.dropConnections();
        assertEquals(LiveLogException.Kind.UNKNOWN, kindOf(open));
        assertEquals(1, closed.get());
        assertEquals(LiveLogException.Kind.NOT_SENT, kindOf(appender.append(stripe, events(3, 3))));
        assertEquals(1, log.arriveLate());
        assertEquals(longs(1, 2), stored());
    }

    @Test
    void aFenceMakesLateBytesHarmless() {
        StripeAppender appender = ready();
        log.holdBytes(FakeLiveLog.Command.APPEND);
        Future<Void> open = appender.append(stripe, events(1, 2));
        log.dropConnections();
        assertEquals(LiveLogException.Kind.UNKNOWN, kindOf(open));
        assertTrue(ready().fence(stripe, at(9)).succeeded());
        assertEquals(1, log.arriveLate());
        assertEquals(List.of(), stored());
    }

    @Test
    void refusalsOfEveryKindChangeNothing() {
        StripeAppender appender = ready();
        for (LiveLogException.Kind kind : LiveLogException.Kind.values()) {
            log.refuseNext(FakeLiveLog.Command.APPEND, kind, 1);
            assertEquals(kind, kindOf(appender.append(stripe, events(1, 1))));
            assertEquals(List.of(), stored());
        }
        log.executeThenUnknown(FakeLiveLog.Command.APPEND);
        assertEquals(LiveLogException.Kind.UNKNOWN, kindOf(appender.append(stripe, events(1, 1))));
        assertEquals(longs(1, 1), stored());
        log.refuse(LiveLogException.Kind.OUT_OF_MEMORY);
        assertEquals(LiveLogException.Kind.OUT_OF_MEMORY, kindOf(log.state(stripe)));
        log.accept();
        assertTrue(log.state(stripe).succeeded());
    }

    @Test
    void awayMeansNotSentUntilItIsBack() {
        StripeAppender appender = ready();
        log.away();
        assertEquals(LiveLogException.Kind.NOT_SENT, kindOf(appender.append(stripe, events(1, 1))));
        assertEquals(LiveLogException.Kind.NOT_SENT, kindOf(log.connect(() -> {})));
        assertEquals(LiveLogException.Kind.NOT_SENT, kindOf(log.range(stripe, at(0), at(9), 10)));
        log.back();
        assertTrue(log.connect(() -> {}).succeeded());
    }

    @Test
    void aRestoredImageForgetsWhatCameAfterIt() {
        StripeAppender appender = ready();
        assertTrue(appender.append(stripe, events(1, 3)).succeeded());
        FakeLiveLog.Image image = log.image();
        assertTrue(appender.append(stripe, events(4, 9)).succeeded());
        log.restore(image);
        assertEquals(longs(1, 3), stored());
        assertEquals(at(3), log.state(stripe).result().lastGenerated());
    }

    @Test
    void overItsBoundAnAppendIsNotSent() {
        StripeAppender appender = ready();
        log.inFlightMax(1);
        log.holdReplies();
        Future<Void> first = appender.append(stripe, events(1, 1));
        assertEquals(LiveLogException.Kind.NOT_SENT, kindOf(appender.append(stripe, events(2, 2))));
        log.deliver();
        assertTrue(first.succeeded());
        assertEquals(longs(1, 1), stored());
    }
}
