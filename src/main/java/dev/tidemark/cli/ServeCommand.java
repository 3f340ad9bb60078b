package dev.tidemark.cli;

import dev.tidemark.server.Configuration;
import dev.tidemark.server.ConfigurationException;
import dev.tidemark.server.ConfigurationKey;
import dev.tidemark.server.ConfigurationLoader;
import dev.tidemark.server.Server;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code serve}: runs the server until it is stopped. What a command without name does. */
@Command(name = "serve", description = "Run the server (the default command).")
final class ServeCommand implements Callable<Integer> {
    @Option(names = "--config", paramLabel = "FILE", description = "Configuration; conf/tidemark.yaml shows every key.")
    private @Nullable Path config;

    @Option(names = "--port", paramLabel = "N", description = "Port to listen on (http.port; default 8440).")
    private @Nullable String port;

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description = "Directory of everything that is kept (data; default ./data).")
    private @Nullable String data;

    @Option(
            names = "--redis",
            paramLabel = "URL",
            description = "A Redis that runs already (redis.url; default: an own one is started).")
    private @Nullable String redis;

    @Option(names = "--insecure", description = "Allow an address that isn't loopback without authentication.")
    private boolean insecure;

    @Option(names = "--standby", description = "Wait while another server has the data directory, instead of refusing.")
    private boolean standby;

    @Option(names = "--take-prefix", description = "Take over a Redis prefix that another data directory owned.")
    private boolean takePrefix;

    @Override
    public Integer call() {
        Configuration configuration;
        try {
            configuration = ConfigurationLoader.load(
                    config, System.getenv(), flags(), new Configuration.Start(standby, takePrefix));
        } catch (ConfigurationException e) {
            throw CommandFailure.usage(String.valueOf(e.getMessage()));
        }
        Server server = Server.start(configuration);
        server.awaitStop();
        return ExitCode.DONE;
    }

    private Map<ConfigurationKey<?>, String> flags() {
        Map<ConfigurationKey<?>, String> flags = new LinkedHashMap<>();
        putIfGiven(flags, ConfigurationKey.HTTP_PORT, port);
        putIfGiven(flags, ConfigurationKey.DATA, data);
        putIfGiven(flags, ConfigurationKey.REDIS_URL, redis);
        putIfGiven(flags, ConfigurationKey.INSECURE, insecure ? "true" : null);
        return flags;
    }

    private static void putIfGiven(
            Map<ConfigurationKey<?>, String> flags, ConfigurationKey<?> key, @Nullable String value) {
        if (value != null) {
            flags.put(key, value);
        }
    }
}
