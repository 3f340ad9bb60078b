package dev.tidemark.keeper;

import dev.tidemark.event.Clock;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;

/** Goes round the stripes of one keeper, a few at a time, and lets each look what others did to its key. On the keeper's event loop. */
final class LiveLogPatrol {
    private static final long LOOK_NS = 100_000_000;
    private static final int STRIPES_A_LOOK = 5;
    /** After a longer pause no more than in so many looks: Redis answers others, too. */
    private static final long LOOKS_MAX = 5;
    /** No round is begun sooner after the one before. */
    private static final long ROUND_NS_MIN = 2_000_000_000;

    private final Clock clock;
    private final Collection<StripeKeeper> stripes;
    private final Deque<StripeKeeper> round = new ArrayDeque<>();
    private long lookAtNs;
    private long roundAtNs;

    /** @param stripes a live view of the keeper's stripes */
    LiveLogPatrol(Clock clock, Collection<StripeKeeper> stripes) {
        this.clock = clock;
        this.stripes = stripes;
        this.lookAtNs = clock.monotonicNs();
        this.roundAtNs = lookAtNs + ROUND_NS_MIN;
    }

    void tick() {
        long nowNs = clock.monotonicNs();
        if (nowNs - lookAtNs < 0) {
            return;
        }
        long looks = Math.min(LOOKS_MAX, 1 + (nowNs - lookAtNs) / LOOK_NS);
        lookAtNs = nowNs + LOOK_NS;
        if (round.isEmpty() && nowNs - roundAtNs >= 0) {
            round.addAll(stripes);
            roundAtNs = nowNs + ROUND_NS_MIN;
        }
        for (int i = 0; i < looks * STRIPES_A_LOOK && !round.isEmpty(); i++) {
            round.remove().patrol();
        }
    }
}
