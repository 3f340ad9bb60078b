package dev.tidemark.fold;

import dev.tidemark.archive.ArchiveAppender;
import dev.tidemark.event.Position;
import dev.tidemark.keeper.LiveStream;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the fold keeps of one stream. Everything but {@link #status} belongs to the fold/trim verticle. */
final class StreamFold {
    final LiveStream stream;
    final ArchiveAppender archive;
    final LiveSpans spans = new LiveSpans();
    final ProducerCheckpoints producers;

    /** Whether archive and live log have been looked at since the start. */
    boolean known;
    /** Whether a cycle is under way. */
    boolean running;
    /** Whether its turn for a cycle is still to come. */
    boolean queued;
    /** Who waits for the cycle under way, and for the one after it. */
    List<Promise<Position>> waiting = new ArrayList<>();

    List<Promise<Position>> waitingForNext = new ArrayList<>();
    /** What is to be done when the cycle under way has ended. */
    List<Runnable> afterwards = new ArrayList<>();

    /** Whether a copy of the seam is on its way to Redis, and whether W has changed since. */
    boolean copying;

    boolean copyAgain;
    /** What is to be done when the copy under way has been answered. */
    private List<Runnable> afterCopy = new ArrayList<>();

    /** Slices that it may still fold before other streams have their turn. */
    private int slicesLeft = Integer.MAX_VALUE;

    private boolean turnOver;
    /** Whether somebody waits for it, besides retention. */
    boolean urgent;

    /** By stripe, where order isn't final on arrival; empty elsewhere, and before it is known. */
    List<AccountedOrdinals> accounted = List.of();

    /** Where order isn't final on arrival: how many events and missing ordinals are archived. */
    long archivedOrdinal;

    long liveFloorOrdinal;
    /** Oldest entry known to be in the live log; {@link Position#ZERO} if there is none that is folded. */
    Position firstLive = Position.ZERO;

    /** What the archive had when this process began. */
    Position startWatermark = Position.ZERO;

    long startOrdinal;
    /** Whether the spans reach back behind that as far as a window of bytes needs. */
    boolean bytesLearned;

    FoldStatus.@Nullable LiveLog liveLog;
    Position trimmedBelow = Position.ZERO;
    int failures;
    /** Why the last trim failed; empty if it didn't. */
    String trimTrouble = "";

    long foldedEvents;
    long trimmedEvents;

    /** Read by any thread. */
    private volatile FoldStatus status = FoldStatus.NONE;

    private volatile long retryAtNs;

    StreamFold(LiveStream stream, ArchiveAppender archive) {
        this.stream = stream;
        this.archive = archive;
        this.producers = new ProducerCheckpoints(archive, stream.stripes());
    }

    /** Whether the spans have all bytes that are folded and live, or as many as a window of bytes needs. */
    boolean knowsBytes() {
        return bytesLearned || liveFloorOrdinal >= startOrdinal;
    }

    /** It may fold some slices now. */
    void beginTurn(int slices) {
        slicesLeft = slices;
        turnOver = false;
    }

    /** Asked before each slice: whether other streams come first now. */
    boolean turnIsOver() {
        turnOver = slicesLeft-- <= 0;
        return turnOver;
    }

    /** Whether the cycle ended only because its turn did: there is more to fold. */
    boolean goesOn() {
        return turnOver;
    }

    /** Whether anything of the stream is under way. */
    boolean isBusy() {
        return running || copying;
    }

    /** Runs {@code next} when what is under way has ended. */
    void whenQuiet(Runnable next) {
        if (running) {
            afterwards.add(() -> whenQuiet(next));
        } else if (copying) {
            afterCopy.add(() -> whenQuiet(next));
        } else {
            next.run();
        }
    }

    void copied() {
        List<Runnable> waiting = afterCopy;
        afterCopy = new ArrayList<>();
        waiting.forEach(Runnable::run);
    }

    long retryAtNs() {
        return retryAtNs;
    }

    void retryAt(long ns) {
        retryAtNs = ns;
    }

    FoldStatus status() {
        return status;
    }

    void succeeded(long nowMs, long overRetained) {
        failures = 0;
        publish("ok", nowMs, trimTrouble.isEmpty() ? "" : "not trimmed: " + trimTrouble, 0, overRetained);
    }

    void failed(long nowMs, String reason, long overRetained) {
        failures++;
        long since = status.isFailing() ? status.failingSinceMs() : nowMs;
        publish("failed", nowMs, reason, since, overRetained);
    }

    private void publish(String outcome, long nowMs, String reason, long failingSinceMs, long overRetained) {
        status = new FoldStatus(
                archive.watermark(),
                firstLive,
                liveFloorOrdinal,
                liveLog,
                archivedOrdinal,
                trimmedBelow,
                outcome,
                nowMs,
                reason,
                failingSinceMs,
                overRetained,
                foldedEvents,
                trimmedEvents,
                knowsBytes() ? spans.bytes() : Long.MAX_VALUE);
    }
}
