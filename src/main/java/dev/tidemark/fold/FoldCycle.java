package dev.tidemark.fold;

import dev.tidemark.archive.ArchiveEnd;
import dev.tidemark.event.Chunk;
import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.Clock;
import dev.tidemark.event.Event;
import dev.tidemark.event.Limits;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import dev.tidemark.event.StripeId;
import dev.tidemark.keeper.SealedChunks;
import dev.tidemark.keeper.StreamSnapshot;
import dev.tidemark.keeper.TimelineSnapshot;
import dev.tidemark.livelog.LiveLogReader;
import dev.tidemark.livelog.LiveLogTrimmer;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The fold/trim cycle of one stream, step by step (DESIGN.md section 7):
 *
 * <pre>
 *   1 take    the next sealed slice above W, from memory, else from Redis
 *   2 check   ids rise, ordinals are gap-free or accounted for
 *   3 append  to the archive
 *   4 force   every file touched, and the directory for a new one
 *   5 publish W
 *   6 copy    W to Redis, best effort
 *   7 trim    what retention wants gone, never above W
 * </pre>
 *
 * Any error in 1 to 5 ends the cycle before anything is trimmed. Runs on the fold/trim verticle; the archive's calls block it.
 */
class FoldCycle {
    private static final Logger LOG = LoggerFactory.getLogger(FoldCycle.class);
    private static final int REDIS_PAGE = 500;
    private static final int LOOK_AHEAD = 500;

    private final SealedChunks keepers;
    private final LiveLogReader reader;
    private final LiveLogTrimmer trimmer;
    private final TrimBounds bounds;
    private final Clock clock;

    private final MergedFold merged;

    private volatile boolean stopping;

    FoldCycle(SealedChunks keepers, LiveLogReader reader, LiveLogTrimmer trimmer, TrimBounds bounds, Clock clock) {
        this.keepers = keepers;
        this.reader = reader;
        this.trimmer = trimmer;
        this.bounds = bounds;
        this.clock = clock;
        this.merged = new MergedFold(keepers, reader, trimmer, this);
    }

    long nowMs() {
        return clock.wallMs();
    }

    /** Lets cycles under way end behind their slice. */
    void stop() {
        stopping = true;
    }

    /** Folds what is sealed now, slice by slice, then trims; gives W. A trim that failed is only noted: the fold stands. */
    Future<Position> run(StreamFold fold) {
        if (!fold.stream.finalOnArrival() && !fold.stream.snapshot().isOpen()) {
            // Its memory says what there is to fold: without it nothing is known.
            return Future.succeededFuture(fold.archive.watermark());
        }
        return know(fold)
                .compose(known -> foldAll(fold, target(fold)))
                .compose(folded -> trim(fold).transform(trimmed -> {
                    fold.trimTrouble = trimmed.succeeded()
                            ? ""
                            : String.valueOf(trimmed.cause().getMessage());
                    return Future.succeededFuture(fold.archive.watermark());
                }));
    }

    private static Position target(StreamFold fold) {
        return fold.stream.finalOnArrival()
                ? fold.stream.snapshot(0).lastSealed()
                : fold.stream.snapshot().end();
    }

    /** First use since the start: what the archive accounts for, and where the live log begins. */
    private Future<Void> know(StreamFold fold) {
        if (!fold.stream.finalOnArrival()) {
            return merged.know(fold);
        }
        if (fold.known) {
            return Future.succeededFuture();
        }
        ArchiveEnd end = fold.archive.end();
        fold.archivedOrdinal = end.lastOrdinal(0);
        fold.startOrdinal = fold.archivedOrdinal;
        fold.startWatermark = end.watermark();
        return lookAtFirstLive(fold, Position.ZERO).map(seen -> {
            fold.known = true;
            return null;
        });
    }

    private Future<Void> lookAtFirstLive(StreamFold fold, Position after) {
        return reader.range(stripe(fold), after, Position.MAX, 1)
                .compose(page -> {
                    if (page.events().isEmpty()) {
                        fold.firstLive = Position.ZERO;
                        fold.liveFloorOrdinal = fold.archivedOrdinal;
                    } else {
                        Event first = page.events().get(0);
                        fold.firstLive = first.id();
                        fold.liveFloorOrdinal = first.ordinal() - 1;
                    }
                    return reader.state(stripe(fold));
                })
                .map(seen -> {
                    // Counted by ordinals: Redis's own count already has entries that aren't acknowledged yet.
                    long lastOrdinal = fold.stream.snapshot(0).lastOrdinal();
                    long events = Math.max(0, lastOrdinal - fold.liveFloorOrdinal);
                    fold.liveLog = new FoldStatus.LiveLog(events, seen.bytes(), lastOrdinal);
                    return null;
                });
    }

    private Future<Void> foldAll(StreamFold fold, Position target) {
        Position before = fold.archive.watermark();
        if (stopping || before.compareTo(target) >= 0 || fold.turnIsOver()) {
            return Future.succeededFuture();
        }
        return foldSlice(fold).compose(progressed -> progressed ? foldAll(fold, target) : Future.succeededFuture());
    }

    /** Steps 1 to 6 for one slice; false if there was nothing to fold. */
    Future<Boolean> foldSlice(StreamFold fold) {
        if (!fold.stream.finalOnArrival()) {
            return merged.foldSlice(fold);
        }
        Position watermark = fold.archive.watermark();
        return take(fold, watermark, false).compose(slices -> {
            OrdinalCheck check = checked(fold, slices);
            if (check.unexplained().isEmpty()) {
                return Future.succeededFuture(write(fold, slices, check));
            }
            return secondLook(fold, watermark, slices);
        });
    }

    private OrdinalCheck checked(StreamFold fold, List<Slice> slices) {
        OrdinalCheck check = new OrdinalCheck(fold.archive.watermark(), fold.archivedOrdinal, fold.stream.voided(0));
        check.check(slices);
        return check;
    }

    // ---- step 1 ----

    private Future<List<Slice>> take(StreamFold fold, Position watermark, boolean fromRedis) {
        TimelineSnapshot memory = fold.stream.snapshot(0);
        if (memory.covers(watermark) && !fromRedis) {
            return Future.succeededFuture(fromMemory(fold, memory, watermark));
        }
        Position through = fromRedis ? memory.lastSealed() : memory.floor();
        ChunkBuilder chunk = new ChunkBuilder(fold.stream.id().generation(), 0);
        return fromRedis(fold, watermark, Position.max(through, memory.floor()), chunk)
                .map(built ->
                        built.count() > 0 ? cut(fold, List.of(built.slice())) : fromMemory(fold, memory, watermark));
    }

    private static List<Slice> fromMemory(StreamFold fold, TimelineSnapshot memory, Position watermark) {
        return cut(fold, memory.sealedAfter(watermark, Limits.SLICE_EVENTS_MAX, Limits.SLICE_BYTES_MAX));
    }

    private Future<Chunk> fromRedis(StreamFold fold, Position after, Position through, ChunkBuilder chunk) {
        return reader.range(stripe(fold), after, through, REDIS_PAGE).compose(page -> {
            long next = fold.archivedOrdinal + 1;
            for (Event event : page.events()) {
                // What isn't above both isn't the keeper's own work: it is never folded and never waited for.
                boolean rises =
                        chunk.isEmpty() || event.id().isAfter(chunk.view().last());
                if (event.ordinal() >= next && rises) {
                    chunk.add(event);
                }
            }
            boolean full = chunk.count() + REDIS_PAGE > Limits.SLICE_EVENTS_MAX
                    || chunk.slabLength() >= Limits.SLICE_BYTES_MAX / 2;
            return page.full() && !full
                    ? fromRedis(fold, page.last(), through, chunk)
                    : Future.succeededFuture(chunk.view());
        });
    }

    /** Slices never span a roll file. */
    static List<Slice> cut(StreamFold fold, List<Slice> slices) {
        if (slices.isEmpty()) {
            return slices;
        }
        Position end = fold.archive.sliceEnd(slices.get(0).first());
        return slices.stream()
                .map(slice -> slice.through(end))
                .filter(slice -> !slice.isEmpty())
                .toList();
    }

    // ---- step 2, when ordinals are missing ----

    /** Looks again, in Redis: for the events themselves, and for an append behind them that says the ordinals were voided. */
    private Future<Boolean> secondLook(StreamFold fold, Position watermark, List<Slice> slices) {
        return take(fold, watermark, true).compose(again -> {
            List<Slice> fuller =
                    count(again) > 0 && checked(fold, again).unexplained().isEmpty() ? again : slices;
            OrdinalCheck check = checked(fold, fuller);
            if (check.unexplained().isEmpty()) {
                return Future.succeededFuture(write(fold, fuller, check));
            }
            return reader.range(stripe(fold), check.last(), Position.MAX, LOOK_AHEAD)
                    .map(ahead -> {
                        ChunkBuilder behind = new ChunkBuilder(fold.stream.id().generation(), 0);
                        ahead.events().forEach(behind::add);
                        Chunk chunk = behind.view();
                        for (int i = 0; i < chunk.count(); i++) {
                            check.carried(chunk, i);
                        }
                        return write(fold, fuller, check);
                    });
        });
    }

    private static long count(List<Slice> slices) {
        return slices.stream().mapToLong(Slice::count).sum();
    }

    // ---- steps 3 to 6 ----

    private boolean write(StreamFold fold, List<Slice> slices, OrdinalCheck check) {
        if (slices.isEmpty()) {
            return false;
        }
        List<Slice> rest = slices;
        for (OrdinalCheck.Missing hole : check.missing()) {
            List<Slice> below = rest.stream()
                    .map(slice -> slice.through(hole.after()))
                    .filter(slice -> !slice.isEmpty())
                    .toList();
            if (!below.isEmpty()) {
                fold.archive.append(below);
            }
            missing(fold, check, hole);
            rest = rest.stream()
                    .map(slice -> slice.after(hole.after()))
                    .filter(slice -> !slice.isEmpty())
                    .toList();
        }
        if (!rest.isEmpty()) {
            fold.archive.append(rest);
        }
        fold.producers.appended(slices, clock.wallMs());
        fold.archive.force();
        fold.archive.publish(check.last());
        fold.producers.published();
        folded(fold, slices, check.lastOrdinal());
        return true;
    }

    private static void missing(StreamFold fold, OrdinalCheck check, OrdinalCheck.Missing hole) {
        boolean lost = !check.isVoided(hole.ordinals());
        if (lost) {
            LOG.error(
                    "stream {}: events #{} are lost: neither memory nor Redis has them",
                    fold.stream.id(),
                    hole.ordinals());
        }
        fold.archive.appendMissing(0, hole.ordinals(), lost, hole.after(), hole.through());
    }

    private void folded(StreamFold fold, List<Slice> slices, long lastOrdinal) {
        Position watermark = fold.archive.watermark();
        fold.archivedOrdinal = lastOrdinal;
        fold.foldedEvents += count(slices);
        for (Slice slice : slices) {
            fold.spans.add(slice.last(), slice.chunk().ordinal(slice.to() - 1), slice.payloadBytes());
        }
        if (fold.firstLive.equals(Position.ZERO) && !slices.isEmpty()) {
            fold.firstLive = slices.get(0).first();
        }
        keepers.folded(fold.stream, 0, watermark, lastOrdinal);
        copySeam(fold);
    }

    /** One copy at a time, so that none overtakes a later one; the next has what W is then. */
    void copySeam(StreamFold fold) {
        if (fold.copying) {
            fold.copyAgain = true;
            return;
        }
        fold.copying = true;
        fold.copyAgain = false;
        trimmer.copySeam(fold.stream.id(), fold.archive.watermark()).onComplete(copied -> {
            fold.copying = false;
            if (copied.failed()) {
                LOG.debug("the seam wasn't copied to Redis: {}", copied.cause().getMessage());
            }
            if (fold.copyAgain && !fold.stream.isDeleted()) {
                copySeam(fold);
            }
            fold.copied();
        });
    }

    // ---- step 7 ----

    /** Trims what retention wants gone and is folded. */
    Future<Void> trim(StreamFold fold) {
        TrimBounds.Bounds wanted = bounds.of(fold.stream.settings(), clock.wallMs());
        if (!fold.stream.finalOnArrival()) {
            return merged.trim(fold, wanted);
        }
        return learn(fold, wanted).compose(learnt -> {
            Position below = trimBelow(fold, wanted);
            boolean nothingBelow = fold.firstLive.equals(Position.ZERO) || !fold.firstLive.isBefore(below);
            if (nothingBelow || !below.isAfter(fold.trimmedBelow)) {
                return Future.succeededFuture();
            }
            return trimmer.trim(stripe(fold), below).compose(removed -> {
                fold.trimmedBelow = below;
                fold.trimmedEvents += removed;
                fold.spans.trimmed(below);
                return lookAtFirstLive(fold, below.previous())
                        .compose(seen -> learnt ? trim(fold) : Future.succeededFuture());
            });
        });
    }

    /** The trim bound: what retention wants, and never above W. */
    Position trimBelow(StreamFold fold, TrimBounds.Bounds wanted) {
        return Position.min(window(fold, wanted), fold.archive.watermark().next());
    }

    /** What retention wants, wherever W is. */
    final Position window(StreamFold fold, TrimBounds.Bounds wanted) {
        StreamSnapshot memory = fold.stream.snapshot();
        Position below = wanted.keepFrom();
        if (wanted.keepEvents() < memory.lastOrdinal()) {
            long gone = memory.lastOrdinal() - wanted.keepEvents();
            Position firstKept = memory.positionOf(gone + 1);
            if (firstKept != null) {
                below = Position.max(below, firstKept);
            } else {
                below = Position.max(below, behind(fold.spans.endingAtOrBelow(gone)));
            }
        }
        long unfolded = memory.payloadBytesAfter(fold.archive.watermark());
        if (wanted.keepBytes() < Long.MAX_VALUE) {
            below = Position.max(below, behind(fold.spans.beyondBytes(Math.max(0, wanted.keepBytes() - unfolded))));
        }
        return below;
    }

    private static Position behind(LiveSpans.@Nullable Span span) {
        return span == null ? Position.ZERO : span.last().next();
    }

    /** After a restart nothing is known of what is folded and still live; true if there may be more to learn after a trim. */
    private Future<Boolean> learn(StreamFold fold, TrimBounds.Bounds wanted) {
        if (wanted.keepBytes() == Long.MAX_VALUE || fold.knowsBytes()) {
            return learnOldest(fold, wanted);
        }
        fold.spans.forgetThrough(fold.startOrdinal);
        return learnBytes(fold, fold.startWatermark.next(), wanted.keepBytes())
                .compose(learnt -> learnOldest(fold, wanted));
    }

    /** Looks back from where this process began, no further than the window of bytes reaches. */
    private Future<Void> learnBytes(StreamFold fold, Position before, long left) {
        return reader.rangeReverse(stripe(fold), before, Position.ZERO, REDIS_PAGE)
                .compose(page -> {
                    long bytes = 0;
                    for (Event event : page.events()) {
                        bytes += event.payload().length;
                    }
                    if (!page.events().isEmpty()) {
                        Event newest = page.events().get(0);
                        fold.spans.addOldest(newest.id(), newest.ordinal(), bytes);
                    }
                    if (page.full() && bytes <= left) {
                        return learnBytes(fold, page.last(), left - bytes);
                    }
                    if (page.full()) {
                        // What lies below is beyond the window, however much it is.
                        Event oldest = page.events().get(page.events().size() - 1);
                        fold.spans.addOldest(oldest.id().previous(), oldest.ordinal() - 1, 0);
                    }
                    fold.bytesLearned = true;
                    return Future.succeededFuture();
                });
    }

    /** Looks at the oldest page of what is folded and still live; true if it was. */
    private Future<Boolean> learnOldest(StreamFold fold, TrimBounds.Bounds wanted) {
        long gone = fold.stream.snapshot(0).lastOrdinal() - wanted.keepEvents();
        boolean unknown =
                fold.spans.oldestOrdinal() == 0 || fold.spans.oldestOrdinal() > fold.liveFloorOrdinal + LOOK_AHEAD;
        if (!unknown || gone <= fold.liveFloorOrdinal || fold.liveFloorOrdinal >= fold.archivedOrdinal) {
            return Future.succeededFuture(false);
        }
        Position watermark = fold.archive.watermark();
        return reader.range(stripe(fold), Position.ZERO, watermark, REDIS_PAGE).map(page -> {
            List<Event> folded = new ArrayList<>(page.events());
            if (!folded.isEmpty()) {
                Event last = folded.get(folded.size() - 1);
                long bytes = folded.stream()
                        .mapToLong(event -> event.payload().length)
                        .sum();
                fold.liveFloorOrdinal = folded.get(0).ordinal() - 1;
                fold.spans.addOldest(last.id(), last.ordinal(), bytes);
            }
            return !folded.isEmpty();
        });
    }

    /** Events that retention wants gone but that aren't folded. */
    long overRetained(StreamFold fold) {
        TrimBounds.Bounds wanted = bounds.of(fold.stream.settings(), clock.wallMs());
        long last = fold.stream.snapshot().lastOrdinal();
        return Math.max(0, Math.min(last - wanted.keepEvents(), last) - fold.archivedOrdinal);
    }

    private static StripeId stripe(StreamFold fold) {
        return fold.stream.stripe(0);
    }
}
