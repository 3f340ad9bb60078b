package dev.tidemark.livelog;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.Map;

/**
 * The file {@code child} beside a child Redis's data: how to find it again. Written before the child is started (pid 0) and when it answers.
 *
 * <pre>
 *   port=40311
 *   pid=4711
 * </pre>
 *
 * @param port 0 if it isn't known
 * @param pid 0 if it isn't known
 */
record ChildFile(int port, long pid) {
    private static final String NAME = "child";

    /** What the file says; what it doesn't say is 0. */
    static ChildFile read(Path directory) throws IOException {
        Map<String, Long> values = new HashMap<>();
        try {
            for (String line : Files.readAllLines(directory.resolve(NAME))) {
                if (line.matches("(port|pid)=\\d{1,9}")) {
                    int equals = line.indexOf('=');
                    values.put(line.substring(0, equals), Long.parseLong(line.substring(equals + 1)));
                }
            }
        } catch (NoSuchFileException | java.nio.charset.MalformedInputException e) {
            return new ChildFile(0, 0);
        }
        long port = values.getOrDefault("port", 0L);
        return new ChildFile(port > 65_535 ? 0 : (int) port, values.getOrDefault("pid", 0L));
    }

    void write(Path directory) throws IOException {
        Path unfinished = directory.resolve(NAME + ".tmp");
        Files.writeString(unfinished, "port=" + port + "\npid=" + pid + "\n");
        Files.move(
                unfinished,
                directory.resolve(NAME),
                StandardCopyOption.ATOMIC_MOVE,
                StandardCopyOption.REPLACE_EXISTING);
    }

    static void delete(Path directory) throws IOException {
        Files.deleteIfExists(directory.resolve(NAME));
    }
}
