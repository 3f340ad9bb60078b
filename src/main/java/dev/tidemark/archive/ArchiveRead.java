package dev.tidemark.archive;

import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import java.util.ArrayList;
import java.util.List;

/** One read of an archive: makes a page. One thread. */
final class ArchiveRead {
    private static final int EVENTS_AT_FIRST = 1_024;
    private static final int SLAB_AT_FIRST = 64 << 10;
    private static final int BLOCK = 256;

    private final Lease lease;
    private final Generation generation;
    private final int stripe;

    /** @param stripe what the page's chunk says; -1 if the stream has several */
    ArchiveRead(Lease lease, Generation generation, int stripe) {
        this.lease = lease;
        this.generation = generation;
        this.stripe = stripe;
    }

    static ArchivePage empty(Generation generation, int stripe) {
        return new ArchivePage(new ChunkBuilder(generation, stripe).view(), List.of(), false);
    }

    /** As {@link ArchiveReader#read}. */
    ArchivePage forward(Position after, Position through, int eventsMax, int bytesMax) {
        Position limit = Position.min(through, lease.published().watermark());
        if (!limit.isAfter(after) || lease.files() == 0) {
            return empty(generation, stripe);
        }
        Slot start = new ArchiveSearch(lease).startAfter(after);
        return new Forward(new ExcerptWalk(lease, start, after), limit, eventsMax, bytesMax).page();
    }

    private final class Forward {
        private final ExcerptWalk walk;
        private final Position limit;
        private final int eventsMax;
        private final int bytesMax;
        private final ChunkBuilder events;
        private final List<Gap> gaps = new ArrayList<>();
        private long bytes;
        private Position last = Position.ZERO;
        private Slot behindLast = new Slot(0, 0);

        Forward(ExcerptWalk walk, Position limit, int eventsMax, int bytesMax) {
            this.walk = walk;
            this.limit = limit;
            this.eventsMax = eventsMax;
            this.bytesMax = bytesMax;
            events = new ChunkBuilder(
                    generation,
                    stripe,
                    Math.max(1, Math.min(eventsMax, EVENTS_AT_FIRST)),
                    Math.max(1, Math.min(bytesMax, SLAB_AT_FIRST)));
        }

        ArchivePage page() {
            boolean more = fill();
            if (!events.isEmpty()) {
                lease.hints().remember(last, behindLast);
            }
            return new ArchivePage(events.view(), gaps, more);
        }

        /** Whether the range goes on. */
        private boolean fill() {
            while (true) {
                switch (walk.next()) {
                    case EVENT -> {
                        Excerpt event = walk.excerpt();
                        if (event.compareKey(limit) > 0) {
                            return false;
                        }
                        if (isFull()) {
                            return true;
                        }
                        event.addTo(events);
                        bytes += event.weight();
                        last = event.key();
                        behindLast = walk.place();
                    }
                    case GAP -> {
                        Gap gap = walk.gap();
                        Position to = Position.min(gap.to(), limit);
                        if (to.isAfter(gap.from())) {
                            if (isFull()) {
                                return true;
                            }
                            gaps.add(new Gap(gap.from(), to, gap.reason()));
                        }
                    }
                    case END -> {
                        return false;
                    }
                }
            }
        }

        private boolean isFull() {
            return !events.isEmpty() && (events.count() >= eventsMax || bytes >= bytesMax);
        }
    }

    /** As {@link ArchiveReader#readReverse}: the oldest event of the page is looked for backwards, then the page is read forward. */
    ArchivePage reverse(Position before, Position from, int eventsMax, int bytesMax) {
        Position end = Position.min(before, lease.published().watermark().next());
        if (!end.isAfter(from) || lease.files() == 0) {
            return empty(generation, stripe);
        }
        Backward backward = new Backward(end, from, eventsMax, bytesMax);
        backward.search();
        Position start = backward.isFull() ? backward.first : from;
        ArchivePage page = forward(start.previous(), end.previous(), Integer.MAX_VALUE, Integer.MAX_VALUE);
        return new ArchivePage(page.events(), page.gaps(), backward.more);
    }

    private final class Backward {
        private final ExcerptReader reader = lease.reader();
        private final Position before;
        private final Position from;
        private final int eventsMax;
        private final int bytesMax;
        private final List<Candidate> block = new ArrayList<>();
        private int events;
        private long bytes;
        private Position first = Position.ZERO;
        private boolean more;

        private record Candidate(Position id, long weight, boolean event) {}

        Backward(Position before, Position from, int eventsMax, int bytesMax) {
            this.before = before;
            this.from = from;
            this.eventsMax = eventsMax;
            this.bytesMax = bytesMax;
        }

        boolean isFull() {
            return events > 0 && (events >= eventsMax || bytes >= bytesMax);
        }

        void search() {
            Slot behind = new ArchiveSearch(lease).firstAbove(before.previous());
            long high = behind.index();
            for (int file = lease.fileOf(behind.cycle()); file >= 0; file--) {
                for (long low; high > 0; high = low) {
                    low = (high - 1) / BLOCK * BLOCK;
                    readBlock(lease.cycle(file), low, high);
                    if (takeBlock()) {
                        return;
                    }
                }
                if (file > 0) {
                    high = lease.count(file - 1);
                }
            }
        }

        private void readBlock(int cycle, long low, long high) {
            block.clear();
            for (long i = low; i < high; i++) {
                switch (reader.read(cycle, i)) {
                    case EXCERPT -> {
                        Excerpt excerpt = reader.excerpt();
                        if (excerpt.isEvent()) {
                            block.add(new Candidate(excerpt.key(), excerpt.weight(), true));
                        } else if (excerpt.isLost()) {
                            block.add(new Candidate(excerpt.missingThrough(), 0, false));
                        }
                    }
                    case DAMAGED -> block.add(new Candidate(before.previous(), 0, false));
                    case NOTHING -> {
                        block.add(new Candidate(before.previous(), 0, false));
                        return;
                    }
                }
            }
        }

        /** Takes the block's events from the newest on; true if the search is over. */
        private boolean takeBlock() {
            for (int i = block.size() - 1; i >= 0; i--) {
                Candidate candidate = block.get(i);
                boolean inRange = candidate.id.compareTo(from) >= 0;
                if (isFull() && inRange) {
                    more = true;
                    return true;
                }
                if (candidate.event) {
                    if (!inRange) {
                        return true;
                    }
                    if (candidate.id.isBefore(before)) {
                        events++;
                        bytes += candidate.weight;
                        first = candidate.id;
                    }
                }
            }
            return false;
        }
    }
}
