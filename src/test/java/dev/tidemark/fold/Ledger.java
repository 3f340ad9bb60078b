package dev.tidemark.fold;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What the writers of a simulation know, and therefore what its readers may expect: each acknowledged event once, in the order of ids.
 * An event is lost only if the simulation's Redis lost it and the server was dead or has been killed since: then it must be announced.
 */
final class Ledger {
    private final Map<String, Position> acked = new HashMap<>();
    private final TreeMap<Position, String> byId = new TreeMap<>();
    /** Sent, but the answer left it open whether they are stored, or there was none yet. */
    private final Set<String> open = new HashSet<>();
    /** Acknowledged, and taken by Redis from where only Redis had them. */
    private final Set<String> lost = new HashSet<>();
    /** Ids at or below it were final: nothing may be added there. */
    private Position finalThrough = Position.ZERO;

    private boolean gapsExpected;
    private @Nullable AssertionError broken;

    /** Runs what is called by the parts under test, which would take an error for a failure of their own. */
    void watch(Runnable called) {
        try {
            called.run();
        } catch (AssertionError e) {
            broken = broken == null ? e : broken;
            throw e;
        }
    }

    /** Throws what {@link #watch} has seen. */
    void assertUnbroken() {
        AssertionError seen = broken;
        if (seen != null) {
            throw new AssertionError(seen.getMessage(), seen);
        }
    }

    void sent(List<String> names) {
        open.addAll(names);
    }

    void notStored(List<String> names) {
        names.forEach(open::remove);
    }

    void stored(List<String> names, List<Position> ids) {
        for (int i = 0; i < names.size(); i++) {
            Position id = ids.get(i);
            assertTrue(id.isAfter(finalThrough), "event " + id + " was added below the frontier " + finalThrough);
            assertEquals(null, byId.put(id, names.get(i)), "id " + id + " was given twice");
            assertEquals(null, acked.put(names.get(i), id), names.get(i) + " was acknowledged twice");
            open.remove(names.get(i));
        }
    }

    void finalThrough(Position frontier) {
        finalThrough = Position.max(finalThrough, frontier);
    }

    Position finalThrough() {
        return finalThrough;
    }

    /** Gaps may be announced from now on, though nothing acknowledged may be missing. */
    void expectGaps() {
        gapsExpected = true;
    }

    boolean gapsExpected() {
        return gapsExpected;
    }

    void lost(String name) {
        lost.add(name);
        gapsExpected = true;
    }

    Set<String> acked() {
        return acked.keySet();
    }

    Set<String> lost() {
        return lost;
    }

    Position idOf(String name) {
        return acked.get(name);
    }

    /** Acknowledged events up to a position that must be there, in the order of their ids. */
    List<String> inIdOrder(Position through) {
        List<String> names = new ArrayList<>(byId.headMap(through, true).values());
        names.removeAll(lost);
        return names;
    }

    /** What was given, without what was never acknowledged (that may be there) and without what may be lost (that may be there, too). */
    List<String> certain(List<String> given) {
        List<String> known = new ArrayList<>();
        for (String name : given) {
            if (acked.containsKey(name)) {
                if (!lost.contains(name)) {
                    known.add(name);
                }
            } else {
                assertTrue(open.contains(name), "nobody sent " + name);
            }
        }
        return known;
    }

    /** The last event that must be there. */
    Position last() {
        return end(byId.descendingMap());
    }

    private Position end(NavigableMap<Position, String> order) {
        return order.entrySet().stream()
                .filter(entry -> !lost.contains(entry.getValue()))
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(Position.ZERO);
    }

    /**
     * Each acknowledged event that wasn't given was lost, and lies in an announced gap. Not those before the first that is left: a stream
     * that is read from its earliest event starts there; nor those behind the last one: nothing stands behind them yet that tells.
     */
    void assertAnnounced(Set<String> given, List<Gap> gaps, String who) {
        Position first = end(byId);
        Position last = last();
        List<String> missing = acked.keySet().stream()
                .filter(name -> !given.contains(name)
                        && (!lost.contains(name)
                                || idOf(name).isAfter(first) && idOf(name).isBefore(last)))
                .sorted(Comparator.comparing(this::idOf))
                .toList();
        for (String name : missing) {
            Position id = idOf(name);
            assertTrue(lost.contains(name), () -> who + " misses " + name + " " + id + ", told of " + gaps);
            boolean told = gaps.stream().anyMatch(gap -> id.isAfter(gap.from()) && !id.isAfter(gap.to()));
            assertTrue(told, () -> who + " isn't told that " + name + " " + id + " is lost; told of " + gaps);
        }
    }
}
