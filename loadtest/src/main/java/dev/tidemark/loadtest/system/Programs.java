package dev.tidemark.loadtest.system;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Programs of this machine. */
public final class Programs {
    /** Where Debian puts servers, which isn't on every user's PATH. */
    private static final List<String> ALSO = List.of("/usr/sbin", "/usr/local/sbin");

    private Programs() {}

    /** Where a program is: on the PATH, or among Debian's servers. */
    public static Optional<Path> find(String name) {
        Map<String, String> environment = System.getenv();
        String path = environment.getOrDefault("PATH", "");
        return Stream.concat(Arrays.stream(path.split(File.pathSeparator)), ALSO.stream())
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, name))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /**
     * Runs a program to its end and gives what it printed; it doesn't outlive this JVM.
     *
     * @throws IOException with what it printed, if it ended with another status than 0
     */
    public static String output(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        Thread atExit = new Thread(process::destroy);
        Runtime.getRuntime().addShutdownHook(atExit);
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status = process.waitFor();
        try {
            boolean unused = Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException shuttingDown) {
            throw new IOException("this JVM is stopping", shuttingDown);
        }
        if (status != 0) {
            throw new IOException(command.get(0) + " ended with " + status + ": " + output);
        }
        return output;
    }
}
