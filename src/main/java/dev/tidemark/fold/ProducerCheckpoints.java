package dev.tidemark.fold;

import dev.tidemark.archive.ArchiveAppender;
import dev.tidemark.event.Chunk;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import dev.tidemark.event.StoredRequest;
import dev.tidemark.keeper.ProducerHistory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What one stream's archive holds of producers, fed by archived events only, and the checkpoints of it: so that a start reads the last
 * checkpoint and a bounded number of events behind it. It is read from the archive when it is first needed; a stream without producers
 * never needs it. On the fold/trim verticle.
 */
final class ProducerCheckpoints {
    /** A checkpoint comes when so many events have come since the last one… */
    static final int EVENTS_MIN = 10_000;
    /** … and so many for each request that it holds: what checkpoints cost is a small part of what events do. */
    static final int EVENTS_PER_REQUEST = 8;

    private static final long UNKNOWN = Long.MAX_VALUE / 2;

    private final ArchiveAppender archive;
    private final int stripes;
    private final Map<Integer, ProducerHistory> histories = new TreeMap<>();

    /** Whether the histories are what the archive holds up to W. */
    private boolean known;
    /** Whether they will be, once what was appended is published. */
    private boolean ahead;
    /** Events since the last checkpoint. */
    private long events;
    /** Whether one of them had a producer. */
    private boolean changed;
    /** End of the roll file that the last slice went to. */
    private Position fileEnd = Position.ZERO;

    ProducerCheckpoints(ArchiveAppender archive, int stripes) {
        this.archive = archive;
        this.stripes = stripes;
    }

    /** The requests of one stripe in the archive up to W. Between slices only. */
    List<StoredRequest> requests(int stripe) {
        if (!known && !archive.hasProducers()) {
            return List.of();
        }
        know();
        ProducerHistory history = histories.get(stripe);
        return history == null ? List.of() : history.all();
    }

    private void know() {
        if (known) {
            return;
        }
        histories.clear();
        archive.producers().forEach((stripe, requests) -> requests.forEach(of(stripe)::remember));
        known = true;
        // How many events stand behind the last checkpoint isn't known: the next slice with a producer gets one.
        events = archive.hasProducers() ? UNKNOWN : 0;
    }

    private ProducerHistory of(int stripe) {
        return histories.computeIfAbsent(stripe, s -> ProducerHistory.ofStripe(stripes));
    }

    /** These slices were appended and are to be forced next: appends a checkpoint behind them if it is time for one. */
    void appended(List<Slice> slices, long nowMs) {
        ahead = false;
        if (slices.isEmpty()) {
            return;
        }
        boolean newFile = isNewFile(slices.get(0).first()) && archive.hasProducers();
        List<Found> found = find(slices);
        if (!known && found.isEmpty() && !newFile) {
            return;
        }
        know();
        // Until it is published the archive may still lose it.
        known = false;
        ahead = true;
        found.forEach(one -> of(one.stripe).remember(one.request));
        events = Math.min(UNKNOWN, events)
                + slices.stream().mapToLong(Slice::count).sum();
        changed |= !found.isEmpty();
        if (isDue(newFile, nowMs)) {
            write();
        }
    }

    private boolean isNewFile(Position first) {
        Position before = fileEnd;
        fileEnd = archive.sliceEnd(first);
        Position watermark = archive.watermark();
        if (before.equals(Position.ZERO) && !watermark.equals(Position.ZERO)) {
            before = archive.sliceEnd(watermark);
        }
        return fileEnd.isAfter(before);
    }

    /** What was appended is forced and published. */
    void published() {
        known |= ahead;
        ahead = false;
    }

    /** In a new file, so that it doesn't depend on older ones; else when what came since is worth it. */
    private boolean isDue(boolean newFile, long nowMs) {
        if (!newFile && (!changed || events < EVENTS_MIN)) {
            return false;
        }
        histories.values().forEach(history -> history.expire(nowMs));
        long requests =
                histories.values().stream().mapToLong(ProducerHistory::size).sum();
        return newFile ? requests > 0 : events >= EVENTS_PER_REQUEST * requests;
    }

    private void write() {
        Map<Integer, List<StoredRequest>> all = new TreeMap<>();
        histories.forEach((stripe, history) -> all.put(stripe, history.all()));
        archive.appendProducers(all);
        events = 0;
        changed = false;
    }

    private record Found(int stripe, StoredRequest request) {}

    private static List<Found> find(List<Slice> slices) {
        List<Found> found = new ArrayList<>();
        for (Slice slice : slices) {
            Chunk chunk = slice.chunk();
            for (int i = slice.from(); i < slice.to(); i++) {
                if (chunk.extras(i) != null) {
                    @Nullable
                    StoredRequest request = StoredRequest.of(chunk.position(i), chunk.entry(i), chunk.extras(i));
                    if (request != null) {
                        found.add(new Found(chunk.stripe(i), request));
                    }
                }
            }
        }
        return found;
    }
}
