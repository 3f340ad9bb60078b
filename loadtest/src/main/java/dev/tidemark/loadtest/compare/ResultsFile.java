package dev.tidemark.loadtest.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The file of results, in Markdown. Each kind of run writes a part of it and leaves the others as they are: a part stands between
 * two comments with its name.
 */
record ResultsFile(Path file) {
    static final String COMPARISON = "comparison";
    /** Parts in the order in which they stand. */
    static final List<String> PARTS = List.of(COMPARISON, "archive", "start", "growth");

    private static final String HEAD = """
            # Results

            Written by `loadtest/compare`, which measures and writes it again; how is told in [README.md](README.md).
            """;

    /** Writes a part, without its comments. */
    void write(String part, String text) throws IOException {
        String before = Files.isRegularFile(file) ? Files.readString(file) : HEAD;
        Path unused = Files.writeString(file, with(before, part, text));
    }

    /** The file's text with a part put in, or in the place of the one that was there. */
    static String with(String whole, String part, String text) {
        String begin = "<!-- " + part + " -->";
        String end = "<!-- end of " + part + " -->";
        String block = begin + "\n" + text.strip() + "\n" + end;
        int from = whole.indexOf(begin);
        int to = whole.indexOf(end);
        if (from >= 0 && to > from) {
            return whole.substring(0, from) + block + whole.substring(to + end.length());
        }
        int at = whole.length();
        for (String later : PARTS.subList(PARTS.indexOf(part) + 1, PARTS.size())) {
            int there = whole.indexOf("<!-- " + later + " -->");
            at = there >= 0 ? Math.min(at, there) : at;
        }
        String before = whole.substring(0, at).stripTrailing();
        String after = whole.substring(at);
        return before + "\n\n" + block + "\n" + (after.isEmpty() ? "" : "\n" + after);
    }
}
