package dev.tidemark.archive;

import dev.tidemark.event.Position;

/**
 * What an archive has published: W, the end of the files that belongs to it, and the figures beside it. A {@link StreamArchive} owns
 * it and changes it under its lock for writing; readers take {@link #now} on any thread.
 */
final class Publication {
    /** Whether the stream's own settings may have removed its oldest files. */
    private final boolean pruned;

    // Under the owner's lock for writing.
    private Tail end = new Tail();
    private long bytesRemoved;

    // Written under it, read by any thread.
    private volatile long eventsRemoved;
    /** Of the removed ones, those that nobody had asked to remove. */
    private volatile long eventsMissing;

    private volatile Published now = Published.EMPTY;

    Publication(boolean pruned) {
        this.pruned = pruned;
    }

    /** What readers see. */
    Published now() {
        return now;
    }

    long eventsRemoved() {
        return eventsRemoved;
    }

    ArchiveCount count() {
        Published shown = now;
        return new ArchiveCount(shown.watermark(), shown.counts(), shown.ordinals(), eventsMissing);
    }

    /** The end that W stands at; not changed by who asks. */
    Tail end() {
        return end;
    }

    /** Whether there is no file up to W. */
    boolean isEmpty() {
        return end.cycle == RollFiles.NONE;
    }

    /** The end is another one; readers see it with the next {@link #show}. */
    void endsAt(Tail tail) {
        end = tail;
    }

    /** Of what was archived nothing is left. */
    void nothingLeft() {
        eventsRemoved = end.events - end.eventsLost;
        bytesRemoved = end.earlierBytes;
        eventsMissing = 0;
    }

    /** Takes what the files say that they no longer hold, and shows it. */
    void lacks(Removed removed) {
        eventsRemoved = removed.events();
        bytesRemoved = removed.bytes();
        eventsMissing = pruned ? removed.inTheMiddle() : removed.inTheMiddle() + removed.atTheFront();
        show(removed.earliest());
    }

    /** Readers see what is there up to the end. */
    void show(Position earliest) {
        now = new Published(
                end.last,
                end.events == 0 ? Position.ZERO : earliest,
                Math.max(0, end.events - end.eventsLost - eventsRemoved),
                Math.max(0, end.earlierBytes + end.end - bytesRemoved),
                end.ordinals(),
                end.counts(),
                end.cycle,
                end.count,
                end.producers.from(),
                end.producers.through());
    }

    /** The archive is deleted. */
    void clear() {
        now = Published.EMPTY;
    }
}
