package dev.tidemark.gatling;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** What to run, from system properties; README.md tells what each means. */
final class Options {
    /** How load comes. */
    enum Model {
        /** So many requests a second, whatever comes back: for latencies. */
        OPEN,
        /** So many connections, each with a request under way at all times: for throughput. */
        CLOSED
    }

    private Options() {}

    /** The address of a server that runs already; empty if one is to be started. */
    static String url() {
        String url = System.getProperty("url", "").trim();
        if (!url.isEmpty() && !url.matches("http://[^/]+")) {
            throw new IllegalArgumentException("url: '" + url + "'; allowed is http://HOST:PORT");
        }
        return url;
    }

    static Path jar() {
        Path jar = Path.of(System.getProperty("jar", "target/tidemark.jar"))
                .toAbsolutePath()
                .normalize();
        if (!Files.isRegularFile(jar)) {
            throw new IllegalArgumentException(
                    jar + " isn't there: build the server first (mvn -q package -DskipTests)");
        }
        return jar;
    }

    /** Folder in which the server's data directory is made, and removed at the end. */
    static Path data() {
        return Path.of(System.getProperty("data", System.getProperty("java.io.tmpdir")));
    }

    static Model model() {
        String model = System.getProperty("model", "open");
        return switch (model) {
            case "open" -> Model.OPEN;
            case "closed" -> Model.CLOSED;
            default -> throw new IllegalArgumentException("model: '" + model + "'; allowed are open and closed");
        };
    }

    /** Comes before {@link #duration}. */
    static Duration warmUp() {
        return Duration.ofSeconds(number("warmup", 5, 1, 600));
    }

    static Duration duration() {
        return Duration.ofSeconds(number("duration", 20, 1, 3_600));
    }

    /** A whole number. */
    static int number(String name, int otherwise, int min, int max) {
        String text = System.getProperty(name, String.valueOf(otherwise));
        if (!text.matches("\\d{1,9}") || Integer.parseInt(text) < min || Integer.parseInt(text) > max) {
            throw new IllegalArgumentException(name + ": '" + text + "'; allowed is " + min + " to " + max);
        }
        return Integer.parseInt(text);
    }
}
