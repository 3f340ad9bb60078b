package dev.tidemark.retention;

import dev.tidemark.event.Clock;
import dev.tidemark.event.Position;
import dev.tidemark.event.Units;
import dev.tidemark.fold.FoldStatus;
import dev.tidemark.fold.TrimBounds;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.StreamSnapshot;
import java.util.function.BooleanSupplier;

/** Decides, for one stream at one moment, whether it is time to fold. Pure. */
final class RetentionBeat {
    /** Sealed bytes that are folded at once. */
    private static final long SEALED_BYTES = 1 << 20;

    private final TrimBounds bounds;
    private final Clock clock;
    private final long foldLagMsMax;
    private final BooleanSupplier foldsAtOnce;

    /** @param foldLagMsMax age at which a sealed event is folded ({@code fold_max_lag}) */
    RetentionBeat(TrimBounds bounds, Clock clock, long foldLagMsMax) {
        this(bounds, clock, foldLagMsMax, () -> false);
    }

    /** @param foldsAtOnce whether everything is to be folded without waiting now */
    RetentionBeat(TrimBounds bounds, Clock clock, long foldLagMsMax, BooleanSupplier foldsAtOnce) {
        this.bounds = bounds;
        this.clock = clock;
        this.foldLagMsMax = foldLagMsMax;
        this.foldsAtOnce = foldsAtOnce;
    }

    boolean isDue(LiveStream stream, FoldStatus status) {
        StreamSnapshot memory = stream.snapshot();
        if (!memory.isOpen() || stream.isDeleted()) {
            return false;
        }
        return foldIsDue(stream, memory, status) || trimIsDue(stream, memory, status);
    }

    private boolean foldIsDue(LiveStream stream, StreamSnapshot memory, FoldStatus status) {
        Position watermark = status.watermark();
        if (memory.floor().isAfter(watermark) && memory.tail().isAfter(watermark)) {
            // Something unfolded isn't in memory: left by a dead process, or pushed out.
            return true;
        }
        if (foldsAtOnce.getAsBoolean() && memory.countAfter(watermark) > 0) {
            return true;
        }
        long oldestMs = memory.oldestSealedMsAfter(watermark);
        if (oldestMs == Long.MAX_VALUE) {
            return false;
        }
        TrimBounds.Bounds wanted = bounds.of(stream.settings(), clock.wallMs());
        long gone = memory.lastOrdinal() - wanted.keepEvents();
        return clock.wallMs() - oldestMs >= lagMsMax(stream)
                || gone > status.archivedOrdinal()
                || stream.foldSoonThrough().isAfter(watermark)
                || memory.sealedBytesAfter(watermark) >= Math.min(SEALED_BYTES, wanted.keepBytes());
    }

    /** Time in the id of the oldest sealed event that isn't folded, Unix milliseconds; {@link Long#MAX_VALUE} if there is none. */
    long oldestSealedMs(LiveStream stream, FoldStatus status) {
        StreamSnapshot memory = stream.snapshot();
        return memory.isOpen() ? memory.oldestSealedMsAfter(status.watermark()) : Long.MAX_VALUE;
    }

    /**
     * When to look at a stream again of which nothing is due now and nothing changes until then: Unix milliseconds, or
     * {@link Long#MAX_VALUE}.
     */
    long nextLookMs(LiveStream stream, FoldStatus status) {
        long next = Long.MAX_VALUE;
        for (int i = 0; i < stream.stripes(); i++) {
            long oldestMs = stream.snapshot(i).oldestSealedMsAfter(status.watermark());
            next = Math.min(next, oldestMs == Long.MAX_VALUE ? Long.MAX_VALUE : oldestMs + lagMsMax(stream));
        }
        long ageMs = stream.settings().liveMaxAgeMs();
        boolean trimmedByAge = ageMs != Units.NONE && !status.firstLive().equals(Position.ZERO);
        return trimmedByAge ? Math.min(next, status.firstLive().ms() + ageMs + 1) : next;
    }

    /** What is to be trimmed sooner than it would be folded is folded then. */
    long lagMsMax(LiveStream stream) {
        return Math.min(foldLagMsMax, stream.settings().liveMaxAgeMs());
    }

    private boolean trimIsDue(LiveStream stream, StreamSnapshot memory, FoldStatus status) {
        TrimBounds.Bounds wanted = bounds.of(stream.settings(), clock.wallMs());
        long gone = Math.min(memory.lastOrdinal() - wanted.keepEvents(), status.archivedOrdinal());
        boolean tooMany = gone > status.liveFloorOrdinal();
        Position firstLive = status.firstLive();
        boolean tooOld = !firstLive.equals(Position.ZERO)
                && firstLive.isBefore(wanted.keepFrom())
                && firstLive.compareTo(status.watermark()) <= 0;
        return tooMany || tooOld || isTooLarge(memory, status, wanted.keepBytes());
    }

    private static boolean isTooLarge(StreamSnapshot memory, FoldStatus status, long keepBytes) {
        return keepBytes < Long.MAX_VALUE
                && status.foldedLiveBytes() > 0
                && status.foldedLiveBytes() > keepBytes - memory.payloadBytesAfter(status.watermark());
    }
}
