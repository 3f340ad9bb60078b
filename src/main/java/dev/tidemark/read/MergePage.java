package dev.tidemark.read;

import dev.tidemark.event.Gap;
import dev.tidemark.event.Slice;
import java.util.List;

/**
 * What a merge-read gives at once.
 *
 * @param events in rising order
 * @param gaps in reading order
 * @param end whether it goes on behind
 * @param complete false if something couldn't be given for now
 */
record MergePage(List<Slice> events, List<Gap> gaps, End end, boolean complete) {
    /** Why a page is the last one. */
    enum End {
        /** It isn't. */
        MORE,
        /** The bound or the tail was reached. */
        REACHED,
        /** What comes next is away for now. */
        AWAY
    }

    int count() {
        int count = 0;
        for (Slice slice : events) {
            count += slice.count();
        }
        return count;
    }

    /** The same page, to be looked behind again: it is given later than it was read. */
    MergePage notTheLast() {
        return new MergePage(events, gaps, End.MORE, complete);
    }
}
