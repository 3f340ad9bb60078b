package dev.tidemark.event;

import org.jspecify.annotations.Nullable;

/** An event on its way in, before it has an id. The payload array is not copied: nobody may change it. */
public final class NewEvent {
    private final byte[] payload;
    private final String type;
    private final long time;
    private final @Nullable EventId importId;

    /**
     * @param payload bytes as they came
     * @param type content type, as {@link ContentType#normalize} gives it
     * @param time claimed time in Unix milliseconds, or {@link Event#NO_TIME}
     * @param importId the event's own id, when it is imported under it
     */
    public NewEvent(byte[] payload, String type, long time, @Nullable EventId importId) {
        this.payload = payload;
        this.type = type;
        this.time = time;
        this.importId = importId;
    }

    /** An event of JSON without anything else. */
    public static NewEvent json(byte[] payload) {
        return new NewEvent(payload, ContentType.JSON, Event.NO_TIME, null);
    }

    public byte[] payload() {
        return payload;
    }

    public String type() {
        return type;
    }

    public long time() {
        return time;
    }

    public @Nullable EventId importId() {
        return importId;
    }
}
