package dev.tidemark.keeper;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.Clock;
import java.util.Collection;
import java.util.Comparator;
import java.util.PriorityQueue;

/**
 * Frees memory of one keeper's stripes when all keepers together hold too much: first what is folded, the oldest of all stripes first,
 * whatever tails would like; then sealed events that aren't folded yet, which Redis has. On the keeper's event loop.
 */
final class MemoryRelief {
    /** When nothing could leave, it isn't looked again for so long: a look costs something with many stripes. */
    private static final long FRUITLESS_NS = 20_000_000;

    private final TimelineMemory memory;
    private final Clock clock;
    private final Collection<StripeKeeper> stripes;
    /** Timelines of this keeper. */
    private long bytes;

    private long notBeforeNs;

    /** @param stripes a live view of the keeper's stripes */
    MemoryRelief(TimelineMemory memory, Clock clock, Collection<StripeKeeper> stripes) {
        this.memory = memory;
        this.clock = clock;
        this.stripes = stripes;
        this.notBeforeNs = clock.monotonicNs();
    }

    /** Timelines of this keeper have grown or shrunk. */
    void changed(long difference) {
        bytes += difference;
        memory.changed(difference);
    }

    long bytes() {
        return bytes;
    }

    /** Whether so many bytes more may come; tries to make room if they may not. */
    boolean makesRoomFor(long more) {
        if (memory.hasRoomFor(more)) {
            return true;
        }
        free(memory.surplus(more));
        return memory.hasRoomFor(more);
    }

    /** Frees this keeper's share of what is too much. */
    void tick() {
        long surplus = memory.surplus(0);
        if (surplus > 0 && bytes > 0) {
            double share = (double) bytes / Math.max(bytes, memory.bytes());
            free((long) Math.ceil(surplus * share));
        }
    }

    private void free(long wanted) {
        if (wanted <= 0 || clock.monotonicNs() < notBeforeNs) {
            return;
        }
        long freed = 0;
        for (StripeKeeper stripe : stripes) {
            freed += stripe.releaseArrivals();
        }
        if (freed < wanted) {
            freed += free(wanted - freed, false);
        }
        if (freed < wanted) {
            freed += free(wanted - freed, true);
        }
        if (freed == 0) {
            notBeforeNs = clock.monotonicNs() + FRUITLESS_NS;
        }
    }

    private record Candidate(StripeKeeper stripe, long endsMs) {}

    private long free(long wanted, boolean unfoldedToo) {
        PriorityQueue<Candidate> oldestFirst = new PriorityQueue<>(Comparator.comparingLong(Candidate::endsMs));
        for (StripeKeeper stripe : stripes) {
            offer(oldestFirst, stripe, unfoldedToo);
        }
        long freed = 0;
        while (freed < wanted) {
            Candidate oldest = oldestFirst.poll();
            if (oldest == null) {
                break;
            }
            Candidate next = oldestFirst.peek();
            long untilMs = next == null ? Long.MAX_VALUE : next.endsMs();
            freed += oldest.stripe().releaseOldest(wanted - freed, untilMs, unfoldedToo);
            offer(oldestFirst, oldest.stripe(), unfoldedToo);
        }
        return freed;
    }

    private static void offer(PriorityQueue<Candidate> candidates, StripeKeeper stripe, boolean unfoldedToo) {
        Chunk chunk = stripe.nextToLeave(unfoldedToo);
        if (chunk != null) {
            candidates.add(new Candidate(stripe, chunk.last().ms()));
        }
    }
}
