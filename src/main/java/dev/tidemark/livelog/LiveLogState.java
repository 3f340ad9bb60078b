package dev.tidemark.livelog;

import dev.tidemark.event.Position;

/**
 * A stripe's key in Redis.
 *
 * @param exists whether the key is there (an empty stream is)
 * @param length entries
 * @param first entry id of the oldest entry; {@link Position#ZERO} if there is none
 * @param last entry id of the newest entry; {@link Position#ZERO} if there is none
 * @param lastGenerated Redis's last-generated id: it refuses ids at or below it
 * @param bytes memory of the key as Redis estimates it, or 0 if it doesn't say
 */
public record LiveLogState(
        boolean exists, long length, Position first, Position last, Position lastGenerated, long bytes) {}
