package dev.tidemark.fold;

import dev.tidemark.archive.ArchiveAppender;
import dev.tidemark.event.StreamId;

/** Gives the archives of streams to the fold, their only writer. Called on the fold/trim verticle. */
public interface Archives {
    /** The archive of a stream; the same object for the same incarnation. */
    ArchiveAppender of(StreamId stream);
}
