package dev.tidemark.client;

import dev.tidemark.client.wire.JsonFields;

/**
 * An acknowledged append.
 *
 * @param count number of events
 * @param first id of the first one as sent
 * @param last id of the last one as sent
 * @param cursor behind all of them
 * @param duplicate whether the server had them already from an earlier try; they are stored once
 */
public record Appended(long count, String first, String last, String cursor, boolean duplicate) {
    static Appended of(byte[] answer) {
        JsonFields fields = JsonFields.of(answer);
        String first = fields.text("first");
        String last = fields.text("last");
        if (first == null || last == null) {
            throw new JsonFields.Malformed("no ids in it");
        }
        return new Appended(
                fields.number("count", 0), first, last, fields.text("cursor", ""), fields.isTrue("duplicate"));
    }
}
