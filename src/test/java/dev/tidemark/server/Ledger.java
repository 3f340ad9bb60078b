package dev.tidemark.server;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** What is wrong with what readers saw, counted, measured against what writers were told. */
final class Ledger {
    private static final int DETAILS_MAX = 20;

    private long lost;
    private long repeated;
    private long disordered;
    private long watermarkBack;
    private long other;
    private final List<String> details = new ArrayList<>();

    void lost(long events, String detail) {
        lost += events;
        detail(events, "lost: " + detail);
    }

    void repeated(long events, String detail) {
        repeated += events;
        detail(events, "repeated: " + detail);
    }

    void disordered(long events, String detail) {
        disordered += events;
        detail(events, "out of order: " + detail);
    }

    void watermarkBack(String detail) {
        watermarkBack++;
        detail(1, "W back: " + detail);
    }

    /** Anything else that must not be. */
    void other(String detail) {
        other++;
        detail(1, detail);
    }

    private void detail(long events, String detail) {
        if (events > 0 && details.size() < DETAILS_MAX) {
            details.add(detail);
        }
    }

    long lost() {
        return lost;
    }

    long repeated() {
        return repeated;
    }

    long disordered() {
        return disordered;
    }

    long watermarksBack() {
        return watermarkBack;
    }

    long others() {
        return other;
    }

    boolean isClean() {
        return lost + repeated + disordered + watermarkBack + other == 0;
    }

    /** The first findings in words. */
    List<String> details() {
        return List.copyOf(details);
    }

    void assertClean() {
        if (!isClean()) {
            throw new AssertionError(String.join("\n", details));
        }
    }

    /**
     * Compares a whole read with what its writers wrote down: every acknowledged event must be there exactly once, under the ids that
     * the answer named, and of requests with an open outcome all events or none.
     *
     * @param inOrder whether each writer's events must stand in the order it sent them
     */
    void compare(String what, List<Seen> whole, List<? extends NumberedWriter> writers, boolean inOrder) {
        rising(what, whole);
        Map<Integer, TreeMap<Long, String>> byWriter = new HashMap<>();
        for (Seen event : whole) {
            TreeMap<Long, String> of = byWriter.computeIfAbsent(event.writer(), w -> new TreeMap<>());
            if (of.containsKey(event.number())) {
                repeated(1, what + ": " + event + ", also as " + of.get(event.number()));
            } else if (inOrder && !of.isEmpty() && of.lastKey() > event.number()) {
                disordered(1, what + ": " + event + " behind number " + of.lastKey());
            }
            of.put(event.number(), event.id());
        }
        for (NumberedWriter writer : writers) {
            compare(what, writer, byWriter.getOrDefault(writer.number(), new TreeMap<>()));
        }
    }

    private void compare(String what, NumberedWriter writer, NavigableMap<Long, String> stored) {
        long expected = 0;
        for (NumberedWriter.Batch batch : writer.batches()) {
            int count = batch.count();
            int found = stored.subMap(batch.from(), batch.from() + count).size();
            String named = what + ": " + batch + " of writer " + writer.number();
            if (batch.acked()) {
                lost(count - found, named + ": " + found + " of " + count + " are there");
            } else if (found != 0) {
                lost(count - found, named + " is torn: " + found + " of " + count + " are there");
            }
            if (found == count && batch.acked() && !batch.first().isEmpty()) {
                boolean asNamed = batch.first().equals(stored.get(batch.from()))
                        && batch.last().equals(stored.get(batch.from() + count - 1));
                disordered(asNamed ? 0 : count, named + " has other ids: " + stored.get(batch.from()));
            }
            expected += found;
        }
        long unsent = stored.size() - expected;
        repeated(unsent, what + ": of writer " + writer.number() + ", never sent, or told as not stored: " + unsent);
    }

    /** Ids must rise strictly. */
    void rising(String what, List<Seen> events) {
        for (int i = 1; i < events.size(); i++) {
            if (events.get(i).id().compareTo(events.get(i - 1).id()) <= 0) {
                disordered(1, what + ": " + events.get(i) + " after " + events.get(i - 1));
            }
        }
    }

    /** A stretch that a reader saw must be the same stretch of the whole stream. */
    void stretch(String what, List<Seen> stretch, List<Seen> whole, Map<String, Integer> places) {
        if (stretch.isEmpty()) {
            return;
        }
        Integer at = places.get(stretch.get(0).id());
        if (at == null) {
            lost(1, what + ": " + stretch.get(0) + " was seen and is gone");
            return;
        }
        for (int i = 0; i < stretch.size(); i++) {
            if (at + i >= whole.size() || !whole.get(at + i).equals(stretch.get(i))) {
                lost(
                        1,
                        what + ": " + stretch.get(i) + " was seen at " + (at + i) + " of " + whole.size() + ", where "
                                + (at + i < whole.size() ? whole.get(at + i) : "nothing") + " is");
                return;
            }
        }
    }

    /** Where each id stands. */
    static Map<String, Integer> places(List<Seen> whole) {
        Map<String, Integer> places = new HashMap<>();
        for (int i = 0; i < whole.size(); i++) {
            places.put(whole.get(i).id(), i);
        }
        return places;
    }
}
