package dev.tidemark.ingest;

import java.nio.charset.StandardCharsets;
import java.util.Random;

/** Random JSON text, well-formed or, after {@link #mutated}, perhaps not. */
final class RandomJson {
    private static final String[] NUMBERS = {
        "0",
        "-0",
        "1.0",
        "1.10",
        "1e400",
        "1E400",
        "-1.5e-7",
        "9007199254740993",
        "12345678901234567890",
        "0.1234567890123456789"
    };
    private static final String[] PIECES = {
        "a",
        "é",
        "€",
        "😀",
        "\\\"",
        "\\\\",
        "\\/",
        "\\b",
        "\\n",
        "\\u0041",
        "\\ud83d\\ude00",
        "\\ud800",
        "\\udfff",
        "\\u0000",
        "\u007f",
        " "
    };
    private static final byte[] INTERESTING = {
        '"',
        '\\',
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '0',
        '1',
        '-',
        '+',
        '.',
        'e',
        'u',
        't',
        'n',
        ' ',
        '\n',
        '\r',
        '\t',
        0,
        0x1f,
        0x7f,
        (byte) 0xc3,
        (byte) 0x28,
        (byte) 0xed,
        (byte) 0xa0,
        (byte) 0x80,
        (byte) 0xef,
        (byte) 0xbb,
        (byte) 0xbf,
        (byte) 0xff,
        (byte) 0xf4
    };

    private final Random random;

    RandomJson(Random random) {
        this.random = random;
    }

    /** One value on one line. */
    String value(int depth) {
        return switch (random.nextInt(depth > 0 ? 7 : 5)) {
            case 0 -> NUMBERS[random.nextInt(NUMBERS.length)];
            case 1 -> "true";
            case 2 -> "false";
            case 3 -> "null";
            case 4 -> string();
            case 5 -> list("[", "]", depth, false);
            default -> list("{", "}", depth, true);
        };
    }

    private String list(String open, String close, int depth, boolean named) {
        StringBuilder text = new StringBuilder(open).append(space());
        int count = random.nextInt(4);
        for (int i = 0; i < count; i++) {
            text.append(i == 0 ? "" : "," + space());
            text.append(named ? string() + space() + ":" + space() : "");
            text.append(value(depth - 1)).append(space());
        }
        return text.append(close).toString();
    }

    private String space() {
        return random.nextInt(3) == 0 ? " \t".substring(random.nextInt(2)) : "";
    }

    private String string() {
        StringBuilder text = new StringBuilder("\"");
        int count = random.nextInt(6);
        for (int i = 0; i < count; i++) {
            text.append(PIECES[random.nextInt(PIECES.length)]);
        }
        return text.append('"').toString();
    }

    /** Some bytes of a value changed, removed, doubled or cut off. */
    byte[] mutated() {
        byte[] bytes = value(4).getBytes(StandardCharsets.UTF_8);
        int times = random.nextInt(4);
        for (int i = 0; i < times && bytes.length > 0; i++) {
            bytes = mutate(bytes, random.nextInt(bytes.length));
        }
        return bytes;
    }

    private byte[] mutate(byte[] bytes, int at) {
        return switch (random.nextInt(4)) {
            case 0 -> splice(bytes, at, at + 1, new byte[] {INTERESTING[random.nextInt(INTERESTING.length)]});
            case 1 -> splice(bytes, at, at, new byte[] {INTERESTING[random.nextInt(INTERESTING.length)]});
            case 2 -> splice(bytes, at, at + 1, new byte[0]);
            default -> splice(bytes, at, bytes.length, new byte[0]);
        };
    }

    private static byte[] splice(byte[] bytes, int from, int to, byte[] middle) {
        byte[] spliced = new byte[bytes.length - (to - from) + middle.length];
        System.arraycopy(bytes, 0, spliced, 0, from);
        System.arraycopy(middle, 0, spliced, from, middle.length);
        System.arraycopy(bytes, to, spliced, from + middle.length, bytes.length - to);
        return spliced;
    }
}
