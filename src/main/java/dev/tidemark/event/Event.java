package dev.tidemark.event;

import org.jspecify.annotations.Nullable;

/**
 * One immutable event of one stripe, with everything that is stored about it. Reads that handle many use {@link Chunk}.
 *
 * <p>The payload array is not copied: nobody may change it.
 */
public final class Event {
    /** Stands for "no claimed time". */
    public static final long NO_TIME = Long.MIN_VALUE;

    private final Position id;
    private final Position entry;
    private final long ordinal;
    private final long time;
    private final boolean late;
    private final String type;
    private final @Nullable EventExtras extras;
    private final byte[] payload;

    /**
     * @param id position of the event id
     * @param entry position of the entry id; at or above {@code id}
     * @param ordinal number of the event in its stripe, from 1
     * @param time claimed time in Unix milliseconds, or {@link #NO_TIME}
     * @param late whether the claimed time was at or below the frontier
     * @param type content type, as {@link ContentType#normalize} gives it
     * @param extras producer fields and voided ordinals, if there are any
     * @param payload the bytes as they came in
     */
    public Event(
            Position id,
            Position entry,
            long ordinal,
            long time,
            boolean late,
            String type,
            @Nullable EventExtras extras,
            byte[] payload) {
        this.id = id;
        this.entry = entry;
        this.ordinal = ordinal;
        this.time = time;
        this.late = late;
        this.type = type;
        this.extras = extras;
        this.payload = payload;
    }

    public Position id() {
        return id;
    }

    public Position entry() {
        return entry;
    }

    public long ordinal() {
        return ordinal;
    }

    public long time() {
        return time;
    }

    public boolean hasTime() {
        return time != NO_TIME;
    }

    public boolean late() {
        return late;
    }

    public String type() {
        return type;
    }

    public @Nullable EventExtras extras() {
        return extras;
    }

    public byte[] payload() {
        return payload;
    }

    @Override
    public String toString() {
        return "event " + id + " #" + ordinal + ", " + payload.length + " bytes of " + type;
    }
}
