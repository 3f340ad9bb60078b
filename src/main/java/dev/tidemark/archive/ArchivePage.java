package dev.tidemark.archive;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.Gap;
import java.util.List;

/**
 * Some events of an archive, in rising order.
 *
 * @param events may be empty
 * @param gaps what is missing within the part of the range that the page covers
 * @param more whether the range goes on behind (or, in reverse, before) the page
 */
public record ArchivePage(Chunk events, List<Gap> gaps, boolean more) {
    public ArchivePage {
        gaps = List.copyOf(gaps);
    }
}
