package dev.tidemark.livelog;

import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a Redis must be for Tidemark: 6.2 or newer, one node, with an append-only file and without eviction. What it doesn't tell
 * (ACLs may forbid {@code INFO} and {@code CONFIG}) is allowed, with a warning.
 */
final class RedisRequirements {
    private static final Pattern NUMBER = Pattern.compile("\\d{1,18}");

    private static final int REQUEST_BYTES = 50;

    private RedisRequirements() {}

    /** Asks a Redis. */
    static Future<RedisFacts> facts(RedisLink link) {
        Future<String> info = link.send(Request.cmd(Command.INFO), REQUEST_BYTES)
                .map(text -> text == null ? "" : text.toString())
                .recover(RedisRequirements::emptyIfRefused);
        Future<String> fsync = link.send(Request.cmd(Command.CONFIG).arg("GET").arg("appendfsync"), REQUEST_BYTES)
                .map(RedisRequirements::configured)
                .recover(RedisRequirements::emptyIfRefused);
        return info.compose(sections -> fsync.map(value -> facts(sections, value)));
    }

    /** How full it is; without a limit if it doesn't tell. */
    static Future<RedisMemory> memory(RedisLink link) {
        return link.send(Request.cmd(Command.INFO).arg("memory"), REQUEST_BYTES)
                .map(text -> text == null ? "" : text.toString())
                .recover(RedisRequirements::emptyIfRefused)
                .map(info -> RedisMemory.of(lines(info)));
    }

    /** Only what Redis refuses to tell is unknown; a broken connection or a loading Redis is a failure. */
    private static Future<String> emptyIfRefused(Throwable error) {
        return error instanceof LiveLogException typed && typed.kind() == LiveLogException.Kind.REFUSED
                ? Future.succeededFuture("")
                : Future.failedFuture(error);
    }

    private static String configured(@Nullable Response pair) {
        Response value = pair == null || pair.size() < 2 ? null : pair.get(1);
        return value == null ? "" : value.toString();
    }

    /**
     * Reads the answers.
     *
     * @param info of {@code INFO}; empty if it was refused
     * @param appendfsync of {@code CONFIG GET}; empty if it was refused
     */
    static RedisFacts facts(String info, String appendfsync) {
        Map<String, String> lines = lines(info);
        List<String> warnings = new ArrayList<>();
        boolean aof = !"0".equals(lines.get("aof_enabled"));
        String policy = lines.getOrDefault("maxmemory_policy", RedisFacts.UNKNOWN);
        if (info.isEmpty()) {
            warnings.add("Redis doesn't allow INFO: its version, persistence and eviction can't be checked");
        }
        if (appendfsync.isEmpty()) {
            warnings.add(
                    "Redis doesn't allow CONFIG GET: whether appendfsync loses acknowledged events can't be checked");
        } else if (aof && !appendfsync.equals("always")) {
            warnings.add(
                    "appendfsync is " + appendfsync + ": a kill of Redis or a power loss may take acknowledged events"
                            + " that aren't folded yet; with always it takes none");
        }
        if (!aof) {
            warnings.add("Redis has no append-only file: its restart takes all events that aren't folded yet");
        }
        if (evicts(policy)) {
            warnings.add("maxmemory-policy is " + policy + ": Redis may evict events that aren't folded yet");
        }
        if ("slave".equals(lines.get("role"))) {
            warnings.add("Redis is a replica: it refuses appends");
        }
        return new RedisFacts(
                lines.getOrDefault("redis_version", RedisFacts.UNKNOWN),
                lines.getOrDefault("run_id", RedisFacts.UNKNOWN),
                aof,
                appendfsync.isEmpty() ? RedisFacts.UNKNOWN : appendfsync,
                policy,
                number(lines.get("maxmemory")),
                number(lines.get("used_memory")),
                isCluster(lines),
                warnings);
    }

    private static boolean isCluster(Map<String, String> lines) {
        return "1".equals(lines.get("cluster_enabled")) || "cluster".equals(lines.get("redis_mode"));
    }

    private static boolean evicts(String policy) {
        return !policy.equals("noeviction") && !policy.equals(RedisFacts.UNKNOWN);
    }

    private static Map<String, String> lines(String info) {
        Map<String, String> lines = new HashMap<>();
        info.lines().forEach(line -> {
            int colon = line.indexOf(':');
            if (colon > 0) {
                lines.putIfAbsent(
                        line.substring(0, colon), line.substring(colon + 1).trim());
            }
        });
        return lines;
    }

    static long number(@Nullable String text) {
        return text != null && NUMBER.matcher(text).matches() ? Long.parseLong(text) : 0;
    }

    /** What is wrong with a Redis and can't be allowed as the settings are, as one sentence; null if nothing is. */
    static @Nullable String refusal(RedisFacts facts, boolean allowVolatile, boolean allowEviction) {
        if (!facts.version().equals(RedisFacts.UNKNOWN) && !isAtLeast(facts.version(), 6, 2)) {
            return "Redis is " + facts.version() + "; Tidemark needs 6.2 or newer";
        }
        if (facts.cluster()) {
            return "Redis runs with cluster-enabled yes; Tidemark needs a Redis that isn't a cluster (cluster-enabled no)";
        }
        if (evicts(facts.policy()) && !allowEviction) {
            return "Redis's maxmemory-policy is " + facts.policy()
                    + ", which deletes events before they are folded; allowed is noeviction"
                    + " (CONFIG SET maxmemory-policy noeviction), or set redis.allow_eviction to take the loss";
        }
        if (!facts.aof() && !allowVolatile) {
            return "Redis's appendonly is no, so that its restart loses events that aren't folded yet; allowed is yes"
                    + " (CONFIG SET appendonly yes), or set redis.allow_volatile to take the loss";
        }
        return null;
    }

    static boolean isAtLeast(String version, int major, int minor) {
        String[] parts = version.split("[^0-9]+", -1);
        int first = parts.length > 0 && !parts[0].isEmpty() ? Integer.parseInt(parts[0]) : 0;
        int second = parts.length > 1 && !parts[1].isEmpty() ? Integer.parseInt(parts[1]) : 0;
        return first > major || (first == major && second >= minor);
    }
}
