package dev.tidemark.client.wire;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The top-level members of one JSON object, as slices of its bytes. Nothing is rebuilt: a payload comes out as it went in, with
 * every digit of its numbers. Only what is looked at is decoded. Immutable as far as nobody writes into the slices.
 */
public final class JsonFields {
    /** What came isn't JSON of the expected form. */
    public static final class Malformed extends RuntimeException {
        private static final long serialVersionUID = 1L;

        public Malformed(String what) {
            super(what, null, false, false);
        }
    }

    private final Map<String, byte[]> values = new LinkedHashMap<>();

    private JsonFields() {}

    /** @throws Malformed if {@code json} isn't one object */
    public static JsonFields of(byte[] json) {
        JsonFields fields = new JsonFields();
        Scan scan = new Scan(json);
        scan.expect('{');
        if (!scan.skipIf('}')) {
            do {
                String key = new String(JsonText.decode(scan.value()), StandardCharsets.UTF_8);
                scan.expect(':');
                fields.values.putIfAbsent(key, scan.value());
            } while (scan.skipIf(','));
            scan.expect('}');
        }
        scan.expectEnd();
        return fields;
    }

    /**
     * The elements of an array, raw.
     *
     * @throws Malformed if {@code json} isn't one array
     */
    public static List<byte[]> elements(byte[] json) {
        List<byte[]> elements = new ArrayList<>();
        Scan scan = new Scan(json);
        scan.expect('[');
        if (!scan.skipIf(']')) {
            do {
                elements.add(scan.value());
            } while (scan.skipIf(','));
            scan.expect(']');
        }
        scan.expectEnd();
        return elements;
    }

    /**
     * Whether the bytes are one value as far as brackets and strings tell. If so they can stand in another object without changing what
     * is around them; whether they are JSON is another question.
     */
    public static boolean isOneValue(byte[] json) {
        try {
            Scan scan = new Scan(json);
            byte[] unused = scan.value();
            scan.expectEnd();
            return true;
        } catch (Malformed e) {
            return false;
        }
    }

    /** The bytes of a member's value, or null if there is none. */
    public byte @Nullable [] raw(String key) {
        return values.get(key);
    }

    /** Whether there is such a member, be it {@code null}. */
    public boolean has(String key) {
        return values.containsKey(key);
    }

    /** A member as text: a string decoded, anything else as written; null if there is none or it is {@code null}. */
    public @Nullable String text(String key) {
        byte[] raw = values.get(key);
        if (raw == null) {
            return null;
        }
        if (raw[0] == '"') {
            return new String(JsonText.decode(raw), StandardCharsets.UTF_8);
        }
        String written = new String(raw, StandardCharsets.UTF_8);
        return written.equals("null") ? null : written;
    }

    /** As {@link #text(String)} with {@code absent} in place of null. */
    public String text(String key, String absent) {
        String text = text(key);
        return text == null ? absent : text;
    }

    /** A member as a whole number of at most 18 digits; {@code absent} if it is none. */
    public long number(String key, long absent) {
        String text = text(key);
        return text == null || !text.matches("-?\\d{1,18}") ? absent : Long.parseLong(text);
    }

    /** Whether the member is {@code true}. */
    public boolean isTrue(String key) {
        return "true".equals(text(key));
    }

    /** Walks over JSON text. Brackets are counted, strings respected; what is between them isn't judged. */
    private static final class Scan {
        private final byte[] json;
        private int at;

        Scan(byte[] json) {
            this.json = json;
        }

        private void skipSpace() {
            while (at < json.length && (json[at] == ' ' || json[at] == '\t' || json[at] == '\n' || json[at] == '\r')) {
                at++;
            }
        }

        boolean skipIf(char c) {
            skipSpace();
            if (at < json.length && json[at] == c) {
                at++;
                return true;
            }
            return false;
        }

        void expect(char c) {
            if (!skipIf(c)) {
                throw new Malformed("no '" + c + "' at byte " + at);
            }
        }

        void expectEnd() {
            skipSpace();
            if (at != json.length) {
                throw new Malformed("more than one value");
            }
        }

        byte[] value() {
            skipSpace();
            int start = at;
            int depth = 0;
            while (at < json.length) {
                byte b = json[at];
                if (b == '"') {
                    skipString();
                } else if (b == '{' || b == '[') {
                    depth++;
                    at++;
                } else if (depth > 0 && (b == '}' || b == ']')) {
                    depth--;
                    at++;
                } else if (depth > 0) {
                    at++;
                    continue;
                } else {
                    skipScalar();
                }
                if (depth == 0) {
                    break;
                }
            }
            if (at == start || depth > 0) {
                throw new Malformed("no value at byte " + start);
            }
            return Arrays.copyOfRange(json, start, at);
        }

        private void skipScalar() {
            while (at < json.length && ",:]} \t\r\n\"".indexOf(json[at]) < 0) {
                at++;
            }
        }

        private void skipString() {
            at++;
            while (at < json.length && json[at] != '"') {
                at += json[at] == '\\' ? 2 : 1;
            }
            if (at >= json.length) {
                throw new Malformed("a string has no end");
            }
            at++;
        }
    }
}
