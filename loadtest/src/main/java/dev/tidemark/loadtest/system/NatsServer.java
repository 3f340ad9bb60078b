package dev.tidemark.loadtest.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** NATS with JetStream in files and a WebSocket listener. Any thread. */
public final class NatsServer implements AutoCloseable {
    private static final String PROGRAM = "nats-server";

    private final ServerProcess process;
    private final int port;
    private final int webSocketPort;

    private NatsServer(ServerProcess process, int port, int webSocketPort) {
        this.process = process;
        this.port = port;
        this.webSocketPort = webSocketPort;
    }

    /** What isn't here, and how to install it; empty if all is here. */
    public static String missing() {
        return Programs.find(PROGRAM).isPresent()
                ? ""
                : "no nats-server on the PATH (Debian: apt-get install nats-server)";
    }

    /**
     * Starts it and waits until it listens.
     *
     * @param parent directory in which its data directory is made
     */
    public static NatsServer start(Path parent) throws IOException, InterruptedException {
        Path directory = ServerProcess.newDirectory(parent, "nats");
        int port = ServerProcess.freePort();
        int webSocketPort = ServerProcess.freePort();
        Path settings = Files.write(directory.resolve("nats.conf"), settings(directory, port, webSocketPort));
        List<String> command = List.of(Programs.find(PROGRAM).orElseThrow().toString(), "-c", settings.toString());
        return new NatsServer(
                ServerProcess.start(
                        "NATS",
                        directory,
                        command,
                        Map.of(),
                        () -> ServerProcess.listens(port) && ServerProcess.listens(webSocketPort)),
                port,
                webSocketPort);
    }

    private static List<String> settings(Path directory, int port, int webSocketPort) {
        return List.of(
                "listen: \"127.0.0.1:" + port + "\"",
                "jetstream { store_dir: \"" + directory.resolve("jetstream") + "\" }",
                "websocket { listen: \"127.0.0.1:" + webSocketPort + "\", no_tls: true }");
    }

    public int port() {
        return port;
    }

    public int webSocketPort() {
        return webSocketPort;
    }

    public static String version() throws IOException, InterruptedException {
        return Programs.output(List.of(Programs.find(PROGRAM).orElseThrow().toString(), "--version"))
                .replaceFirst("nats-server:", "")
                .trim();
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
