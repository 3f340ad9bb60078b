package dev.tidemark.archive;

import dev.tidemark.event.Position;
import org.jspecify.annotations.Nullable;

/** A reader's hold on an open archive, at one moment of its state. One thread; to be closed. */
final class Lease implements AutoCloseable {
    private final OpenQueue queue;
    private final Layout layout;
    private final Published published;
    private final OpenFiles files;
    private final ExcerptReader reader;

    /** @param queue retained for this lease */
    Lease(OpenQueue queue, Layout layout, Published published, OpenFiles files) {
        this.queue = queue;
        this.layout = layout;
        this.published = published;
        this.files = files;
        reader = queue.borrow();
    }

    OpenQueue queue() {
        return queue;
    }

    ExcerptReader reader() {
        return reader;
    }

    SearchMarks marks() {
        return queue.marks();
    }

    ReadHints hints() {
        return queue.hints();
    }

    Published published() {
        return published;
    }

    /** Number of files that hold something up to W. */
    int files() {
        int newest = layout.indexOf(published.cycle());
        return newest < layout.count() && layout.cycle(newest) == published.cycle() ? newest + 1 : newest;
    }

    int cycle(int file) {
        return layout.cycle(file);
    }

    int fileOf(int cycle) {
        return layout.indexOf(cycle);
    }

    /** Excerpts of a file up to W. */
    long count(int file) {
        int cycle = layout.cycle(file);
        return cycle == published.cycle() ? published.count() : layout.count(cycle, reader);
    }

    boolean isNewest(int file) {
        return layout.cycle(file) == published.cycle();
    }

    /** The id of the last event before the file; null if that can't be read. */
    @Nullable
    Position head(int file) {
        return layout.head(layout.cycle(file), reader);
    }

    /** A part of a file can't be read: whoever looks after the disk is told. */
    void damaged(int file, String what) {
        files.damaged(layout.cycle(file), what);
    }

    @Override
    public void close() {
        queue.giveBack(reader);
        queue.release();
    }
}
