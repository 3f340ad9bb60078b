package dev.tidemark.ingest;

import dev.tidemark.event.Producer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Which stripe a writer's events go to: always the same one, in every process, since what is remembered of a producer is remembered
 * there.
 */
final class Placement {
    private static final long FNV_BASIS = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    private Placement() {}

    /**
     * By producer id, else idempotency key, else connection.
     *
     * @param connection whatever tells connections apart
     */
    static int stripeOf(@Nullable Producer producer, String connection, int stripes) {
        return stripes == 1 ? 0 : stripeOf(producer == null ? connection : producer.id(), stripes);
    }

    private static int stripeOf(String writer, int stripes) {
        long hash = FNV_BASIS;
        for (byte b : writer.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (b & 0xff)) * FNV_PRIME;
        }
        hash ^= hash >>> 32;
        return (int) Math.floorMod((hash * FNV_PRIME) >>> 16, (long) stripes);
    }
}
