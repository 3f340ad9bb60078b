package dev.tidemark.loadtest.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A line chart as SVG: the horizontal axis logarithmic or from 0, the vertical one from 0. One thread. */
final class LineChart {
    private static final int WIDTH = 640;
    private static final int HEIGHT = 320;
    private static final int LEFT = 80;
    private static final int RIGHT = 35;
    private static final int TOP = 40;
    private static final int BOTTOM = 50;
    private static final int TICKS = 5;
    private static final int LEGEND_STEP = 170;
    private static final List<String> COLOURS = List.of("#0b63a5", "#c2410c", "#3f7d20", "#7a3e9d");

    /** A point; both not negative, {@code x} above 0 on a logarithmic axis. */
    record Point(double x, double y) {}

    private record Series(String name, List<Point> points) {}

    private final String title;
    private final String xTitle;
    private final String yTitle;
    private final boolean logarithmic;
    private final List<Series> series = new ArrayList<>();

    LineChart(String title, String xTitle, String yTitle, boolean logarithmic) {
        this.title = title;
        this.xTitle = xTitle;
        this.yTitle = yTitle;
        this.logarithmic = logarithmic;
    }

    void add(String name, List<Point> points) {
        series.add(new Series(name, List.copyOf(points)));
    }

    void write(Path file) throws IOException {
        Path directory = Files.createDirectories(file.toAbsolutePath().getParent());
        Path unused = Files.writeString(directory.resolve(file.getFileName()), svg());
    }

    String svg() {
        StringBuilder svg = new StringBuilder();
        svg.append(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">%n"
                        + "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>%n",
                WIDTH,
                HEIGHT,
                WIDTH,
                HEIGHT));
        text(svg, LEFT, 18, "start", title);
        text(svg, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 8, "middle", xTitle);
        yAxis(svg);
        xAxis(svg);
        for (int i = 0; i < series.size(); i++) {
            draw(svg, series.get(i), i);
        }
        return svg.append("</svg>\n").toString();
    }

    private void yAxis(StringBuilder svg) {
        double step = yMax() / TICKS;
        for (int i = 0; i <= TICKS; i++) {
            double y = y(step * i);
            line(svg, LEFT, y, WIDTH - RIGHT, y);
            text(svg, LEFT - 6, y + 4, "end", number(step * i));
        }
        text(svg, LEFT - 6, TOP - 8, "end", yTitle);
    }

    private void xAxis(StringBuilder svg) {
        for (double tick : xTicks()) {
            line(svg, x(tick), y(0), x(tick), y(0) + 5);
            text(svg, x(tick), y(0) + 20, "middle", number(tick));
        }
    }

    private List<Double> xTicks() {
        List<Double> ticks = new ArrayList<>();
        if (logarithmic) {
            for (double tick = xMin(); tick <= xMax() * 1.001; tick *= 10) {
                ticks.add(tick);
            }
        } else {
            double step = rounded(xMax() / TICKS);
            for (int i = 0; step * i <= xMax(); i++) {
                ticks.add(step * i);
            }
        }
        return ticks;
    }

    private void draw(StringBuilder svg, Series each, int number) {
        String colour = COLOURS.get(number % COLOURS.size());
        StringBuilder points = new StringBuilder();
        for (Point point : each.points()) {
            points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x(point.x()), y(point.y())));
        }
        svg.append(String.format(
                "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"%s\"/>%n",
                colour, points.toString().trim()));
        for (Point point : each.points()) {
            svg.append(String.format(
                    Locale.ROOT,
                    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"/>%n",
                    x(point.x()),
                    y(point.y()),
                    colour));
        }
        double legend = LEFT + 10 + (double) number * LEGEND_STEP;
        svg.append(String.format(
                Locale.ROOT,
                "<rect x=\"%.0f\" y=\"%d\" width=\"12\" height=\"4\" fill=\"%s\"/>%n",
                legend,
                TOP - 12,
                colour));
        text(svg, legend + 18, TOP - 7, "start", each.name());
    }

    private static void line(StringBuilder svg, double x1, double y1, double x2, double y2) {
        svg.append(String.format(
                Locale.ROOT,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>%n",
                x1,
                y1,
                x2,
                y2));
    }

    private static void text(StringBuilder svg, double x, double y, String anchor, String text) {
        String escaped = text.replace("&", "&amp;").replace("<", "&lt;");
        svg.append(String.format(
                Locale.ROOT, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>%n", x, y, anchor, escaped));
    }

    /** Three digits, with a sign for thousands and millions. */
    static String number(double value) {
        if (value >= 1e6) {
            return trimmed(value / 1e6) + "M";
        }
        return value >= 1e4 ? trimmed(value / 1e3) + "k" : trimmed(value);
    }

    private static String trimmed(double value) {
        String text = String.format(Locale.ROOT, value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f", value);
        return text.contains(".") ? text.replaceFirst("\\.?0+$", "") : text;
    }

    private double x(double value) {
        double from = scaled(xMin());
        double share = xMax() > xMin() ? (scaled(value) - from) / (scaled(xMax()) - from) : 0.5;
        return LEFT + share * (WIDTH - LEFT - RIGHT);
    }

    private double scaled(double x) {
        return logarithmic ? Math.log10(x) : x;
    }

    private double y(double value) {
        return HEIGHT - BOTTOM - value / yMax() * (HEIGHT - TOP - BOTTOM);
    }

    private double xMin() {
        return logarithmic
                ? series.stream()
                        .flatMap(each -> each.points().stream())
                        .mapToDouble(Point::x)
                        .min()
                        .orElse(1)
                : 0;
    }

    private double xMax() {
        return series.stream()
                .flatMap(each -> each.points().stream())
                .mapToDouble(Point::x)
                .max()
                .orElse(1);
    }

    private double yMax() {
        return rounded(series.stream()
                .flatMap(each -> each.points().stream())
                .mapToDouble(Point::y)
                .max()
                .orElse(1));
    }

    /** Rounded up to 1, 2 or 5 times a power of ten. */
    private static double rounded(double value) {
        double power = Math.pow(10, Math.floor(Math.log10(Math.max(value, 1e-9))));
        for (double step : new double[] {1, 2, 5}) {
            if (value <= step * power) {
                return step * power;
            }
        }
        return 10 * power;
    }
}
