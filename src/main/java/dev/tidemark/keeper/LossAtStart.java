package dev.tidemark.keeper;

import dev.tidemark.event.Position;
import dev.tidemark.livelog.LiveLogState;

/**
 * Whether acknowledged events above everything that was found at a start may be lost. Ordinals tell of losses below an event that is
 * there; for those behind the last one there is other evidence, and it lasts until an event with a later ordinal is stored. Pure.
 */
final class LossAtStart {
    private LossAtStart() {}

    /**
     * The last position that a lost event may have had; {@link Position#ZERO} if nothing suggests a loss.
     *
     * @param there the key as it was found
     * @param watermark W
     * @param hasLess whether the key has less than the archive proves that it had
     */
    static Position through(LiveLogState there, Position watermark, boolean hasLess, IdReservation reservation) {
        Position known = Position.max(watermark, there.last());
        Position lost = Position.ZERO;
        if (!reservation.isCleanStart()) {
            lost = hasLess ? Acceptance.endBefore(reservation.startMs()) : Position.ZERO;
        }
        lost = Position.max(lost, Acceptance.endBefore(reservation.lostBelowMs()));
        if (!Mint.isFence(there.lastGenerated())) {
            // An entry was there and is gone; trimmed ones are at or below W.
            lost = Position.max(lost, there.lastGenerated());
        }
        return lost.isAfter(known) ? lost : Position.ZERO;
    }
}
