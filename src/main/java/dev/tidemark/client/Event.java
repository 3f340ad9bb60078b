package dev.tidemark.client;

import dev.tidemark.client.wire.JsonFields;
import dev.tidemark.client.wire.JsonText;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.OptionalLong;

/** One event as a reader gets it. Immutable; any thread. */
public final class Event {
    private final String id;
    private final String cursor;
    private final long at;
    private final OptionalLong time;
    private final String contentType;
    private final boolean provisional;
    private final boolean late;
    private final byte[] payload;
    private final byte[] json;

    private Event(JsonFields fields, byte[] json) {
        this.json = json;
        id = required(fields, "id");
        cursor = required(fields, "cursor");
        at = fields.number("at", 0);
        time = fields.has("time") ? OptionalLong.of(fields.number("time", 0)) : OptionalLong.empty();
        provisional = fields.isTrue("provisional");
        late = fields.isTrue("late");
        contentType = fields.text("content_type", "application/json");
        payload = payload(fields);
    }

    /**
     * @param fields those of {@code json}
     * @param json nobody writes into it any more
     * @throws JsonFields.Malformed if it isn't an event
     */
    static Event of(JsonFields fields, byte[] json) {
        return new Event(fields, json);
    }

    private static String required(JsonFields fields, String name) {
        String text = fields.text(name);
        if (text == null) {
            throw new JsonFields.Malformed("an event without " + name);
        }
        return text;
    }

    private static byte[] payload(JsonFields fields) {
        byte[] data = fields.raw("data");
        if (data != null) {
            return data;
        }
        byte[] text = fields.raw("text");
        if (text != null) {
            return JsonText.decode(text);
        }
        byte[] base64 = fields.raw("base64");
        if (base64 == null) {
            throw new JsonFields.Malformed("an event without payload");
        }
        try {
            return Base64.getDecoder().decode(JsonText.decode(base64));
        } catch (IllegalArgumentException e) {
            throw new JsonFields.Malformed("a payload that isn't base64");
        }
    }

    /** The id, {@code EVT} and 11 base62 digits; ids sort as texts, as the stream does. */
    public String id() {
        return id;
    }

    /** Where to resume so that the next event is the one behind this one. Opaque. */
    public String cursor() {
        return cursor;
    }

    /** The time in the id, Unix milliseconds: when the event was taken in, or its place if the stream sorts by claimed times. */
    public long at() {
        return at;
    }

    /** The time that the writer claimed, Unix milliseconds. */
    public OptionalLong time() {
        return time;
    }

    /** Media type of the payload; {@code application/json} unless the writer said otherwise. */
    public String contentType() {
        return contentType;
    }

    /** Whether events may still come to lie before this one. */
    public boolean provisional() {
        return provisional;
    }

    /** Whether it claimed a time that was too late to be sorted by. */
    public boolean late() {
        return late;
    }

    /**
     * The payload's bytes, a copy. They are those that the writer sent; only {@link TidemarkClient#read} and {@link
     * TidemarkClient#subscribe} give JSON with the line breaks between its tokens as spaces.
     */
    public byte[] payload() {
        return payload.clone();
    }

    /** The whole event as the server gave it: a JSON object with {@code id}, {@code cursor} and the rest. A copy, UTF-8. */
    public byte[] json() {
        return json.clone();
    }

    /** The payload as UTF-8 text. */
    public String text() {
        return new String(payload, StandardCharsets.UTF_8);
    }

    /** Id and payload, for logs. */
    @Override
    public String toString() {
        return id + " " + (payload.length > 200 ? text().substring(0, Math.min(100, text().length())) + "…" : text());
    }
}
