package dev.tidemark.livelog;

import java.util.List;

/**
 * What a Redis says of itself.
 *
 * @param version such as {@code 6.2.11}
 * @param runId changes with every start of Redis
 * @param aof whether it keeps an append-only file
 * @param appendfsync {@code always}, {@code everysec}, {@code no}; {@code unknown} if it doesn't say
 * @param policy its {@code maxmemory-policy}; {@code unknown} if it doesn't say
 * @param maxmemory bytes; 0 for no limit
 * @param usedMemory bytes
 * @param cluster whether it is a node of a cluster
 * @param warnings what an operator should know, as sentences
 */
public record RedisFacts(
        String version,
        String runId,
        boolean aof,
        String appendfsync,
        String policy,
        long maxmemory,
        long usedMemory,
        boolean cluster,
        List<String> warnings) {
    /** Stands for what Redis doesn't say. */
    public static final String UNKNOWN = "unknown";

    public RedisFacts {
        warnings = List.copyOf(warnings);
    }

    /** Whether every acknowledged entry is on Redis's disk. */
    public boolean syncsAlways() {
        return aof && appendfsync.equals("always");
    }
}
