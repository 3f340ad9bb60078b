package dev.tidemark.fold;

import dev.tidemark.event.Position;
import org.jspecify.annotations.Nullable;

/**
 * Where the folding of one stream stands; immutable, any thread.
 *
 * @param watermark W
 * @param firstLive oldest entry known to be in the live log; {@link Position#ZERO} if there is none that is folded
 * @param liveFloorOrdinal highest ordinal that is trimmed: what is live is above it
 * @param liveLog what Redis said of the live log after the last trim; null if it wasn't asked yet
 * @param archivedOrdinal highest ordinal that the archive accounts for
 * @param trimmedBelow entries below it are trimmed
 * @param outcome {@code none}, {@code ok} or {@code failed}: what the last fold came to
 * @param outcomeMs when, Unix milliseconds; 0 if there was none
 * @param reason why it failed, or why it couldn't trim; empty otherwise
 * @param failingSinceMs since when folds fail, Unix milliseconds; 0 if they don't
 * @param overRetained events that retention wants gone but that aren't folded
 * @param foldedEvents events folded since the start
 * @param trimmedEvents entries trimmed since the start
 * @param foldedLiveBytes payload bytes that are folded and still live; {@link Long#MAX_VALUE} if that isn't known yet
 */
public record FoldStatus(
        Position watermark,
        Position firstLive,
        long liveFloorOrdinal,
        @Nullable LiveLog liveLog,
        long archivedOrdinal,
        Position trimmedBelow,
        String outcome,
        long outcomeMs,
        String reason,
        long failingSinceMs,
        long overRetained,
        long foldedEvents,
        long trimmedEvents,
        long foldedLiveBytes) {
    /** Nothing is known yet. */
    public static final FoldStatus NONE =
            new FoldStatus(Position.ZERO, Position.ZERO, 0, null, 0, Position.ZERO, "none", 0, "", 0, 0, 0, 0, 0);

    /**
     * The live log at one moment.
     *
     * @param events entries
     * @param bytes memory as Redis estimates it
     * @param lastOrdinal ordinal of the newest acknowledged event then
     */
    public record LiveLog(long events, long bytes, long lastOrdinal) {}

    public boolean isFailing() {
        return failingSinceMs > 0;
    }
}
