package dev.tidemark.read;

import dev.tidemark.archive.ArchiveReader;
import dev.tidemark.event.Clock;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import dev.tidemark.keeper.StreamSnapshot;
import dev.tidemark.livelog.LiveLogState;
import io.vertx.core.Future;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Computes seams from what is known here; Redis is asked at most once, after a restart. Stateless but for its ports; any thread. */
final class SeamRead {
    private final Folding folding;
    private final Clock clock;

    SeamRead(Folding folding, Clock clock) {
        this.folding = folding;
        this.clock = clock;
    }

    /**
     * As {@link #of}, but the live log is asked where it begins if nobody here knows: after a restart memory holds only the newest
     * entries, and until the first fold nothing says what lies before them.
     */
    Future<Seam> read(StreamSource source) {
        StreamSnapshot snapshot = source.snapshot();
        Folding.Figures figures = folding.of(source.stream());
        boolean known = figures.liveLog() != null || !snapshot.isOpen() || holdsAll(snapshot);
        if (known) {
            return Future.succeededFuture(of(source));
        }
        return source.liveStates()
                .map(seen -> of(
                        source,
                        new Folding.Figures(
                                figures.lastFold(),
                                figures.overRetained(),
                                figures(LiveLogState.together(seen), snapshot.lastOrdinal()))))
                .recover(away -> Future.succeededFuture(of(source)));
    }

    private static Folding.LiveLogFigures figures(LiveLogState seen, long lastOrdinal) {
        return new Folding.LiveLogFigures(seen.first(), seen.length(), seen.bytes(), lastOrdinal);
    }

    private static boolean holdsAll(StreamSnapshot snapshot) {
        return snapshot.floor().equals(Position.ZERO);
    }

    /** Without asking anybody: any thread, at once. */
    Seam of(StreamSource source) {
        return of(source, folding.of(source.stream()));
    }

    private Seam of(StreamSource source, Folding.Figures figures) {
        StreamSnapshot snapshot = source.snapshot();
        ArchiveReader archive = source.archive();
        Position watermark = archive.watermark();
        Folding.LiveLogFigures live = figures.liveLog();
        Position first = first(snapshot, live, watermark);
        return new Seam(
                earliest(archive, first),
                watermark,
                first,
                snapshot.isOpen() ? snapshot.frontier() : watermark,
                Position.max(snapshot.tail(), watermark),
                live == null
                        ? snapshot.count()
                        : live.events() + Math.max(0, snapshot.lastOrdinal() - live.lastOrdinal()),
                archive.events(),
                liveBytes(snapshot, live),
                archive.bytes(),
                lagMs(snapshot, watermark, first),
                figures.lastFold(),
                figures.overRetained(),
                source.stream().id().generation());
    }

    /** As Redis estimated it last, and the payloads since. */
    private static long liveBytes(StreamSnapshot snapshot, Folding.@Nullable LiveLogFigures live) {
        Position seen = live == null ? Position.ZERO : snapshot.positionOf(live.lastOrdinal());
        return (live == null ? 0 : live.bytes()) + (seen == null ? 0 : snapshot.payloadBytesAfter(seen));
    }

    static Position earliest(StreamSource source) {
        return earliest(source.archive(), first(source.snapshot(), null, Position.ZERO));
    }

    private static Position earliest(ArchiveReader archive, Position firstLive) {
        Position archived = archive.earliest();
        return archived.equals(Position.ZERO) ? firstLive : archived;
    }

    private static Position first(StreamSnapshot snapshot, Folding.@Nullable LiveLogFigures live, Position watermark) {
        if (live != null && !live.first().equals(Position.ZERO)) {
            return live.first();
        }
        List<Slice> first = snapshot.after(live == null ? Position.ZERO : watermark, 1, 1);
        return first.isEmpty() ? Position.ZERO : first.get(0).first();
    }

    /** Age of the oldest event above W by the stream clock; if that event isn't in memory, as old at most as W and as what is live. */
    private long lagMs(StreamSnapshot snapshot, Position watermark, Position firstLive) {
        if (!snapshot.isOpen() || !snapshot.tail().isAfter(watermark)) {
            return 0;
        }
        List<Slice> unfolded = snapshot.after(watermark, 1, 1);
        long oldestMs = Math.max(Math.max(watermark.ms(), firstLive.ms()), EventId.EPOCH_MS);
        if (snapshot.covers(watermark)) {
            // If nothing above W has settled, all there is is still being sorted, above the frontier.
            oldestMs = unfolded.isEmpty()
                    ? Math.max(oldestMs, snapshot.frontier().ms())
                    : unfolded.get(0).first().ms();
        }
        return Math.max(0, Math.max(clock.wallMs(), snapshot.tail().ms()) - oldestMs);
    }
}
