package dev.tidemark.event;

import org.jspecify.annotations.Nullable;

/** An event on its way in, before it has an id. The payload array is not copied: nobody may change it. */
public final class NewEvent {
    private final byte[] payload;
    private final String type;
    private final long time;
    private final @Nullable EventId importId;
    private final int line;
    private final boolean rescueLate;

    /**
     * @param payload bytes as they came
     * @param type content type, as {@link ContentType#normalize} gives it
     * @param time claimed time in Unix milliseconds, or {@link Event#NO_TIME}
     * @param importId the event's own id, when it is imported under it
     */
    public NewEvent(byte[] payload, String type, long time, @Nullable EventId importId) {
        this(payload, type, time, importId, 1, false);
    }

    private NewEvent(byte[] payload, String type, long time, @Nullable EventId importId, int line, boolean rescueLate) {
        this.payload = payload;
        this.type = type;
        this.time = time;
        this.importId = importId;
        this.line = line;
        this.rescueLate = rescueLate;
    }

    /** The same, said to stand on that physical line of its body, from 1. */
    public NewEvent atLine(int number) {
        return new NewEvent(payload, type, time, importId, number, rescueLate);
    }

    /** The same, to be stored even if it is late and its stream refuses that. */
    public NewEvent rescuedIfLate() {
        return new NewEvent(payload, type, time, importId, line, true);
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

    public int line() {
        return line;
    }

    public boolean rescueLate() {
        return rescueLate;
    }
}
