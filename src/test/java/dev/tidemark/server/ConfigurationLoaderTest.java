package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Limits;
import dev.tidemark.event.StreamSettings;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigurationLoaderTest {
    @TempDir
    Path dir;

    private static Configuration load(Map<String, String> environment, Map<ConfigurationKey<?>, String> flags) {
        return ConfigurationLoader.load(null, environment, flags, Configuration.Start.NORMAL);
    }

    private Configuration loadYaml(String... lines) {
        return ConfigurationLoader.load(yaml(lines), Map.of(), Map.of(), Configuration.Start.NORMAL);
    }

    private Path yaml(String... lines) {
        try {
            return Files.write(dir.resolve("t.yaml"), List.of(lines));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private String refusal(String... lines) {
        ConfigurationException refused = assertThrows(ConfigurationException.class, () -> loadYaml(lines));
        String message = String.valueOf(refused.getMessage());
        assertFalse(message.contains("\n"), message);
        return message;
    }

    @Test
    void theDefaultsAreThoseOfTheContract() {
        Configuration configuration = load(Map.of(), Map.of());
        assertEquals(Path.of("./data"), configuration.data());
        assertEquals("127.0.0.1", configuration.http().host());
        assertEquals(8440, configuration.http().port());
        assertEquals(Optional.empty(), configuration.redis().url());
        assertEquals("tidemark", configuration.redis().prefix());
        assertEquals(Configuration.Fsync.ALWAYS, configuration.redis().fsync());
        assertEquals(1L << 30, configuration.redis().maxmemoryBytes());
        assertEquals(80, configuration.redis().memoryHighPercent());
        assertEquals(Limits.DEFAULT, configuration.limits());
        assertEquals(StreamSettings.DEFAULT, configuration.streamDefaults());
        assertEquals(Runtime.getRuntime().maxMemory() / 100 * 25, configuration.memoryMaxBytes());
        assertEquals(5_000, configuration.tailTimeoutMs());
        assertEquals(64L << 20, configuration.acceptanceBytesMax());
        assertEquals(10_000, configuration.foldMaxLagMs());
        assertEquals(1 << 20, configuration.subscriberBufferBytes());
        assertEquals(30_000, configuration.shutdownTimeoutMs());
        assertTrue(configuration.autoCreate());
    }

    @Test
    void flagsOverrideVariablesAndVariablesOverrideTheFileAndTheFileOverridesDefaults() {
        Path file = yaml("http:", "  port: 1111", "redis:", "  prefix: of-file", "  fsync: no", "tail_timeout: 2s");
        Configuration configuration = ConfigurationLoader.load(
                file,
                Map.of("TIDEMARK_HTTP_PORT", "2222", "TIDEMARK_REDIS_PREFIX", "of-variable", "HOME", "/"),
                Map.of(ConfigurationKey.HTTP_PORT, "3333"),
                Configuration.Start.NORMAL);
        assertEquals(3333, configuration.http().port());
        assertEquals("of-variable", configuration.redis().prefix());
        assertEquals(Configuration.Fsync.NO, configuration.redis().fsync());
        assertEquals(2_000, configuration.tailTimeoutMs());
        assertEquals(30_000, configuration.shutdownTimeoutMs());
    }

    @Test
    void everyKeyHasItsOwnEnvironmentVariable() {
        Set<String> names = new HashSet<>();
        ConfigurationKey.all().forEach(key -> assertTrue(names.add(key.environmentName()), key.name()));
        assertTrue(names.contains("TIDEMARK_STREAMS_DEFAULTS_LIVE_MAX_AGE"));
    }

    @Test
    void aDottedNameMeansTheSameAsNesting() {
        assertEquals(7, loadYaml("http.port: 7").http().port());
    }

    @Test
    void settingsOfStreamsAreReadLikeThoseOfOneStream() {
        StreamSettings defaults = loadYaml(
                        "streams:",
                        "  defaults:",
                        "    live_max_events: 1000",
                        "    live_max_bytes: 64MiB",
                        "    roll: hourly")
                .streamDefaults();
        assertEquals(1000, defaults.liveMaxEvents());
        assertEquals(64 << 20, defaults.liveMaxBytes());
        assertEquals(StreamSettings.Roll.HOURLY, defaults.roll());
    }

    @Test
    void listsCanBeListsOrWordsWithCommas() {
        List<String> hosts = List.of("a.example", "b.example");
        assertEquals(
                hosts,
                loadYaml("http:", "  hosts: [a.example, b.example]").http().hosts());
        assertEquals(
                hosts,
                load(Map.of("TIDEMARK_HTTP_HOSTS", "a.example, b.example"), Map.of())
                        .http()
                        .hosts());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        redis.fsync: sometimes        | redis.fsync: 'sometimes' isn't one of always, everysec, no
        http.port: 65536              | http.port: '65536' is out of range; allowed is a whole number from 0 to 65535
        http.port: 84e1               | http.port: '84e1' isn't a whole number
        http.port: -1                 | http.port: '-1' isn't a whole number
        tail_timeout: 5               | tail_timeout: '5' isn't a duration
        tail_timeout: 5 s             | tail_timeout: '5 s' isn't a duration
        tail_timeout: 2m              | tail_timeout: '2m' is out of range; allowed is 10ms to 1m
        redis.maxmemory: 1GB          | redis.maxmemory: '1GB' isn't a size
        redis.memory_high: 80         | redis.memory_high: '80' isn't a percentage
        redis.memory_high: 100%       | redis.memory_high: '100%' is out of range; allowed is 10% to 99%
        memory.max: 91%               | memory.max: '91%' is out of range
        insecure: yes                 | insecure: 'yes' isn't one of true, false
        redis.prefix: a{b             | redis.prefix: 'a{b' isn't allowed
        http.allowed_origins: [a.org] | http.allowed_origins: 'a.org' isn't allowed
        keepers: 0                    | keepers: '0' is out of range; allowed is auto, or a whole number from 1 to 64
        keepers:                      | keepers: '' isn't a whole number
        data: ''                      | data: '' isn't a path
        streams.defaults.late: drop   | streams.defaults.late: 'drop' isn't one of rescue, refuse
        streams.defaults.roll: 1h     | streams.defaults.roll: '1h' isn't one of daily, hourly
        """)
    void aWrongValueIsRefusedWithItsKeyAndWhatIsAllowed(String line, String message) {
        String refusal = refusal(line);
        assertTrue(refusal.startsWith(message), refusal);
        assertTrue(refusal.endsWith("t.yaml)"), refusal);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        redis.fsyncc: always   | redis.fsyncc: is an unknown key; allowed are redis.allow_eviction, redis.allow_volatile,
        prt: 1                 | prt: is an unknown key; allowed are acceptance_max_bytes, data, fold_max_lag, http, insecure, keepers,
        http: 8440             | http: is a section and has no value of its own; allowed are http.allowed_origins,
        http.port.number: 1    | http.port.number: is an unknown key; allowed are http.allowed_origins,
        streams.defaults.x: 1  | streams.defaults.x: is an unknown key; allowed are streams.defaults.acceptance_window,
        Data: x                | Data: is an unknown key
        <<: x                  | <<: is an unknown key
        """)
    void anUnknownKeyIsRefusedWithTheKeysThatAreAllowedThere(String line, String message) {
        String refusal = refusal(line);
        assertTrue(refusal.startsWith(message), refusal);
    }

    @Test
    void anUnknownVariableIsRefused() {
        ConfigurationException refused =
                assertThrows(ConfigurationException.class, () -> load(Map.of("TIDEMARK_REDIS_PREFX", "x"), Map.of()));
        assertTrue(String.valueOf(refused.getMessage()).startsWith("TIDEMARK_REDIS_PREFX: "), refused.getMessage());
    }

    @Test
    void variablesOfContainerPlatformsAndOfTheClientAreNotTakenForKeys() {
        Map<String, String> environment = Map.of(
                "TIDEMARK_SERVICE_HOST", "10.0.0.1",
                "TIDEMARK_SERVICE_PORT_HTTP", "8440",
                "TIDEMARK_PORT", "tcp://10.0.0.1:8440",
                "TIDEMARK_PORT_8440_TCP_ADDR", "10.0.0.1",
                "TIDEMARK_URL", "http://x",
                "TIDEMARK_TOKEN", "secret");
        assertEquals(8440, load(environment, Map.of()).http().port());
    }

    @Test
    void aKeyThatIsThereTwiceIsRefused() {
        assertTrue(refusal("keepers: 1", "keepers: 2").contains("duplicate key"), "in one map");
        assertTrue(refusal("http.port: 1", "http:", "  port: 2").contains("http.port is there twice"), "in two forms");
    }

    @Test
    void filesThatAreNoYamlOfKeysAreRefusedInOneLine() throws IOException {
        assertTrue(refusal("keepers: [1").contains(" line "), refusal("keepers: [1"));
        assertTrue(refusal("just text").contains("holds no keys"), refusal("just text"));
        assertTrue(refusal("http:", "  hosts: [[a]]").contains("http.hosts isn't a plain value"), "nested list");
        assertTrue(refusal("a: &x", "  b: *x").contains("nested too deeply"), "a map in itself");
        assertTrue(refusal("a: !!java.io.File [x]").contains("t.yaml: "), "a tag of a class");
        Path latin1 = Files.write(dir.resolve("l.yaml"), "data: \u00e9".getBytes(StandardCharsets.ISO_8859_1));
        Path absent = dir.resolve("absent.yaml");
        for (Path file : List.of(latin1, absent, dir)) {
            ConfigurationException refused = assertThrows(
                    ConfigurationException.class,
                    () -> ConfigurationLoader.load(file, Map.of(), Map.of(), Configuration.Start.NORMAL));
            assertTrue(String.valueOf(refused.getMessage()).startsWith(file + ": "), refused.getMessage());
        }
    }

    @Test
    void emptyFilesAndEmptySectionsSetNothing() {
        Configuration defaults = load(Map.of(), Map.of());
        assertEquals(defaults, loadYaml());
        assertEquals(defaults, loadYaml("# nothing"));
        assertEquals(defaults, loadYaml("http:", "redis:", "  # url: x", "streams:", "  defaults:"));
    }

    @Test
    @Tag("T15")
    void valuesThatContradictEachOtherAreRefusedWithTheirKeys() {
        assertTrue(refusal("streams.defaults.live_max_age: 500ms")
                .startsWith("streams.defaults.live_max_age is 500ms; it can't be below chunk_duration"));
        assertTrue(
                refusal("streams.defaults.archive_max_age: 30m").startsWith("streams.defaults.archive_max_age is 30m"));
        assertTrue(refusal("memory.max: 100GiB").contains("1% to 75% of the JVM's greatest heap"));
        assertTrue(refusal("memory.max: 80%").startsWith("memory.max: '80%' is out of range"));
        assertTrue(refusal("limits.event_bytes: 16MiB").startsWith("limits.event_bytes is 16777216"));
        assertTrue(refusal("limits.body_bytes: 512KiB").startsWith("limits.body_bytes is 524288"));
        assertTrue(refusal("page_max_bytes: 1MiB").startsWith("page_max_bytes is 1048576"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0", "::", "192.0.2.1", "example.org", "127.0.0.1.example.org"})
    void anOpenPortBeyondLoopbackNeedsAWord(String host) {
        String refusal = refusal("http.host: '" + host + "'");
        assertTrue(refusal.startsWith("http.host: '" + host + "' isn't a loopback address"), refusal);
        assertTrue(
                loadYaml("http.host: '" + host + "'", "insecure: true").insecure(), "refused although insecure is set");
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "127.8.9.1", "::1", "localhost"})
    void loopbackNeedsNone(String host) {
        assertEquals(host, loadYaml("http.host: '" + host + "'").http().host());
    }

    @Test
    void theAddressOfRedisIsNeverShown() {
        String secret = "hunter2";
        assertFalse(refusal("redis.url: 'http://:" + secret + "@h'").contains(secret));
        Configuration configuration = loadYaml("redis.url: 'rediss://:" + secret + "@h:6379/1'");
        assertEquals(
                Optional.of("rediss://:" + secret + "@h:6379/1"),
                configuration.redis().url());
        assertFalse(configuration.toString().contains(secret));
    }
}
