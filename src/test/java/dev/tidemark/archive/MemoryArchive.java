package dev.tidemark.archive;

import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.Event;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Generation;
import dev.tidemark.event.Limits;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import dev.tidemark.event.StoredRequest;
import dev.tidemark.event.StreamSettings;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One stream's archive in memory, for tests of those who fold and read. Any thread may call anything.
 *
 * <p>Fault model:
 *
 * <ul>
 *   <li>{@link #failAppends}: the next appends write half of their slice, then throw (with {@link ArchiveException.Kind#DISK_FULL}
 *       nothing is written).
 *   <li>{@link #failForces}: the next forces throw and what wasn't forced is gone, as the kernel does it.
 *   <li>{@link #failReads}: the next reads throw.
 *   <li>{@link #failRepairs}: after one of these, the next appends can't repair the archive, and throw before they write.
 *   <li>{@link #crash}: the process dies; of what wasn't forced, a prefix survives. The same object is the archive of the next
 *       process: it proves its own end.
 *   <li>{@link #damage}: events in a range can't be read any more.
 * </ul>
 */
public final class MemoryArchive implements ArchiveAppender {
    private static final long HOUR_MS = 3_600_000;

    /** An excerpt: an event or missing ordinals. */
    private record Item(
            @Nullable Event event,
            int stripe,
            @Nullable Missing missing,
            @Nullable Map<Integer, List<StoredRequest>> producers) {
        Item(@Nullable Event event, int stripe, @Nullable Missing missing) {
            this(event, stripe, missing, null);
        }
    }

    /** @param before the event before it */
    private record Missing(OrdinalRange ordinals, boolean lost, Position after, Position through, Position before) {}

    private record Damage(Position after, Position through) {}

    private final Generation generation;
    private final long rollMs;
    private final List<Item> items = new ArrayList<>();
    private final List<Damage> damages = new ArrayList<>();
    private final List<String> calls = new ArrayList<>();
    private int forced;
    private int published;
    private Position watermark = Position.ZERO;
    private boolean inDoubt;
    private Faults appendFaults = Faults.NONE;
    private Faults forceFaults = Faults.NONE;
    private Faults readFaults = Faults.NONE;
    private Faults repairFaults = Faults.NONE;
    private int callsLeft;
    private boolean dead;

    private record Faults(int times, ArchiveException.Kind kind) {
        static final Faults NONE = new Faults(0, ArchiveException.Kind.IO);

        Faults next(String what) {
            if (times == 0) {
                return this;
            }
            throw new ArchiveException(kind, "injected: " + what + " failed");
        }

        Faults less() {
            return times == 0 ? this : new Faults(times - 1, kind);
        }
    }

    /** Rolls daily. */
    public MemoryArchive(Generation generation) {
        this(generation, StreamSettings.Roll.DAILY);
    }

    public MemoryArchive(Generation generation, StreamSettings.Roll roll) {
        this.generation = generation;
        rollMs = roll == StreamSettings.Roll.HOURLY ? HOUR_MS : 24 * HOUR_MS;
    }

    public synchronized void failAppends(int times, ArchiveException.Kind kind) {
        appendFaults = new Faults(times, kind);
    }

    public synchronized void failForces(int times, ArchiveException.Kind kind) {
        forceFaults = new Faults(times, kind);
    }

    public synchronized void failReads(int times, ArchiveException.Kind kind) {
        readFaults = new Faults(times, kind);
    }

    public synchronized void failRepairs(int times, ArchiveException.Kind kind) {
        repairFaults = new Faults(times, kind);
    }

    /** The process is killed at the {@code calls}-th change from now on, before or in the middle of it; 0: it isn't. */
    public synchronized void killAt(int calls) {
        callsLeft = calls;
    }

    /** The process is dead: it changes nothing any more. */
    public synchronized void kill() {
        dead = true;
    }

    /** Whether it was killed, and hasn't been started again by {@link #crash}. */
    public synchronized boolean isDead() {
        return dead;
    }

    /** Ids of the events that are on disk. */
    public synchronized Set<Position> forcedIds() {
        Set<Position> ids = new HashSet<>();
        items.subList(0, forced).stream().filter(item -> item.event != null).forEach(item -> ids.add(idOf(item)));
        return ids;
    }

    private void live() {
        if (callsLeft > 0 && --callsLeft == 0) {
            dead = true;
        }
        if (dead) {
            throw new ArchiveException(ArchiveException.Kind.CLOSED, "the process is dead");
        }
    }

    /** The process dies; of what wasn't forced, the first {@code unforcedKept} excerpts are still there. */
    public synchronized void crash(int unforcedKept) {
        cut(Math.min(items.size(), forced + unforcedKept));
        forced = items.size();
        published = items.size();
        watermark = lastEventId(items.size());
        inDoubt = false;
        dead = false;
        callsLeft = 0;
        calls.clear();
    }

    /** Excerpts that a crash may take. */
    public synchronized int unforced() {
        return items.size() - forced;
    }

    /** Somebody takes the oldest archived event away. */
    public synchronized void removeOldest() {
        items.removeIf(item -> item.event != null && item.event.id().equals(earliest()));
        forced--;
        published--;
    }

    /** Makes what lies in {@code (after, through]} unreadable. */
    public synchronized void damage(Position after, Position through) {
        damages.add(new Damage(after, through));
    }

    /** What was called since the start or the last crash: {@code append 3}, {@code missing 4-5}, {@code force}, {@code publish 17-0}, {@code close}. */
    public synchronized List<String> calls() {
        return List.copyOf(calls);
    }

    @Override
    public synchronized ArchiveEnd end() {
        Map<Integer, Long> ordinals = new TreeMap<>();
        for (Item item : items.subList(0, published)) {
            if (item.producers != null) {
                continue;
            }
            long ordinal =
                    item.event != null ? item.event.ordinal() : item.missing == null ? 0 : item.missing.ordinals.last();
            ordinals.merge(item.stripe, ordinal, Math::max);
        }
        return new ArchiveEnd(watermark, ordinals);
    }

    @Override
    public synchronized void append(List<Slice> slices) {
        live();
        repair();
        List<Item> events = new ArrayList<>();
        for (Slice slice : slices) {
            for (int i = slice.from(); i < slice.to(); i++) {
                events.add(new Item(slice.chunk().event(i), slice.chunk().stripe(i), null));
            }
        }
        if (events.isEmpty()) {
            return;
        }
        try {
            refuseUnlessRising(events);
        } catch (ArchiveException e) {
            inDoubt = true;
            throw e;
        }
        calls.add("append " + events.size());
        try {
            appendFaults.next("append");
        } catch (ArchiveException e) {
            appendFaults = appendFaults.less();
            if (e.kind() != ArchiveException.Kind.DISK_FULL) {
                items.addAll(events.subList(0, events.size() / 2));
            }
            inDoubt = true;
            throw e;
        }
        if (callsLeft == 1) {
            // killed in the middle of the slice
            items.addAll(events.subList(0, events.size() / 2));
            live();
        }
        items.addAll(events);
    }

    private void refuseUnlessRising(List<Item> events) {
        Position last = lastEventId(items.size());
        Position first = idOf(events.get(0));
        Position end = sliceEnd(first);
        if (events.size() > Limits.SLICE_EVENTS_MAX) {
            throw new ArchiveException(
                    ArchiveException.Kind.SLICE_REFUSED, "a slice of " + events.size() + " events is too large");
        }
        for (Item item : events) {
            Position id = idOf(item);
            if (!id.isAfter(last)) {
                throw new ArchiveException(
                        ArchiveException.Kind.SLICE_REFUSED, "ids must rise: " + id + " after " + last);
            }
            if (id.isAfter(end)) {
                throw new ArchiveException(
                        ArchiveException.Kind.SLICE_REFUSED, id + " isn't in the same roll file as " + first);
            }
            last = id;
        }
    }

    private static Position idOf(Item item) {
        return item.event == null ? Position.ZERO : item.event.id();
    }

    private void repair() {
        if (!inDoubt) {
            return;
        }
        try {
            repairFaults.next("repair");
        } finally {
            repairFaults = repairFaults.less();
        }
        cut(published);
        forced = published;
        inDoubt = false;
    }

    private void cut(int size) {
        items.subList(size, items.size()).clear();
    }

    private Position lastEventId(int size) {
        for (int i = size - 1; i >= 0; i--) {
            Event event = items.get(i).event;
            if (event != null) {
                return event.id();
            }
        }
        return Position.ZERO;
    }

    @Override
    public synchronized void appendMissing(
            int stripe, OrdinalRange ordinals, boolean lost, Position after, Position through) {
        live();
        repair();
        calls.add("missing " + ordinals);
        items.add(new Item(null, stripe, new Missing(ordinals, lost, after, through, lastEventId(items.size()))));
    }

    @Override
    public synchronized void appendProducers(Map<Integer, List<StoredRequest>> requests) {
        live();
        repair();
        calls.add("producers " + requests.values().stream().mapToInt(List::size).sum());
        Map<Integer, List<StoredRequest>> copy = new TreeMap<>();
        requests.forEach((stripe, ofStripe) -> copy.put(stripe, List.copyOf(ofStripe)));
        items.add(new Item(null, 0, null, copy));
    }

    @Override
    public synchronized Map<Integer, List<StoredRequest>> producers() {
        Map<Integer, List<StoredRequest>> found = new TreeMap<>();
        for (Item item : items.subList(0, published)) {
            if (item.producers != null) {
                found.clear();
                item.producers.forEach((stripe, requests) -> found.put(stripe, new ArrayList<>(requests)));
            }
            StoredRequest request = item.event == null ? null : StoredRequest.of(item.event);
            if (request != null) {
                found.computeIfAbsent(item.stripe, stripe -> new ArrayList<>()).add(request);
            }
        }
        return found;
    }

    private List<Item> above(Position after) {
        return items.subList(0, published).stream()
                .dropWhile(item -> item.event == null || !item.event.id().isAfter(after))
                .toList();
    }

    @Override
    public synchronized Map<Integer, ArchivedOrdinals> ordinalsAbove(Position after) {
        Map<Integer, ArchivedOrdinals.Collected> found = new TreeMap<>();
        for (Item item : above(after)) {
            ArchivedOrdinals.Collected stripe =
                    found.computeIfAbsent(item.stripe, s -> new ArchivedOrdinals.Collected());
            if (item.event != null) {
                found.values().forEach(ArchivedOrdinals.Collected::told);
                stripe.event(item.event.ordinal(), item.event.entry());
            } else if (item.missing != null) {
                stripe.add(item.missing.ordinals());
                if (item.missing.lost()) {
                    stripe.lost(item.missing.after(), item.missing.through());
                }
            }
        }
        Map<Integer, ArchivedOrdinals> done = new TreeMap<>();
        found.forEach((stripe, collected) -> done.put(stripe, collected.done()));
        return done;
    }

    @Override
    public synchronized Position entryOf(int stripe, long ordinal, Position after) {
        for (Item item : above(after)) {
            if (item.event != null && item.stripe == stripe && item.event.ordinal() == ordinal) {
                return item.event.entry();
            }
        }
        return Position.ZERO;
    }

    @Override
    public synchronized boolean hasProducers() {
        return !producers().isEmpty();
    }

    @Override
    public synchronized void force() {
        live();
        if (inDoubt) {
            throw new ArchiveException(
                    ArchiveException.Kind.IO, "the last append or force failed: nothing can be forced");
        }
        if (forced == items.size()) {
            return;
        }
        calls.add("force");
        try {
            forceFaults.next("force");
        } catch (ArchiveException e) {
            forceFaults = forceFaults.less();
            cut(forced);
            inDoubt = true;
            throw e;
        }
        forced = items.size();
    }

    @Override
    public synchronized void publish(Position newWatermark) {
        live();
        if (newWatermark.isBefore(watermark) || newWatermark.isAfter(lastEventId(forced))) {
            throw new IllegalArgumentException("W is " + watermark + " and forced is " + lastEventId(forced)
                    + ": it can't become " + newWatermark);
        }
        calls.add("publish " + newWatermark);
        watermark = newWatermark;
        published = 0;
        while (published < forced && !idOf(items.get(published)).isAfter(newWatermark)) {
            published++;
        }
    }

    @Override
    public Position sliceEnd(Position first) {
        return Position.before((first.ms() / rollMs + 1) * rollMs);
    }

    @Override
    public synchronized void close() {
        calls.add("close");
    }

    @Override
    public synchronized Position watermark() {
        return watermark;
    }

    @Override
    public synchronized Position earliest() {
        return items.subList(0, published).stream()
                .filter(item -> item.event != null)
                .findFirst()
                .map(MemoryArchive::idOf)
                .orElse(Position.ZERO);
    }

    @Override
    public synchronized long events() {
        return items.subList(0, published).stream()
                .filter(item -> item.event != null)
                .count();
    }

    @Override
    public long eventsRemoved() {
        return 0;
    }

    @Override
    public synchronized long bytes() {
        return items.stream()
                .mapToLong(item -> item.event == null ? 64 : item.event.payload().length + 64L)
                .sum();
    }

    @Override
    public synchronized ArchiveCount count() {
        Map<Integer, StripeCount> counts = new TreeMap<>();
        for (Item item : items.subList(0, published)) {
            StripeCount before = counts.getOrDefault(item.stripe, StripeCount.NONE);
            if (item.event != null) {
                counts.put(
                        item.stripe,
                        new StripeCount(before.uncounted(), before.events() + 1, before.lost(), before.voided()));
            } else if (item.missing != null) {
                counts.put(item.stripe, before.missing(item.missing.ordinals, item.missing.lost));
            }
        }
        return new ArchiveCount(watermark, counts, end().lastOrdinals(), 0);
    }

    @Override
    public void open() {}

    @Override
    public synchronized ArchivePage read(Position after, Position through, int eventsMax, int bytesMax) {
        failRead();
        Position limit = Position.min(through, watermark);
        List<Event> events = new ArrayList<>();
        List<Gap> gaps = new ArrayList<>();
        Position seen = after;
        boolean hole = false;
        long bytes = 0;
        for (Item item : items.subList(0, published)) {
            if (item.missing != null) {
                Gap gap = lost(item.missing, after, limit);
                if (gap != null && !isFull(events, bytes, eventsMax, bytesMax)) {
                    gaps.add(gap);
                } else if (gap != null && gap.to().isAfter(seen)) {
                    return page(events, gaps, true);
                }
                continue;
            }
            Event event = item.event;
            if (event == null || !event.id().isAfter(after) || event.id().isAfter(limit)) {
                continue;
            }
            if (isFull(events, bytes, eventsMax, bytesMax)) {
                return page(events, gaps, true);
            }
            if (isDamaged(event.id())) {
                hole = true;
                continue;
            }
            if (hole) {
                gaps.add(new Gap(seen, event.id().previous(), Gap.Reason.DAMAGED));
                hole = false;
            }
            events.add(event);
            bytes += ArchivePage.weight(event.type(), event.payload().length);
            seen = event.id();
        }
        if (hole) {
            gaps.add(new Gap(seen, limit, Gap.Reason.DAMAGED));
        }
        return page(events, gaps, false);
    }

    @Override
    public synchronized ArchivePage readReverse(Position before, Position from, int eventsMax, int bytesMax) {
        failRead();
        Position end = Position.min(before, watermark.next());
        long bytes = 0;
        int count = 0;
        for (int i = published - 1; i >= 0; i--) {
            Event event = items.get(i).event;
            if (event == null || !event.id().isBefore(end) || event.id().isBefore(from) || isDamaged(event.id())) {
                continue;
            }
            bytes += ArchivePage.weight(event.type(), event.payload().length);
            count++;
            if (count == eventsMax || bytes >= bytesMax) {
                Position first = event.id();
                ArchivePage page = read(first.previous(), end.previous(), Integer.MAX_VALUE, Integer.MAX_VALUE);
                ArchivePage rest = read(from.previous(), first.previous(), 1, 1);
                boolean more = rest.events().count() > 0 || !rest.gaps().isEmpty();
                return new ArchivePage(page.events(), page.gaps(), more && first.isAfter(from));
            }
        }
        return end.isAfter(from)
                ? read(from.previous(), end.previous(), Integer.MAX_VALUE, Integer.MAX_VALUE)
                : page(List.of(), List.of(), false);
    }

    private void failRead() {
        try {
            readFaults.next("read");
        } finally {
            readFaults = readFaults.less();
        }
    }

    private static boolean isFull(List<Event> events, long bytes, int eventsMax, int bytesMax) {
        return !events.isEmpty() && (events.size() >= eventsMax || bytes >= bytesMax);
    }

    private static @Nullable Gap lost(Missing missing, Position after, Position limit) {
        Position from = missing.after.isBefore(missing.before) ? missing.after : Position.max(missing.after, after);
        Position to = Position.min(missing.through, limit);
        return missing.lost && to.isAfter(from) && to.isAfter(after) ? new Gap(from, to, Gap.Reason.LOST) : null;
    }

    private boolean isDamaged(Position id) {
        return damages.stream().anyMatch(damage -> id.isAfter(damage.after) && !id.isAfter(damage.through));
    }

    private ArchivePage page(List<Event> events, List<Gap> gaps, boolean more) {
        ChunkBuilder builder = new ChunkBuilder(generation, 0);
        Map<Event, Integer> stripes = new IdentityHashMap<>();
        items.stream().filter(item -> item.event != null).forEach(item -> stripes.put(item.event, item.stripe));
        events.forEach(event -> builder.add(stripes.getOrDefault(event, 0), event));
        return new ArchivePage(builder.view(), gaps, more);
    }

    @Override
    public ArchiveCheck check() {
        throw new UnsupportedOperationException("it has no files");
    }
}
