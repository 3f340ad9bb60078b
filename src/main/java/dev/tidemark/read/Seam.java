package dev.tidemark.read;

import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;

/**
 * Where archive ends and live log begins. Positions are {@link Position#ZERO} where there is none.
 *
 * @param earliest oldest event that can still be given
 * @param watermark W
 * @param firstLive oldest event in the live log
 * @param frontier order is final up to it
 * @param tail newest acknowledged event
 * @param liveEvents entries in the live log, as far as known without asking Redis
 * @param archivedEvents events in the archive
 * @param liveBytes memory of the live log as Redis estimates it
 * @param archiveBytes bytes allocated on disk
 * @param foldLagMs age of the oldest acknowledged event above W, by the stream clock; 0 if there is none
 * @param lastFold what the last fold did
 * @param overRetained entries that retention wants gone but that aren't folded yet
 * @param generation the stream's incarnation
 */
public record Seam(
        Position earliest,
        Position watermark,
        Position firstLive,
        Position frontier,
        Position tail,
        long liveEvents,
        long archivedEvents,
        long liveBytes,
        long archiveBytes,
        long foldLagMs,
        LastFold lastFold,
        long overRetained,
        Generation generation) {
    /**
     * Outcome of the last fold.
     *
     * @param outcome {@code none}, {@code ok} or {@code failed}
     * @param atMs Unix milliseconds; 0 if there was none
     * @param reason of a failure; empty otherwise
     */
    public record LastFold(String outcome, long atMs, String reason) {}
}
