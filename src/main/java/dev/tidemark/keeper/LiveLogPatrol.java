package dev.tidemark.keeper;

import dev.tidemark.event.Clock;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.function.Consumer;

/**
 * Goes round the stripes of one keeper, a few at a time, and lets each look what others did to its key. On the keeper's event loop.
 *
 * @param <S> a stripe
 */
final class LiveLogPatrol<S> {
    private static final long LOOK_NS = 100_000_000;
    private static final int STRIPES_A_LOOK = 5;
    /** After a longer pause no more than in so many looks: Redis answers others, too. */
    private static final long LOOKS_MAX = 5;
    /** No round is begun sooner after the one before. */
    private static final long ROUND_NS_MIN = 2_000_000_000;

    private final Clock clock;
    private final Collection<S> stripes;
    private final Consumer<S> look;
    private final Deque<S> round = new ArrayDeque<>();
    private long lookAtNs;
    private long roundAtNs;

    /**
     * @param stripes a live view of the keeper's stripes
     * @param look lets one look
     */
    LiveLogPatrol(Clock clock, Collection<S> stripes, Consumer<S> look) {
        this.clock = clock;
        this.stripes = stripes;
        this.look = look;
        this.lookAtNs = clock.monotonicNs();
        this.roundAtNs = lookAtNs + ROUND_NS_MIN;
    }

    void tick() {
        long nowNs = clock.monotonicNs();
        if (nowNs - lookAtNs < 0) {
            return;
        }
        long looks = Math.min(LOOKS_MAX, 1 + (nowNs - lookAtNs) / LOOK_NS);
        lookAtNs += looks * LOOK_NS;
        if (nowNs - lookAtNs >= 0) {
            lookAtNs = nowNs + LOOK_NS;
        }
        if (round.isEmpty() && nowNs - roundAtNs >= 0) {
            round.addAll(stripes);
            roundAtNs = nowNs + ROUND_NS_MIN;
        }
        for (int i = 0; i < looks * STRIPES_A_LOOK && !round.isEmpty(); i++) {
            look.accept(round.remove());
        }
    }
}
