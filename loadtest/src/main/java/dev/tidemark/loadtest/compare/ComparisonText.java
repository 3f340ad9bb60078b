package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.Payloads;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Collectors;

/** A comparison as a part of the file of results: machine, systems, bars, figures. */
final class ComparisonText {
    private final Figures figures;
    private final Map<String, About> systems = new LinkedHashMap<>();
    private final Map<String, String> leftOut = new LinkedHashMap<>();

    /** What a system said of itself when it ran. */
    private record About(String version, String durability) {}

    ComparisonText(Figures figures) {
        this.figures = figures;
    }

    void ran(String system, String version, String durability) {
        systems.put(system, new About(version, durability));
    }

    void leftOut(String system, String why) {
        leftOut.put(system, why);
    }

    /**
     * All of it.
     *
     * @param when a date
     * @param command the command that was run
     */
    String markdown(String when, String machine, String command, CompareOptions options) {
        return "## Side by side\n\n"
                + when + ", " + machine + ". Server, driver and, where there is one, Redis share the machine.\n"
                + "One system at a time: each is started, given its jobs and stopped, " + options.rounds()
                + " rounds, every second one in the opposite order; figures are medians. An event is "
                + Payloads.BYTES + " B of JSON. A measurement takes "
                + options.times().seconds() + " s after " + options.times().warmUpSeconds()
                + " s of warm-up (" + Times.SHORT_WARM_UP_SECONDS + " s where nothing is compiled while it runs). "
                + "Tidemark's streams have `live_max_events` 1000: folding and trimming go on all the time. "
                + "Redis is the one that Tidemark starts for itself, with the same settings on both sides of a ratio.\n\n"
                + "To measure it again:\n\n```\n" + command + "\n```\n\n"
                + systems() + "\n### Against the bars\n\n" + bars(options.fsyncs()) + "\n### All figures\n\n" + all();
    }

    private String systems() {
        Table table = new Table("system", "version", "when an event is acknowledged, it is");
        systems.forEach((system, about) -> table.row(system, about.version(), about.durability()));
        leftOut.forEach((system, why) -> table.row(system, "left out", why));
        return table.toString();
    }

    /** What was asked for and what came of it. Bars of which nothing was measured are left out. */
    String bars(List<String> fsyncs) {
        Table table = new Table("bar", "what", "Tidemark", "beside", "", "ratio", "asked", "reached");
        for (Bar bar : Bars.of(fsyncs)) {
            OptionalDouble own = figures.median(bar.own());
            if (own.isEmpty()) {
                continue;
            }
            Figures.Key other = bar.other();
            OptionalDouble value = bar.value(figures);
            table.row(
                    String.valueOf(bar.own().measure().bar()),
                    what(bar.own()),
                    shown(bar.own()),
                    other == null
                            ? ""
                            : other.measure() == bar.own().measure()
                                    ? other.side().title()
                                    : other.measure().title(),
                    other == null ? "" : shown(other),
                    other == null || value.isEmpty() ? "" : bar.shown(value.getAsDouble()),
                    bar.asked(),
                    bar.outcome(figures).word());
        }
        return table.toString();
    }

    private static String what(Figures.Key key) {
        String variant = key.side() == Side.TIDEMARK_BATCHED ? ", batch=true" : "";
        return key.measure().title() + variant + ", " + key.fsync();
    }

    private String shown(Figures.Key key) {
        OptionalDouble median = figures.median(key);
        return median.isPresent() ? key.measure().unit().shown(median.getAsDouble()) : "";
    }

    private String all() {
        Table table = new Table("what", "system", "median", "rounds", "method");
        for (Measure measure : Measure.values()) {
            for (Figures.Key key : figures.keys()) {
                if (key.measure() == measure) {
                    String rounds = figures.rounds(key).stream()
                            .map(value -> measure.unit().number(value))
                            .collect(Collectors.joining(" · "));
                    table.row(measure.title(), key.system(), shown(key), rounds, figures.method(key));
                }
            }
        }
        return table.toString();
    }
}
