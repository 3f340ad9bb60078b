package dev.tidemark.fold;

import dev.tidemark.archive.ArchiveAppender;
import dev.tidemark.archive.ArchiveEnd;
import dev.tidemark.archive.ArchivedOrdinals;
import dev.tidemark.event.Chunk;
import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventExtras;
import dev.tidemark.event.Limits;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import dev.tidemark.keeper.ArchivedState.Archived;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.MergedSnapshot;
import dev.tidemark.keeper.SealedChunks;
import dev.tidemark.keeper.StartLoss;
import dev.tidemark.keeper.StreamSnapshot;
import dev.tidemark.livelog.LiveLogPage;
import dev.tidemark.livelog.LiveLogReader;
import dev.tidemark.livelog.LiveLogState;
import dev.tidemark.livelog.LiveLogTrimmer;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The steps of {@link FoldCycle} for a stream whose order isn't final on arrival: its stripes are merged in id order up to the
 * frontier, and ordinals are a set for each stripe. Keepers hold all of it in memory that isn't folded. Trims go by entry ids, which
 * are never below event ids: what stands at or below entry(W) is folded. On the fold/trim verticle.
 */
final class MergedFold {
    private static final Logger LOG = LoggerFactory.getLogger(MergedFold.class);
    private static final int REDIS_PAGE = 500;
    /** How exactly it is known where to trim: in steps of so many events. */
    private static final int SPAN_EVENTS = 64;
    /** Ids may be ahead of the clock by a burst. */
    private static final long SLACK_MS = 60_000;

    private final SealedChunks keepers;
    private final LiveLogReader reader;
    private final LiveLogTrimmer trimmer;
    private final FoldCycle cycle;

    MergedFold(SealedChunks keepers, LiveLogReader reader, LiveLogTrimmer trimmer, FoldCycle cycle) {
        this.keepers = keepers;
        this.reader = reader;
        this.trimmer = trimmer;
        this.cycle = cycle;
    }

    /** First use since the start, or since the stream got its window: what the archive accounts for. */
    Future<Void> know(StreamFold fold) {
        if (!fold.accounted.isEmpty()) {
            return Future.succeededFuture();
        }
        MergedSnapshot memory = fold.stream.merged();
        ArchiveEnd end = fold.archive.end();
        List<AccountedOrdinals> accounted = fold.known
                ? List.of(new AccountedOrdinals(fold.archivedOrdinal))
                : accounted(fold.stream, fold.archive);
        boolean wasPlain = fold.known;
        return lookAtLiveLog(fold, memory).map(seen -> {
            fold.accounted = accounted;
            fold.known = true;
            if (!wasPlain) {
                fold.archivedOrdinal = memory.lastOrdinal() - memory.countAfter(fold.archive.watermark());
                fold.startOrdinal = fold.archivedOrdinal;
                fold.startWatermark = end.watermark();
                fold.bytesLearned = true;
            }
            return null;
        });
    }

    /** What the archive says of a stripe to whoever opens it. */
    static Archived archived(LiveStream stream, ArchiveAppender archive, int stripe) {
        ArchiveEnd end = archive.end();
        long last = Math.max(end.lastOrdinal(stripe), archive.provenOrdinal(stripe));
        if (stream.finalOnArrival()) {
            return new Archived(end.watermark(), last, List.of(), end.watermark(), null);
        }
        Position start = scanStart(stream, archive);
        ArchivedOrdinals newest = archive.ordinalsAbove(start).getOrDefault(stripe, ArchivedOrdinals.NONE);
        AccountedOrdinals accounted = accounted(archive, stripe, newest);
        List<OrdinalRange> open = accounted.missingThrough(last);
        Position entry = open.isEmpty() ? newest.lastEntry() : archive.entryOf(stripe, accounted.through(), start);
        long windowMs = stream.settings().acceptanceWindowMs();
        Position after = entry.equals(Position.ZERO)
                ? start
                : windowMs == 0 ? entry : new Position(Math.max(0, entry.ms() - windowMs - 1), 0);
        return new Archived(end.watermark(), last, open, Position.min(after, end.watermark()), newest.untold());
    }

    /** What arrived before it and is archived, is archived with all that arrived before that. */
    private static Position scanStart(LiveStream stream, ArchiveAppender archive) {
        long ms = archive.end().watermark().ms() - stream.settings().acceptanceWindowMs() - SLACK_MS;
        return new Position(Math.max(0, ms), 0);
    }

    private static AccountedOrdinals accounted(ArchiveAppender archive, int stripe, ArchivedOrdinals newest) {
        return AccountedOrdinals.of(archive.count().of(stripe).total(), newest.ranges());
    }

    /**
     * What the archive itself tells, so that what is in neither place can't be taken for folded: what arrived a window before W and later is
     * read, and as many of the ordinals below are there as are counted besides.
     */
    private static List<AccountedOrdinals> accounted(LiveStream stream, ArchiveAppender archive) {
        Map<Integer, ArchivedOrdinals> newest = archive.ordinalsAbove(scanStart(stream, archive));
        List<AccountedOrdinals> accounted = new ArrayList<>();
        for (int i = 0; i < stream.stripes(); i++) {
            accounted.add(accounted(archive, i, newest.getOrDefault(i, ArchivedOrdinals.NONE)));
        }
        return accounted;
    }

    /** Counts what Redis holds, less what isn't acknowledged. */
    private Future<Void> lookAtLiveLog(StreamFold fold, MergedSnapshot memory) {
        List<Future<LiveLogState>> states = new ArrayList<>();
        for (int i = 0; i < fold.stream.stripes(); i++) {
            states.add(reader.state(fold.stream.stripe(i)));
        }
        return Future.join(states).map(all -> {
            LiveLogState seen =
                    LiveLogState.together(states.stream().map(Future::result).toList());
            fold.firstLive = seen.first();
            fold.liveFloorOrdinal = Math.max(0, memory.lastOrdinal() - seen.length());
            fold.liveLog = new FoldStatus.LiveLog(
                    memory.lastOrdinal() - fold.liveFloorOrdinal, seen.bytes(), memory.lastOrdinal());
            return null;
        });
    }

    // ---- steps 1 to 6 ----

    /** One slice; false if there was nothing to fold. */
    Future<Boolean> foldSlice(StreamFold fold) {
        Position watermark = fold.archive.watermark();
        StreamSnapshot memory = fold.stream.snapshot();
        if (memory.covers(watermark)) {
            return Future.succeededFuture(
                    write(fold, watermark, memory.after(watermark, Limits.SLICE_EVENTS_MAX, Limits.SLICE_BYTES_MAX)));
        }
        // From before the stream had a window: these entries stand in id order.
        return reader.range(fold.stream.stripe(0), watermark, memory.floor(), REDIS_PAGE)
                .map(page -> write(fold, watermark, ordered(fold, page, watermark)));
    }

    private static List<Slice> ordered(StreamFold fold, LiveLogPage page, Position watermark) {
        ChunkBuilder chunk = new ChunkBuilder(fold.stream.id().generation(), 0);
        Position last = watermark;
        for (Event event : page.events()) {
            if (event.id().isAfter(last)) {
                chunk.add(event);
                last = event.id();
            }
        }
        return chunk.isEmpty() ? List.of() : List.of(chunk.view().slice());
    }

    private boolean write(StreamFold fold, Position watermark, List<Slice> taken) {
        List<Slice> slices = FoldCycle.cut(fold, taken);
        if (slices.isEmpty()) {
            return false;
        }
        Position last = checked(slices, watermark);
        List<Lost> lost = account(fold, slices, last);
        append(fold, slices, last, lost);
        fold.producers.appended(slices, cycle.nowMs());
        fold.archive.force();
        fold.archive.publish(last);
        fold.producers.published();
        folded(fold, slices, last, lost);
        return true;
    }

    /** Step 3. What is missing comes before the last event: W proves it, too. */
    private static void append(StreamFold fold, List<Slice> slices, Position last, List<Lost> lost) {
        List<Lost> inOrder = new ArrayList<>(lost);
        inOrder.sort(Comparator.comparing(hole -> hole.place(fold, last)));
        Position done = Position.ZERO;
        for (Lost hole : inOrder) {
            hole.log(fold);
            Position place = hole.place(fold, last);
            append(fold, slices, done, place);
            fold.archive.appendMissing(hole.stripe, hole.ordinals, hole.lost, hole.after(fold, last), place.next());
            done = place;
        }
        append(fold, slices, done, last);
    }

    private static void append(StreamFold fold, List<Slice> slices, Position after, Position through) {
        List<Slice> part = slices.stream()
                .map(slice -> slice.after(after).through(through))
                .filter(slice -> !slice.isEmpty())
                .toList();
        if (!part.isEmpty()) {
            fold.archive.append(part);
        }
    }

    /** Step 2 for ids: strictly rising, all above W; gives the last one. */
    private static Position checked(List<Slice> slices, Position watermark) {
        Position last = watermark;
        for (Slice slice : slices) {
            for (int i = slice.from(); i < slice.to(); i++) {
                Position id = slice.chunk().position(i);
                if (!id.isAfter(last)) {
                    throw new IllegalStateException("event " + id + " can't follow " + last);
                }
                last = id;
            }
        }
        return last;
    }

    /** Ordinals that no event has. */
    private record Lost(int stripe, OrdinalRange ordinals, boolean lost) {
        void log(StreamFold fold) {
            if (lost) {
                LOG.error(
                        "stream {}: events #{} of stripe {} are lost: neither memory nor Redis has them",
                        fold.stream.id(),
                        ordinals,
                        stripe);
            }
        }

        /** It is announced behind the event there, and before the slice's last one: behind what was found at the start, where all knew it. */
        Position place(StreamFold fold, Position last) {
            StartLoss start = fold.stream.lossAtStart(stripe);
            return lost && start != null ? Position.min(start.through(), last.previous()) : last.previous();
        }

        /**
         * What is lost went with a process, which held in memory all that wasn't folded: it was to be folded behind what the archive had at
         * the start.
         */
        Position after(StreamFold fold, Position last) {
            StartLoss start = fold.stream.lossAtStart(stripe);
            Position from = start == null ? fold.startWatermark : start.from();
            return lost ? Position.min(from, place(fold, last)) : last.previous();
        }
    }

    /**
     * Step 2 for ordinals. What arrived below an event whose entry id lies at or below the slice's end has an id at or below it too, so
     * it is in this slice or an earlier one, or it is void or lost.
     */
    private static List<Lost> account(StreamFold fold, List<Slice> slices, Position last) {
        long[] arrived = new long[fold.stream.stripes()];
        List<List<Long>> taken = new ArrayList<>();
        List<List<OrdinalRange>> voided = new ArrayList<>();
        for (int s = 0; s < arrived.length; s++) {
            taken.add(new ArrayList<>());
            voided.add(new ArrayList<>(fold.stream.voided(s)));
        }
        for (Slice slice : slices) {
            Chunk chunk = slice.chunk();
            for (int i = slice.from(); i < slice.to(); i++) {
                int stripe = chunk.stripe(i);
                taken.get(stripe).add(chunk.ordinal(i));
                if (!chunk.entry(i).isAfter(last)) {
                    arrived[stripe] = Math.max(arrived[stripe], chunk.ordinal(i));
                }
            }
        }
        List<Lost> lost = new ArrayList<>();
        for (int s = 0; s < arrived.length; s++) {
            StartLoss start = fold.stream.lossAtStart(s);
            if (start != null && last.isAfter(start.through())) {
                // All that was found at the start is in this slice or an earlier one.
                arrived[s] = Math.max(arrived[s], start.lastOrdinal());
            }
            AccountedOrdinals with = fold.accounted.get(s).copy();
            for (OrdinalRange range : carried(slices, s)) {
                for (OrdinalRange missing : within(with.missingThrough(range.last()), range)) {
                    OrdinalRange voidNow = new OrdinalRange(Math.max(missing.first(), range.first()), missing.last());
                    lost.add(new Lost(s, voidNow, false));
                    with.add(voidNow);
                }
            }
            taken.get(s).forEach(with::add);
            List<OrdinalRange> missing = with.missingThrough(arrived[s]);
            if (!missing.isEmpty()) {
                // The event that carries refused ordinals may stand behind the slice.
                addVoided(fold.stream.snapshot(s).aboveAll(last), voided.get(s));
            }
            AccountedOrdinals withVoid = with.copy();
            voided.get(s).forEach(withVoid::add);
            for (OrdinalRange range : missing) {
                List<OrdinalRange> unexplained = within(withVoid.missingThrough(range.last()), range);
                lost.add(new Lost(s, range, !unexplained.isEmpty()));
            }
        }
        return lost;
    }

    /** What events say of refused appends is archived with them, so that a start needn't look for it. */
    private static List<OrdinalRange> carried(List<Slice> slices, int stripe) {
        List<OrdinalRange> carried = new ArrayList<>();
        for (Slice slice : slices) {
            for (int i = slice.from(); i < slice.to(); i++) {
                EventExtras extras = slice.chunk().extras(i);
                if (extras != null && slice.chunk().stripe(i) == stripe) {
                    carried.addAll(extras.voided());
                }
            }
        }
        return carried;
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

    private static List<OrdinalRange> within(List<OrdinalRange> ranges, OrdinalRange bounds) {
        return ranges.stream()
                .filter(range -> range.last() >= bounds.first() && range.first() <= bounds.last())
                .toList();
    }

    private void folded(StreamFold fold, List<Slice> slices, Position last, List<Lost> lost) {
        for (Slice slice : slices) {
            for (int i = slice.from(); i < slice.to(); i++) {
                fold.accounted.get(slice.chunk().stripe(i)).add(slice.chunk().ordinal(i));
            }
        }
        lost.forEach(hole -> fold.accounted.get(hole.stripe).add(hole.ordinals));
        addSpans(fold, slices);
        for (Lost hole : lost) {
            fold.archivedOrdinal += hole.ordinals.last() - hole.ordinals.first() + 1;
        }
        if (fold.firstLive.equals(Position.ZERO)) {
            fold.firstLive = slices.get(0).first();
        }
        for (int s = 0; s < fold.stream.stripes(); s++) {
            keepers.folded(fold.stream, s, last, fold.accounted.get(s).through());
        }
        cycle.copySeam(fold);
    }

    private static void addSpans(StreamFold fold, List<Slice> slices) {
        int count = 0;
        long bytes = 0;
        Position last = Position.ZERO;
        for (Slice slice : slices) {
            for (int i = slice.from(); i < slice.to(); i++) {
                last = slice.chunk().position(i);
                bytes += slice.chunk().payloadLength(i);
                count++;
                fold.foldedEvents++;
                fold.archivedOrdinal++;
                if (count == SPAN_EVENTS) {
                    fold.spans.add(last, fold.archivedOrdinal, bytes);
                    count = 0;
                    bytes = 0;
                }
            }
        }
        if (count > 0) {
            fold.spans.add(last, fold.archivedOrdinal, bytes);
        }
    }

    // ---- step 7 ----

    /** Trims what retention wants gone and is folded. */
    Future<Void> trim(StreamFold fold, TrimBounds.Bounds wanted) {
        return learnOldest(fold, wanted).compose(learnt -> {
            Position below = cycle.trimBelow(fold, wanted);
            boolean nothingBelow = fold.firstLive.equals(Position.ZERO) || !fold.firstLive.isBefore(below);
            if (nothingBelow || !below.isAfter(fold.trimmedBelow)) {
                return Future.succeededFuture();
            }
            List<Future<Long>> trims = new ArrayList<>();
            for (int s = 0; s < fold.stream.stripes(); s++) {
                trims.add(trimmer.trim(fold.stream.stripe(s), below));
            }
            return Future.join(trims).compose(all -> {
                trims.forEach(removed -> fold.trimmedEvents += removed.result());
                fold.trimmedBelow = below;
                fold.spans.trimmed(below);
                return lookAtLiveLog(fold, fold.stream.merged())
                        .compose(seen -> learnt ? trim(fold, wanted) : Future.succeededFuture());
            });
        });
    }

    /** After a start nothing is known of what is folded and still live; looks at its oldest page. True if there was one to look at. */
    private Future<Boolean> learnOldest(StreamFold fold, TrimBounds.Bounds wanted) {
        long gone = fold.stream.snapshot().lastOrdinal() - wanted.keepEvents();
        boolean unknown =
                fold.spans.oldestOrdinal() == 0 || fold.spans.oldestOrdinal() > fold.liveFloorOrdinal + REDIS_PAGE;
        if (!unknown || gone <= fold.liveFloorOrdinal || fold.liveFloorOrdinal >= fold.archivedOrdinal) {
            return Future.succeededFuture(false);
        }
        Position watermark = fold.archive.watermark();
        List<Future<LiveLogPage>> pages = new ArrayList<>();
        for (int s = 0; s < fold.stream.stripes(); s++) {
            pages.add(reader.range(fold.stream.stripe(s), Position.ZERO, watermark, REDIS_PAGE));
        }
        return Future.join(pages).map(all -> {
            Position through = watermark;
            for (Future<LiveLogPage> page : pages) {
                through = page.result().full()
                        ? Position.min(through, page.result().last())
                        : through;
            }
            long count = 0;
            long bytes = 0;
            for (Future<LiveLogPage> page : pages) {
                for (Event event : page.result().events()) {
                    if (!event.entry().isAfter(through)) {
                        count++;
                        bytes += event.payload().length;
                    }
                }
            }
            if (count > 0) {
                fold.spans.addOldest(through, fold.liveFloorOrdinal + count, bytes);
            }
            return count > 0;
        });
    }
}
