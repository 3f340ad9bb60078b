package dev.tidemark.cli;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The top-level members of one JSON object, as slices of its bytes. Nothing is rebuilt: a payload comes out as it went in, with
 * every digit of its numbers. Only what a command looks at is decoded.
 */
final class JsonFields {
    /** What came isn't JSON of the expected form. */
    static final class Malformed extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Malformed(String what) {
            super(what, null, false, false);
        }
    }

    private final Map<String, byte[]> values = new LinkedHashMap<>();

    private JsonFields() {}

    /** @throws Malformed if {@code json} isn't one object */
    static JsonFields of(byte[] json) {
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

    /** The elements of an array, raw. */
    static List<byte[]> elements(byte[] json) {
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

    /** The bytes of a member's value, or null if there is none. */
    byte @Nullable [] raw(String key) {
        return values.get(key);
    }

    boolean has(String key) {
        return values.containsKey(key);
    }

    /** A member as text: a string decoded, anything else as written; null if there is none or it is {@code null}. */
    @Nullable
    String text(String key) {
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

    String text(String key, String absent) {
        String text = text(key);
        return text == null ? absent : text;
    }

    /** A member as a whole number. */
    long number(String key, long absent) {
        String text = text(key);
        return text == null || !text.matches("-?\\d{1,18}") ? absent : Long.parseLong(text);
    }

    boolean isTrue(String key) {
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
