package dev.tidemark.event;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What a check of a stream came upon.
 *
 * @param kind what sort of thing it is
 * @param file name of the file it is about; empty if it is about none
 * @param excerpt number of the excerpt in that file, from 0; {@link #NONE} if it is about none
 * @param event the event it is about, or the last one before it; {@link Position#ZERO} if there is none
 * @param what in words, without the file's name
 */
public record Finding(Kind kind, String file, long excerpt, Position event, String what) {
    /** Stands for "no excerpt". */
    public static final long NONE = -1;

    /** What is found. */
    public enum Kind {
        /** Nothing is wrong, but something is to be known. */
        NOTE,
        /** Bytes that aren't what was written. */
        DAMAGED,
        /** A file, or the end of one, isn't there. */
        MISSING,
        /** A file holds what belongs elsewhere. */
        SWAPPED,
        /** An event stands where it, or one above it, has stood before. */
        REPEATED,
        /** Ordinals that neither an event nor a gap accounts for. */
        ORDINALS,
        /** What follows doesn't say what was counted. */
        COUNT,
        /** Live log and archive don't agree on an event that both should have. */
        DIFFERENT,
        /** A file can't be read: nothing is known of it. */
        UNREADABLE;

        /** As answers and commands write it. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The event's id, where it has one; null otherwise. */
    public @Nullable String eventId() {
        return event.equals(Position.ZERO) || !EventId.fits(event)
                ? null
                : EventId.of(event).toString();
    }

    /** Whether the archive isn't what it should be. */
    public boolean isDamage() {
        return kind != Kind.NOTE;
    }
}
