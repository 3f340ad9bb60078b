package dev.tidemark.read;

import dev.tidemark.event.Cursor;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Slice;
import dev.tidemark.event.StreamId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A subscriber that writes down what it is told and checks that it comes in order. */
final class Recorder implements Subscriber {
    private static final Cursor NOWHERE = new Cursor(new Generation(1), Position.ZERO);

    final List<Position> given = new ArrayList<>();
    final List<Gap> gaps = new ArrayList<>();
    final List<List<Slice>> lists = new ArrayList<>();
    final List<String> said = new ArrayList<>();
    boolean writable = true;
    Position reached = Position.ZERO;

    @Nullable
    Problem problem;

    Cursor helloCursor = NOWHERE;
    Cursor closedCursor = NOWHERE;

    Runnable onEvents = () -> {};
    Runnable onCaughtUp = () -> {};

    static List<Position> positions(List<Slice> slices) {
        List<Position> positions = new ArrayList<>();
        for (Slice slice : slices) {
            for (int i = slice.from(); i < slice.to(); i++) {
                positions.add(slice.chunk().position(i));
            }
        }
        return positions;
    }

    @Override
    public void hello(StreamId stream, Cursor cursor, Seam seam) {
        say("hello");
        if (said.size() != 1) {
            throw new AssertionError("hello is the first: " + said);
        }
        helloCursor = cursor;
        reached = cursor.position();
    }

    @Override
    public void events(List<Slice> events) {
        say("events");
        lists.add(events);
        for (Position position : positions(events)) {
            if (!position.isAfter(reached)) {
                throw new AssertionError(position + " after " + reached + " had been reached");
            }
            reached = position;
            given.add(position);
        }
        onEvents.run();
    }

    @Override
    public void caughtUp(Cursor cursor) {
        say("caughtUp");
        onCaughtUp.run();
    }

    @Override
    public void sealed(Position through) {
        say("sealed");
    }

    @Override
    public void fellBehind(Cursor cursor) {
        say("fellBehind");
    }

    @Override
    public void gap(Gap gap, Position earliest) {
        say("gap " + gap.reason().text());
        if (gap.from().isBefore(reached) && gap.reason() != Gap.Reason.RESET) {
            throw new AssertionError(gap + " after " + reached + " had been reached");
        }
        reached = Position.max(reached, gap.to());
        gaps.add(gap);
    }

    @Override
    public void closed(Problem why, Cursor cursor) {
        say("closed " + why.kind());
        problem = why;
        closedCursor = cursor;
    }

    @Override
    public boolean writable() {
        return writable;
    }

    private void say(String what) {
        if (problem != null) {
            throw new AssertionError(what + " after it was closed");
        }
        if (!what.equals("events")
                || said.isEmpty()
                || !said.get(said.size() - 1).equals(what)) {
            said.add(what);
        }
    }
}
