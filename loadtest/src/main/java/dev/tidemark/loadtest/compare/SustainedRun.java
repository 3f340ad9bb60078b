package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.Http;
import dev.tidemark.loadtest.Throughput;
import dev.tidemark.loadtest.driver.ClosedLoop;
import dev.tidemark.loadtest.system.ProcessFigures;
import dev.tidemark.loadtest.system.Tidemark;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

/** Appends as fast as the server takes them, for minutes; how far fold lags and what memory is used meanwhile. */
final class SustainedRun {
    private static final int CONNECTIONS = 4;
    private static final int SAMPLE_SECONDS = 2;
    /** {@code fold_max_lag}, as the server has it by default. */
    private static final double FOLD_LAG_SECONDS_MAX = 10;
    /** Memory counts as flat if its median over the last fifth is at most so many times that over the second fifth. */
    private static final double MEMORY_RATIO_MAX = 1.1;

    private final Tidemark server;
    private final CompareOptions options;
    private final ClosedLoop load;
    private final long begin = System.nanoTime();
    private final List<Sample> samples = new ArrayList<>();
    private int samplesWhileAppending;
    private double perSecond;

    private record Sample(double seconds, SeamFigures seam, double serverMiB, double redisMiB) {
        double foldLagSeconds() {
            return seam.foldLagMs() / 1_000.0;
        }
    }

    SustainedRun(Tidemark server, CompareOptions options, ClosedLoop load) {
        this.server = server;
        this.options = options;
        this.load = load;
    }

    /** Takes a sample of lag and memory. */
    void sample() throws IOException {
        try (Http http = new Http(server.port())) {
            Sample sample = new Sample(
                    (System.nanoTime() - begin) / 1e9,
                    SeamFigures.of(http, ArchiveRun.STREAM),
                    ProcessFigures.anonymousMiB(server.pid()),
                    ProcessFigures.residentMiB(server.redisPid()));
            samples.add(sample);
            System.out.printf(
                    Locale.ROOT,
                    "    %4.0f s: %,d archived, %,d live, fold lag %.1f s, server %.0f MiB, Redis %.0f MiB%n",
                    sample.seconds(),
                    sample.seam().archivedEvents(),
                    sample.seam().liveEvents(),
                    sample.foldLagSeconds(),
                    sample.serverMiB(),
                    sample.redisMiB());
        }
    }

    void run() throws IOException, InterruptedException {
        int seconds = options.sustainedSeconds();
        Throughput.onThreads(List.of(true, false), appends -> {
            if (appends) {
                perSecond = load.run(CONNECTIONS, options.times().warmUpSeconds(), seconds)
                        .perSecond();
            } else {
                long end = System.nanoTime()
                        + TimeUnit.SECONDS.toNanos(seconds + options.times().warmUpSeconds());
                while (System.nanoTime() - end < 0) {
                    TimeUnit.SECONDS.sleep(SAMPLE_SECONDS);
                    sample();
                }
            }
        });
        samplesWhileAppending = samples.size();
    }

    private double median(double from, double to, ToDoubleFunction<Sample> figure) {
        List<Double> values =
                samples
                        .subList((int) (samplesWhileAppending * from), (int) Math.ceil(samplesWhileAppending * to))
                        .stream()
                        .map(figure::applyAsDouble)
                        .toList();
        return Figures.median(values).orElse(Double.NaN);
    }

    void rows(Table table) {
        List<Sample> appending = samples.subList(0, samplesWhileAppending);
        double lag =
                appending.stream().mapToDouble(Sample::foldLagSeconds).max().orElse(Double.NaN);
        double live = appending.stream()
                .mapToDouble(each -> (double) each.seam().liveEvents())
                .max()
                .orElse(Double.NaN);
        String method = options.sustainedSeconds() + " s, closed loop, " + CONNECTIONS + " connections, batches of "
                + ArchiveRun.BATCH + "; looked at every " + SAMPLE_SECONDS + " s";
        table.row("6", "sustained appends", Unit.EVENTS.shown(perSecond), "", "", method);
        table.row(
                "6",
                "greatest fold lag meanwhile",
                Unit.SECONDS.shown(lag) + String.format(Locale.ROOT, "; live events at most %,.0f", live),
                "≤ " + Unit.SECONDS.shown(FOLD_LAG_SECONDS_MAX) + " (fold_max_lag)",
                Bar.word(lag <= FOLD_LAG_SECONDS_MAX),
                method);
        double early = median(0.2, 0.4, Sample::serverMiB);
        double late = median(0.8, 1, Sample::serverMiB);
        table.row(
                "6",
                "memory of the server",
                String.format(Locale.ROOT, "%.0f MiB, later %.0f MiB", early, late),
                String.format(Locale.ROOT, "flat: ≤ %.1f times", MEMORY_RATIO_MAX),
                Bar.word(late <= early * MEMORY_RATIO_MAX),
                "resident, without mapped files; medians of the second and the last fifth of that time; Redis "
                        + String.format(
                                Locale.ROOT,
                                "%.0f MiB, later %.0f MiB",
                                median(0.2, 0.4, Sample::redisMiB),
                                median(0.8, 1, Sample::redisMiB)));
    }

    /** Writes plots beside the file of results and gives links to them. */
    String plots(Path results) throws IOException {
        LineChart memory = new LineChart("Memory over time, appends and then reads", "seconds", "MiB", false);
        memory.add("server, without files", points(Sample::serverMiB));
        memory.add("Redis", points(Sample::redisMiB));
        memory.write(results.resolveSibling("results").resolve("archive-memory.svg"));
        LineChart lag = new LineChart("Fold lag over time", "seconds", "seconds", false);
        lag.add("fold lag", points(Sample::foldLagSeconds));
        lag.write(results.resolveSibling("results").resolve("archive-fold-lag.svg"));
        return "![memory over time](results/archive-memory.svg)\n![fold lag over time](results/archive-fold-lag.svg)\n";
    }

    private List<LineChart.Point> points(ToDoubleFunction<Sample> figure) {
        return samples.stream()
                .map(each -> new LineChart.Point(each.seconds(), figure.applyAsDouble(each)))
                .toList();
    }
}
