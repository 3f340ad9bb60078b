package dev.tidemark.read;

import dev.tidemark.archive.ArchiveReader;
import dev.tidemark.keeper.LiveStream;

/** The archives of the streams. Any thread. */
public interface Archives {
    /**
     * The archive of a stream, cheap. Its figures are up to date once a stripe of the stream has been opened, or once
     * {@link ArchiveReader#open} has been called.
     *
     * @throws dev.tidemark.event.Problem NOT_FOUND if the stream was deleted
     */
    ArchiveReader of(LiveStream stream);
}
