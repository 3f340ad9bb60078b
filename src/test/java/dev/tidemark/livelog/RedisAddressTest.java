package dev.tidemark.livelog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Redis URLs are read as people write them, and never shown with their password. */
final class RedisAddressTest {
    @Test
    void aHostAloneHasDefaults() {
        RedisAddress address = RedisAddress.parse("redis://cache.example");
        assertEquals(new RedisAddress("redis", "cache.example", 6379, "", null, null, 0, null), address);
        assertEquals("redis://cache.example:6379/0", address.connectionString());
        assertEquals("redis://cache.example:6379", address.toString());
    }

    @Test
    void userPasswordPortAndDatabaseAreRead() {
        RedisAddress address = RedisAddress.parse(" redis://tide:p%40ss+w%2Fd@10.0.0.1:7000/3 ");
        assertEquals("tide", address.user());
        assertEquals("p@ss+w/d", address.password());
        assertEquals(7000, address.port());
        assertEquals(3, address.database());
        assertEquals("redis://10.0.0.1:7000/3", address.connectionString());
        assertFalse(address.toString().contains("p@ss"));
        RedisAddress passwordOnly = RedisAddress.parse("redis://:secret@h");
        assertNull(passwordOnly.user());
        assertEquals("secret", passwordOnly.password());
    }

    @Test
    void tlsIsReadWithItsAuthority() {
        RedisAddress address = RedisAddress.parse("rediss://h:6380/1?ca=%2Fetc%2Fca.pem");
        assertTrue(address.isTls());
        assertEquals("/etc/ca.pem", address.ca());
        assertEquals("rediss://h:6380/1", address.connectionString());
        assertTrue(RedisSettings.of(RedisAddress.parse("rediss://h"))
                .clientOptions(1_000)
                .getNetClientOptions()
                .isSsl());
        assertFalse(RedisSettings.of(RedisAddress.parse("redis://h"))
                .clientOptions(1_000)
                .getNetClientOptions()
                .isSsl());
    }

    @Test
    void aSocketIsReadWithItsParameters() {
        RedisAddress address = RedisAddress.parse("unix:///run/my%20redis/redis.sock?db=2&user=u&password=p%26q");
        assertTrue(address.isUnix());
        assertEquals("/run/my redis/redis.sock", address.path());
        assertEquals(2, address.database());
        assertEquals("u", address.user());
        assertEquals("p&q", address.password());
        assertEquals("unix:///run/my redis/redis.sock", address.toString());
        assertEquals("/run/s", RedisAddress.parse("unix:/run/s").path());
    }

    @Test
    void addressesOfIpV6AreRead() {
        RedisAddress address = RedisAddress.parse("redis://[::1]:7000");
        assertEquals("::1", address.host());
        assertEquals("redis://[::1]:7000", address.toString());
        assertEquals("redis://[::1]:7000/0", address.connectionString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "localhost:6379",
                "http://h:6379",
                "redis://",
                "redis:///0",
                "redis://h:0",
                "redis://h:99999",
                "redis://h/x",
                "redis://h/-1",
                "redis://h/70000",
                "redis://h?timeout=3",
                "redis://u:geheim@h:port",
                "redis://u:geheim#1@h",
                "redis://u:geh eim@h",
                "unix://",
                "unix://relative",
                "unix:relative"
            })
    void whatCannotBeUsedIsRefusedWithoutShowingThePassword(String url) {
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, () -> RedisAddress.parse(url));
        String message = String.valueOf(refused.getMessage());
        assertTrue(message.contains("allowed are redis://"), message);
        assertFalse(message.contains("geh"), message);
        assertNull(refused.getCause());
    }
}
