package dev.tidemark.read;

import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import dev.tidemark.keeper.MergedSnapshot;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a follower stands in the order of arrival, behind its merge-read's end, and what it knows there of the frontier. A {@link
 * StreamSubscription} owns it, on its subscriber's loop.
 */
final class ArrivalPlace {
    /** While events are provisional a follower is told of the frontier in steps of at least so much. */
    private static final long SEALED_STEP_MS = 250;

    /** Null while it doesn't follow in the order of arrival. */
    private @Nullable Arrived place;

    private long ordinal;
    /** The highest event that was provisional when it was given. */
    private Position provisionalMax = Position.ZERO;
    /** The frontier that the subscriber knows of. */
    private Position sealedThrough = Position.ZERO;

    /** Null if it doesn't follow in the order of arrival. */
    @Nullable
    Arrived now() {
        return place;
    }

    /** The place directly behind what a merge-read gave. */
    Arrived behind(AscendingMerge merge, MergedSnapshot snapshot) {
        List<Position> floors = merge.floors().positions();
        List<Position> known = floors.size() == snapshot.stripes().size() ? floors : Arrived.none(snapshot);
        sealedThrough = Position.max(sealedThrough, merge.cursor());
        return new Arrived(List.of(), merge.cursor(), known, true);
    }

    void standAt(Arrived at) {
        place = at;
    }

    void moveTo(Arrived next, MergedSnapshot snapshot) {
        place = next;
        if (!next.more()) {
            ordinal = snapshot.lastOrdinal();
        }
    }

    /** The place it stood at, which it gives up: it goes on by merge-read. */
    @Nullable
    Arrived leave() {
        Arrived left = place;
        place = null;
        return left;
    }

    /** Events behind the place where it last had all. */
    long lag(MergedSnapshot snapshot) {
        return snapshot.lastOrdinal() - ordinal;
    }

    /** These are given. */
    void given(List<Slice> events) {
        for (Slice slice : events) {
            for (int i = slice.from(); i < slice.to(); i++) {
                if (slice.chunk().provisional(i)) {
                    provisionalMax = Position.max(provisionalMax, slice.chunk().position(i));
                }
            }
        }
    }

    /** Everything at or below the frontier has been given: whether the subscriber is to be told, which it then is. */
    boolean seals(Position frontier) {
        boolean all = frontier.compareTo(provisionalMax) >= 0;
        boolean enough = all || frontier.ms() - sealedThrough.ms() >= SEALED_STEP_MS;
        boolean tell = provisionalMax.isAfter(sealedThrough) && frontier.isAfter(sealedThrough) && enough;
        if (tell) {
            sealedThrough = frontier;
        }
        return tell;
    }
}
