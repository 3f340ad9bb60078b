package dev.tidemark.server;

import dev.tidemark.event.Limits;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamSettings;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the configuration, once, from four layers, each over the one before: built-in defaults, a YAML file, environment
 * variables, flags. All layers are text and go through the same {@link ConfigurationKey}, so a value means the same wherever it
 * stands. Nothing is looked up later.
 */
public final class ConfigurationLoader {
    /** How the environment variables that are ours begin. */
    static final String ENVIRONMENT_PREFIX = "TIDEMARK_";

    /**
     * Variables with our prefix that mean something else: what container platforms set for a service named tidemark, and what
     * the client commands read.
     */
    private static final Pattern NOT_OURS =
            Pattern.compile("TIDEMARK_(SERVICE_(HOST|PORT.*)|PORT|PORT_\\d+_.*|URL|TOKEN)");

    private final Map<String, ConfigurationKey<?>> keys = new LinkedHashMap<>();
    private final Map<String, Written> written = new TreeMap<>();

    /** One value as someone wrote it, and where. */
    private record Written(String text, String source) {}

    private ConfigurationLoader() {
        for (ConfigurationKey<?> key : ConfigurationKey.all()) {
            keys.put(key.name(), key);
        }
    }

    /**
     * Reads all layers and checks them.
     *
     * @param file YAML file, or null for none
     * @param environment variables of the process
     * @param flags values given by flags, by key
     * @param start what holds for this start only
     * @throws ConfigurationException naming the key, what is wrong and what is allowed
     */
    public static Configuration load(
            @Nullable Path file,
            Map<String, String> environment,
            Map<ConfigurationKey<?>, String> flags,
            Configuration.Start start) {
        ConfigurationLoader loader = new ConfigurationLoader();
        if (file != null) {
            ConfigurationFile.read(file).forEach((name, text) -> loader.write(name, text, "in " + file));
        }
        loader.writeEnvironment(environment);
        flags.forEach((key, text) -> loader.write(key.name(), text, "by a flag"));
        return loader.build(start);
    }

    private void writeEnvironment(Map<String, String> environment) {
        Map<String, String> names = new LinkedHashMap<>();
        keys.values().forEach(key -> names.put(key.environmentName(), key.name()));
        new TreeMap<>(environment).forEach((variable, text) -> {
            if (!variable.startsWith(ENVIRONMENT_PREFIX)) {
                return;
            }
            String name = names.get(variable);
            if (name != null) {
                write(name, text, "by " + variable);
            } else if (!NOT_OURS.matcher(variable).matches()) {
                String example = ConfigurationKey.REDIS_FSYNC.environmentName();
                throw new ConfigurationException(variable
                        + ": no key has this environment variable; allowed are the keys in capitals with _ for each dot,"
                        + " such as " + example);
            }
        });
    }

    private void write(String name, String text, String source) {
        if (!keys.containsKey(name)) {
            if (isSection(name) && text.isEmpty()) {
                return; // a section with everything in it commented out
            }
            throw new ConfigurationException(name + ": " + whatIsUnknown(name) + " (set " + source + ")");
        }
        written.put(name, new Written(text, source));
    }

    private boolean isSection(String name) {
        return keys.keySet().stream().anyMatch(key -> key.startsWith(name + "."));
    }

    private String whatIsUnknown(String name) {
        String section = name;
        while (!section.isEmpty() && !isSection(section)) {
            section = section.substring(0, Math.max(0, section.lastIndexOf('.')));
        }
        String prefix = section.isEmpty() ? "" : section + ".";
        Set<String> siblings = new TreeSet<>();
        for (String key : keys.keySet()) {
            if (key.startsWith(prefix)) {
                siblings.add(prefix + key.substring(prefix.length()).split("\\.", 2)[0]);
            }
        }
        String what = section.equals(name) ? "is a section and has no value of its own" : "is an unknown key";
        return what + "; allowed are " + String.join(", ", siblings);
    }

    private <T> T value(ConfigurationKey<T> key) {
        Written entry = written.get(key.name());
        try {
            return key.parse(entry == null ? key.defaultText() : entry.text());
        } catch (IllegalArgumentException e) {
            String source = entry == null ? "built in" : "set " + entry.source();
            throw new ConfigurationException(key.name() + ": " + e.getMessage() + " (" + source + ")");
        }
    }

    private Configuration build(Configuration.Start start) {
        return new Configuration(
                value(ConfigurationKey.DATA),
                buildHttp(),
                buildRedis(),
                value(ConfigurationKey.MEMORY_MAX),
                value(ConfigurationKey.MEMORY_IDLE_AFTER),
                value(ConfigurationKey.KEEPERS),
                buildLimits(),
                value(ConfigurationKey.ACCEPTANCE_MAX_BYTES),
                value(ConfigurationKey.TAIL_TIMEOUT),
                value(ConfigurationKey.FOLD_MAX_LAG),
                Math.toIntExact(value(ConfigurationKey.SUBSCRIBER_BUFFER)),
                value(ConfigurationKey.SHUTDOWN_TIMEOUT),
                value(ConfigurationKey.STREAMS_AUTO_CREATE),
                buildStreamDefaults(),
                value(ConfigurationKey.INSECURE),
                buildTestClock(),
                start);
    }

    private Configuration.TestClock buildTestClock() {
        Path file = value(ConfigurationKey.TEST_CLOCK_FILE);
        return new Configuration.TestClock(
                value(ConfigurationKey.TEST_CLOCK_OFFSET),
                value(ConfigurationKey.TEST_CLOCK_RATE).doubleValue(),
                file.equals(Path.of("none")) ? null : file);
    }

    private Configuration.Http buildHttp() {
        return new Configuration.Http(
                value(ConfigurationKey.HTTP_HOST),
                value(ConfigurationKey.HTTP_PORT),
                value(ConfigurationKey.HTTP_HOSTS),
                value(ConfigurationKey.HTTP_ALLOWED_ORIGINS),
                Math.toIntExact(value(ConfigurationKey.HTTP_HEADER_BYTES)),
                value(ConfigurationKey.HTTP_BODY_TIMEOUT),
                value(ConfigurationKey.HTTP_IDLE_TIMEOUT),
                value(ConfigurationKey.HTTP_WEBSOCKET_PING),
                value(ConfigurationKey.HTTP_WEBSOCKET_COMPRESSION));
    }

    private Configuration.Redis buildRedis() {
        String url = value(ConfigurationKey.REDIS_URL);
        return new Configuration.Redis(
                url.equals("none") ? Optional.empty() : Optional.of(url),
                value(ConfigurationKey.REDIS_PREFIX),
                Configuration.Fsync.valueOf(value(ConfigurationKey.REDIS_FSYNC).toUpperCase(Locale.ROOT)),
                value(ConfigurationKey.REDIS_MAXMEMORY),
                value(ConfigurationKey.REDIS_MEMORY_HIGH),
                value(ConfigurationKey.REDIS_ALLOW_VOLATILE),
                value(ConfigurationKey.REDIS_ALLOW_EVICTION),
                value(ConfigurationKey.REDIS_COMMAND_TIMEOUT));
    }

    private Limits buildLimits() {
        try {
            return new Limits(
                    Math.toIntExact(value(ConfigurationKey.LIMITS_EVENT_BYTES)),
                    Math.toIntExact(value(ConfigurationKey.LIMITS_BODY_BYTES)),
                    value(ConfigurationKey.LIMITS_BATCH_EVENTS),
                    Math.toIntExact(value(ConfigurationKey.PAGE_MAX_BYTES)));
        } catch (IllegalArgumentException e) {
            throw new ConfigurationException(String.valueOf(e.getMessage()));
        }
    }

    private StreamSettings buildStreamDefaults() {
        Map<Setting, Long> values = new EnumMap<>(Setting.class);
        for (Setting setting : Setting.values()) {
            values.put(setting, value(ConfigurationKey.streamDefault(setting)));
        }
        try {
            return StreamSettings.DEFAULT.with(values);
        } catch (IllegalArgumentException e) {
            throw new ConfigurationException("streams.defaults." + e.getMessage());
        }
    }
}
