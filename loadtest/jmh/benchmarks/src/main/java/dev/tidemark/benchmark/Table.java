package dev.tidemark.benchmark;

import java.util.Collection;
import java.util.Locale;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;

/** Time and allocation of each benchmark side by side; where an operation is a batch of events, also of one event. */
final class Table {
    private static final String ALLOCATED = "gc.alloc.rate.norm";
    private static final String BATCH = "batch";

    private final Collection<RunResult> results;

    Table(Collection<RunResult> results) {
        this.results = results;
    }

    void print() {
        printLine("benchmark", "parameters", "ns/op", "\u00b1 99.9 %", "B/op", "ns/event", "B/event");
        results.forEach(Table::printRow);
    }

    private static void printRow(RunResult result) {
        BenchmarkParams params = result.getParams();
        Result<?> time = result.getPrimaryResult();
        Result<?> allocated = result.getSecondaryResults().get(ALLOCATED);
        double bytes = allocated == null ? Double.NaN : allocated.getScore();
        double batch = params.getParamsKeys().contains(BATCH) ? Integer.parseInt(params.getParam(BATCH)) : Double.NaN;
        printLine(
                name(params),
                parameters(params),
                shown(time.getScore()),
                shown(time.getScoreError()),
                shown(bytes),
                shown(time.getScore() / batch),
                shown(bytes / batch));
    }

    private static void printLine(Object... cells) {
        System.out.printf(Locale.ROOT, "%-42s %-26s %10s %12s %10s %10s %10s%n", cells);
    }

    /** Class and method. */
    private static String name(BenchmarkParams params) {
        String[] parts = params.getBenchmark().split("\\.", -1);
        return parts[parts.length - 2] + "." + parts[parts.length - 1];
    }

    private static String parameters(BenchmarkParams params) {
        TreeMap<String, String> sorted = new TreeMap<>();
        params.getParamsKeys().forEach(key -> sorted.put(key, params.getParam(key)));
        return sorted.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining(" "));
    }

    private static String shown(double value) {
        if (Double.isNaN(value)) {
            return "-";
        }
        return String.format(Locale.ROOT, value < 100 ? "%.2f" : "%,.0f", value);
    }
}
