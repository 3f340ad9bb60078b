package dev.tidemark.keeper;

import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Problem.Stored;
import dev.tidemark.event.StripeId;
import dev.tidemark.livelog.LiveLogException;
import dev.tidemark.livelog.StripeAppender;
import org.jspecify.annotations.Nullable;

/**
 * What a stripe remembers of being parted from its live log: since when it is, when it may try to resume, what Redis said to the last
 * try, and from where a resuming must look. Whether the stripe is parted, its state says. Owned by the {@link StripeKeeper}; on the
 * keeper's event loop.
 */
final class Parting {
    /** After a look into Redis that failed, the next one comes so much later. */
    static final long RETRY_NS = 200_000_000;

    private final StripeId stripe;
    private final Keeper keeper;
    private final Mint mint;
    private final StreamClock clock;

    private long sinceNs;
    private long retryAtNs;
    /** Why the last try to resume failed, if Redis itself said so. */
    private @Nullable LiveLogException refusal;

    /** The start's last entry, and where the key's position was then. */
    private Position startEntry = Position.ZERO;

    private Position startPosition = Position.ZERO;
    /** The newest ordinal in Redis when that was found to have less than it had; -1 if it never was. */
    private long lackingSince = -1;

    Parting(StripeId stripe, Keeper keeper, Mint mint, StreamClock clock) {
        this.stripe = stripe;
        this.keeper = keeper;
        this.mint = mint;
        this.clock = clock;
    }

    /** The stripe was opened; {@code keyPosition} is where the key's position was. */
    void opened(Position lastEntry, Position keyPosition) {
        startEntry = lastEntry;
        startPosition = keyPosition;
    }

    /** The stripe is parted from now on; it may try to resume at once. */
    void begin() {
        sinceNs = keeper.clock().monotonicNs();
        retryAtNs = sinceNs;
    }

    /** Whether a parted stripe has been so for longer than appends wait. */
    boolean lastsTooLong() {
        return (keeper.clock().monotonicNs() - sinceNs) / 1_000_000
                > keeper.limits().resumeMs();
    }

    boolean mayTry() {
        return keeper.clock().monotonicNs() >= retryAtNs;
    }

    /** A try to resume, not begun yet. */
    StripeResume resume(StripeAppender appender, StripeMemory memory) {
        Position lastEntry = memory.lastEntry();
        StripePosition position = new StripePosition(
                stripe,
                appender,
                mint,
                Math.max(clock.nowMs(), keeper.reservation().highMs()),
                keeper.counters());
        boolean stillLacking = memory.storedOrdinal() == lackingSince && memory.hasUnfolded();
        boolean lossPending = memory.hasPassedOverLast() || stillLacking;
        // Stripes share W: one that got nothing since the start stands below it rightly.
        Position known = lastEntry.equals(startEntry) ? startPosition : lastEntry;
        return new StripeResume(stripe, appender, mint, lastEntry, known, memory.watermark(), position, lossPending);
    }

    /** Redis was found to have less than was acknowledged, {@code storedOrdinal} being the newest one it had. */
    void foundLess(long storedOrdinal) {
        lackingSince = storedOrdinal;
    }

    void resumed() {
        refusal = null;
    }

    /** A try to resume has failed: the stripe is still parted. */
    void notResumed(LiveLogException failure) {
        refusal = failure.kind().isAnswer() ? failure : null;
        retryAtNs = keeper.clock().monotonicNs() + RETRY_NS;
    }

    /** What is to be said of an append that comes when it {@link #lastsTooLong}. */
    Problem outOfReach(Stored stored) {
        LiveLogException said = refusal;
        return said != null && !said.kind().retryable()
                ? LiveLogRefusals.refused(said)
                : LiveLogRefusals.outOfReach(stored, inTheWay());
    }

    /** What is in the way of resuming; empty if that isn't known. */
    String inTheWay() {
        LiveLogException said = refusal;
        return said == null ? keeper.trouble() : String.valueOf(said.getMessage());
    }
}
