package dev.tidemark.server;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * Programs that others wrote and that these tests need. On a machine without them the tests are skipped and say why, unless the
 * environment variable {@code REAL_CLIENTS} is {@code required}, as in {@code .ci/run}: then they fail.
 */
final class RealClients {
    private static final String REQUIRED = "REAL_CLIENTS";

    private RealClients() {}

    /** Path of a program, whatever name of these it has. */
    static String program(String... names) {
        Optional<Path> found = Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .flatMap(folder -> Arrays.stream(names).map(name -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst();
        if (found.isEmpty()) {
            lacking("no " + String.join(" or ", names) + " on the PATH");
        }
        return found.orElseThrow().toString();
    }

    /** Fails or skips. */
    private static void lacking(String what) {
        if ("required".equals(System.getenv(REQUIRED))) {
            throw new AssertionError(what + ", and " + REQUIRED + " says that this test has to run");
        }
        Assumptions.abort(what + "; with it this test runs");
    }

    /** The script of npm's wscat, installed into {@code target} in the version of the lock file. */
    static String wscat() throws IOException, InterruptedException {
        String npm = program("npm");
        Path folder = Files.createDirectories(Path.of("target", "npm", "wscat"));
        for (String file : List.of("package.json", "package-lock.json")) {
            Files.write(folder.resolve(file), Files.readAllBytes(Path.of("src", "test", "npm", "wscat", file)));
        }
        Path log = folder.resolve("npm.log");
        Process install = new ProcessBuilder(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        if (!install.waitFor(120, TimeUnit.SECONDS) || install.exitValue() != 0) {
            install.destroyForcibly();
            lacking("npm can't install wscat: " + Files.readString(log));
        }
        return folder.resolve("node_modules/wscat/bin/wscat").toString();
    }
}
