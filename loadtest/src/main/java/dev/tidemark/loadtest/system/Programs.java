package dev.tidemark.loadtest.system;

import java.io.File;
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
}
