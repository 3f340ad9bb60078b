package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** {@code conf/tidemark.yaml} and the README against the table of keys. */
class ConfigurationFileTest {
    private static final Path ANNOTATED = Path.of("conf", "tidemark.yaml");

    @Test
    void theAnnotatedFileAndTheLoaderKnowTheSameKeys() {
        List<String> inTable = ConfigurationKey.all().stream()
                .map(ConfigurationKey::name)
                .sorted()
                .toList();
        List<String> inFile =
                ConfigurationFile.read(ANNOTATED).keySet().stream().sorted().toList();
        assertEquals(inTable, inFile);
    }

    @Test
    void theAnnotatedFileHoldsTheDefaults() {
        Map<String, String> file = ConfigurationFile.read(ANNOTATED);
        for (ConfigurationKey<?> key : ConfigurationKey.all()) {
            assertEquals(key.defaultText(), file.get(key.name()), key.name());
        }
    }

    @Test
    void loadingTheAnnotatedFileChangesNothing() {
        Configuration.Start start = Configuration.Start.NORMAL;
        assertEquals(
                ConfigurationLoader.load(null, Map.of(), Map.of(), start),
                ConfigurationLoader.load(ANNOTATED, Map.of(), Map.of(), start));
    }

    @Test
    void everySectionAndEveryTopLevelKeyOfTheAnnotatedFileIsExplained() throws IOException {
        List<String> unexplained = new ArrayList<>();
        String before = "";
        boolean grouped = false;
        for (String line : Files.readAllLines(ANNOTATED)) {
            boolean comment = line.strip().startsWith("#");
            boolean section = line.endsWith(":");
            // A comment holds for the keys below it, up to the next empty line or section.
            grouped = comment || (grouped && !line.isBlank() && !section);
            if (!line.isBlank() && !comment && !section && !grouped) {
                unexplained.add(line + " (after: " + before + ")");
            }
            before = line;
        }
        assertTrue(unexplained.isEmpty(), unexplained::toString);
    }

    @Test
    void theReadmeNamesOnlyKeysThatExistWithTheirDefaults() throws IOException {
        List<String> wrong = new ArrayList<>();
        int rows = 0;
        for (String line : Files.readAllLines(Path.of("README.md"))) {
            String[] cells = line.split("\\|", -1);
            if (!line.startsWith("| `") || cells.length < 4 || !line.contains("` | `")) {
                continue;
            }
            rows++;
            String name = cells[1].strip().replace("`", "");
            String value = cells[2].strip().replace("`", "");
            boolean right = ConfigurationKey.all().stream()
                    .anyMatch(
                            key -> key.name().equals(name) && key.defaultText().equals(value));
            if (!right) {
                wrong.add(line);
            }
        }
        assertTrue(wrong.isEmpty(), wrong::toString);
        assertFalse(rows < 5, "the README's table of settings wasn't found");
    }
}
