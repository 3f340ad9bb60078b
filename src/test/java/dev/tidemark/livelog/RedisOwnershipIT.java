package dev.tidemark.livelog;

import static dev.tidemark.livelog.LiveLogContract.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.tidemark.livelog.LiveLogException.Kind;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which Redis is taken, and by whom. */
final class RedisOwnershipIT {
    private static final PrefixOwner OTHER = new PrefixOwner("other999", "/data/of/another");

    private static String refusal(RedisSettings settings, PrefixOwner owner) {
        RealLiveLog real = new RealLiveLog(settings, owner);
        LiveLogException refused =
                assertThrows(LiveLogException.class, () -> await(real.log().open(false)));
        real.close();
        assertEquals(Kind.REFUSED, refused.kind());
        return String.valueOf(refused.getMessage());
    }

    @CanIgnoreReturnValue
    private static RedisFacts open(RedisSettings settings, PrefixOwner owner, boolean take) {
        RealLiveLog real = new RealLiveLog(settings, owner);
        RedisFacts facts = await(real.log().open(take));
        real.close();
        return facts;
    }

    @Test
    @Tag("R31")
    void aSecondDataDirectoryIsRefusedNamingBothUntilItTakesThePrefix() {
        try (RedisProcess redis = RedisProcess.start()) {
            RedisSettings settings = RedisSettings.of(redis.address());
            RedisFacts first = open(settings, RealLiveLog.OWNER, false);
            assertTrue(first.runId().matches("[0-9a-f]{40}"), first.runId());
            assertEquals(List.of("test0001 /data/of/the/test"), redis.ask("GET", "tidemark:owner"));
            open(settings, RealLiveLog.OWNER, false);
            String message = refusal(settings, OTHER);
            assertTrue(message.contains("test0001") && message.contains("/data/of/the/test"), message);
            assertTrue(message.contains("other999") && message.contains("--take-prefix"), message);
            open(settings.withKeys(new LiveLogKeys("elsewhere")), OTHER, false);
            open(settings, OTHER, true);
            assertTrue(refusal(settings, RealLiveLog.OWNER).contains("other999"));
        }
    }

    @Test
    @Tag("R10")
    void aRedisThatEvictsIsRefusedUnlessAllowed() {
        try (RedisProcess redis = RedisProcess.start("--maxmemory-policy", "allkeys-lru", "--maxmemory", "100mb")) {
            RedisSettings settings = RedisSettings.of(redis.address());
            assertTrue(refusal(settings, OTHER).contains("redis.allow_eviction"));
            assertEquals(List.of(), redis.ask("GET", "tidemark:owner"));
            RedisFacts facts = open(settings.withAllowed(false, true), OTHER, false);
            assertEquals("allkeys-lru", facts.policy());
            assertEquals(100 << 20, facts.maxmemory());
            assertTrue(facts.usedMemory() > 0);
            assertEquals(1, facts.warnings().size());
        }
    }

    @Test
    void aRedisWithoutAppendOnlyFileIsRefusedUnlessAllowed() {
        try (RedisProcess redis = RedisProcess.start("--appendonly", "no")) {
            RedisSettings settings = RedisSettings.of(redis.address());
            assertTrue(refusal(settings, OTHER).contains("redis.allow_volatile"));
            assertEquals(
                    false, open(settings.withAllowed(true, false), OTHER, false).aof());
        }
    }

    @Test
    void aRedisThatForbidsConfigIsTakenWithAWarning() {
        try (RedisProcess redis = RedisProcess.start("--rename-command", "CONFIG", "")) {
            RedisFacts facts = open(RedisSettings.of(redis.address()), OTHER, false);
            assertEquals(RedisFacts.UNKNOWN, facts.appendfsync());
            assertEquals(1, facts.warnings().size());
        }
    }

    @Test
    @Tag("R40")
    void logInsAreCheckedAndNeverShown() {
        try (RedisProcess redis = RedisProcess.start("--requirepass", "geheim")) {
            String without = refusal(RedisSettings.of(redis.address()), OTHER);
            assertTrue(without.contains("NOAUTH"), without);
            RedisAddress wrong = RedisAddress.parse("redis://:falsch@127.0.0.1:" + redis.port());
            String refused = refusal(RedisSettings.of(wrong), OTHER);
            assertTrue(refused.contains("WRONGPASS") && !refused.contains("falsch"), refused);
            RedisAddress right = RedisAddress.parse("redis://:geheim@127.0.0.1:" + redis.port() + "/4");
            open(RedisSettings.of(right), OTHER, false);
            RedisAddress byUser = RedisAddress.parse("redis://default:geheim@127.0.0.1:" + redis.port());
            open(RedisSettings.of(byUser), OTHER, false);
        }
    }

    @Test
    void databasesAreSeparate() {
        try (RedisProcess redis = RedisProcess.start()) {
            RedisAddress third = RedisAddress.parse("redis://127.0.0.1:" + redis.port() + "/3");
            open(RedisSettings.of(third), OTHER, false);
            open(RedisSettings.of(redis.address()), RealLiveLog.OWNER, false);
            assertEquals(List.of("test0001 /data/of/the/test"), redis.ask("GET", "tidemark:owner"));
        }
    }

    @Test
    void aRedisThatIsNotThereIsReportedQuickly() throws java.io.IOException {
        RedisAddress nowhere = RedisAddress.parse("redis://127.0.0.1:" + RedisProcess.freePort());
        RealLiveLog real = new RealLiveLog(RedisSettings.of(nowhere));
        LiveLogException refused =
                assertThrows(LiveLogException.class, () -> await(real.log().open(false)));
        assertEquals(Kind.NOT_SENT, refused.kind());
        assertTrue(String.valueOf(refused.getMessage()).contains(nowhere.toString()));
        real.close();
    }
}
