package dev.tidemark.archive;

import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** The end of an archive, counted on as excerpts come: by the appending thread, or while the end is looked for. */
final class Tail {
    /** File of the last excerpt, or {@link RollFiles#NONE}. */
    int cycle = RollFiles.NONE;
    /** Excerpts in that file. */
    long count;
    /** Where the last one ends in the file. */
    long end;
    /** Id of the last event. */
    Position last = Position.ZERO;
    /** Events ever archived. */
    long events;
    /** How many of them were taken away from behind the end that is left. */
    long eventsLost;
    /** Bytes of the files before. */
    long earlierBytes;
    /** Cycle of the file before, or {@link RollFiles#NONE}. */
    int fileBefore = RollFiles.NONE;
    /** Excerpts since the last waypoint. */
    long sinceWaypoint;

    /** Where requests of producers are known from. */
    final ProducerBounds producers = new ProducerBounds();

    private final Map<Integer, Long> ordinals = new TreeMap<>();

    /** What is counted of each stripe. */
    private final Map<Integer, Counter> counters = new HashMap<>();

    /** Counts without an object for each event. */
    private static final class Counter {
        private StripeCount base = StripeCount.NONE;
        private long events;

        StripeCount now() {
            return new StripeCount(base.uncounted(), base.events() + events, base.lost(), base.voided());
        }
    }

    Tail copy() {
        Tail copy = new Tail();
        copy.cycle = cycle;
        copy.count = count;
        copy.end = end;
        copy.last = last;
        copy.events = events;
        copy.eventsLost = eventsLost;
        copy.earlierBytes = earlierBytes;
        copy.fileBefore = fileBefore;
        copy.sinceWaypoint = sinceWaypoint;
        copy.ordinals.putAll(ordinals);
        copy.takeCounts(counts());
        copy.producers.set(producers);
        return copy;
    }

    Map<Integer, Long> ordinals() {
        return ordinals;
    }

    /** What is counted of each stripe. */
    Map<Integer, StripeCount> counts() {
        Map<Integer, StripeCount> counts = new TreeMap<>();
        counters.forEach((stripe, counter) -> counts.put(stripe, counter.now()));
        return counts;
    }

    void takeCounts(Map<Integer, StripeCount> known) {
        counters.clear();
        known.forEach((stripe, count) -> counter(stripe).base = count);
    }

    private Counter counter(int stripe) {
        return counters.computeIfAbsent(stripe, s -> new Counter());
    }

    /** Goes on to a new file. */
    void roll(int newCycle) {
        earlierBytes += end;
        fileBefore = cycle;
        cycle = newCycle;
        count = 0;
        end = 0;
    }

    void wrote(long newEnd) {
        count++;
        sinceWaypoint++;
        end = newEnd;
    }

    void event(Position id, int stripe, long ordinal) {
        last = id;
        events++;
        ordinals.merge(stripe, ordinal, Math::max);
        counter(stripe).events++;
    }

    void missing(int stripe, OrdinalRange range, boolean lost) {
        ordinals.merge(stripe, range.last(), Math::max);
        Counter counter = counter(stripe);
        counter.base = counter.base.missing(range, lost);
    }

    void waypoint() {
        sinceWaypoint = 0;
    }

    /** Takes totals from a waypoint that was read: what was counted before it is in them. */
    void take(Excerpt waypoint) {
        last = Position.max(last, waypoint.key());
        events = waypoint.eventsBefore();
        earlierBytes = waypoint.earlierBytes();
        fileBefore = waypoint.fileBefore();
        ordinals.putAll(waypoint.ordinalsBefore());
        takeCounts(waypoint.countsBefore());
        waypoint.takeProducersBefore(producers);
        sinceWaypoint = 0;
    }

    void takeOrdinals(Map<Integer, Long> known) {
        ordinals.putAll(known);
    }

    /** Counts an excerpt that was read. */
    void read(Excerpt excerpt, long newEnd) {
        wrote(newEnd);
        if (excerpt.isEvent()) {
            event(excerpt.key(), excerpt.stripe(), excerpt.ordinal());
            if (excerpt.hasProducer()) {
                producers.event(excerpt.key());
            }
        } else if (excerpt.isProducers()) {
            producers.part(excerpt.partNumber(), excerpt.parts(), excerpt.key());
        } else if (excerpt.isMissing()) {
            missing(excerpt.stripe(), excerpt.ordinals(), excerpt.isLost());
        } else if (excerpt.isWaypoint()) {
            take(excerpt);
        }
    }
}
