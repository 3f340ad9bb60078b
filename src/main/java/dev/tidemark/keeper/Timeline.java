package dev.tidemark.keeper;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.tidemark.event.Chunk;
import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.Clock;
import dev.tidemark.event.Event;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamSettings;
import dev.tidemark.event.StripeId;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a keeper holds of one stripe in memory: sealed chunks and the active one. Owned by the keeper; others see
 * {@link #snapshot}.
 */
final class Timeline {
    private final StripeId stripe;
    private final Clock clock;
    private ChunkBuilder active;
    private long activeSinceNs;

    /** Sealed chunks at {@code from} to {@code to - 1}; snapshots share it, so what they see is never changed. */
    private Chunk[] sealed = new Chunk[16];

    private int from;
    private int to;
    private long sealedBytes;
    private long sealedEvents;
    private Position floor;
    private Position tail;
    private long lastOrdinal;

    /**
     * @param floor everything at or below it is not in memory
     * @param tail id of the newest acknowledged event
     * @param lastOrdinal its ordinal
     */
    Timeline(StripeId stripe, Clock clock, Position floor, Position tail, long lastOrdinal) {
        this.stripe = stripe;
        this.clock = clock;
        this.floor = floor;
        this.tail = tail;
        this.lastOrdinal = lastOrdinal;
        this.active = emptyActive();
    }

    private ChunkBuilder emptyActive() {
        return new ChunkBuilder(stripe.stream().generation(), stripe.index());
    }

    /** With room for a little more than the chunk before it had: under load each would be grown, step by step, to the same size. */
    private ChunkBuilder roomyActive(StreamSettings settings) {
        Chunk before = from < to ? sealed[to - 1] : null;
        if (before == null) {
            return active;
        }
        long events = Math.min(settings.chunkMaxEvents(), before.count() + before.count() / 8L);
        long bytes = Math.min(settings.chunkMaxBytes(), before.slabLength() + before.slabLength() / 8L);
        return new ChunkBuilder(stripe.stream().generation(), stripe.index(), (int) events, (int) bytes);
    }

    /** Takes an acknowledged event, the newest of the stripe. */
    void add(Event event, StreamSettings settings) {
        byte[] payload = event.payload();
        int bytes = ChunkBuilder.slabBytesMax(event.type(), payload, 0, payload.length);
        boolean full =
                active.count() >= settings.chunkMaxEvents() || active.slabLength() + bytes > settings.chunkMaxBytes();
        if (full) {
            seal();
        }
        if (active.isEmpty()) {
            activeSinceNs = clock.monotonicNs();
            active = roomyActive(settings);
        }
        active.add(event);
        tail = event.id();
        lastOrdinal = event.ordinal();
    }

    /** Puts older events below what is there, before anything was added: they are sealed. */
    void preload(List<Event> events, Position newFloor, StreamSettings settings) {
        for (Event event : events) {
            add(event, settings);
        }
        seal();
        floor = newFloor;
    }

    /** Events behind the newest one are lost: the tail is where the last of them may have been. */
    void lost(Position through, long ordinal) {
        tail = through;
        lastOrdinal = ordinal;
    }

    /** Seals the active chunk if its time is over: {@code chunk_duration} by the stream clock or by monotonic time. */
    boolean sealIfDue(long nowMs, StreamSettings settings) {
        if (active.isEmpty()) {
            return false;
        }
        long ageNs = clock.monotonicNs() - activeSinceNs;
        boolean byClock = nowMs - active.view().ms(0) >= settings.chunkDurationMs();
        if (byClock || ageNs >= settings.chunkDurationMs() * 1_000_000) {
            seal();
            return true;
        }
        return false;
    }

    /** Seals the active chunk now, if it has events. */
    @CanIgnoreReturnValue
    boolean seal() {
        if (active.isEmpty()) {
            return false;
        }
        Chunk chunk = active.seal();
        if (to == sealed.length) {
            sealed = Arrays.copyOfRange(sealed, from, from + Math.max(16, (to - from) * 2));
            to -= from;
            from = 0;
        }
        sealed[to++] = chunk;
        sealedBytes += chunk.heapBytes();
        sealedEvents += chunk.count();
        active = emptyActive();
        return true;
    }

    /**
     * Lets go of the oldest chunks that are folded and beyond what tails need.
     *
     * @param watermark what is folded
     * @param keepEvents newest events that stay although they are folded
     */
    @CanIgnoreReturnValue
    boolean release(Position watermark, long keepEvents) {
        int first = from;
        while (from < to) {
            Chunk oldest = sealed[from];
            boolean folded = oldest.last().compareTo(watermark) <= 0;
            if (!folded || count() - oldest.count() < keepEvents) {
                break;
            }
            sealedBytes -= oldest.heapBytes();
            sealedEvents -= oldest.count();
            floor = oldest.last();
            from++;
        }
        if (from == first) {
            return false;
        }
        sealed = Arrays.copyOfRange(sealed, from, Math.max(to, from + 16));
        to -= from;
        from = 0;
        return true;
    }

    /** The sealed chunk that leaves memory next; null if there is none. */
    @Nullable
    Chunk oldestSealed() {
        return from < to ? sealed[from] : null;
    }

    /**
     * Lets go of the oldest sealed chunks whatever tails would like: of one at least, if it ends at or below {@code through}.
     *
     * @param bytesWanted heap bytes after which it is enough
     * @param untilMs chunks that end later than this time stay, but for the first one
     * @param through chunks that end above it stay
     * @return heap bytes that were let go of
     */
    long releaseOldest(long bytesWanted, long untilMs, Position through) {
        long freed = 0;
        int first = from;
        while (from < to && freed < bytesWanted) {
            Chunk oldest = sealed[from];
            boolean stays = oldest.last().isAfter(through)
                    || (from > first && oldest.last().ms() > untilMs);
            if (stays) {
                break;
            }
            freed += oldest.heapBytes();
            sealedEvents -= oldest.count();
            floor = oldest.last();
            from++;
        }
        if (from > first) {
            sealedBytes -= freed;
            sealed = Arrays.copyOfRange(sealed, from, Math.max(to, from + 16));
            to -= from;
            from = 0;
        }
        return freed;
    }

    boolean hasActive() {
        return !active.isEmpty();
    }

    long count() {
        return sealedEvents + active.count();
    }

    /** Bytes on the heap, the active chunk's included. */
    long bytes() {
        return sealedBytes + active.heapBytes();
    }

    Position tail() {
        return tail;
    }

    long lastOrdinal() {
        return lastOrdinal;
    }

    /** Age of the oldest sealed event above {@code watermark} by {@code nowMs}; 0 if there is none. */
    long sealedLagMs(Position watermark, long nowMs) {
        @Nullable Chunk oldest = null;
        for (int i = to - 1; i >= from && sealed[i].last().isAfter(watermark); i--) {
            oldest = sealed[i];
        }
        return oldest == null ? 0 : Math.max(0, nowMs - oldest.ms(0));
    }

    TimelineSnapshot snapshot(Position frontier) {
        return snapshot(frontier, tail, lastOrdinal, null);
    }

    /** With events above the frontier, which aren't here. */
    TimelineSnapshot snapshot(Position frontier, Position newest, long newestOrdinal, @Nullable ArrivalsView arrivals) {
        @Nullable Chunk growing = active.isEmpty() ? null : active.view();
        return new TimelineSnapshot(
                sealed, from, to, growing, arrivals, count(), floor, newest, frontier, newestOrdinal, true);
    }
}
