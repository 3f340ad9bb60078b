package dev.tidemark.server;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.DumperOptions;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.representer.Representer;
import org.yaml.snakeyaml.resolver.Resolver;

/**
 * A YAML file as flat text: nested maps become names with dots, lists become words with commas. Scalars stay as written, so that
 * {@code fsync: no} is the word "no" and not a boolean.
 */
final class ConfigurationFile {
    private static final int DEPTH_MAX = 8;

    private final Path file;
    private final Map<String, String> values = new LinkedHashMap<>();

    private ConfigurationFile(Path file) {
        this.file = file;
    }

    /**
     * Reads a file.
     *
     * @return names and values, in the order of the file
     * @throws ConfigurationException if it can't be read, isn't YAML, or holds a key twice
     */
    static Map<String, String> read(Path file) {
        ConfigurationFile read = new ConfigurationFile(file);
        Object root = read.parse(read.text());
        if (root instanceof Map<?, ?> map) {
            read.flatten("", map, 0);
        } else if (root != null && !root.equals("")) {
            throw read.wrong("holds no keys; allowed are lines of 'key: value'");
        }
        return read.values;
    }

    private String text() {
        try {
            return Files.readString(file);
        } catch (NoSuchFileException e) {
            throw wrong("there is no such file");
        } catch (CharacterCodingException e) {
            throw wrong("isn't valid UTF-8");
        } catch (IOException e) {
            throw wrong("can't be read: " + e.getMessage());
        }
    }

    private @Nullable Object parse(String text) {
        LoaderOptions options = new LoaderOptions();
        options.setAllowDuplicateKeys(false);
        DumperOptions dumperOptions = new DumperOptions();
        Yaml yaml = new Yaml(
                new SafeConstructor(options), new Representer(dumperOptions), dumperOptions, options, new WordsOnly());
        try {
            return yaml.load(text);
        } catch (MarkedYAMLException e) {
            String where = e.getProblemMark() == null
                    ? ""
                    : " in line " + (e.getProblemMark().getLine() + 1);
            throw wrong(oneLine(String.valueOf(e.getProblem())) + where);
        } catch (YAMLException e) {
            throw wrong(oneLine(String.valueOf(e.getMessage())));
        }
    }

    private void flatten(String prefix, Map<?, ?> map, int depth) {
        if (depth > DEPTH_MAX) {
            throw wrong(prefix + " is nested too deeply");
        }
        map.forEach((key, value) -> {
            String name = prefix + key;
            if (value instanceof Map<?, ?> nested) {
                flatten(name + ".", nested, depth + 1);
            } else if (values.put(name, asText(name, value)) != null) {
                throw wrong(name + " is there twice; allowed is once");
            }
        });
    }

    private String asText(String name, @Nullable Object value) {
        if (!(value instanceof List<?> list)) {
            return scalar(name, value);
        }
        return String.join(",", list.stream().map(word -> scalar(name, word)).toList());
    }

    private String scalar(String name, @Nullable Object value) {
        if (value instanceof String text) {
            return text;
        }
        throw wrong(name + " isn't a plain value; allowed are text, and for some keys a list");
    }

    private ConfigurationException wrong(String what) {
        return new ConfigurationException(file + ": " + what);
    }

    private static String oneLine(String text) {
        return text.replaceAll("\\s+", " ").strip();
    }

    /** Takes every plain scalar as text. */
    private static final class WordsOnly extends Resolver {
        @Override
        protected void addImplicitResolvers() {
            // none: numbers, booleans and dates are for the keys to read
        }
    }
}
