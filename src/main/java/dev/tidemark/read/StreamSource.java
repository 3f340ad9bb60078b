package dev.tidemark.read;

import dev.tidemark.archive.ArchiveException;
import dev.tidemark.archive.ArchivePage;
import dev.tidemark.archive.ArchiveReader;
import dev.tidemark.event.Cursor;
import dev.tidemark.event.EventExtras;
import dev.tidemark.event.Generation;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Slice;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.MergedSnapshot;
import dev.tidemark.keeper.StreamSnapshot;
import dev.tidemark.livelog.LiveLogException;
import dev.tidemark.livelog.LiveLogPage;
import dev.tidemark.livelog.LiveLogReader;
import dev.tidemark.livelog.LiveLogState;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * The three places that hold a stream: memory, live log and archive, as readers ask them. One stripe. Archive failures come as
 * {@link Problem}, those of the live log as {@link LiveLogException}: a part that is away, not an empty one.
 */
class StreamSource {
    private static final int STRIPE = 0;

    private final LiveStream stream;
    private final ArchiveReader archive;
    private final LiveLogReader liveLog;
    private final Workers workers;

    StreamSource(LiveStream stream, ArchiveReader archive, LiveLogReader liveLog, Workers workers) {
        this.stream = stream;
        this.archive = archive;
        this.liveLog = liveLog;
        this.workers = workers;
    }

    LiveStream stream() {
        return stream;
    }

    ArchiveReader archive() {
        return archive;
    }

    StreamSnapshot snapshot() {
        return stream.snapshot();
    }

    /** Whether an event's place is final with its acknowledgement, and ordinals rise with ids. */
    boolean finalOnArrival() {
        return stream.finalOnArrival();
    }

    Generation generation() {
        return stream.id().generation();
    }

    /** W. */
    Position watermark() {
        return archive.watermark();
    }

    /** W again, behind a live page that was asked for when it was {@code before}. */
    Position watermarkAgain(Position before) {
        return Position.max(before, archive.watermark());
    }

    /** Newest event that a view shows in id order; {@link Position#ZERO} if there is none. Provisional ones come behind it. */
    static Position end(StreamSnapshot snapshot, View view) {
        return snapshot instanceof MergedSnapshot || view == View.SEALED ? snapshot.end() : snapshot.tail();
    }

    /**
     * The holes that are losses, as far as is known here. Ordinals of refused appends are written with a later append: they are looked
     * for in what the keeper knows, in the events at hand and in memory above them. Once they are archived only the archive knows.
     *
     * @param near events at hand
     */
    List<Hole> losses(List<Hole> holes, List<Slice> near) {
        if (holes.isEmpty()) {
            return holes;
        }
        List<OrdinalRange> voided = new ArrayList<>(stream.voided(STRIPE));
        addVoided(near, voided);
        addVoided(snapshot().after(holes.get(0).at(), Integer.MAX_VALUE, Long.MAX_VALUE), voided);
        List<Hole> losses = new ArrayList<>();
        for (Hole hole : holes) {
            voided.addAll(hole.next().voided());
            if (!Neighbour.accounted(hole.ordinal(), hole.next().ordinal(), voided)) {
                losses.add(hole);
            }
        }
        return losses;
    }

    private static void addVoided(List<Slice> slices, List<OrdinalRange> voided) {
        for (Slice slice : slices) {
            for (int i = slice.from(); i < slice.to(); i++) {
                EventExtras extras = slice.chunk().extras(i);
                if (extras != null) {
                    voided.addAll(extras.voided());
                }
            }
        }
    }

    /** Whether the archive knows better what some holes are: it accounts for all that lies at or below W. */
    boolean isArchived(List<Hole> holes) {
        for (Hole hole : holes) {
            if (!hole.next().position().isAfter(archive.watermark())) {
                return true;
            }
        }
        return false;
    }

    Cursor cursor(Position position) {
        return new Cursor(stream.id().generation(), position);
    }

    boolean isDeleted() {
        return stream.isDeleted();
    }

    Problem deleted() {
        return Problem.notFound("stream '" + stream.name() + "' was deleted");
    }

    Problem away() {
        return new Problem(
                Problem.Kind.UNAVAILABLE,
                "the live log of '" + stream.name()
                        + "' can't be reached; what is in memory and archive can still be read");
    }

    Problem expired(Position earliest) {
        return gone("events behind the position were removed by retention; the earliest is ", earliest);
    }

    Problem missing(Position earliest) {
        return gone("events behind the position are missing; the earliest that is there is ", earliest);
    }

    private static Problem gone(String what, Position earliest) {
        String id = Positions.text(earliest);
        return new Problem(Problem.Kind.EXPIRED, what + id).with("earliest", id);
    }

    /**
     * Makes sure that memory and archive know what there is (an idle stream may be retired again at once: then the snapshot isn't open
     * though this says true, and the caller tries again). False if the live log is away, so that only what is archived can be given;
     * fails if the stream is gone or the archive can't be opened either.
     */
    Future<Boolean> open() {
        if (snapshot().isOpen()) {
            return Future.succeededFuture(true);
        }
        return stream.open().map(true).recover(failure -> {
            if (isDeleted() || isNotFound(failure)) {
                return Future.failedFuture(deleted());
            }
            return onWorker(() -> {
                archive.open();
                return false;
            });
        });
    }

    private static boolean isNotFound(Throwable failure) {
        return failure instanceof Problem problem && problem.kind() == Problem.Kind.NOT_FOUND;
    }

    Future<ArchivePage> archived(Position after, Position through, int eventsMax, long bytesMax) {
        return onWorker(() -> archive.read(after, through, eventsMax, toInt(bytesMax)));
    }

    Future<ArchivePage> archivedReverse(Position before, Position from, int eventsMax, long bytesMax) {
        return onWorker(() -> archive.readReverse(before, from, eventsMax, toInt(bytesMax)));
    }

    Future<LiveLogPage> live(Position after, Position through, int count) {
        return liveLog.range(stream.stripe(STRIPE), after, through, count);
    }

    /** Entries of any stripe. */
    Future<LiveLogPage> live(int stripe, Position after, Position through, int count) {
        return liveLog.range(stream.stripe(stripe), after, through, count);
    }

    Future<LiveLogPage> liveReverse(Position before, Position from, int count) {
        return liveLog.rangeReverse(stream.stripe(STRIPE), before, from, count);
    }

    /** What the live logs of all stripes hold. */
    Future<List<LiveLogState>> liveStates() {
        List<Future<LiveLogState>> states = new ArrayList<>();
        for (int i = 0; i < stream.stripes(); i++) {
            states.add(liveLog.state(stream.stripe(i)));
        }
        return Future.all(states).map(all -> all.list());
    }

    /** Runs blocking work on the archive; its failures become a {@link Problem}. */
    <T> Future<T> onWorker(Callable<T> blocking) {
        return workers.call(blocking).recover(failure -> Future.failedFuture(inArchive(failure)));
    }

    private Throwable inArchive(Throwable failure) {
        if (!(failure instanceof ArchiveException e)) {
            return failure;
        }
        return switch (e.kind()) {
            case CLOSED -> isDeleted() ? deleted() : unreadable(Problem.Kind.UNAVAILABLE, e);
            case DAMAGED -> unreadable(Problem.Kind.DAMAGED, e);
            default -> unreadable(Problem.Kind.UNAVAILABLE, e);
        };
    }

    private Problem unreadable(Problem.Kind kind, ArchiveException cause) {
        return new Problem(kind, "the archive of '" + stream.name() + "' can't be read").causedBy(cause);
    }

    private static int toInt(long bytes) {
        return (int) Math.max(1, Math.min(bytes, Integer.MAX_VALUE));
    }
}
