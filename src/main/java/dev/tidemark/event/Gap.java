package dev.tidemark.event;

/**
 * Events that can't be given: always announced, never skipped silently.
 *
 * @param from position that the gap starts behind (exclusive)
 * @param to last position that may be missing (inclusive)
 * @param reason why
 */
public record Gap(Position from, Position to, Reason reason) {
    /** Why events are missing. */
    public enum Reason {
        /** Removed by the retention that the user set. */
        EXPIRED,
        /** Lost outside Tidemark's control. */
        LOST,
        /** The subscriber asked to skip. */
        SKIPPED,
        /** A file of the archive is damaged or missing. */
        DAMAGED,
        /** The stream was deleted and made anew. */
        RESET;

        public String text() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }
}
