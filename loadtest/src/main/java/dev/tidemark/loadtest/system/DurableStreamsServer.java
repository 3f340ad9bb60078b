package dev.tidemark.loadtest.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The Durable Streams server for Node, with its streams in files. Any thread. */
public final class DurableStreamsServer implements AutoCloseable {
    private static final Path PACKAGE = Path.of("node_modules", "@durable-streams", "server", "package.json");
    private static final String PROGRAM = """
            import { DurableStreamTestServer } from "@durable-streams/server"
            const server = new DurableStreamTestServer({
              port: Number(process.argv[2]),
              host: "127.0.0.1",
              dataDir: process.argv[3],
            })
            await server.start()
            """;

    private final ServerProcess process;
    private final int port;

    private DurableStreamsServer(ServerProcess process, int port) {
        this.process = process;
        this.port = port;
    }

    /**
     * What isn't here, and how to install it; empty if all is here.
     *
     * @param installed directory in which npm has installed it
     */
    public static String missing(Path installed) {
        if (Programs.find("node").isEmpty()) {
            return "no node on the PATH (Debian: apt-get install nodejs npm; 18 or later)";
        }
        return Files.isRegularFile(installed.resolve(PACKAGE))
                ? ""
                : "@durable-streams/server isn't in " + installed
                        + " (loadtest/compare installs it if npm is on the PATH)";
    }

    /**
     * Starts it and waits until it listens.
     *
     * @param installed directory in which npm has installed it
     * @param parent directory in which its data directory is made
     */
    public static DurableStreamsServer start(Path installed, Path parent) throws IOException, InterruptedException {
        Path directory = ServerProcess.newDirectory(parent, "durable-streams");
        int port = ServerProcess.freePort();
        Path program = Files.writeString(installed.resolve("server.mjs"), PROGRAM);
        List<String> command = List.of(
                Programs.find("node").orElseThrow().toString(),
                program.toString(),
                String.valueOf(port),
                directory.resolve("streams").toString());
        return new DurableStreamsServer(
                ServerProcess.start("Durable Streams", directory, command, Map.of(), () -> ServerProcess.listens(port)),
                port);
    }

    public int port() {
        return port;
    }

    public static String version(Path installed) throws IOException, InterruptedException {
        Matcher matcher = Pattern.compile("\"version\"\\s*:\\s*\"([^\"]+)\"")
                .matcher(Files.readString(installed.resolve(PACKAGE)));
        String node =
                Programs.output(List.of(Programs.find("node").orElseThrow().toString(), "--version"));
        return (matcher.find() ? matcher.group(1) : "of unknown version") + ", Node " + node.trim();
    }

    /** The last lines of what it printed. */
    public String logEnd() throws IOException {
        return process.logEnd();
    }

    @Override
    public void close() {
        process.close();
    }
}
