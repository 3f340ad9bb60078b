package dev.tidemark.loadtest;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/** Collects the figures of all rounds and prints their medians, with every round beside them. */
final class Report {
    private final Map<String, List<Double>> figures = new LinkedHashMap<>();
    private final Map<String, String> units = new LinkedHashMap<>();

    /** Notes one round's figure. */
    void add(String name, String unit, double value) {
        figures.computeIfAbsent(name, key -> new ArrayList<>()).add(value);
        units.put(name, unit);
        System.out.printf(Locale.ROOT, "    %-52s %s%n", name, shown(unit, value));
    }

    /** Notes p50 and p99 of one round. */
    void add(String name, Histogram latenciesNs) {
        add(name + ", p50", "ms", latenciesNs.getValueAtPercentile(50) / 1e6);
        add(name + ", p99", "ms", latenciesNs.getValueAtPercentile(99) / 1e6);
    }

    private double median(String name) {
        List<Double> sorted =
                figures.getOrDefault(name, List.of()).stream().sorted().toList();
        if (sorted.isEmpty()) {
            return Double.NaN;
        }
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }

    void print() {
        System.out.println();
        System.out.println("medians (every round in brackets)");
        figures.forEach((name, values) -> {
            String unit = units.getOrDefault(name, "");
            String rounds = values.stream().map(value -> shown(unit, value)).collect(Collectors.joining(", "));
            System.out.printf(Locale.ROOT, "  %-52s %14s   [%s]%n", name, shown(unit, median(name)), rounds);
        });
    }

    /** Prints one median over another. */
    void printRatio(String name, String other) {
        double ratio = median(name) / median(other);
        if (Double.isFinite(ratio)) {
            System.out.printf(Locale.ROOT, "  ratio %s / %s: %.2f%n", name, other, ratio);
        }
    }

    private static String shown(String unit, double value) {
        return unit.equals("ms")
                ? String.format(Locale.ROOT, "%.3f ms", value)
                : String.format(Locale.ROOT, "%,.0f %s", value, unit);
    }
}
