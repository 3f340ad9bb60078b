package dev.tidemark.archive;

import dev.tidemark.event.Position;

/**
 * Reads one stream's archive, up to its watermark. The figures may be read by any thread; {@link #read} and {@link #readReverse}
 * block: workers only, several at once.
 */
public interface ArchiveReader {
    /** W: the highest folded event id; {@link Position#ZERO} before the first fold. Never goes back. */
    Position watermark();

    /** Position of the oldest event; {@link Position#ZERO} if there is none. */
    Position earliest();

    /** Events archived and still there. */
    long events();

    /** Events that were archived and are gone, with whole files. */
    long eventsRemoved();

    /** Bytes allocated on disk. */
    long bytes();

    /** What was counted up to W. A figure: {@link #open} comes first. */
    ArchiveCount count();

    /** Brings watermark and figures up to date with what is on disk, if that hasn't been done; cheap afterwards. Blocks. */
    void open();

    /**
     * The oldest events with {@code after < id <= through}.
     *
     * @param through cut at the watermark
     * @param eventsMax at most so many
     * @param bytesMax ends behind the event that reaches it; at least one event comes if there is one
     * @throws ArchiveException if the archive can't be read; a damaged part is a gap in the page, not an error
     */
    ArchivePage read(Position after, Position through, int eventsMax, int bytesMax);

    /**
     * The newest events with {@code from <= id < before}, in a page of rising order.
     *
     * @param before cut above the watermark
     * @throws ArchiveException as {@link #read}
     */
    ArchivePage readReverse(Position before, Position from, int eventsMax, int bytesMax);

    /** A check of everything up to W as it is now, which doesn't disturb appends and reads. Opens the archive. */
    ArchiveCheck check();
}
