package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.livelog.RedisProcess;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The built server on a Redis that evicts, or that keeps nothing on disk: refused by name, or allowed and then said in health. */
@Tag("failure-6")
@Tag("R10")
class RedisSettingsIT {
    @TempDir
    Path dir;

    private void refusedUnlessAllowed(RedisProcess redis, String setting, String key, String word, String inHealth) {
        String url = "redis://127.0.0.1:" + redis.port();
        try (ServerProcess server = ServerProcess.launch(dir.resolve("refused"), Map.of(), List.of(), "--redis", url)) {
            server.awaitEnd();
            server.awaitLogEnd();
            List<String> log = server.log();
            String last = log.get(log.size() - 1);
            assertEquals(1, server.process().exitValue(), log::toString);
            assertTrue(last.contains(key) && last.contains(word), last);
            assertEquals(List.of(), redis.ask("KEYS", "*"), "nothing was written");
        }
        try (ServerProcess server =
                ServerProcess.start(dir.resolve("allowed"), Map.of(setting, "true"), "--redis", url)) {
            assertEquals(
                    201, server.api().append("flights", List.of("{\"n\":1}")).status());
            assertEquals(200, server.api().fold("flights").status());
            JsonObject check = server.api()
                    .get("/health/ready")
                    .json()
                    .getJsonObject("checks")
                    .getJsonObject("redis");
            assertEquals("warning", check.getString("status"), check::encode);
            assertTrue(check.getString("detail").contains(inHealth), check::encode);
            assertEquals(
                    1, server.api().events(Api.stream("flights") + "/events").size());
            server.assertCleanLog();
        }
    }

    @Test
    void aRedisThatEvictsIsRefusedUnlessAllowedAndThenHealthSaysSo() {
        try (RedisProcess redis = RedisProcess.start("--maxmemory-policy", "allkeys-lru", "--maxmemory", "100mb")) {
            refusedUnlessAllowed(
                    redis, "TIDEMARK_REDIS_ALLOW_EVICTION", "redis.allow_eviction", "allkeys-lru", "evict");
        }
    }

    @Test
    void aRedisWithoutAppendOnlyFileIsRefusedUnlessAllowedAndThenHealthSaysSo() {
        try (RedisProcess redis = RedisProcess.start("--appendonly", "no")) {
            refusedUnlessAllowed(
                    redis, "TIDEMARK_REDIS_ALLOW_VOLATILE", "redis.allow_volatile", "appendonly", "append-only file");
        }
    }
}
