package dev.tidemark.client;

import dev.tidemark.client.wire.JsonFields;
import dev.tidemark.client.wire.JsonText;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** An event to append. Immutable; any thread. */
public final class NewEvent {
    private static final String JSON = "application/json";

    private final String contentType;
    private final byte[] payload;
    private final @Nullable Instant time;

    private NewEvent(String contentType, byte[] payload, @Nullable Instant time) {
        this.contentType = contentType;
        this.payload = payload;
        this.time = time;
    }

    /** One JSON value; the server keeps its bytes, and refuses what isn't JSON. */
    public static NewEvent json(String json) {
        return new NewEvent(JSON, json.getBytes(StandardCharsets.UTF_8), null);
    }

    /** One JSON value in UTF-8; the bytes are copied. */
    public static NewEvent json(byte[] json) {
        return new NewEvent(JSON, json.clone(), null);
    }

    /** Plain text. */
    public static NewEvent text(String text) {
        return new NewEvent("text/plain", text.getBytes(StandardCharsets.UTF_8), null);
    }

    /** Bytes of any media type; they are copied. */
    public static NewEvent bytes(String contentType, byte[] payload) {
        return new NewEvent(contentType, payload.clone(), null);
    }

    /** The same event with the time at which it happened, to the millisecond. */
    public NewEvent happenedAt(Instant when) {
        return new NewEvent(contentType, payload, when);
    }

    /** Adds the event as one line of {@code application/vnd.tidemark.events+ndjson}. */
    void writeEnvelope(ByteArrayOutputStream out) {
        boolean inline = contentType.equals(JSON) && !hasLineBreak() && JsonFields.isOneValue(payload);
        if (inline) {
            ascii(out, "{\"data\":");
            out.writeBytes(payload);
        } else {
            ascii(out, "{\"base64\":\"");
            out.writeBytes(Base64.getEncoder().encode(payload));
            ascii(out, "\",\"content_type\":");
            out.writeBytes(JsonText.quote(contentType).getBytes(StandardCharsets.UTF_8));
        }
        if (time != null) {
            ascii(out, ",\"time\":" + time.toEpochMilli());
        }
        ascii(out, "}\n");
    }

    /** A line break would end the line that the envelope is. */
    private boolean hasLineBreak() {
        for (byte b : payload) {
            if (b == '\n' || b == '\r') {
                return true;
            }
        }
        return false;
    }

    private static void ascii(ByteArrayOutputStream out, String text) {
        out.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }
}
