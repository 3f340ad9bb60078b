package dev.tidemark.archive;

import dev.tidemark.event.Position;
import java.nio.file.Path;

/**
 * Up to where an archive was once proven to be good and forced: what is wrong up to there is damage, what is wrong behind it was
 * perhaps never finished.
 *
 * @param by who says so
 * @param cycle file of the last excerpt that is proven, or {@link RollFiles#NONE}
 * @param count excerpts of that file that are proven
 * @param last the last event that is proven
 */
record Proven(By by, int cycle, long count, Position last) {
    /** Who knows it. */
    enum By {
        /** Nobody: it was never closed cleanly, or the note of that is gone. */
        NOBODY,
        /** The marker of a clean stop. */
        CLEAN_STOP,
        /** The running server: what lies behind is not looked at. */
        SERVER
    }

    static Proven by(Published published) {
        return new Proven(By.SERVER, published.cycle(), published.count(), published.watermark());
    }

    /** What the marker of a clean stop says, if there is one. */
    static Proven byMarker(Path folder) {
        Tail marker = CleanClose.read(folder);
        return marker == null
                ? new Proven(By.NOBODY, RollFiles.NONE, 0, Position.ZERO)
                : new Proven(By.CLEAN_STOP, marker.cycle, marker.count, marker.last);
    }

    /** Whether an excerpt of a file lies behind what is looked at. */
    boolean reaches(int file, long excerpt) {
        return by == By.SERVER && (file > cycle || (file == cycle && excerpt >= count));
    }
}
