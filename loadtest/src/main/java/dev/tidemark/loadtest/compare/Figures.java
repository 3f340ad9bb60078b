package dev.tidemark.loadtest.compare;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import org.HdrHistogram.Histogram;

/** All figures of all rounds, and how each was taken. One thread. */
final class Figures {
    private static final double NS_PER_MS = 1e6;

    /**
     * What a figure is of.
     *
     * @param fsync {@code appendfsync} of the system's Redis; empty where there is none
     */
    record Key(Measure measure, Side side, String fsync) {
        String system() {
            return fsync.isEmpty() ? side.title() : side.title() + ", " + fsync;
        }
    }

    private final Map<Key, List<Double>> rounds = new LinkedHashMap<>();
    private final Map<Key, String> methods = new LinkedHashMap<>();

    /** Notes one round's figure and prints it. */
    void add(Key key, String method, double value) {
        rounds.computeIfAbsent(key, none -> new ArrayList<>()).add(value);
        methods.put(key, method);
        System.out.printf(
                "    %-58s %-30s %s%n",
                key.measure().title(), key.system(), key.measure().unit().shown(value));
    }

    /** Notes a percentile of one round's latencies in nanoseconds, as milliseconds. */
    void add(Key key, String method, Histogram latenciesNs, double percentile) {
        add(key, method, latenciesNs.getValueAtPercentile(percentile) / NS_PER_MS);
    }

    Set<Key> keys() {
        return rounds.keySet();
    }

    List<Double> rounds(Key key) {
        return rounds.getOrDefault(key, List.of());
    }

    String method(Key key) {
        return methods.getOrDefault(key, "");
    }

    /** Median over the rounds; of an even number of them the mean of the two in the middle. Empty without a figure. */
    OptionalDouble median(Key key) {
        return median(rounds(key));
    }

    static OptionalDouble median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        if (sorted.isEmpty()) {
            return OptionalDouble.empty();
        }
        return OptionalDouble.of(
                sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2);
    }
}
