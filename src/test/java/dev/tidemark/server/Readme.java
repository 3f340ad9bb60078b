package dev.tidemark.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The very code that README.md shows. */
final class Readme {
    private static final String ADDRESS = "127.0.0.1:8440";

    private Readme() {}

    /**
     * The block of code in a language that has a word in it, with another address in place of the server's default one.
     *
     * @param authority host and port of a server
     */
    static String code(String language, String word, String authority) {
        Matcher blocks = Pattern.compile("(?s)```" + language + "\n(.*?)```").matcher(text());
        while (blocks.find()) {
            String code = blocks.group(1);
            if (code.contains(word)) {
                if (!code.contains(ADDRESS)) {
                    throw new IllegalStateException("the address isn't in " + code);
                }
                return code.replace(ADDRESS, authority);
            }
        }
        throw new IllegalStateException("README.md shows no " + language + " with " + word);
    }

    static String text() {
        try {
            return Files.readString(Path.of("README.md"), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
