package dev.tidemark.archive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataDirectoryIT {
    @TempDir
    Path root;

    /** Holds a data directory until its input ends. */
    static final class Holder {
        private Holder() {}

        public static void main(String[] arguments) throws IOException {
            try (DataDirectory data = DataDirectory.open(Path.of(arguments[0]))) {
                System.out.println(data.id());
                while (System.in.read() >= 0) {
                    System.out.println("held");
                }
            }
        }
    }

    @Test
    @Tag("R54")
    void aNewDirectoryIsMadeWithAnIdThatStays() {
        Path path = root.resolve("a/b/data");
        String id;
        try (DataDirectory data = DataDirectory.open(path)) {
            id = data.id();
            assertTrue(id.matches("[0-9a-f]{32}"));
            assertTrue(Files.isDirectory(data.path()));
        }
        try (DataDirectory data = DataDirectory.open(path)) {
            assertEquals(id, data.id());
        }
    }

    @Test
    @Tag("R31")
    void aSecondHolderInTheSameProcessIsRefusedAndTheFirstKeepsTheLock() throws IOException, InterruptedException {
        try (DataDirectory data = DataDirectory.open(root)) {
            DataDirectory.Refused refused =
                    assertThrows(DataDirectory.Refused.class, () -> DataDirectory.open(data.path()));
            assertTrue(refused.locked());
            assertTrue(String.valueOf(refused.getMessage()).contains(data.path().toString()));
            Process other = hold(data.path());
            try (BufferedReader lines = lines(other)) {
                assertNull(lines.readLine());
            }
            assertFalse(other.waitFor() == 0);
        }
        DataDirectory.open(root).close();
    }

    @Test
    @Tag("R31")
    @Tag("R32")
    void anotherProcessIsNamedAndItsLockGoesWithIt() throws IOException, InterruptedException {
        Process other = hold(root);
        try (BufferedReader lines = lines(other)) {
            String id = lines.readLine();
            DataDirectory.Refused refused = assertThrows(DataDirectory.Refused.class, () -> DataDirectory.open(root));
            assertTrue(refused.locked());
            String message = String.valueOf(refused.getMessage());
            assertTrue(message.contains(root.toRealPath().toString()), message);
            assertTrue(message.contains("pid " + other.pid()), message);
            assertTrue(other.toHandle().destroyForcibly());
            assertTrue(other.waitFor() != 0);
            try (DataDirectory data = DataDirectory.open(root)) {
                assertEquals(id, data.id());
            }
        } finally {
            other.destroyForcibly();
        }
    }

    private static Process hold(Path path) throws IOException {
        return new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Holder.class.getName(),
                        path.toString()))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private static BufferedReader lines(Process process) {
        return new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    @Test
    @Tag("R54")
    void aDirectoryThatCannotBeWrittenIsRefusedWithTheReason() throws IOException {
        Path file = root.resolve("file");
        Files.writeString(file, "x");
        for (Path path : List.of(file, file.resolve("below"), Path.of("/proc/tidemark-data"))) {
            DataDirectory.Refused refused = assertThrows(DataDirectory.Refused.class, () -> DataDirectory.open(path));
            assertFalse(refused.locked());
            assertTrue(String.valueOf(refused.getMessage()).contains(path.toString()), refused.getMessage());
        }
    }

    @Test
    void anIdThatWasChangedIsRefused() throws IOException {
        DataDirectory.open(root).close();
        Files.writeString(root.resolve("id"), "");
        assertFalse(assertThrows(DataDirectory.Refused.class, () -> DataDirectory.open(root))
                .locked());
    }

    @Test
    void theReservationIsAbsentThenWhatWasWrittenLast() throws IOException {
        try (DataDirectory data = DataDirectory.open(root)) {
            ReservationFile file = data.reservation();
            assertNull(file.read());
            ReservationFile.Reservation first = ReservationFile.Reservation.running(123, null);
            file.write(first);
            assertEquals(first, file.read());
            StreamId stream = new StreamId(new StreamName("a/ü \"b"), new Generation(77));
            ReservationFile.Reservation second =
                    new ReservationFile.Reservation(456, true, "abc", 455, Map.of(stream, new Position(455, 7)));
            file.write(second);
            assertEquals(second, data.reservation().read());
            for (String text :
                    List.of("", "{}", "[1]", "{\"format\":2,\"high_ms\":1}", "{\"format\":1,\"high_ms\":\"x\"}")) {
                Files.writeString(root.resolve("reservation"), text);
                assertThrows(ArchiveException.class, file::read, text);
            }
        }
    }
}
