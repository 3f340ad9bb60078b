package dev.tidemark.archive;

import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import java.util.List;

/**
 * Writes one stream's archive. Only the fold/trim cycle has one; every call blocks and is made by one thread at a time. After any
 * exception the part since the last {@link #publish} is in doubt: the next {@link #append} first repairs the archive to the
 * watermark and throws again as long as it can't.
 */
public interface ArchiveAppender extends ArchiveReader {
    /** What the archive proves, after recovery. Opens the archive. */
    ArchiveEnd end();

    /**
     * Writes a slice of events: one excerpt each, in order, all above what was appended before. Nothing is forced yet.
     *
     * @throws ArchiveException {@link ArchiveException.Kind#SLICE_REFUSED} before anything is written if the ids don't rise, or the
     *     slice reaches over the border of a roll file (see {@link #sliceEnd})
     */
    void append(List<Slice> slices);

    /**
     * Writes that ordinals of a stripe are accounted for without an event.
     *
     * @param lost true: they were acknowledged and are lost, which readers are told of; false: they were refused, never acknowledged
     * @param after the gap lies above this position
     * @param through and at or below this one
     */
    void appendMissing(int stripe, OrdinalRange ordinals, boolean lost, Position after, Position through);

    /** Forces every file touched since the last force, and the directory for a new one, and reads the last record back. */
    void force();

    /** Makes {@code watermark} the one that readers see: what was appended up to it is forced. */
    void publish(Position watermark);

    /** Last position that may be in the same slice as {@code first}: slices never span a roll file. */
    Position sliceEnd(Position first);

    /** Closes files; the next call opens them again. */
    void close();
}
