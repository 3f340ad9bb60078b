package dev.tidemark.client.wire;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Strings of JSON, and JSON laid out for people. */
public final class JsonText {
    private JsonText() {}

    /**
     * The UTF-8 bytes that a string token stands for.
     *
     * @param token with its quotes
     * @throws JsonFields.Malformed if it isn't a string
     */
    public static byte[] decode(byte[] token) {
        if (token.length < 2 || token[0] != '"') {
            throw new JsonFields.Malformed("a string was expected");
        }
        ByteArrayOutputStream text = new ByteArrayOutputStream(token.length);
        int at = 1;
        while (at < token.length - 1) {
            if (token[at] != '\\') {
                text.write(token[at++]);
            } else if (token[at + 1] == 'u') {
                int end = endOfUnicode(token, at);
                text.writeBytes(unicode(token, at, end));
                at = end;
            } else {
                text.write(unescaped(token[at + 1]));
                at += 2;
            }
        }
        return text.toByteArray();
    }

    /** Successive escapes go together: a character beyond U+FFFF is written as two. */
    private static int endOfUnicode(byte[] token, int start) {
        int at = start;
        while (at + 6 < token.length && token[at] == '\\' && token[at + 1] == 'u') {
            at += 6;
        }
        if (at == start) {
            throw new JsonFields.Malformed("an escape is cut off");
        }
        return at;
    }

    private static byte[] unicode(byte[] token, int from, int to) {
        StringBuilder chars = new StringBuilder();
        for (int at = from; at < to; at += 6) {
            String digits = new String(token, at + 2, 4, StandardCharsets.US_ASCII);
            if (!digits.matches("[0-9a-fA-F]{4}")) {
                throw new JsonFields.Malformed("not an escape: \\u" + digits);
            }
            chars.append((char) Integer.parseInt(digits, 16));
        }
        return chars.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static int unescaped(byte b) {
        return switch (b) {
            case 'n' -> '\n';
            case 't' -> '\t';
            case 'r' -> '\r';
            case 'b' -> '\b';
            case 'f' -> '\f';
            default -> b;
        };
    }

    /** A string token of {@code text}. */
    public static String quote(String text) {
        StringBuilder token = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                token.append('\\').append(c);
            } else if (c < 0x20) {
                token.append(String.format("\\u%04x", (int) c));
            } else {
                token.append(c);
            }
        }
        return token.append('"').toString();
    }

    /** The same JSON with one member or element a line. */
    public static String indent(byte[] json) {
        StringBuilder laidOut = new StringBuilder();
        String text = new String(json, StandardCharsets.UTF_8);
        int depth = 0;
        boolean inString = false;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (inString) {
                laidOut.append(c);
                if (c == '\\') {
                    laidOut.append(text.charAt(++i));
                }
                inString = c != '"';
            } else if (c == '"') {
                inString = true;
                laidOut.append(c);
            } else if (c == '{' || c == '[') {
                laidOut.append(c);
                newLine(laidOut, ++depth);
            } else if (c == '}' || c == ']') {
                newLine(laidOut, --depth);
                laidOut.append(c);
            } else if (c == ',') {
                laidOut.append(c);
                newLine(laidOut, depth);
            } else if (c == ':') {
                laidOut.append(": ");
            } else if (!Character.isWhitespace(c)) {
                laidOut.append(c);
            }
        }
        return laidOut.toString();
    }

    private static void newLine(StringBuilder laidOut, int depth) {
        laidOut.append('\n').append("  ".repeat(Math.max(0, depth)));
    }
}
