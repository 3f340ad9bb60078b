package dev.tidemark.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** ARCHITECTURE.md stays true: its packages are the packages, and every class or test that it names is there. */
class ArchitectureDocumentTest {
    private static final Path ROOT = Path.of("src");
    private static final Pattern TABLE_PACKAGE = Pattern.compile("^\\| `([a-z]+)` \\|");
    private static final Pattern CLASS_NAME = Pattern.compile("`(?:[a-z]+\\.)?([A-Z][A-Za-z]+)(?:\\.[A-Z][A-Za-z]+)?`");

    /** Rows with four columns, the last of which names tests. */
    private static final Pattern SHOWN_BY =
            Pattern.compile("^\\|[^|]+\\|[^|]+\\|[^|]+\\| (`\\w+IT`(?:, `\\w+IT`)*) \\|$");

    private static List<String> document() throws IOException {
        return Files.readAllLines(Path.of("ARCHITECTURE.md"));
    }

    @Test
    void itsPackagesAreThePackages() throws IOException {
        Set<String> named = new TreeSet<>();
        for (String line : document()) {
            Matcher matcher = TABLE_PACKAGE.matcher(line);
            if (matcher.find()) {
                named.add(matcher.group(1));
            }
        }
        Path main = ROOT.resolve("main/java/dev/tidemark");
        try (Stream<Path> folders = Files.list(main)) {
            Set<String> there = folders.filter(Files::isDirectory)
                    .map(folder -> folder.getFileName().toString())
                    .collect(Collectors.toCollection(TreeSet::new));
            assertEquals(there, named);
        }
    }

    @Test
    void everyClassItNamesIsThere() throws IOException {
        Set<String> sources;
        try (Stream<Path> files = Files.walk(ROOT)) {
            sources = files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".java"))
                    .map(name -> name.substring(0, name.length() - ".java".length()))
                    .collect(Collectors.toSet());
        }
        int named = 0;
        for (String line : document()) {
            Matcher matcher = CLASS_NAME.matcher(line);
            while (matcher.find()) {
                String name = matcher.group(1);
                named++;
                boolean command = name.equals(name.toUpperCase(java.util.Locale.ROOT));
                assertTrue(command || sources.contains(name), "ARCHITECTURE.md names " + name + ", which isn't there");
            }
        }
        assertTrue(named > 20);
    }

    /** The rows of the design's table of failures, in its order: each has a test on a real Redis and real files that is tagged with its number. */
    @Test
    void everyFailureIsShownByATest() throws IOException {
        int row = 0;
        for (String line : document()) {
            Matcher shown = SHOWN_BY.matcher(line);
            if (!shown.find()) {
                continue;
            }
            row++;
            for (String name : shown.group(1).replace("`", "").split(", ", -1)) {
                Path file;
                try (Stream<Path> files = Files.walk(ROOT.resolve("test"))) {
                    file = files.filter(path -> path.endsWith(name + ".java"))
                            .findFirst()
                            .orElseThrow(() -> new AssertionError(name + " isn't there"));
                }
                String tag = "@Tag(\"failure-" + row + "\")";
                assertTrue(Files.readString(file).contains(tag), name + " hasn't got " + tag);
            }
        }
        assertEquals(14, row);
    }

    @Test
    void itIsShortEnoughToBeRead() throws IOException {
        assertTrue(document().size() <= 200);
    }
}
