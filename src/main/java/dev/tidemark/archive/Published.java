package dev.tidemark.archive;

import dev.tidemark.event.Position;
import java.util.Map;

/**
 * What readers see of an archive; immutable.
 *
 * @param watermark W
 * @param earliest oldest event
 * @param events how many are there
 * @param bytes of all roll files, as far as they are written
 * @param ordinals last ordinal accounted for, by stripe
 * @param counts what is counted of each stripe
 * @param cycle file of the last excerpt up to W, or {@link RollFiles#NONE}
 * @param count excerpts of that file up to W
 * @param producersFrom where what producers are known from begins; {@link ProducerBounds}
 * @param producersThrough where it ends
 */
record Published(
        Position watermark,
        Position earliest,
        long events,
        long bytes,
        Map<Integer, Long> ordinals,
        Map<Integer, StripeCount> counts,
        int cycle,
        long count,
        Position producersFrom,
        Position producersThrough) {
    static final Published EMPTY = new Published(
            Position.ZERO, Position.ZERO, 0, 0, Map.of(), Map.of(), RollFiles.NONE, 0, Position.ZERO, Position.ZERO);

    Published {
        ordinals = Map.copyOf(ordinals);
        counts = Map.copyOf(counts);
    }
}
