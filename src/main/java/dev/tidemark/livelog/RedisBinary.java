package dev.tidemark.livelog;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A Redis server that can be run: {@code redis-server} or {@code valkey-server} of the PATH, else the one that the embedded-redis library
 * ships. Blocking, for worker threads.
 *
 * @param executable its file
 * @param version such as {@code 7.0.15}
 */
record RedisBinary(Path executable, String version) {
    private static final List<String> NAMES = List.of("redis-server", "valkey-server");
    private static final Pattern VERSION = Pattern.compile("\\bv=(\\d+\\.\\d+\\.\\d+)");
    private static final int VERSION_TIMEOUT_S = 10;

    /**
     * Finds one.
     *
     * @param path the PATH to search; empty for none
     * @param directory where the shipped one is put, if it is needed
     * @throws IOException saying what is missing and what would help
     */
    static RedisBinary find(String path, Path directory) throws IOException {
        for (String name : NAMES) {
            for (String folder : path.split(Pattern.quote(File.pathSeparator), -1)) {
                Path candidate = folder.isEmpty() ? null : Path.of(folder, name);
                if (candidate != null && Files.isExecutable(candidate) && !Files.isDirectory(candidate)) {
                    String version = versionOrNull(candidate);
                    if (version != null && RedisRequirements.isAtLeast(version, 6, 2)) {
                        return new RedisBinary(candidate.toAbsolutePath(), version);
                    }
                }
            }
        }
        return shipped(directory);
    }

    private static @Nullable String versionOrNull(Path executable) throws IOException {
        Matcher matcher = VERSION.matcher(output(executable));
        return matcher.find() ? matcher.group(1) : null;
    }

    /** What {@code --version} prints, errors included. */
    private static String output(Path executable) throws IOException {
        Path printed = Files.createTempFile("tidemark-redis", ".version");
        try {
            Process process = new ProcessBuilder(executable.toString(), "--version")
                    .redirectErrorStream(true)
                    .redirectOutput(printed.toFile())
                    .start();
            if (!process.waitFor(VERSION_TIMEOUT_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
            return Files.readString(printed, StandardCharsets.ISO_8859_1);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        } finally {
            Files.deleteIfExists(printed);
        }
    }

    /** Name of the resource in the library for this machine, or null if it has none. */
    static @Nullable String resource(String os, String arch) {
        String system = os.toLowerCase(Locale.ROOT);
        boolean arm = arch.equals("aarch64") || arch.equals("arm64");
        boolean intel = arch.equals("amd64") || arch.equals("x86_64");
        if (system.contains("linux")) {
            return intel ? "redis-server-6.2.6-v5-linux-amd64" : arm ? "redis-server-6.2.7-linux-arm64" : null;
        }
        if (system.contains("mac")) {
            return intel ? "redis-server-6.2.6-v5-darwin-amd64" : arm ? "redis-server-6.2.6-v5-darwin-arm64" : null;
        }
        return null;
    }

    private static RedisBinary shipped(Path directory) throws IOException {
        String os = System.getProperty("os.name", "");
        String arch = System.getProperty("os.arch", "");
        String resource = resource(os, arch);
        if (resource == null) {
            throw new IOException(
                    "there is no redis-server or valkey-server (6.2 or newer) in the PATH, and none is shipped for "
                            + os + " on " + arch + ": install one, or name a Redis with --redis URL");
        }
        Path executable = extracted(resource, directory);
        String printed = output(executable);
        Matcher version = VERSION.matcher(printed);
        if (!version.find()) {
            throw new IOException(
                    "there is no redis-server or valkey-server (6.2 or newer) in the PATH, and the one that is shipped"
                            + " doesn't run (" + printed.strip() + "): " + hint(printed)
                            + ", or install redis-server, or name a Redis with --redis URL");
        }
        return new RedisBinary(executable, version.group(1));
    }

    private static String hint(String printed) {
        return printed.contains("libssl") || printed.contains("libcrypto")
                ? "it needs OpenSSL 3 (libssl.so.3): install that"
                : "see whether the file system of the data directory allows programs (noexec)";
    }

    private static Path extracted(String resource, Path directory) throws IOException {
        Path executable = directory.toAbsolutePath().resolve(resource);
        try (InputStream in = redis.embedded.RedisServer.class.getResourceAsStream("/" + resource)) {
            if (in == null) {
                throw new IOException("the embedded-redis library has no " + resource);
            }
            byte[] bytes = in.readAllBytes();
            if (Files.isExecutable(executable) && Files.size(executable) == bytes.length) {
                return executable;
            }
            Files.createDirectories(directory);
            Path unfinished = directory.resolve(resource + ".tmp");
            Files.write(unfinished, bytes);
            if (!unfinished.toFile().setExecutable(true, true)) {
                throw new IOException("can't make " + unfinished + " executable");
            }
            Files.move(unfinished, executable, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            return executable;
        }
    }
}
