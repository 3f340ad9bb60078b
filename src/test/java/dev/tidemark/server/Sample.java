package dev.tidemark.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

/** The input of the main job: the real one if it lies beside the checkout, else generated lines of the same shape. */
final class Sample {
    private static final Path REAL = Path.of(System.getProperty("tidemark.data", "../shared/data"));
    private static final List<String> AIRPORTS =
            List.of("DTW", "LAS", "HNL", "SFO", "OAK", "PHX", "MHT", "BWI", "MDT", "GSO");

    private Sample() {}

    /** 20,000 JSON events, one a line. */
    static Path flights(Path folder) {
        return file(folder, "flights.ndjson", Sample::flights);
    }

    /** 1,707 envelopes with event times, one a line, not in the order of those times. */
    static Path quakes(Path folder) {
        return file(folder, "quakes.ndjson", Sample::quakes);
    }

    private static Path file(Path folder, String name, java.util.function.Supplier<String> generator) {
        Path real = REAL.resolve(name);
        if (Files.isRegularFile(real)) {
            return real;
        }
        try {
            return Files.writeString(folder.resolve(name), generator.get());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String flights() {
        Random random = new Random(2001);
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 20_000; i++) {
            lines.append("{\"date\":\"2001/01/%02d %02d:%02d\",\"delay\":%d,\"distance\":%d"
                    .formatted(1 + i / 700, i / 30 % 24, i % 60, random.nextInt(-30, 200), random.nextInt(60, 3_000)));
            lines.append(",\"origin\":\"%s\",\"destination\":\"%s\"}\n".formatted(airport(random), airport(random)));
        }
        return lines.toString();
    }

    private static String airport(Random random) {
        return AIRPORTS.get(random.nextInt(AIRPORTS.size()));
    }

    private static String quakes() {
        Random random = new Random(2018);
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 1_707; i++) {
            long time = 1_517_365_101_235L + i * 350_000L - random.nextInt(3_600_000);
            lines.append(
                    "{\"time\":%d,\"data\":{\"id\":\"ak%08d\",\"mag\":%d.%d,\"place\":\"%dkm N of Kobuk, Alaska\"}}\n"
                            .formatted(time, i, random.nextInt(8), random.nextInt(10), random.nextInt(300)));
        }
        return lines.toString();
    }

    static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
