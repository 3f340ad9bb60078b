package dev.tidemark.retention;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.tidemark.event.Clock;
import dev.tidemark.fold.FoldStatus;
import dev.tidemark.keeper.LiveStream;
import io.vertx.core.Future;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * One round over the streams in which something has changed or whose time has come: folds what is due, and notes when to look again.
 * One thread.
 */
final class RetentionRound {
    /** A stream in which nothing changes is looked at this often, whatever its agenda says: clocks are set, too. */
    static final long LOOK_MS_MAX = 30_000;
    /** A fold that failed isn't tried again at once: how often it is looked whether its time has come. */
    static final long BACKOFF_LOOK_MS = 200;

    private final Folding folding;
    private final RetentionBeat beat;
    private final RetentionAgenda agenda;
    private final Clock clock;
    private final Set<LiveStream> asked = new HashSet<>();
    /** Streams that have something to be folded, and since when that was seen: ids may be ahead of a wall clock that was set back. */
    private final Map<LiveStream, Waiting> waiting = new HashMap<>();

    private record Waiting(long oldestMs, long sinceNs) {}

    /** What a round asks of the fold; futures complete on its own thread. */
    interface Folding {
        FoldStatus status(LiveStream stream);

        boolean isBackingOff(LiveStream stream);

        Future<?> fold(LiveStream stream);
    }

    RetentionRound(Folding folding, RetentionBeat beat, RetentionAgenda agenda, Clock clock) {
        this.folding = folding;
        this.beat = beat;
        this.agenda = agenda;
        this.clock = clock;
    }

    /**
     * Looks at the streams on the agenda and at others.
     *
     * @param changed those in which something has changed
     * @return whether there was any
     */
    @CanIgnoreReturnValue
    boolean run(Collection<LiveStream> changed) {
        Collection<LiveStream> due = agenda.due();
        due.forEach(stream -> look(stream, true));
        changed.forEach(stream -> look(stream, false));
        return !due.isEmpty() || !changed.isEmpty();
    }

    private void look(LiveStream stream, boolean timeHasCome) {
        if (stream.isDeleted()) {
            waiting.remove(stream);
            return;
        }
        if (asked.contains(stream)) {
            return;
        }
        if (folding.isBackingOff(stream)) {
            agenda.lookIn(stream, BACKOFF_LOOK_MS);
            return;
        }
        FoldStatus status = folding.status(stream);
        // A stream that isn't open is on the agenda because the live log has something of it that is due now.
        boolean closedAndDue = timeHasCome && !stream.snapshot(0).isOpen();
        long leftMs = leftMs(stream, status);
        if (closedAndDue || leftMs <= 0 || beat.isDue(stream, status)) {
            asked.add(stream);
            folding.fold(stream).onComplete(ended -> {
                asked.remove(stream);
                agenda.lookIn(stream, ended.succeeded() ? 0 : BACKOFF_LOOK_MS);
            });
        } else if (stream.snapshot(0).isOpen()) {
            long nextMs = beat.nextLookMs(stream, status);
            long inMs = Math.min(leftMs, nextMs == Long.MAX_VALUE ? nextMs : nextMs - clock.wallMs());
            if (inMs < Long.MAX_VALUE) {
                agenda.lookIn(stream, Math.max(1, Math.min(LOOK_MS_MAX, inMs)));
            }
        }
    }

    /** Monotonic time until the stream's oldest sealed event must be folded, wherever the wall clock is; {@link Long#MAX_VALUE} if there is none. */
    private long leftMs(LiveStream stream, FoldStatus status) {
        long oldestMs = beat.oldestSealedMs(stream, status);
        if (oldestMs == Long.MAX_VALUE) {
            waiting.remove(stream);
            return Long.MAX_VALUE;
        }
        Waiting seen = waiting.get(stream);
        if (seen == null || seen.oldestMs() != oldestMs) {
            seen = new Waiting(oldestMs, clock.monotonicNs());
            waiting.put(stream, seen);
        }
        return beat.lagMsMax(stream) - (clock.monotonicNs() - seen.sinceNs()) / 1_000_000;
    }
}
