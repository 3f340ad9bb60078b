package dev.tidemark.loadtest.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One Kafka node, broker and controller (KRaft), in a JVM of its own, and Kafka's own tools. Any thread. */
public final class KafkaServer implements AutoCloseable {
    private static final String HEAP = "-Xmx1g";
    private static final Pattern JAR = Pattern.compile("kafka-clients-([0-9.]+)\\.jar");

    private final ServerProcess process;
    private final String classPath;
    private final int port;

    private KafkaServer(ServerProcess process, String classPath, int port) {
        this.process = process;
        this.classPath = classPath;
        this.port = port;
    }

    /**
     * What isn't here, and how to install it; empty if all is here.
     *
     * @param classPathFile holds the class path of Kafka's server and tools
     */
    public static String missing(Path classPathFile) {
        return Files.isRegularFile(classPathFile)
                ? ""
                : classPathFile + " isn't there (loadtest/compare makes it from loadtest/kafka/pom.xml)";
    }

    /**
     * Makes its directory, starts it and waits until it takes requests.
     *
     * @param classPathFile holds the class path of Kafka's server and tools
     * @param parent directory in which its data directory is made
     */
    public static KafkaServer start(Path classPathFile, Path parent) throws IOException, InterruptedException {
        String classPath = Files.readString(classPathFile).trim();
        Path directory = ServerProcess.newDirectory(parent, "kafka");
        int port = ServerProcess.freePort();
        Path settings = directory.resolve("server.properties");
        Path logging = directory.resolve("log4j2.properties");
        Path written = Files.write(settings, settings(directory, port, ServerProcess.freePort()));
        Path writtenToo = Files.write(
                logging,
                List.of(
                        "rootLogger.level = warn",
                        "rootLogger.appenderRefs = stdout",
                        "rootLogger.appenderRef.stdout.ref = stdout",
                        "appender.stdout.type = Console",
                        "appender.stdout.name = stdout"));
        String unused = Programs.output(java(
                classPath,
                "kafka.tools.StorageTool",
                "format",
                "--standalone",
                "-t",
                "dGlkZW1hcmstY29tcGFyZQ",
                "-c",
                written.toString()));
        List<String> command = new ArrayList<>(java(classPath, "kafka.Kafka", settings.toString()));
        command.add(1, "-Dlog4j2.configurationFile=" + writtenToo);
        ServerProcess process =
                ServerProcess.start("Kafka", directory, command, Map.of(), () -> ServerProcess.listens(port));
        return new KafkaServer(process, classPath, port);
    }

    private static List<String> settings(Path directory, int port, int controllerPort) {
        return List.of(
                "process.roles=broker,controller",
                "node.id=1",
                "listeners=PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controllerPort,
                "advertised.listeners=PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controllerPort,
                "controller.listener.names=CONTROLLER",
                "controller.quorum.bootstrap.servers=127.0.0.1:" + controllerPort,
                "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
                "log.dirs=" + directory.resolve("logs"),
                "num.partitions=1",
                "auto.create.topics.enable=true",
                "offsets.topic.replication.factor=1",
                "transaction.state.log.replication.factor=1",
                "transaction.state.log.min.isr=1");
    }

    private static List<String> java(String classPath, String main, String... arguments) {
        List<String> command = new ArrayList<>(List.of(Tidemark.javaExecutable(), HEAP, "-cp", classPath, main));
        command.addAll(List.of(arguments));
        return command;
    }

    /** Runs one of Kafka's own tools against this node and gives what it printed. */
    public String tool(String main, String... arguments) throws IOException, InterruptedException {
        return Programs.output(java(classPath, main, arguments));
    }

    public int port() {
        return port;
    }

    /** Where files for the tools can lie. */
    public Path directory() {
        return process.directory();
    }

    public String version() {
        Matcher matcher = JAR.matcher(classPath);
        return matcher.find() ? matcher.group(1) : "of unknown version";
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
