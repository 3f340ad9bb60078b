package dev.tidemark.ingest;

import dev.tidemark.event.ByteScan;
import dev.tidemark.event.Limits;
import dev.tidemark.event.Utf8;

/**
 * Checks JSON text (RFC 8259) where it lies and builds nothing: values keep their bytes. Strict: UTF-8 only, no byte order mark, no
 * comments, no NaN, nesting up to {@link Limits#JSON_DEPTH_MAX}. Numbers may have any size, names may repeat, and escapes of lone
 * surrogates are legal, as the RFC says.
 *
 * <p>Every method takes where to start and where the text ends, and returns the index behind what it passed. Any thread.
 *
 * <p>Why not Jackson: it guesses UTF-16 and UTF-32, takes ill-formed UTF-8 in what it skips and limits the length of numbers and
 * names; tests use it as the oracle.
 */
final class JsonScanner {
    private static final byte[] TRUE = {'t', 'r', 'u', 'e'};
    private static final byte[] FALSE = {'f', 'a', 'l', 's', 'e'};
    private static final byte[] NULL = {'n', 'u', 'l', 'l'};

    private final byte[] bytes;

    JsonScanner(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * Checks that the text is exactly one value, with nothing but white space around it.
     *
     * @throws MalformedBody if it isn't
     */
    void exactlyOneValue(int from, int to) {
        int start = space(from, to);
        if (start == from && to - from >= 3 && bytes[from] == (byte) 0xef && bytes[from + 1] == (byte) 0xbb) {
            throw new MalformedBody(from, "JSON has no byte order mark");
        }
        end(value(start, to), to);
    }

    /** Checks that only white space follows. */
    void end(int at, int to) {
        int rest = space(at, to);
        if (rest < to) {
            throw new MalformedBody(rest, "the JSON value ends before " + shown(rest) + "; exactly one is allowed");
        }
    }

    /** Passes white space. */
    int space(int from, int to) {
        int at = from;
        while (at < to && isSpace(bytes[at])) {
            at++;
        }
        return at;
    }

    static boolean isSpace(byte b) {
        return b == ' ' || b == '\n' || b == '\r' || b == '\t';
    }

    /** Passes one value that starts at {@code at}. */
    int value(int at, int to) {
        return value(at, to, 0);
    }

    private int value(int at, int to, int depth) {
        if (at == to) {
            throw expected(at, to, "a value");
        }
        return switch (bytes[at]) {
            case '"' -> string(at, to);
            case '{' -> object(at, to, depth + 1);
            case '[' -> array(at, to, depth + 1);
            case 't' -> word(TRUE, at, to);
            case 'f' -> word(FALSE, at, to);
            case 'n' -> word(NULL, at, to);
            default -> number(at, to);
        };
    }

    private int object(int start, int to, int depth) {
        checkDepth(start, depth);
        int at = space(start + 1, to);
        if (at < to && bytes[at] == '}') {
            return at + 1;
        }
        while (true) {
            at = space(value(name(at, to), to, depth), to);
            if (at < to && bytes[at] == '}') {
                return at + 1;
            }
            at = space(pass(',', "',' or '}'", at, to), to);
        }
    }

    /** Passes the name of a member, its colon and the white space around it: the value is next. */
    int name(int start, int to) {
        if (start == to || bytes[start] != '"') {
            throw expected(start, to, "a name in double quotes");
        }
        int colon = space(string(start, to), to);
        return space(pass(':', "':'", colon, to), to);
    }

    private int array(int start, int to, int depth) {
        checkDepth(start, depth);
        int at = space(start + 1, to);
        if (at < to && bytes[at] == ']') {
            return at + 1;
        }
        while (true) {
            at = space(value(at, to, depth), to);
            if (at < to && bytes[at] == ']') {
                return at + 1;
            }
            at = space(pass(',', "',' or ']'", at, to), to);
        }
    }

    private static void checkDepth(int at, int depth) {
        if (depth > Limits.JSON_DEPTH_MAX) {
            throw new MalformedBody(at, "nested deeper than " + Limits.JSON_DEPTH_MAX);
        }
    }

    /** Passes one given character. */
    int pass(char wanted, String what, int at, int to) {
        if (at == to || bytes[at] != wanted) {
            throw expected(at, to, what);
        }
        return at + 1;
    }

    private int word(byte[] word, int start, int to) {
        for (int i = 0; i < word.length; i++) {
            if (start + i >= to || bytes[start + i] != word[i]) {
                throw expected(start, to, "a value");
            }
        }
        return start + word.length;
    }

    /** Passes a string, from quote to quote. */
    int string(int start, int to) {
        int at = start + 1;
        int signs = 0;
        while (at < to) {
            if (signs == 0) {
                at = ByteScan.ordinary(bytes, at, to);
                if (at == to) {
                    break;
                }
            }
            byte b = bytes[at];
            if (b == '"') {
                if (signs < 0) {
                    checkUtf8(start + 1, at);
                }
                return at + 1;
            }
            if (b == '\\') {
                at = escape(at, to);
            } else if (b >= 0 && b < 0x20) {
                throw new MalformedBody(at, shown(at) + " in a string must be escaped");
            } else {
                signs |= b;
                at++;
            }
        }
        checkUtf8(start + 1, to);
        throw new MalformedBody(to, "the JSON ends inside a string");
    }

    private void checkUtf8(int from, int to) {
        int invalid = Utf8.firstInvalid(bytes, from, to);
        if (invalid >= 0) {
            throw new MalformedBody(invalid, "not valid UTF-8: " + shown(invalid));
        }
    }

    private int escape(int backslash, int to) {
        if (backslash + 1 == to) {
            throw new MalformedBody(to, "the JSON ends inside a string");
        }
        return switch (bytes[backslash + 1]) {
            case '"', '\\', '/', 'b', 'f', 'n', 'r', 't' -> backslash + 2;
            case 'u' -> unicode(backslash, to);
            default -> throw new MalformedBody(backslash, "unknown escape \\ and " + shown(backslash + 1));
        };
    }

    private int unicode(int backslash, int to) {
        int end = backslash + 6;
        for (int i = backslash + 2; i < end; i++) {
            if (i >= to || Character.digit(bytes[i], 16) < 0) {
                throw new MalformedBody(backslash, "\\u needs four hex digits");
            }
        }
        return end;
    }

    private int number(int start, int to) {
        int at = bytes[start] == '-' ? start + 1 : start;
        if (at == to || !isDigit(bytes[at])) {
            throw expected(start, to, "a value");
        }
        if (bytes[at] == '0') {
            at++;
            if (at < to && isDigit(bytes[at])) {
                throw new MalformedBody(start, "a number can't start with 0 and more digits");
            }
        } else {
            at = digits(at, to);
        }
        if (at < to && bytes[at] == '.') {
            at = digits(at + 1, to);
        }
        if (at < to && (bytes[at] == 'e' || bytes[at] == 'E')) {
            at++;
            boolean signed = at < to && (bytes[at] == '+' || bytes[at] == '-');
            at = digits(signed ? at + 1 : at, to);
        }
        return at;
    }

    /** Passes at least one digit. */
    private int digits(int start, int to) {
        int at = start;
        while (at < to && isDigit(bytes[at])) {
            at++;
        }
        if (at == start) {
            throw expected(start, to, "a digit");
        }
        return at;
    }

    private static boolean isDigit(byte b) {
        return b >= '0' && b <= '9';
    }

    private MalformedBody expected(int at, int to, String what) {
        return new MalformedBody(at, "expected " + what + ", not " + (at < to ? shown(at) : "the end"));
    }

    private String shown(int at) {
        int b = bytes[at] & 0xff;
        return b > 0x20 && b < 0x7f ? "'" + (char) b + "'" : String.format("byte 0x%02x", b);
    }
}
