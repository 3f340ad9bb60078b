package dev.tidemark.loadtest.system;

import dev.tidemark.loadtest.Redis;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** Redis alone: the binary that Tidemark would take, with the settings that it gives its own. Any thread. */
public final class RedisServer implements AutoCloseable {
    private static final List<String> NAMES = List.of("redis-server", "valkey-server");
    private static final int QUIET_TRIES_MAX = 600;
    private static final List<String> BUSY =
            List.of("aof_rewrite_in_progress:1", "aof_rewrite_scheduled:1", "rdb_bgsave_in_progress:1");

    private final ServerProcess process;
    private final int port;

    private RedisServer(ServerProcess process, int port) {
        this.process = process;
        this.port = port;
    }

    /**
     * Starts it and waits until it answers.
     *
     * @param jar Tidemark's, for the Redis in it if there is none on the PATH
     * @param parent directory in which its data directory is made
     * @param fsync {@code appendfsync}
     */
    public static RedisServer start(Path jar, Path parent, String fsync) throws IOException, InterruptedException {
        Path directory = ServerProcess.newDirectory(parent, "redis");
        int port = ServerProcess.freePort();
        Path settings = Files.write(directory.resolve("redis.conf"), settings(port, fsync));
        List<String> command = List.of(binary(jar, directory), settings.toString());
        return new RedisServer(ServerProcess.start("Redis", directory, command, Map.of(), () -> answers(port)), port);
    }

    private static List<String> settings(int port, String fsync) {
        return List.of(
                "port " + port,
                "bind 127.0.0.1",
                "protected-mode yes",
                "dir ./",
                "daemonize no",
                "save \"\"",
                "appendonly yes",
                "appendfsync " + fsync,
                "aof-load-truncated yes",
                "maxmemory " + (1L << 30),
                "maxmemory-policy noeviction");
    }

    private static boolean answers(int port) throws IOException {
        try (Redis redis = new Redis(port)) {
            return redis.call("PING").equals("PONG");
        }
    }

    private static String binary(Path jar, Path directory) throws IOException {
        for (String name : NAMES) {
            if (Programs.find(name).isPresent()) {
                return Programs.find(name).orElseThrow().toString();
            }
        }
        String arch = System.getProperty("os.arch", "").equals("aarch64") ? "arm64" : "amd64";
        String os = System.getProperty("os.name", "").toLowerCase(Locale.ROOT).contains("mac") ? "darwin" : "linux";
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            ZipEntry entry = zip.stream()
                    .filter(each -> each.getName().matches("redis-server-.*-" + os + "-" + arch))
                    .findFirst()
                    .orElseThrow(() -> new IOException("no redis-server on the PATH, none in " + jar));
            Path binary = directory.resolve("redis-server");
            try (InputStream in = zip.getInputStream(entry)) {
                long unused = Files.copy(in, binary);
            }
            if (!binary.toFile().setExecutable(true, true)) {
                throw new IOException("can't make " + binary + " executable");
            }
            return binary.toString();
        }
    }

    public int port() {
        return port;
    }

    /** The last lines of what it printed. */
    public String logEnd() throws IOException {
        return process.logEnd();
    }

    /** Version of the Redis on a port. */
    public static String version(int port) throws IOException {
        try (Redis redis = new Redis(port)) {
            Matcher matcher =
                    Pattern.compile("redis_version:(\\S+)").matcher(String.valueOf(redis.call("INFO", "server")));
            return matcher.find() ? matcher.group(1) : "of unknown version";
        }
    }

    /** A setting of the Redis on a port. */
    public static String setting(int port, String name) throws IOException {
        try (Redis redis = new Redis(port)) {
            Object reply = redis.call("CONFIG", "GET", name);
            return reply instanceof List<?> pair && pair.size() == 2 ? String.valueOf(pair.get(1)) : "unknown";
        }
    }

    /** Waits until the Redis on a port has no rewrite of its append-only file and no freeing left over from what was done before. */
    public static void awaitQuiet(int port) throws IOException, InterruptedException {
        try (Redis redis = new Redis(port)) {
            for (int tries = 0; tries < QUIET_TRIES_MAX; tries++) {
                String info = redis.call("INFO", "persistence") + "\n" + redis.call("INFO", "memory");
                if (BUSY.stream().noneMatch(info::contains) && info.contains("lazyfree_pending_objects:0")) {
                    return;
                }
                Thread.sleep(100);
            }
        }
        throw new IOException("Redis didn't come to rest between two measurements");
    }

    @Override
    public void close() {
        process.close();
    }
}
