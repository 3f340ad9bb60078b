package dev.tidemark.cli;

import dev.tidemark.client.wire.JsonFields;
import dev.tidemark.client.wire.JsonText;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;

/** How an event is printed. Each form is whole lines, with the line feed. */
enum EventForm {
    /** The event as the server gives it. */
    json {
        @Override
        byte[] print(byte[] line, JsonFields event) {
            return line(line);
        }
    },
    /** The payload's bytes as they came in. */
    data {
        @Override
        byte[] print(byte[] line, JsonFields event) {
            return line(payload(event));
        }
    },
    /** Columns for people: time of the id, id, what is special, payload. */
    pretty {
        @Override
        byte[] print(byte[] line, JsonFields event) {
            StringBuilder columns = new StringBuilder();
            columns.append(time(event.number("at", 0)))
                    .append("  ")
                    .append(event.text("id", "-"))
                    .append("  ");
            if (event.has("time")) {
                columns.append("time=").append(time(event.number("time", 0))).append("  ");
            }
            columns.append(event.isTrue("late") ? "late  " : "")
                    .append(event.isTrue("provisional") ? "provisional  " : "");
            String type = event.text("content_type");
            if (type != null) {
                columns.append(type).append("  ");
            }
            columns.append(shown(event)).append('\n');
            return columns.toString().getBytes(StandardCharsets.UTF_8);
        }
    };

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSS").withZone(ZoneOffset.UTC);

    /**
     * What is printed for an event.
     *
     * @param line the event as it came
     * @param event its members
     */
    abstract byte[] print(byte[] line, JsonFields event);

    private static byte[] line(byte[] content) {
        ByteArrayOutputStream line = new ByteArrayOutputStream(content.length + 1);
        line.writeBytes(content);
        line.write('\n');
        return line.toByteArray();
    }

    private static byte[] payload(JsonFields event) {
        byte[] data = event.raw("data");
        if (data != null) {
            return data;
        }
        byte[] text = event.raw("text");
        if (text != null) {
            return JsonText.decode(text);
        }
        byte[] base64 = event.raw("base64");
        if (base64 == null) {
            throw new JsonFields.Malformed("an event without payload");
        }
        try {
            return Base64.getDecoder().decode(JsonText.decode(base64));
        } catch (IllegalArgumentException e) {
            throw new JsonFields.Malformed("a payload that isn't base64");
        }
    }

    private static String shown(JsonFields event) {
        byte[] raw = event.raw("data");
        byte[] token = raw == null ? event.raw("text") : raw;
        if (token == null) {
            return "(" + payload(event).length + " bytes)";
        }
        // Control characters could drive the terminal; those below U+0020 are escaped in JSON already.
        return new String(token, StandardCharsets.UTF_8).replaceAll("[\\x7f-\\x9f]", "?");
    }

    private static String time(long ms) {
        return TIME.format(Instant.ofEpochMilli(ms));
    }
}
