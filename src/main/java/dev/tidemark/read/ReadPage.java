package dev.tidemark.read;

import dev.tidemark.event.Cursor;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Slice;
import java.util.List;

/**
 * Some events of a read. In a descending read the slices, and the events in each, are to be taken from the end.
 *
 * @param events in rising order
 * @param gaps announced missing parts, in reading order, within what this page covers
 * @param cursor where to go on (exclusive): {@code after} it, or in a descending read {@code before} it
 * @param end whether the asked range ends here: the bound, the tail or the limit was reached
 * @param bounded with {@code end}: whether it was a bound or the tail, not the limit
 * @param complete false if something couldn't be given for now (a part is away)
 */
public record ReadPage(
        List<Slice> events, List<Gap> gaps, Cursor cursor, boolean end, boolean bounded, boolean complete) {
    public ReadPage {
        events = List.copyOf(events);
        gaps = List.copyOf(gaps);
    }
}
