package dev.tidemark.livelog;

import dev.tidemark.event.Position;
import java.util.List;

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
        boolean exists, long length, Position first, Position last, Position lastGenerated, long bytes) {
    /** Several stripes' keys as if they were one; it is there if all are. */
    public static LiveLogState together(List<LiveLogState> stripes) {
        return stripes.stream()
                .reduce((left, right) -> new LiveLogState(
                        left.exists && right.exists,
                        left.length + right.length,
                        older(left.first, right.first),
                        Position.max(left.last, right.last),
                        Position.max(left.lastGenerated, right.lastGenerated),
                        left.bytes + right.bytes))
                .orElseThrow();
    }

    private static Position older(Position left, Position right) {
        if (left.equals(Position.ZERO) || right.equals(Position.ZERO)) {
            return Position.max(left, right);
        }
        return Position.min(left, right);
    }
}
