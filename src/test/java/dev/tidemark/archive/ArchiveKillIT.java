package dev.tidemark.archive;

import static dev.tidemark.archive.ArchiveContract.ids;
import static dev.tidemark.archive.ArchiveContract.readAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Event;
import dev.tidemark.event.Position;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that folds is killed with -9, again and again, at random moments. */
class ArchiveKillIT {
    private static final int ROUNDS = 6;

    @TempDir
    Path root;

    private final ArchiveFiles files = new ArchiveFiles();

    @AfterEach
    void close() {
        files.close();
    }

    /** Folds on from what the archive holds, and prints each W that it published. */
    static final class Folder {
        private Folder() {}

        public static void main(String[] arguments) {
            try (ArchiveFiles files = new ArchiveFiles()) {
                StreamArchive archive = files.open(Path.of(arguments[0]));
                Random random = new Random(Long.parseLong(arguments[1]));
                long ordinal = archive.end().lastOrdinal(0) + 1;
                Position last = Position.max(archive.watermark(), Sample.at(0, 0));
                while (true) {
                    List<Event> slice = new ArrayList<>();
                    long ms = last.ms() + (random.nextInt(20) == 0 ? Sample.DAY_MS : 1);
                    for (int i = random.nextInt(300); i >= 0; i--) {
                        slice.add(Sample.event(new Position(ms, slice.size()), ordinal++));
                    }
                    ArchiveContract.fold(archive, slice);
                    last = archive.watermark();
                    System.out.println(last.entryId());
                }
            }
        }
    }

    @Test
    @Tag("F5")
    @Tag("R06")
    @Tag("R32")
    void nothingThatWasPublishedIsLostAndNothingIsThereTwice() throws IOException, InterruptedException {
        Random random = new Random(32);
        Position published = Position.ZERO;
        for (int round = 0; round < ROUNDS; round++) {
            published = Position.max(published, runAndKill(round, 20 + random.nextInt(120)));
            StreamArchive archive = files.open(root);
            assertTrue(!archive.end().watermark().isBefore(published), "W went back below " + published);
            ArchivePage all = readAll(archive);
            List<Position> ids = ids(all);
            assertEquals(new ArrayList<>(new TreeSet<>(ids)), ids);
            assertEquals(List.of(), all.gaps());
            for (int i = 0; i < ids.size(); i++) {
                assertEquals(i + 1, all.events().ordinal(i));
            }
            archive.close();
        }
        assertTrue(published.isAfter(Position.ZERO));
    }

    /** Lets the process publish some times, kills it, and gives the last W that it printed. */
    private Position runAndKill(int round, int folds) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("--add-"))
                .forEach(command::add);
        command.addAll(List.of(
                "-cp", System.getProperty("java.class.path"), Folder.class.getName(), root.toString(), "" + round));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        Position last = Position.ZERO;
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            int seen = 0;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.matches("\\d+-\\d+")) {
                    last = Position.ofEntryId(line);
                    seen++;
                }
                if (seen == folds) {
                    // By its handle: what it printed can still be read.
                    assertTrue(process.toHandle().destroyForcibly());
                }
            }
            assertTrue(seen >= folds, "the process ended by itself");
        } finally {
            process.destroyForcibly();
            assertTrue(process.waitFor() != 0);
        }
        return last;
    }
}
