package dev.tidemark.read;

import dev.tidemark.event.Position;
import dev.tidemark.keeper.LiveStream;
import org.jspecify.annotations.Nullable;

/** What the fold/trim side knows of a stream and a seam shows. Any thread; no I/O. */
@FunctionalInterface
public interface Folding {
    Figures of(LiveStream stream);

    /**
     * Figures of one stream.
     *
     * @param lastFold what the last fold did
     * @param overRetained entries that retention wants gone but that aren't folded yet
     * @param liveLog the live log when it was last looked at; null if it hasn't been
     */
    record Figures(
            Seam.LastFold lastFold,
            long overRetained,
            @Nullable LiveLogFigures liveLog) {
        /** Nothing was folded yet. */
        public static final Figures NONE = new Figures(new Seam.LastFold("none", 0, ""), 0, null);
    }

    /**
     * The live log at one moment, after the last trim.
     *
     * @param first id of the oldest event in it; {@link Position#ZERO} if it was empty
     * @param events entries
     * @param bytes memory as Redis estimates it
     * @param lastOrdinal ordinal of the newest acknowledged event at that moment; what came since is counted from it
     */
    record LiveLogFigures(Position first, long events, long bytes, long lastOrdinal) {}
}
