package dev.tidemark.server;

import dev.tidemark.event.Setting;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * The table of everything that can be configured: one constant a key, with name, form, default and range. The loader reads by
 * it and {@code conf/tidemark.yaml} is tested against it, both ways.
 *
 * @param <T> type of the value: durations are milliseconds, sizes bytes
 */
public final class ConfigurationKey<T> {
    private static final List<ConfigurationKey<?>> TABLE = new ArrayList<>();
    private static final Map<Setting, ConfigurationKey<Long>> STREAM_DEFAULTS_BY_SETTING = new EnumMap<>(Setting.class);

    private static final String STREAM_DEFAULTS = "streams.defaults.";
    private static final String HOST_NAME = "[A-Za-z0-9._:-]{1,253}";
    private static final int KEEPERS_AUTO =
            Math.max(1, Math.min(8, Runtime.getRuntime().availableProcessors() / 2));

    /** Directory of everything that Tidemark keeps: archive, the child Redis's files, lock, id reservation. */
    public static final ConfigurationKey<Path> DATA = key("data", ValueForm.path(), "./data");

    /** Address to listen on. One that isn't loopback needs {@link #INSECURE}. */
    public static final ConfigurationKey<String> HTTP_HOST =
            key("http.host", ValueForm.text(HOST_NAME, "an IP address or host name of this machine"), "127.0.0.1");
    /** Port to listen on; 0 takes any free one, and the log says which. */
    public static final ConfigurationKey<Integer> HTTP_PORT = key("http.port", ValueForm.count(0, 65_535), "8440");
    /** Host names by which clients may call, besides the loopback names and the listen address. */
    public static final ConfigurationKey<List<String>> HTTP_HOSTS =
            key("http.hosts", ValueForm.list("[A-Za-z0-9._:\\[\\]-]{1,260}", "a host or host:port"), "");
    /** Origins of pages that may call from a browser (CORS and WebSocket), besides our own. */
    public static final ConfigurationKey<List<String>> HTTP_ALLOWED_ORIGINS = key(
            "http.allowed_origins",
            ValueForm.list(
                    "https?://[A-Za-z0-9._\\-\\[\\]:]{1,253}",
                    "an origin such as https://app.example.org, without path"),
            "");
    /** Greatest size of a request's headers together. */
    public static final ConfigurationKey<Long> HTTP_HEADER_BYTES =
            key("http.header_bytes", ValueForm.size("1KiB", "1MiB"), "8KiB");
    /** Time in which a request's body must have arrived, besides a second for each 64 KiB of it. */
    public static final ConfigurationKey<Long> HTTP_BODY_TIMEOUT =
            key("http.body_timeout", ValueForm.duration("100ms", "1h"), "30s");
    /** A connection without a whole request head for so long, from its start or its last answer on, is closed. */
    public static final ConfigurationKey<Long> HTTP_IDLE_TIMEOUT =
            key("http.idle_timeout", ValueForm.duration("1s", "1h"), "60s");
    /** WebSocket clients are pinged so often; one that doesn't answer in the same time again is cut off. */
    public static final ConfigurationKey<Long> HTTP_WEBSOCKET_PING =
            key("http.websocket_ping", ValueForm.duration("500ms", "5m"), "20s");
    /** Whether events are compressed for WebSocket clients that offer it. */
    public static final ConfigurationKey<Boolean> HTTP_WEBSOCKET_COMPRESSION =
            key("http.websocket_compression", ValueForm.flag(), "false");

    /** Redis to use; {@code none}: our own child process in the data directory. */
    public static final ConfigurationKey<String> REDIS_URL = key(
            "redis.url",
            new ValueForm<>(
                    "none, or a URL that starts with redis://, rediss:// or unix://", ConfigurationKey::redisUrl),
            "none");
    /** First part of every key in Redis. One server a prefix. */
    public static final ConfigurationKey<String> REDIS_PREFIX =
            key("redis.prefix", ValueForm.text("[A-Za-z0-9._-]{1,64}", "1 to 64 of A-Z a-z 0-9 . _ -"), "tidemark");
    /** {@code appendfsync} of the child Redis: what an acknowledged event survives. */
    public static final ConfigurationKey<String> REDIS_FSYNC =
            key("redis.fsync", ValueForm.choice("always", "everysec", "no"), "always");
    /** {@code maxmemory} of the child Redis. */
    public static final ConfigurationKey<Long> REDIS_MAXMEMORY =
            key("redis.maxmemory", ValueForm.size("8MiB", "16TiB"), "1GiB");
    /** Share of Redis's {@code maxmemory} above which folded events are trimmed whatever the windows say. */
    public static final ConfigurationKey<Integer> REDIS_MEMORY_HIGH =
            key("redis.memory_high", ValueForm.percentage(10, 99), "80%");
    /** Whether a Redis without append-only file is accepted. */
    public static final ConfigurationKey<Boolean> REDIS_ALLOW_VOLATILE =
            key("redis.allow_volatile", ValueForm.flag(), "false");
    /** Whether a Redis that evicts keys when it is full is accepted. */
    public static final ConfigurationKey<Boolean> REDIS_ALLOW_EVICTION =
            key("redis.allow_eviction", ValueForm.flag(), "false");
    /** A command that Redis hasn't answered after so long has failed, with its outcome unknown. */
    public static final ConfigurationKey<Long> REDIS_COMMAND_TIMEOUT =
            key("redis.command_timeout", ValueForm.duration("50ms", "5m"), "5s");

    /** Memory that all timelines together may take. */
    public static final ConfigurationKey<Long> MEMORY_MAX = key(
            "memory.max",
            ValueForm.shareOf("the JVM's greatest heap", Runtime.getRuntime().maxMemory(), "1MiB"),
            "25%");
    /** A stream that nobody appends to or reads for so long lets go of its memory and files once all of it is folded. */
    public static final ConfigurationKey<Long> MEMORY_IDLE_AFTER =
            key("memory.idle_after", ValueForm.duration("1s", "24h"), "60s");
    /** Event loops for keepers. */
    public static final ConfigurationKey<Integer> KEEPERS =
            key("keepers", ValueForm.countOrAuto(1, 64, KEEPERS_AUTO), "auto");

    /** Greatest payload of one event. */
    public static final ConfigurationKey<Long> LIMITS_EVENT_BYTES =
            key("limits.event_bytes", ValueForm.size("1B", "16MiB"), "1MiB");
    /** Greatest body of one request, decoded. */
    public static final ConfigurationKey<Long> LIMITS_BODY_BYTES =
            key("limits.body_bytes", ValueForm.size("1B", "256MiB"), "16MiB");
    /** Most events in one request. */
    public static final ConfigurationKey<Integer> LIMITS_BATCH_EVENTS =
            key("limits.batch_events", ValueForm.count(1, 100_000), "10000");

    /** A tail, or a page of a JSON read, ends here and says so. */
    public static final ConfigurationKey<Long> PAGE_MAX_BYTES =
            key("page_max_bytes", ValueForm.size("8KiB", "1GiB"), "16MiB");
    /** A tail waits so long for a keeper, then answers without it and says so. */
    public static final ConfigurationKey<Long> ACCEPTANCE_MAX_BYTES =
            key("acceptance_max_bytes", ValueForm.size("64KiB", "16GiB"), "64MiB");

    public static final ConfigurationKey<Long> TAIL_TIMEOUT =
            key("tail_timeout", ValueForm.duration("10ms", "1m"), "5s");
    /** A sealed event is folded at the latest after so long. A target: the lag is shown. */
    public static final ConfigurationKey<Long> FOLD_MAX_LAG =
            key("fold_max_lag", ValueForm.duration("1ms", "1h"), "10s");
    /** What the server holds for one slow subscriber before it is served at its own pace. */
    public static final ConfigurationKey<Long> SUBSCRIBER_BUFFER =
            key("subscriber_buffer", ValueForm.size("64KiB", "256MiB"), "1MiB");
    /** How long a stop waits for the last fold. */
    public static final ConfigurationKey<Long> SHUTDOWN_TIMEOUT =
            key("shutdown_timeout", ValueForm.duration("100ms", "1h"), "30s");

    /** Whether the first append creates a stream. */
    public static final ConfigurationKey<Boolean> STREAMS_AUTO_CREATE =
            key("streams.auto_create", ValueForm.flag(), "true");

    /** Whether to listen on an address that isn't loopback without authentication. */
    public static final ConfigurationKey<Boolean> INSECURE = key("insecure", ValueForm.flag(), "false");

    /** For tests: how far the server's wall clock stands beside the machine's. */
    public static final ConfigurationKey<Long> TEST_CLOCK_OFFSET = key("test.clock_offset", ValueForm.OFFSET, "0s");
    /** For tests: how many times as fast it runs. */
    public static final ConfigurationKey<BigDecimal> TEST_CLOCK_RATE = key("test.clock_rate", ValueForm.RATE, "1");
    /** For tests: a file that sets both while the server runs; {@code none}: nothing does. */
    public static final ConfigurationKey<Path> TEST_CLOCK_FILE = key("test.clock_file", ValueForm.path(), "none");

    static {
        for (Setting setting : Setting.values()) {
            String written = String.valueOf(setting.format(setting.defaultValue()));
            STREAM_DEFAULTS_BY_SETTING.put(setting, key(STREAM_DEFAULTS + setting.key(), formOf(setting), written));
        }
    }

    private final String name;
    private final ValueForm<T> form;
    private final String defaultText;

    private ConfigurationKey(String name, ValueForm<T> form, String defaultText) {
        this.name = name;
        this.form = form;
        this.defaultText = defaultText;
    }

    private static <T> ConfigurationKey<T> key(String name, ValueForm<T> form, String defaultText) {
        ConfigurationKey<T> key = new ConfigurationKey<>(name, form, defaultText);
        TABLE.add(key);
        return key;
    }

    private static ValueForm<Long> formOf(Setting setting) {
        return new ValueForm<>("as for a stream", text -> {
            try {
                return setting.parse(text);
            } catch (IllegalArgumentException e) {
                String message = String.valueOf(e.getMessage());
                String named = setting.key() + ": ";
                throw new IllegalArgumentException(
                        message.startsWith(named) ? message.substring(named.length()) : message, e);
            }
        });
    }

    /** The text is never quoted: it may hold a password. */
    private static String redisUrl(String text) {
        if (text.equals("none") || text.matches("(redis|rediss|unix)://\\S+")) {
            return text;
        }
        throw new IllegalArgumentException(
                "isn't a URL of Redis; allowed is none, or a URL that starts with redis://, rediss:// or unix://");
    }

    /** Every key, in the order of {@code conf/tidemark.yaml}. */
    public static List<ConfigurationKey<?>> all() {
        return List.copyOf(TABLE);
    }

    /** The key of a setting's default for streams that don't set it. */
    public static ConfigurationKey<Long> streamDefault(Setting setting) {
        return Objects.requireNonNull(STREAM_DEFAULTS_BY_SETTING.get(setting), setting.key());
    }

    /** Name in the file, with dots between the levels: {@code redis.fsync}. */
    public String name() {
        return name;
    }

    /** Name as an environment variable: {@code TIDEMARK_REDIS_FSYNC}. */
    public String environmentName() {
        return ConfigurationLoader.ENVIRONMENT_PREFIX + name.replace('.', '_').toUpperCase(Locale.ROOT);
    }

    /** The built-in default, as it would be written. */
    public String defaultText() {
        return defaultText;
    }

    /** What may be written, in words. */
    public String allowed() {
        return form.allowed();
    }

    /**
     * The value that {@code text} is.
     *
     * @throws IllegalArgumentException saying what is wrong and what is allowed, without the key's name
     */
    T parse(String text) {
        return form.reader().apply(text);
    }

    @Override
    public String toString() {
        return name;
    }
}
