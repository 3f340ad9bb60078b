package dev.tidemark.livelog;

import dev.tidemark.event.Event;
import dev.tidemark.event.Position;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** One stream key of {@link FakeLiveLog}, with Redis's rules for ids. */
final class FakeKey {
    /** Foreign entries are empty. */
    private final TreeMap<Position, Optional<Event>> entries = new TreeMap<>();

    private final List<Position> quarantine = new ArrayList<>();
    private Position lastGenerated = Position.ZERO;
    /** As Redis 7 has it: no fence may be below. */
    private Position highestRemoved = Position.ZERO;

    FakeKey copy() {
        FakeKey copy = new FakeKey();
        copy.entries.putAll(entries);
        copy.quarantine.addAll(quarantine);
        copy.lastGenerated = lastGenerated;
        copy.highestRemoved = highestRemoved;
        return copy;
    }

    void add(Position entry, @Nullable Event event) {
        if (!entry.isAfter(lastGenerated)) {
            throw new LiveLogException(
                    LiveLogException.Kind.ID_TOO_LOW, entry + " isn't above the top id " + lastGenerated);
        }
        entries.put(entry, Optional.ofNullable(event));
        lastGenerated = entry;
    }

    void append(List<Event> events) {
        for (Event event : events) {
            add(event.entry(), event);
        }
    }

    void fence(Position fence) {
        if (!entries.isEmpty() && fence.isBefore(entries.lastKey())) {
            throw new LiveLogException(
                    LiveLogException.Kind.ID_TOO_LOW, fence + " is below the top entry " + entries.lastKey());
        }
        if (fence.isBefore(highestRemoved)) {
            throw new LiveLogException(
                    LiveLogException.Kind.ID_TOO_LOW, fence + " is below the highest removed entry " + highestRemoved);
        }
        lastGenerated = fence;
    }

    void remove(Position entry) {
        if (entries.remove(entry) != null) {
            highestRemoved = Position.max(highestRemoved, entry);
        }
    }

    LiveLogCensus census() {
        return new LiveLogCensus(
                true,
                entries.size(),
                entries.isEmpty() ? 0 : ordinal(entries.firstEntry()),
                entries.isEmpty() ? 0 : ordinal(entries.lastEntry()));
    }

    private static long ordinal(Map.Entry<Position, Optional<Event>> entry) {
        return entry.getValue().map(Event::ordinal).orElse(0L);
    }

    StripeAppender.Quarantined quarantine(Position after, boolean everything, int count) {
        Position last = after;
        Position highest = Position.ZERO;
        int seen = 0;
        int moved = 0;
        for (Map.Entry<Position, Optional<Event>> entry :
                List.copyOf(entries.tailMap(after, false).entrySet())) {
            if (seen++ == count) {
                return new StripeAppender.Quarantined(moved, highest, last, true);
            }
            last = entry.getKey();
            if (everything || entry.getValue().isEmpty()) {
                remove(last);
                quarantine.add(last);
                highest = last;
                moved++;
            }
        }
        return new StripeAppender.Quarantined(moved, highest, last, seen == count);
    }

    /** What was moved there. */
    List<Position> quarantined() {
        return List.copyOf(quarantine);
    }

    void restorePosition(Position through, Position fence) {
        if (!entries.tailMap(through, false).isEmpty()) {
            throw new LiveLogException(LiveLogException.Kind.NOT_NOW, "others write to it");
        }
        highestRemoved = Position.ZERO;
        lastGenerated = fence;
    }

    /** Somebody else sets the position (XSETID). */
    void positionByOthers(Position position) {
        lastGenerated = position;
    }

    long trim(Position minId) {
        NavigableMap<Position, Optional<Event>> below = entries.headMap(minId, false);
        int count = below.size();
        below.clear();
        return count;
    }

    List<Event> events() {
        return entries.values().stream().flatMap(Optional::stream).toList();
    }

    LiveLogPage pageAfter(Position after, Position through, int count) {
        return after.compareTo(through) >= 0
                ? new LiveLogPage(List.of(), 0, after, false)
                : page(entries.subMap(after, false, through, true), after, count);
    }

    LiveLogPage pageBefore(Position before, Position from, int count) {
        return from.compareTo(before) >= 0
                ? new LiveLogPage(List.of(), 0, before, false)
                : page(entries.subMap(from, true, before, false).descendingMap(), before, count);
    }

    private static LiveLogPage page(NavigableMap<Position, Optional<Event>> range, Position start, int count) {
        List<Event> events = new ArrayList<>();
        int seen = 0;
        Position last = start;
        for (Map.Entry<Position, Optional<Event>> entry : range.entrySet()) {
            if (seen == count) {
                break;
            }
            entry.getValue().ifPresent(events::add);
            last = entry.getKey();
            seen++;
        }
        return new LiveLogPage(List.copyOf(events), seen - events.size(), last, seen == count);
    }

    LiveLogState state() {
        boolean none = entries.isEmpty();
        long bytes = events().stream().mapToLong(e -> 40 + e.payload().length).sum();
        return new LiveLogState(
                true,
                entries.size(),
                none ? Position.ZERO : entries.firstKey(),
                none ? Position.ZERO : entries.lastKey(),
                lastGenerated,
                bytes);
    }
}
