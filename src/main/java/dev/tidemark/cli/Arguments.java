package dev.tidemark.cli;

import dev.tidemark.event.Problem;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The command line as it was typed. In a locale that isn't UTF-8 (often none is set in a container) the JVM replaces what it
 * can't decode, and {@code tail größe} would silently ask for another stream: there the bytes are taken from the system.
 */
final class Arguments {
    private static final Path COMMAND_LINE = Path.of("/proc/self/cmdline");

    private static final char REPLACEMENT = '\ufffd';

    private Arguments() {}

    /**
     * The arguments, those decoded again that the locale spoilt.
     *
     * @throws CommandFailure if one isn't valid UTF-8
     */
    static String[] asTyped(String[] decoded) {
        boolean utf8 = "UTF-8".equalsIgnoreCase(System.getProperty("sun.jnu.encoding"));
        if (utf8 && String.join("", decoded).indexOf(REPLACEMENT) < 0) {
            return decoded;
        }
        try {
            return redecode(decoded, Files.readAllBytes(COMMAND_LINE));
        } catch (IOException e) {
            return decoded; // not Linux
        }
    }

    /**
     * Decodes what has bytes beyond ASCII.
     *
     * @param decoded as the JVM gave them
     * @param commandLine all arguments of the process, each ended by a zero byte
     */
    static String[] redecode(String[] decoded, byte[] commandLine) {
        List<byte[]> raw = new ArrayList<>();
        int start = 0;
        for (int i = 0; i < commandLine.length; i++) {
            if (commandLine[i] == 0) {
                raw.add(java.util.Arrays.copyOfRange(commandLine, start, i));
                start = i + 1;
            }
        }
        if (raw.size() < decoded.length) {
            return decoded;
        }
        String[] typed = decoded.clone();
        for (int i = 0; i < decoded.length; i++) {
            byte[] bytes = raw.get(raw.size() - decoded.length + i);
            if (hasHighByte(bytes)) {
                typed[i] = decode(bytes);
            }
        }
        return typed;
    }

    private static boolean hasHighByte(byte[] bytes) {
        for (byte b : bytes) {
            if (b < 0) {
                return true;
            }
        }
        return false;
    }

    private static String decode(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw CommandFailure.usage("an argument isn't valid UTF-8: '"
                    + Problem.quote(new String(bytes, StandardCharsets.UTF_8)) + "'");
        }
    }
}
