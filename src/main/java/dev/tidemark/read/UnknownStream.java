package dev.tidemark.read;

import dev.tidemark.event.Cursor;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;

/** The subscription to a stream that isn't there: it is closed as soon as its session knows of it. */
final class UnknownStream implements Subscription {
    /** A stream that doesn't exist has no generation; nobody resumes with this one. */
    private static final Generation NONE = new Generation(1);

    private boolean closed;

    void start(Subscriber subscriber, Problem problem) {
        if (!closed) {
            closed = true;
            subscriber.closed(problem, cursor());
        }
    }

    @Override
    public void drained() {}

    @Override
    public void pause() {}

    @Override
    public void resume() {}

    @Override
    public Cursor cursor() {
        return new Cursor(NONE, Position.ZERO);
    }

    @Override
    public Seam seam() {
        Position none = Position.ZERO;
        return new Seam(none, none, none, none, none, 0, 0, 0, 0, 0, Folding.Figures.NONE.lastFold(), 0, NONE);
    }

    @Override
    public boolean liveLogReachable() {
        return false;
    }

    @Override
    public void close() {
        closed = true;
    }
}
