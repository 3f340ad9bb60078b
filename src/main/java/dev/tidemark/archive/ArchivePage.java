package dev.tidemark.archive;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.ContentType;
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

    /** What an event counts towards {@code bytesMax} of a read: about the memory that its page takes for it. */
    static long weight(String type, int payloadLength) {
        long weight = 128L + type.length() + payloadLength;
        return ContentType.isJson(type) ? weight : weight + 4L * payloadLength / 3;
    }
}
