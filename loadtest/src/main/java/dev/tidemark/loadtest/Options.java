package dev.tidemark.loadtest;

import dev.tidemark.loadtest.system.Tidemark;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What to run, from system properties.
 *
 * @param jar the server
 * @param rounds how often everything is measured; figures are medians over them
 * @param seconds length of one measurement, after a warm-up of a second
 * @param data folder in which the server's data directory is made, and removed at the end
 * @param jobs which of {@code append}, {@code tail}, {@code subscribe}
 * @param serverArgs more arguments for the server, such as {@code --config FILE}
 */
record Options(Path jar, int rounds, int seconds, Path data, Set<String> jobs, List<String> serverArgs) {
    private static final Set<String> ALL_JOBS = Set.of("append", "tail", "subscribe");

    Options {
        if (!Files.isRegularFile(jar)) {
            throw new IllegalArgumentException(
                    jar + " isn't there: build the server first (mvn -q package -DskipTests)");
        }
        if (rounds < 1 || seconds < 1) {
            throw new IllegalArgumentException("rounds and seconds must be at least 1");
        }
        if (jobs.isEmpty() || !ALL_JOBS.containsAll(jobs)) {
            throw new IllegalArgumentException("jobs: " + jobs + "; allowed are " + ALL_JOBS);
        }
    }

    /** How the server is started. */
    Tidemark.Start server() {
        return new Tidemark.Start(jar, data, List.of(), serverArgs, Map.of());
    }

    static Options ofSystem() {
        return new Options(
                Path.of(System.getProperty("jar", "target/tidemark.jar"))
                        .toAbsolutePath()
                        .normalize(),
                Integer.getInteger("rounds", 3),
                Integer.getInteger("seconds", 5),
                Path.of(System.getProperty("data", System.getProperty("java.io.tmpdir"))),
                Set.copyOf(words("jobs", "append,tail,subscribe", ",")),
                words("serverArgs", "", " "));
    }

    private static List<String> words(String property, String otherwise, String separator) {
        return Arrays.stream(System.getProperty(property, otherwise).split(separator))
                .map(String::trim)
                .filter(word -> !word.isEmpty())
                .toList();
    }
}
