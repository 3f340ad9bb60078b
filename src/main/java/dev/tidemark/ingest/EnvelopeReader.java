package dev.tidemark.ingest;

import dev.tidemark.event.ContentType;
import dev.tidemark.event.EventId;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Problem;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads one envelope, a JSON object that carries an event and what belongs to it:
 *
 * <pre>
 *  {"data": any JSON | "text": "…" | "base64": "…",    exactly one; data is kept as sent, byte for byte
 *   "time": RFC 3339 string or whole Unix ms,           optional
 *   "content_type": "…",                                optional; by default application/json, text/plain, application/octet-stream
 *   "id": "EVT…"}                                       optional
 * </pre>
 *
 * Other keys and repeated ones are refused. One thread, one body.
 */
final class EnvelopeReader {
    private static final String TEXT_PLAIN = "text/plain";

    /** The keys of an envelope. */
    private enum Key {
        DATA("data"),
        TEXT("text"),
        BASE64("base64"),
        TIME("time"),
        CONTENT_TYPE("content_type"),
        ID("id");

        static final List<Key> PAYLOADS = List.of(DATA, TEXT, BASE64);

        private final String text;

        Key(String text) {
            this.text = text;
        }

        static @Nullable Key of(String text) {
            for (Key key : values()) {
                if (key.text.equals(text)) {
                    return key;
                }
            }
            return null;
        }
    }

    /** Where a value lies in the body. */
    private record Span(int from, int to) {}

    private final byte[] bytes;
    private final JsonScanner scanner;
    private final long defaultTime;
    private final Map<Key, Span> values = new EnumMap<>(Key.class);

    /** @param defaultTime claimed time of envelopes without one of their own, or {@link dev.tidemark.event.Event#NO_TIME} */
    EnvelopeReader(byte[] bytes, JsonScanner scanner, long defaultTime) {
        this.bytes = bytes;
        this.scanner = scanner;
        this.defaultTime = defaultTime;
    }

    /**
     * The event in the envelope that lies between two indexes.
     *
     * @throws MalformedBody if it isn't an envelope
     * @throws Problem {@link Problem.Kind#TIME_REFUSED} if its time is outside what can be claimed
     */
    NewEvent read(int from, int to) {
        values.clear();
        int start = scanner.space(from, to);
        scanKeys(start, to);
        List<Key> payloads = Key.PAYLOADS.stream().filter(values::containsKey).toList();
        if (payloads.size() != 1) {
            throw new MalformedBody(
                    start, "an envelope has exactly one of data, text and base64, not " + payloads.size());
        }
        Key key = payloads.get(0);
        Span payload = Objects.requireNonNull(values.get(key));
        String type = type(key);
        return new NewEvent(payload(key, payload, type), type, time(), id());
    }

    private void scanKeys(int start, int to) {
        int at = scanner.space(scanner.pass('{', "an envelope, a JSON object", start, to), to);
        StringBuilder unknown = new StringBuilder();
        int unknownAt = -1;
        boolean more = at == to || bytes[at] != '}';
        while (more) {
            int value = scanner.name(at, to);
            int end = scanner.value(value, to);
            String name = text(at, scanner.string(at, to));
            Key key = Key.of(name);
            if (key == null) {
                unknownAt = unknownAt < 0 ? at : unknownAt;
                unknown.append(unknown.isEmpty() ? "" : ", ").append(name);
            } else if (values.put(key, new Span(value, end)) != null) {
                throw new MalformedBody(at, "the key '" + name + "' is repeated");
            }
            at = scanner.space(end, to);
            more = at == to || bytes[at] != '}';
            at = more ? scanner.space(scanner.pass(',', "',' or '}'", at, to), to) : at;
        }
        scanner.end(at + 1, to);
        if (unknownAt >= 0) {
            throw new MalformedBody(
                    unknownAt,
                    "unknown keys in the envelope: " + Problem.quote(unknown)
                            + "; allowed are data, text, base64, time, content_type, id");
        }
    }

    private String type(Key payload) {
        Span span = values.get(Key.CONTENT_TYPE);
        if (span == null) {
            return switch (payload) {
                case DATA -> ContentType.JSON;
                case TEXT -> TEXT_PLAIN;
                default -> BodyFormat.OCTET_STREAM;
            };
        }
        String type;
        try {
            type = ContentType.normalize(string(Key.CONTENT_TYPE, span));
        } catch (Problem e) {
            throw new MalformedBody(span.from, "content_type: " + e.detail());
        }
        if (payload == Key.DATA && !ContentType.isJson(type)) {
            throw new MalformedBody(
                    span.from,
                    "data is JSON and can't have the content_type '" + type + "'; use text or base64 for other types");
        }
        return type;
    }

    private byte[] payload(Key key, Span span, String type) {
        if (key == Key.DATA) {
            return Arrays.copyOfRange(bytes, span.from, span.to);
        }
        checkString(key, span);
        byte[] text = JsonStrings.utf8(bytes, span.from, span.to);
        byte[] payload = key == Key.TEXT ? text : decodeBase64(text, span);
        if (ContentType.isJson(type)) {
            checkJson(key, payload, span);
        }
        return payload;
    }

    private static byte[] decodeBase64(byte[] text, Span span) {
        try {
            return Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            throw new MalformedBody(span.from, "base64: not valid Base64 (RFC 4648, section 4)");
        }
    }

    private static void checkJson(Key key, byte[] payload, Span span) {
        try {
            new JsonScanner(payload).exactlyOneValue(0, payload.length);
        } catch (MalformedBody e) {
            throw new MalformedBody(
                    span.from,
                    key.text + ": the content_type is JSON, but byte " + (e.offset() + 1) + " of it isn't: "
                            + e.reason());
        }
    }

    private long time() {
        Span span = values.get(Key.TIME);
        if (span == null) {
            return defaultTime;
        }
        try {
            if (bytes[span.from] == '"') {
                return EventTime.parseRfc3339(text(span.from, span.to));
            }
            String number = new String(bytes, span.from, span.to - span.from, StandardCharsets.UTF_8);
            if (EventTime.isWhole(number)) {
                return EventTime.parseUnixMs(number);
            }
        } catch (Problem e) {
            if (e.kind() == Problem.Kind.TIME_REFUSED) {
                throw e;
            }
            throw new MalformedBody(span.from, "time: " + e.detail());
        }
        throw new MalformedBody(span.from, "time must be an RFC 3339 string or a whole number of Unix milliseconds");
    }

    private @Nullable EventId id() {
        Span span = values.get(Key.ID);
        if (span == null) {
            return null;
        }
        try {
            return EventId.parse(string(Key.ID, span));
        } catch (Problem e) {
            throw new MalformedBody(span.from, "id: " + e.detail());
        }
    }

    private String string(Key key, Span span) {
        checkString(key, span);
        return text(span.from, span.to);
    }

    private void checkString(Key key, Span span) {
        if (bytes[span.from] != '"') {
            throw new MalformedBody(span.from, key.text + " must be a string");
        }
    }

    private String text(int from, int to) {
        return new String(JsonStrings.utf8(bytes, from, to), StandardCharsets.UTF_8);
    }
}
