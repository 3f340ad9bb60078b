package dev.tidemark.livelog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A Redis that would lose events is refused with the setting's name, what it is, what is allowed, and what overrides it. */
final class RedisRequirementsTest {
    private static final String GOOD = """
            # Server
            redis_version:7.0.15
            redis_mode:standalone
            run_id:abc123
            # Memory
            used_memory:1000
            maxmemory:2000
            maxmemory_policy:noeviction
            # Persistence
            aof_enabled:1
            # Replication
            role:master
            # Cluster
            cluster_enabled:0
            """;

    private static RedisFacts facts(String line, String instead) {
        return RedisRequirements.facts(GOOD.replace(line, instead), "always");
    }

    private static void assertRefused(RedisFacts facts, String... words) {
        String refusal = RedisRequirements.refusal(facts, false, false);
        assertNotNull(refusal);
        for (String word : words) {
            assertTrue(refusal.contains(word), refusal);
        }
    }

    @Test
    void aGoodOneIsTakenWithoutWarnings() {
        RedisFacts facts = RedisRequirements.facts(GOOD.replace("\n", "\r\n"), "always");
        assertNull(RedisRequirements.refusal(facts, false, false));
        assertEquals(
                new RedisFacts(
                        "7.0.15", "abc123", true, "always", "noeviction", 2000, 1000, false, java.util.List.of()),
                facts);
        assertTrue(facts.syncsAlways());
    }

    @Test
    void oldOnesAreRefused() {
        for (String old : new String[] {"6.0.16", "5.0.7", "6.1.240", "2.8.0"}) {
            assertRefused(facts("redis_version:7.0.15", "redis_version:" + old), old, "6.2");
        }
        for (String young : new String[] {"6.2.0", "7.2.4", "8.0.1", "10.0.0"}) {
            RedisFacts facts = facts("redis_version:7.0.15", "redis_version:" + young);
            assertNull(RedisRequirements.refusal(facts, false, false));
        }
    }

    @Test
    @Tag("R10")
    void oneThatEvictsIsRefusedUnlessAllowed() {
        RedisFacts facts = facts("policy:noeviction", "policy:allkeys-lru");
        assertRefused(facts, "maxmemory-policy", "allkeys-lru", "noeviction", "redis.allow_eviction");
        assertNull(RedisRequirements.refusal(facts, false, true));
        assertTrue(facts.warnings().toString().contains("allkeys-lru"));
    }

    @Test
    void oneWithoutAppendOnlyFileIsRefusedUnlessAllowed() {
        RedisFacts facts = facts("aof_enabled:1", "aof_enabled:0");
        assertRefused(facts, "appendonly", "yes", "redis.allow_volatile");
        assertNull(RedisRequirements.refusal(facts, true, false));
        assertTrue(facts.warnings().toString().contains("append-only"));
        assertFalse(facts.syncsAlways());
    }

    @Test
    void aClusterIsRefused() {
        assertRefused(facts("cluster_enabled:0", "cluster_enabled:1"), "cluster-enabled");
        assertRefused(facts("redis_mode:standalone", "redis_mode:cluster"), "cluster-enabled");
    }

    @Test
    void whatRedisDoesNotTellIsAllowedWithAWarning() {
        RedisFacts silent = RedisRequirements.facts("", "");
        assertNull(RedisRequirements.refusal(silent, false, false));
        assertEquals(2, silent.warnings().size());
        assertEquals(RedisFacts.UNKNOWN, silent.appendfsync());
        RedisFacts lax = RedisRequirements.facts(GOOD, "everysec");
        assertNull(RedisRequirements.refusal(lax, false, false));
        assertTrue(lax.warnings().toString().contains("everysec"));
        assertFalse(lax.syncsAlways());
    }
}
