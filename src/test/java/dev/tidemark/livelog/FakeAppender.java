package dev.tidemark.livelog;

import dev.tidemark.event.Event;
import dev.tidemark.event.Position;
import dev.tidemark.event.StripeId;
import io.vertx.core.Future;
import java.util.List;

/** The appender over a {@link FakeConnection}. */
final class FakeAppender implements StripeAppender {
    private final FakeLiveLog log;
    private final FakeConnection connection;

    FakeAppender(FakeLiveLog log, FakeConnection connection) {
        this.log = log;
        this.connection = connection;
    }

    @Override
    public Future<Void> append(StripeId stripe, List<Event> events) {
        List<Event> sent = List.copyOf(events);
        return connection.send(
                FakeLiveLog.Command.APPEND,
                "append " + stripe + " " + sent.size() + " from "
                        + (sent.isEmpty() ? "" : sent.get(0).entry()),
                () -> {
                    log.append(stripe, sent);
                    return null;
                });
    }

    @Override
    public Future<Void> fence(StripeId stripe, Position fence) {
        return connection.send(FakeLiveLog.Command.FENCE, "fence " + stripe + " " + fence, () -> {
            log.fence(stripe, fence);
            return null;
        });
    }

    @Override
    public Future<Void> create(StripeId stripe) {
        return connection.send(FakeLiveLog.Command.CREATE_KEY, "createKey " + stripe, () -> {
            log.createKey(stripe);
            return null;
        });
    }

    @Override
    public Future<LiveLogPage> range(StripeId stripe, Position after, Position through, int count) {
        Future<LiveLogPage> page = connection.send(
                FakeLiveLog.Command.RANGE,
                "range " + stripe + " after " + after,
                () -> log.pageAfter(stripe, after, through, count));
        return log.ranged(page, after);
    }

    @Override
    public Future<LiveLogPage> rangeReverse(StripeId stripe, Position before, Position from, int count) {
        return connection.send(
                FakeLiveLog.Command.RANGE_REVERSE,
                "rangeReverse " + stripe + " before " + before,
                () -> log.pageBefore(stripe, before, from, count));
    }

    @Override
    public Future<LiveLogState> state(StripeId stripe) {
        return connection.send(FakeLiveLog.Command.STATE, "state " + stripe, () -> log.stateOf(stripe));
    }

    @Override
    public Future<LiveLogCensus> census(StripeId stripe) {
        return connection.send(FakeLiveLog.Command.CENSUS, "census " + stripe, () -> log.census(stripe));
    }

    @Override
    public Future<Quarantined> quarantine(StripeId stripe, Position after, boolean everything, int count) {
        return connection.send(
                FakeLiveLog.Command.QUARANTINE,
                "quarantine " + stripe + " after " + after,
                () -> log.quarantine(stripe, after, everything, count));
    }

    @Override
    public Future<Void> restorePosition(StripeId stripe, Position through, Position fence) {
        return connection.send(FakeLiveLog.Command.RESTORE_POSITION, "restorePosition " + stripe + " " + fence, () -> {
            log.restorePosition(stripe, through, fence);
            return null;
        });
    }

    @Override
    public int inFlight() {
        return connection.inFlight();
    }

    @Override
    public void close() {
        connection.close();
    }
}
