package dev.tidemark.livelog;

import java.util.Map;

/**
 * Redis's memory at one moment.
 *
 * @param usedBytes what counts against its limit
 * @param maxBytes {@code maxmemory}; 0 if there is none, or Redis doesn't say
 */
public record RedisMemory(long usedBytes, long maxBytes) {
    /** From {@code INFO memory}; buffers that Redis itself leaves out of account when it compares are left out. */
    static RedisMemory of(Map<String, String> lines) {
        long used = RedisRequirements.number(lines.get("used_memory"));
        long apart = RedisRequirements.number(lines.get("mem_not_counted_for_evict"));
        return new RedisMemory(Math.max(0, used - apart), RedisRequirements.number(lines.get("maxmemory")));
    }
}
