package dev.tidemark.archive;

import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import dev.tidemark.event.StoredRequest;
import java.util.List;
import java.util.Map;

/**
 * Writes one stream's archive. Only the fold/trim cycle has one; every call blocks and is made by one thread at a time. After any
 * exception the part since the last {@link #publish} is in doubt: the next {@link #append} first repairs the archive to the
 * watermark and throws again as long as it can't.
 */
public interface ArchiveAppender extends ArchiveReader {
    /** What the archive proves, after recovery. Opens the archive. */
    ArchiveEnd end();

    /**
     * The highest ordinal of a stripe that a clean stop had proven, where files were taken away since: none up to it may be given
     * again. 0 if nothing is gone. Opens the archive.
     */
    default long provenOrdinal(int stripe) {
        return 0;
    }

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

    /**
     * Writes what is remembered of producers behind what was appended last, which it must cover exactly: {@link #producers} begins
     * there.
     *
     * @param requests all of them, by stripe
     */
    void appendProducers(Map<Integer, List<StoredRequest>> requests);

    /**
     * The requests of producers up to W, by stripe, oldest first: the last checkpoint, and what came behind it. Opens the archive;
     * free of reads where there never was a producer.
     *
     * @throws ArchiveException if the archive can't be read; a damaged part is passed over
     */
    Map<Integer, List<StoredRequest>> producers();

    /**
     * The ordinals that what is archived above a position and up to W accounts for, by stripe. Opens the archive.
     *
     * @throws ArchiveException if the archive can't be read; a damaged part is passed over
     */
    Map<Integer, ArchivedOrdinals> ordinalsAbove(Position after);

    /**
     * The entry id of a stripe's event with that ordinal, if it is archived above a position; {@link Position#ZERO} if it isn't. Opens the
     * archive.
     *
     * @throws ArchiveException as {@link #ordinalsAbove}
     */
    Position entryOf(int stripe, long ordinal, Position after);

    /** Whether the archive holds anything of producers. Opens the archive. */
    boolean hasProducers();

    /** Forces every file touched since the last force, and the directory for a new one, and reads the last record back. */
    void force();

    /** Makes {@code watermark} the one that readers see: what was appended up to it is forced. */
    void publish(Position watermark);

    /** Last position that may be in the same slice as {@code first}: slices never span a roll file. */
    Position sliceEnd(Position first);

    /** Closes files; the next call opens them again. */
    void close();
}
